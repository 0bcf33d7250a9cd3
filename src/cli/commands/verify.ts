/** `metainfo verify`: checks files on disk against a torrent. */
import { type Command, Option } from 'commander';
import { invalidArgument } from '../../errors/guard.ts';
import type { Engine } from '../../hash/engine.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { withoutSecrets } from '../../text/urls.ts';
import type { VerifySources } from '../../verify/verify-sources.ts';
import { readingOptions } from '../config/load.ts';
import { interruptible } from '../exit.ts';
import { verifyArguments } from '../many/verify-arguments.ts';
import { contentPlace, readTorrent } from '../options/arguments.ts';
import { chosenFiles, collectGlob, unmatchedFiles } from '../options/content.ts';
import { cacheOf, cacheOptions, hashingOptions, parseFolder, parseThreads } from '../options/option-values.ts';
import { shortHelp } from '../options/short-help.ts';
import { eachOption } from '../options/torrents-of.ts';
import { foreignContent } from '../options/web-files.ts';
import { type QueueingOptions, queueingOptions, queueOf } from '../queue/options.ts';
import { FAILED, host, USAGE } from '../run.ts';
import { colorsFor, printableJson, recordJson, stdout, writeLines } from '../terminal/output.ts';
import { progressOf, progressOption } from '../terminal/progress.ts';
import { requireOneStdin } from '../terminal/standard-input.ts';
import { findOptions, placeable, placeHint, requireFind } from '../verify/find.ts';
import { requireOutputFolder, requireResumeData, resumeLines, resumeOptions, writeResume } from '../verify/resume.ts';
import { type Verified, type VerifyOptions, verifiedJson, verifiedLines, verifyContent } from '../verify/verify-job.ts';

/** The options that `--help` shows without `--all`. */
const COMMON = [
  ...['quiet', 'json', 'torrent-version', 'files', 'fast', 'find', 'link', 'rename', 'resume-data', 'output', 'force'],
  ...['save-path', 'each', 'from-file', 'content', 'threads', 'strict', 'compat'],
];

const EXAMPLES = `
Examples:
  metainfo verify album.torrent                    checks ./album
  metainfo verify album.torrent /srv/album
  metainfo verify film.torrent /srv/film.mkv --json
  metainfo verify album.torrent https://host/      checks a mirror
  metainfo verify album.torrent --files '*.flac'   checks only some files
  metainfo verify album.torrent --cache            goes on after a Ctrl-C
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
A client writes through links: v1 files whose shared pieces are not proven are
only copied, unless --allow-unproven is given.

--cache remembers the hashes of files in the cache of create. It believes them
as long as the size, times and inode of a file are the same, so a disk that has
changed a file by itself is not found out. It does not know v1 torrents whose
files share pieces, because pad files are missing.

--resume-data writes what a client needs to accept the good pieces without a
check of its own. Close the client first; it reads these files when it starts:
  qbittorrent  HASH.torrent and HASH.fastresume, for the folder BT_backup
  libtorrent   HASH.fastresume, for programs that call read_resume_data()
  rtorrent     HASH.torrent, for the session folder; rtorrent checks a file
               again if it was modified later; not for v2 torrents

--json prints { event, job, torrent, status, path, ok, files, badPieces,
unreadPieces, uncheckedPieces, extraFiles, goodBytes, totalSize, sampledPieces,
sampledBytes, bitfield }. With --files, it has also unwantedFiles (the number of
files that are not wanted), with --cache cachedBytes (bytes that were not read).
With --find, it has also moved, unproven, notFound, skipped, placed, failed and
bytesRead, and with --resume-data also resumeFiles and made (empty files that
the client needs). Of several torrents, --json prints the same and other events,
one per line.

Exit codes: 0 all files are complete, 1 a file is missing or corrupt,
2 wrong usage, 130 cancelled.`;

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('check files against a torrent: report missing, corrupt or extra files')
    .argument('[file]', 'the torrent file, or - for standard input; with --each, a folder of torrents')
    .argument(
      '[path...]',
      "the folder with its files, its single file, the URL of a mirror, or - for standard input (default: the torrent's name in the current folder); or more torrents",
    )
    .optionsGroup('Output:')
    .option('-q, --quiet', 'print no progress, and only incomplete files')
    .option('-v, --verbose', 'list every file, instead of the first 20 of each kind')
    .option('--json', 'print one JSON object')
    .addOption(progressOption())
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
  eachOption(
    command.optionsGroup('Many torrents:'),
    'verify every torrent of a folder; the path is the folder of their content',
  )
    .option('--content <folder>', 'the folder that holds the content of every torrent, under its name', parseFolder)
    .option('--jobs <n>', 'with several torrents: how many are verified at once (default: 4)', parseThreads);
  readingOptions(queueingOptions(cacheOptions(hashingOptions(command))));
  shortHelp(command, { common: COMMON, examples: EXAMPLES, more: MORE }).action(
    async (file: string, rest: string[], options: VerifyOptions & QueueingOptions) => {
      // Not interruptible: reading a pipe without a writer ends only with the process.
      requireFind(command, options);
      requireResumeData(command, options);
      const chosen = await verifyArguments(file, rest, options);
      const queue = queueOf(options);
      if (queue && cacheOf(options))
        throw invalidArgument('--queue does not use the cache of this machine: omit --cache and --cache-dir');
      if ('files' in chosen) {
        if (queue) command.error('error: --queue verifies one torrent', { exitCode: USAGE });
        if (options.rename)
          throw invalidArgument('--rename needs one torrent, because others may need the same file: use --link');
        if (options.find && options.jobs !== undefined)
          throw invalidArgument('--find verifies one torrent after the other: omit --jobs');
        await requireOutputFolder(options);
        const { verifyMany } = await import('../many/verify-many.ts');
        await interruptible((signal) => verifyMany(chosen, options, signal));
        return;
      }
      requireOneStdin([file, chosen.path ?? '']);
      const torrent = await readTorrent(file, options, chosen.path);
      const wanted = chosenFiles(torrent, options);
      if (wanted.unmatched.size > 0) throw unmatchedFiles(wanted.unmatched);
      await interruptible(async (signal) => {
        const sources = await foreignContent(torrent, chosen.path, options, signal);
        const path = sources
          ? withoutSecrets(chosen.path as string, /$/)
          : await contentPlace(torrent, chosen.path, options);
        const one = { file, torrent, path, sources, wanted };
        if (!queue) return verifyOne(one, options, { signal });
        const { verifyInQueue } = await import('../queue/queue.ts');
        return verifyInQueue(queue, path, options, (engine) => verifyOne(one, options, { signal, engine }));
      });
    },
  );
}

/** A torrent, and what is verified. */
interface Verifying {
  file: string;
  torrent: Torrent;
  path: string;
  sources: VerifySources | null;
  wanted: ReturnType<typeof chosenFiles>;
}

async function verifyOne(
  { file, torrent, path, sources, wanted: { files, unwantedFiles } }: Verifying,
  options: VerifyOptions,
  watch: { signal: AbortSignal; engine?: Engine },
): Promise<void> {
  const verified = (await verifyContent(
    torrent,
    path,
    { options, files },
    { ...watch, sources, ...progressOf(options) },
  )) as Verified;
  const { report, searched, resume, made } = verified;
  if (!report.ok) host().exitCode = FAILED;
  if (options.json) {
    if (resume) await writeResume(torrent, report, resume);
    const json = verifiedJson(path, verified, { ...options, unwantedFiles });
    await writeLines([printableJson(recordJson({ torrent: file }, json))]);
    return;
  }
  const colors = await colorsFor(stdout());
  await writeLines([
    ...verifiedLines(torrent.name, verified, options, { ...options, unwantedFiles }, colors),
    ...(searched ? placeHint(placeable(searched, options), options, colors) : []),
  ]);
  if (!resume) return;
  // After the report, which a failure must not hide.
  await writeResume(torrent, report, resume);
  if (!options.quiet) await writeLines(resumeLines(resume, made));
}
