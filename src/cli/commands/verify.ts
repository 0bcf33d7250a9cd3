/** `metainfo verify`: checks files on disk against a torrent. */
import { type Command, Option } from 'commander';
import { invalidArgument } from '../../errors/guard.ts';
import type { Engine } from '../../hash/engine.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { makeEmptyFiles } from '../../verify/resume/make-empty-files.ts';
import { verify } from '../../verify/verify.ts';
import { readingOptions } from '../config/load.ts';
import { FAILED, USAGE } from '../exit.ts';
import { type VerifyManyOptions, verifyArguments } from '../many/verify-arguments.ts';
import { verifyMany } from '../many/verify-many.ts';
import { contentPlace, readTorrent } from '../options/arguments.ts';
import { chosenFiles, collectGlob, unmatchedFiles } from '../options/content.ts';
import { type HashingOptions, hashingOptions, parseFolder, parseThreads } from '../options/option-values.ts';
import { shortHelp } from '../options/short-help.ts';
import { type QueueingOptions, type QueueTarget, queueingOptions, queueOf } from '../queue/options.ts';
import { colorsFor } from '../terminal/colors.ts';
import { interruptible } from '../terminal/interrupt.ts';
import { printableJson } from '../terminal/json.ts';
import { showsProgress, stdout, writeLines } from '../terminal/output.ts';
import {
  type FindOptions,
  findOptions,
  foldersFound,
  placeHint,
  requireFind,
  search,
  searchJson,
  searchLines,
} from '../verify/find.ts';
import {
  type ResumeOptions,
  requireOutputFolder,
  requireResumeData,
  resumeLines,
  resumeOptions,
  resumeTarget,
  writeResume,
} from '../verify/resume.ts';
import { reportLines } from '../verify/verify-report.ts';

interface VerifyOptions extends VerifyManyOptions, HashingOptions, FindOptions, ResumeOptions, QueueingOptions {
  torrentVersion?: 'v1' | 'v2';
  fast?: boolean;
  followOutside?: boolean;
  files?: string[];
  ignoreCase?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  json?: boolean;
}

/** The options that `--help` shows without `--all`. */
const COMMON = [
  ...['quiet', 'json', 'torrent-version', 'files', 'fast', 'find', 'link', 'rename', 'resume-data', 'output', 'force'],
  ...['each', 'content', 'threads', 'strict', 'compat'],
];

const EXAMPLES = `
Examples:
  metainfo verify album.torrent                    checks ./album
  metainfo verify album.torrent /srv/album
  metainfo verify film.torrent /srv/film.mkv --json
  metainfo verify album.torrent --files '*.flac'   checks only some files
  metainfo verify album.torrent album --find /srv  looks for renamed files
  metainfo verify --content /srv *.torrent         checks /srv/NAME for each
  metainfo verify --each torrents /srv             also reports other content
  metainfo verify --each torrents /srv --find /data --link
  metainfo verify album.torrent --resume-data qbittorrent -o BT_backup`;

const MORE = `
PATH can also be the folder that contains the torrent's folder. A second
argument is the content, unless it can only be a torrent. An unfinished file is
found under the name of its client: NAME.!qB, NAME.part or NAME.!ut.

--link makes hard links; --link=symlink, --link=reflink (copies that share their
blocks on disk) and --link=copy put files in place on other file systems too.
Symlinks are absolute, and verify needs --follow-outside to read them later.

--resume-data writes what a client needs to accept the good pieces without a
check of its own. Close the client first; it reads these files when it starts:
  qbittorrent  HASH.torrent and HASH.fastresume, for the folder BT_backup
  libtorrent   HASH.fastresume, for programs that call read_resume_data()
  rtorrent     HASH.torrent, for the session folder; rtorrent checks a file
               again if it was modified later; not for v2 torrents

--json prints { path, ok, files, badPieces, uncheckedPieces, extraFiles,
goodBytes, totalSize, sampledPieces, sampledBytes, bitfield }, with --files also
unwantedFiles (how many files were left out), and with --find also moved,
unproven, notFound, skipped, placed, failed and bytesRead; with --resume-data
also resumeFiles and made (empty files that the client needs). Of several
torrents, --json prints one event per line.

Exit codes: 0 all files are complete, 1 a file is missing or corrupt,
2 wrong usage, 130 cancelled.`;

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('check files against a torrent: report missing, corrupt or extra files')
    .argument('<file>', 'the torrent file, or - for standard input; with --each, a folder of torrents')
    .argument(
      '[path...]',
      "the folder with its files, or its single file (default: the torrent's name in the current folder); or more torrents",
    )
    .optionsGroup('Output:')
    .option('-q, --quiet', 'print no progress, and only incomplete files')
    .option('-v, --verbose', 'list every file, instead of the first 20 of each kind')
    .option('--json', 'print one JSON object')
    .helpOption('-h, --help', 'display help for command')
    .optionsGroup('What to check:')
    .addOption(
      new Option('-k, --torrent-version <version>', 'check only the v1 or v2 hashes of a hybrid').choices(['v1', 'v2']),
    )
    .option('--files <glob>', 'check only matching files, and files in matching folders (repeatable)', collectGlob)
    .option('--ignore-case', 'match globs in any letter case')
    .option('--fast', 'check file sizes and a sample of the pieces only')
    .option('--follow-outside', 'also follow symlinks that lead out of the folder');
  resumeOptions(findOptions(command));
  command
    .optionsGroup('Many torrents:')
    .option('--each', 'verify every torrent of a folder; the path is the folder of their content')
    .option('--content <folder>', 'the folder that holds the content of every torrent, under its name', parseFolder)
    .option('--jobs <n>', 'with several torrents: how many are verified at once (default: 4)', parseThreads);
  readingOptions(queueingOptions(hashingOptions(command)));
  shortHelp(command, { common: COMMON, examples: EXAMPLES, more: MORE }).action(
    async (file: string, rest: string[], options: VerifyOptions) => {
      // Not interruptible: reading a pipe without a writer ends only with the process.
      requireFind(command, options);
      requireResumeData(command, options);
      const chosen = await verifyArguments(file, rest, options);
      const queue = queueOf(options);
      if ('files' in chosen) {
        if (queue) command.error('error: --queue verifies one torrent', { exitCode: USAGE });
        if (options.rename)
          throw invalidArgument('--rename needs one torrent, because others may need the same file: use --link');
        if (options.find && options.jobs !== undefined)
          throw invalidArgument('--find verifies one torrent after the other: omit --jobs');
        await requireOutputFolder(options);
        await interruptible((signal) => verifyMany(chosen, options, settingsOf(options), signal));
        return;
      }
      const torrent = await readTorrent(file, options, chosen.path);
      const path = await contentPlace(torrent, chosen.path, options);
      await interruptible((signal) => run(torrent, path, options, { queue, signal }));
    },
  );
}

/** The options of the library. */
function settingsOf({ torrentVersion: version, fast, followOutside, link, threads, memoryLimit }: VerifyOptions) {
  // The symlinks that `--link=symlink` makes lead out of the folder.
  return { version, fast, followOutside: followOutside || link === 'symlink', threads: threads ?? null, memoryLimit };
}

/** @param queue The queue whose workers hash; null for this process. */
async function run(
  torrent: Torrent,
  path: string,
  options: VerifyOptions,
  { queue, signal }: { queue: QueueTarget | null; signal: AbortSignal },
): Promise<void> {
  if (!queue) return runWith(torrent, path, options, { signal });
  const { verifyByWorkers } = await import('../queue/verify.ts');
  await verifyByWorkers(queue, path, options, (engine) => runWith(torrent, path, options, { signal, engine }));
}

async function runWith(
  torrent: Torrent,
  path: string,
  options: VerifyOptions,
  watch: { signal: AbortSignal; engine?: Engine },
): Promise<void> {
  const resume = await resumeTarget(torrent, path, options);
  const { files, unwantedFiles, unmatched } = chosenFiles(torrent, options);
  if (unmatched.size > 0) throw unmatchedFiles(unmatched);
  const checks = { ...settingsOf(options), ...watch, files, progress: showsProgress(options) };
  const found = options.find === undefined ? null : await search(torrent, path, options, checks);
  const verified = found?.report ?? (await verify(torrent, path, checks));
  const { report, made } = resume ? await makeEmptyFiles(torrent, verified, path) : { report: verified, made: [] };
  const { ok } = report;
  if (!ok) process.exitCode = FAILED;
  if (options.json) {
    if (resume) await writeResume(torrent, report, resume);
    const bitfield = Buffer.from(report.bitfield).toString('hex');
    const more = {
      ...(files && { unwantedFiles }),
      ...(found && searchJson(found)),
      ...(resume && { resumeFiles: resume.files, made }),
    };
    await writeLines([printableJson({ path, ...report, ok, bitfield, ...more })]);
    return;
  }
  const colors = await colorsFor(stdout());
  await writeLines([
    ...reportLines(torrent.name, report, colors, {
      ...options,
      known: found && foldersFound(found),
      unwantedFiles,
    }),
    ...(found
      ? [
          ...searchLines(found, options, colors),
          ...placeHint(found.moved.length - found.failed.length, options, colors),
        ]
      : []),
  ]);
  if (!resume) return;
  // After the report, which a failure must not hide.
  await writeResume(torrent, report, resume);
  if (!options.quiet) await writeLines(resumeLines(resume, made));
}
