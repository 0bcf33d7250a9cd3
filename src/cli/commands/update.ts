/** `metainfo update` and `metainfo upgrade`: make another torrent of a torrent and its files. */
import nodePath from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { edit } from '../../edit/edit.ts';
import { update } from '../../edit/update.ts';
import { upgrade } from '../../edit/upgrade.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { type Torrent, TorrentBase } from '../../model/torrent/torrent.ts';
import { formatBytes } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { readingOptions } from '../config/load.ts';
import { infohashLines, infohashOf } from '../create/summary.ts';
import { interruptible } from '../exit.ts';
import { contentPlace, readTorrent } from '../options/arguments.ts';
import { type ContentOptions, contentOptions, countingFilter, policiesOf } from '../options/content.ts';
import { parseDate } from '../options/date.ts';
import * as values from '../options/option-values.ts';
import { filledFor } from '../options/output-template.ts';
import * as targets from '../options/target.ts';
import { withAdvice } from '../terminal/advice.ts';
import { warningsOf, writeResult } from '../terminal/output.ts';
import { type ProgressOptions, progressOf, progressOption } from '../terminal/progress.ts';
import { isStdin } from '../terminal/standard-input.ts';

interface ChangeOptions
  extends values.ProfileOptions,
    values.HashingOptions,
    values.OutputOptions,
    values.PadNamesOptions,
    ProgressOptions {
  dryRun?: boolean;
}

interface UpdateOptions extends ChangeOptions, values.CacheOptions, ContentOptions {
  since?: Date;
  date?: Date;
  pieceLength?: number | 'auto';
}

const UPDATE = `
A file with the same path and size is not read again if it has not changed since
the creation date of the torrent or --since, or if --cache knows it. Without a
date or a cache, all files are read. After --date now, only later changes are.

Examples:
  metainfo update album.torrent album --date now   in place, every week
  metainfo update album.torrent album --cache      change in place
  metainfo update album.torrent album -o new.torrent --since 2026-01-31
  metainfo update album.torrent album --since @0   read every file again
  metainfo update album.torrent album --dry-run`;

const UPGRADE = `
Examples:
  metainfo upgrade album.torrent album -o hybrid.torrent
  metainfo upgrade film.torrent /srv/film.mkv --force   replace the v1 torrent

The hybrid has a v2 infohash and a new v1 infohash, so its swarms differ from
that of the v1 torrent. Without -o, --force replaces the v1 torrent.
--json prints { torrent, path, output, infohash, bytesRead, warnings }.

Exit codes: 0 success, 1 a file is missing or corrupt (nothing is written),
2 wrong usage or not a v1 torrent.`;

export function addUpdate(program: Command): void {
  const command = changing(
    program,
    'update',
    'update a v2 or hybrid torrent to match its files: reads only what changed',
  );
  values.changedOutputOptions(command).option('--dry-run', 'show the changes without writing');
  values
    .summaryOptions(command)
    .addOption(progressOption())
    .helpOption('-h, --help', 'display help for command')
    .optionsGroup('Files to read:')
    .option('--date <date>', 'new creation date; now: when the scan begins', parseDate)
    .option('--since <date>', 'read files changed since then (default: the creation date)', parseDate)
    .optionsGroup('Piece length and pad files:')
    .option('--piece-length <size>', 'new piece length; a larger one of v2 needs no reading', values.parsePieceLength)
    .addOption(values.padNamesOption());
  contentOptions(command, 'store them if the torrent does, otherwise follow them');
  readingOptions(values.cacheOptions(values.hashingOptions(command)))
    .addHelpText('after', UPDATE)
    .action(async (file: string, folder: string, options: UpdateOptions) => {
      if (isStdin(file))
        throw invalidArgument(
          'The torrent cannot come from standard input (-), because update reads only files that are newer than the torrent file',
        );
      await change(file, folder, options, updated);
    });
}

export function addUpgrade(program: Command): void {
  const command = changing(program, 'upgrade', 'upgrade a v1 torrent to a hybrid: reads and checks its files once');
  command.addOption(values.padNamesOption());
  values
    .summaryOptions(values.changedOutputOptions(values.hashingOptions(command), 'in place, with --force'))
    .addOption(progressOption());
  readingOptions(command)
    .addHelpText('after', UPGRADE)
    .action((file: string, folder: string, options: ChangeOptions) => change(file, folder, options, upgraded));
}

function changing(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .argument('<file>', 'the torrent file')
    .argument('<path>', 'the folder with its files, or its single file');
}

/** The torrent that a command makes, and its report. */
interface Changed {
  torrent: Torrent;
  /** False if it need not be written. */
  isWritten: boolean;
  /** The fields of `--json` besides those of both commands. */
  json: object;
  /** The end of the first line; `lines` stand below the infohashes. */
  summary: string;
  lines?: readonly string[];
}

/** A torrent, its content, and the file that will be written. */
interface Place<Options> {
  file: string;
  path: string;
  target: string;
  options: Options;
}

/** The options of the library that both commands have. */
type Hashing = Omit<NonNullable<Parameters<typeof upgrade>[2]>, 'context' | 'limits'>;

/** Reads a torrent, makes another one, and writes it. */
async function change<Options extends ChangeOptions>(
  file: string,
  folder: string,
  options: Options,
  make: (torrent: Torrent, place: Place<Options>, hashing: Hashing) => Promise<Changed>,
): Promise<void> {
  // Not interruptible: reading a pipe without a writer ends only with the process.
  const old = await readTorrent(file, options, folder);
  const path = await contentPlace(old, folder, options);
  await interruptible(async (signal) => {
    const { output, force = false, dryRun, memoryLimit, threads = null, padNames } = options;
    const inPlace = output === undefined;
    const { name, flatTrackers } = old;
    const torrentVersion = make === upgraded ? 'hybrid' : old.torrentVersion;
    const target = await targets.targetOf(file, filledFor(output, { name, torrentVersion, flatTrackers }));
    if (make === upgraded && inPlace && !force && !targets.isStdout(target)) throw wouldReplace(file);
    if (!dryRun) await targets.requireWritable(target, options);
    // Taken before hashing: the next update must read files again that change from now on.
    const mtime = new Date();
    const { onWarning, list: warnings } = warningsOf(options);
    const outputPath = targets.fileOf(target);
    const hashing = { threads, memoryLimit, padNames, ...progressOf(options), signal, onWarning, outputPath };
    const { torrent, isWritten, json, summary, lines = [] } = await make(old, { file, path, target, options }, hashing);
    if (!dryRun && (isWritten || !inPlace))
      await targets.writeTorrent(torrent, target, { force: inPlace || force, mtime });
    await writeResult(
      options,
      { torrent: file, path, output: dryRun ? null : target, infohash: infohashOf(torrent), ...json, warnings },
      [`${targets.nameOfTarget(inPlace ? file : target)}: ${summary}`, ...infohashLines(torrent), ...lines],
      targets.reportTo(dryRun ? undefined : target),
    );
  });
}

/** The v1 torrent is still needed for its swarm, so only `--force` replaces it. */
function wouldReplace(file: string): MetainfoError {
  const message = `${file}: the hybrid would replace the v1 torrent, whose swarm it does not share (use -o FILE for another file, or --force).`;
  return new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: file });
}

async function upgraded(v1: Torrent, { path, options }: Place<ChangeOptions>, hashing: Hashing): Promise<Changed> {
  const { torrent, bytesRead } = await upgrade(v1, path, { ...values.readOptionsOf(options), ...hashing });
  const summary = `hybrid; all pieces are correct; read ${formatBytes(bytesRead)}`;
  return { torrent, isWritten: true, json: { bytesRead }, summary };
}

async function updated(
  old: Torrent,
  { file, path, target, options }: Place<UpdateOptions>,
  hashing: Hashing,
): Promise<Changed> {
  const pathRoot = nodePath.resolve(path);
  const ownFiles = await targets.outputToSkip(targets.fileOf(target), pathRoot);
  const skipped = [nodePath.resolve(file), ...ownFiles, ...values.cacheFolders(options)];
  const cache = values.cacheOf(options);
  const updating = update(old, pathRoot, {
    ...(await countingFilter(options, pathRoot, skipped)).filter,
    ...policiesOf(options),
    since: options.since ?? (await hashedBefore(file, old)),
    pieceLength: options.pieceLength === 'auto' ? null : options.pieceLength,
    cache,
    context: values.contextOf(options),
    ...hashing,
  });
  const { torrent: updated, added, changed, removed, renamed, bytesRead } = await withAdvice(cache, updating);
  const torrent = options.date
    ? edit(updated, { creationDate: options.date }, { context: values.contextOf(options) })
    : updated;
  const { nFiles: files, totalSize } = torrent;
  const [bytes, oldBytes] = [torrent, old].map((one) => TorrentBase.bytesOf(one).bytes) as [Uint8Array, Uint8Array];
  const isChanged = Buffer.compare(bytes, oldBytes) !== 0;
  const lines = [
    ...added.map((name) => `  + ${printable(name)}`),
    ...changed.map((name) => `  ~ ${printable(name)}`),
    ...removed.map((name) => `  - ${printable(name)}`),
    ...renamed.map(({ from, to }) => `  ${printable(from)} -> ${printable(to)}`),
    `read ${formatBytes(bytesRead)} of ${formatBytes(totalSize)}`,
  ];
  const json = { files, totalSize, added, changed, removed, renamed, bytesRead };
  const isSame = isDeepStrictEqual(infohashOf(torrent), infohashOf(old));
  const summary = !isSame ? 'new infohash' : isChanged && options.date ? 'no changes, new date' : 'no changes';
  return { torrent, isWritten: isChanged, json, summary, lines };
}

/**
 * The date before which unchanged files still have the hashes of the torrent: its creation date or the modification time
 * of the torrent file, whichever is earlier. Undefined without a creation date, or with one in the future, because the torrent
 * file can be a copy that is newer than a change of the content.
 */
async function hashedBefore(file: string, { creationDate }: Torrent): Promise<Date | undefined> {
  if (creationDate === null || creationDate > new Date()) return undefined;
  const mtime = await targets.mtimeOf(file);
  return creationDate < mtime ? creationDate : mtime;
}
