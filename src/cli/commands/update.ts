/** `metainfo update`: brings a v2 or hybrid torrent up to date with its files. */
import nodePath from 'node:path';
import type { Command } from 'commander';
import { type UpdateResult, update } from '../../edit/update.ts';
import { invalidArgument } from '../../errors/guard.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { formatBytes } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { readingOptions } from '../config/load.ts';
import { infohashLines, infohashOf } from '../create/summary.ts';
import { type Invocation, onTorrentAndContent } from '../options/arguments.ts';
import { type ContentOptions, contentOptions, countingFilter, policiesOf } from '../options/content.ts';
import {
  type CacheOptions,
  cacheFolders,
  cacheOf,
  cacheOptions,
  changedOutputOptions,
  contextOf,
  type HashingOptions,
  hashingOptions,
  type OutputOptions,
  type PadNamesOptions,
  type ProfileOptions,
  padNamesOption,
  parseDate,
  parsePieceLength,
  type SummaryOptions,
  summaryOptions,
} from '../options/option-values.ts';
import {
  fileOf,
  mtimeOf,
  nameOfTarget,
  outputToSkip,
  reportTo,
  requireWritable,
  targetOf,
  writeTorrent,
} from '../options/target.ts';
import { showsProgress, warningsOf, writeResult } from '../terminal/output.ts';
import { isStdin } from '../terminal/standard-input.ts';

interface UpdateOptions
  extends ProfileOptions,
    CacheOptions,
    ContentOptions,
    HashingOptions,
    OutputOptions,
    PadNamesOptions,
    SummaryOptions {
  since?: Date;
  pieceLength?: number | 'auto';
  dryRun?: boolean;
}

const EXAMPLES = `
A file with the same path and size is not read again if it has not changed since
the creation date of the torrent or --since, or if --cache knows it. Without a
date or a cache, update reads every file.

Examples:
  metainfo update album.torrent album --cache      change in place
  metainfo update album.torrent album -o new.torrent --since 2026-01-31
  metainfo update album.torrent album --since 0    read every file again
  metainfo update album.torrent album --dry-run    show the changes`;

export function addUpdate(program: Command): void {
  const command = program
    .command('update')
    .description('update a v2 or hybrid torrent: reads only new and changed files')
    .argument('<file>', 'the torrent file')
    .argument('<path>', 'the folder with its files, or its single file');
  changedOutputOptions(command).option('--dry-run', 'show the changes without writing');
  summaryOptions(command)
    .helpOption('-h, --help', 'display help for command')
    .optionsGroup('Files to read:')
    .option(
      '--since <date>',
      'read files changed at this date or later (default: the creation date)',
      parseDate,
    )
    .optionsGroup('Piece length and pad files:')
    .option(
      '--piece-length <size>',
      'new piece length; for a v2 torrent, a larger one needs no reading',
      parsePieceLength,
    )
    .addOption(padNamesOption());
  contentOptions(command, 'store them if the torrent does, otherwise follow them');
  readingOptions(cacheOptions(hashingOptions(command)))
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, folder: string, options: UpdateOptions) => {
      if (isStdin(file))
        throw invalidArgument(
          'The torrent cannot come from standard input (-), because update reads only files that are newer than the torrent file',
        );
      await onTorrentAndContent(run)(file, folder, options);
    });
}

async function run(torrent: Torrent, { file, path, options, signal }: Invocation<UpdateOptions>): Promise<void> {
  const context = contextOf(options);
  const target = await targetOf(file, options.output);
  if (!options.dryRun) await requireWritable(target, options);
  const pathRoot = nodePath.resolve(path);
  const output = fileOf(target);
  const { pieceLength, memoryLimit } = options;
  // Taken before hashing: the next update must read files again that change from now on.
  const mtime = new Date();
  const progress = showsProgress(options);
  const { onWarning, list: warnings } = warningsOf(options);
  const skipped = [nodePath.resolve(file), ...(await outputToSkip(output)), ...cacheFolders(options)];
  const result = await update(torrent, pathRoot, {
    ...(await countingFilter(options, pathRoot, skipped)).filter,
    ...policiesOf(options),
    since: options.since ?? (await hashedBefore(file, torrent)),
    pieceLength: pieceLength === 'auto' ? null : pieceLength,
    threads: options.threads ?? null,
    memoryLimit,
    cache: cacheOf(options),
    padNames: options.padNames,
    context,
    progress,
    signal,
    onWarning,
    outputPath: output,
  });
  const isChanged = Buffer.compare(result.torrent.bencode(), torrent.bencode()) !== 0;
  const inPlace = options.output === undefined;
  if (!options.dryRun && (isChanged || !inPlace))
    await writeTorrent(result.torrent, target, { force: inPlace || (options.force ?? false), mtime });
  await writeResult(
    options,
    { ...toJson(result, target), warnings },
    linesOf(result, inPlace ? file : target, isChanged),
    reportTo(options.dryRun ? undefined : target),
  );
}

/**
 * The date before which unchanged files still have the hashes of the torrent: its creation date or the modification time
 * of the torrent file, whichever is earlier. Undefined without a creation date, because the torrent file can be a copy
 * that is newer than a change of the content.
 */
async function hashedBefore(file: string, { creationDate }: Torrent): Promise<Date | undefined> {
  if (creationDate === null) return undefined;
  const mtime = await mtimeOf(file);
  return creationDate < mtime ? creationDate : mtime;
}

function toJson({ torrent, added, changed, removed, renamed, bytesRead }: UpdateResult, target: string) {
  const about = { path: target, infohash: infohashOf(torrent), files: torrent.nFiles, totalSize: torrent.totalSize };
  return { ...about, added, changed, removed, renamed, bytesRead };
}

function linesOf(
  { torrent, added, changed, removed, renamed, bytesRead }: UpdateResult,
  target: string,
  isChanged: boolean,
): string[] {
  return [
    `${nameOfTarget(target)}: ${isChanged ? 'new infohash' : 'no changes'}`,
    ...infohashLines(torrent),
    ...added.map((name) => `  + ${printable(name)}`),
    ...changed.map((name) => `  ~ ${printable(name)}`),
    ...removed.map((name) => `  - ${printable(name)}`),
    ...renamed.map(({ from, to }) => `  ${printable(from)} -> ${printable(to)}`),
    `read ${formatBytes(bytesRead)} of ${formatBytes(torrent.totalSize)}`,
  ];
}
