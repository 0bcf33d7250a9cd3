import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { type Updated, update } from '../../edit/update.ts';
import { MetainfoError } from '../../errors/errors.ts';
import type { PadNames } from '../../layout/padding.ts';
import { formatBytes, printable, printableJson } from '../../layout/text.ts';
import type { Torrent } from '../../model/torrent.ts';
import { ownFolderWithin, readTorrent, shellWords } from '../arguments.ts';
import { type GlobOptions, globFilter, globOptions } from '../globs.ts';
import { interruptible } from '../interrupt.ts';
import {
  type CacheOptions,
  cacheFolders,
  cacheOf,
  cacheOptions,
  contextOf,
  type ProfileOptions,
  padNamesOption,
  parseDate,
  parsePieceLength,
  parseSize,
  parseThreads,
  profileOptions,
} from '../options.ts';
import { stderr, Warnings, writeLines } from '../output.ts';
import { fileOf, mtimeOf, nameOfTarget, ownOutput, reportTo, requireFree, targetOf, writeTorrent } from '../target.ts';

interface UpdateOptions extends ProfileOptions, CacheOptions, GlobOptions {
  since?: Date;
  pieceLength?: number | 'auto';
  padNames?: PadNames;
  threads?: number;
  memoryLimit?: number;
  output?: string;
  force?: boolean;
  dryRun?: boolean;
  quiet?: boolean;
  json?: boolean;
}

const EXAMPLES = `
Files of the same path and size are not read when they were not changed since
the creation date of the torrent or --since, or when --cache knows them.
Without any of these everything is read.

Examples:
  metainfo update album.torrent album --cache      in place
  metainfo update album.torrent album -o new.torrent --since 2026-01-31
  metainfo update album.torrent album --since 0    read everything again
  metainfo update album.torrent album --dry-run    what would change`;

export function addUpdate(program: Command): void {
  const command = program
    .command('update')
    .description('a v2 or hybrid torrent of what is there now: only files that are new or changed are read')
    .argument('<file>', 'the torrent file')
    .argument('<path>', 'the folder of its files, or its one file')
    .option(
      '--since <date>',
      'read what was changed then or later (default: the creation date; none: everything)',
      parseDate,
    )
    .option('--piece-length <size>', 'another one: a larger one of a v2 torrent reads nothing', parsePieceLength)
    .addOption(padNamesOption())
    .option('--threads <n>', 'how many threads hash (default: one a core)', parseThreads)
    .option('--memory-limit <size>', 'for all buffers (default: 64MiB a thread)', parseSize)
    .option('-o, --output <file>', 'where the result goes: a file, a folder or - (default: in place)')
    .option('--force', 'replace the output if it exists')
    .option('--dry-run', 'say what would change, and write nothing')
    .option('-q, --quiet', 'no progress, no summary')
    .option('--json', 'one JSON object instead of the summary');
  profileOptions(cacheOptions(globOptions(command)))
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, folder: string, options: UpdateOptions) => {
      // Not interruptible: a pipe that nobody writes to ends with the process only.
      const torrent = await readTorrent(file, options, folder);
      await interruptible((signal) => run(torrent, { file, folder, options, signal }));
    });
}

interface Run {
  file: string;
  folder: string;
  options: UpdateOptions;
  signal: AbortSignal;
}

async function run(torrent: Torrent, { file, folder, options, signal }: Run): Promise<void> {
  const context = contextOf(options);
  const target = await targetOf(file, options.output);
  if (!options.dryRun) await requireFree(target, options);
  const pathRoot = path.resolve(folder);
  await refuseParent(torrent, file, folder);
  const output = fileOf(target);
  const { pieceLength, memoryLimit } = options;
  // What is modified from now on may have been read before.
  const mtime = new Date();
  const progress = !options.quiet && !options.json;
  if (progress) stderr();
  const { onWarning, list: warnings } = new Warnings(options);
  const own = [path.resolve(file), ...(await ownOutput(output)), ...cacheFolders(options)];
  const result = await update(torrent, pathRoot, {
    ...(await globFilter(options, pathRoot, own)),
    since: options.since ?? (await madeAt(file, torrent)),
    pieceLength: pieceLength === 'auto' ? null : pieceLength,
    threads: options.threads ?? null,
    memoryLimit,
    cache: cacheOf(options),
    padNames: options.padNames,
    context,
    progress,
    signal,
    onWarning,
    output,
  });
  const isChanged = Buffer.compare(result.torrent.bencode(), torrent.bencode()) !== 0;
  const inPlace = options.output === undefined;
  if (!options.dryRun && (isChanged || !inPlace))
    await writeTorrent(result.torrent, target, { force: inPlace || (options.force ?? false), mtime });
  if (options.quiet && !options.json) return;
  await writeLines(
    options.json
      ? [printableJson({ ...toJson(result, target), warnings })]
      : linesOf(result, inPlace ? file : target, isChanged),
    reportTo(options.dryRun ? undefined : target),
  );
}

/** Of the folder that holds the folder of the torrent everything would be new. */
async function refuseParent(torrent: Torrent, file: string, folder: string): Promise<void> {
  const own = await ownFolderWithin(torrent, folder);
  if (own === null) return;
  const names = new Set(await readdir(folder));
  if (torrent.files.some((one) => names.has(one.path.split('/')[0] as string))) return;
  const message = `None of the torrent's files is in ${folder}. Did you mean: metainfo update ${shellWords(file, own)}`;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { path: folder });
}

/**
 * The earlier of its creation date and the time of its file. Undefined without a date: the file may be a copy that is newer
 * than a change, so its time alone proves nothing.
 */
async function madeAt(file: string, { creationDate }: Torrent): Promise<Date | undefined> {
  if (creationDate === null) return undefined;
  const mtime = await mtimeOf(file);
  return creationDate < mtime ? creationDate : mtime;
}

function toJson({ torrent, ...changes }: Updated, target: string) {
  const { infohashV1, infohashV2, nFiles, totalSize } = torrent;
  return { path: target, infohash: { v1: infohashV1, v2: infohashV2 }, files: nFiles, totalSize, ...changes };
}

function linesOf(
  { torrent, added, changed, removed, renamed, bytesRead }: Updated,
  target: string,
  isChanged: boolean,
): string[] {
  const { infohashV1, infohashV2, totalSize } = torrent;
  return [
    `${nameOfTarget(target)}: ${isChanged ? 'another infohash' : 'nothing changes'}`,
    ...(infohashV1 ? [`infohash v1  ${infohashV1}`] : []),
    ...(infohashV2 ? [`infohash v2  ${infohashV2}`] : []),
    ...added.map((name) => `  + ${printable(name)}`),
    ...changed.map((name) => `  ~ ${printable(name)}`),
    ...removed.map((name) => `  - ${printable(name)}`),
    ...renamed.map(({ from, to }) => `  ${printable(from)} -> ${printable(to)}`),
    `read ${formatBytes(bytesRead)} of ${formatBytes(totalSize)}`,
  ];
}
