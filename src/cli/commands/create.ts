import path from 'node:path';
import { type Command, Option } from 'commander';
import { TorrentCreate, type TorrentCreateFields } from '../../create/torrent-create.ts';
import type { WarningOptions } from '../../create/warnings.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { defaultEngine } from '../../hash/default-engine.ts';
import type { Progress, WatchOptions } from '../../jobs/watch.ts';
import type { PadNames } from '../../layout/padding.ts';
import { formatBytes, printableJson } from '../../layout/text.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import { plural } from '../../model/pprint.ts';
import type { Torrent } from '../../model/torrent.ts';
import { type GlobOptions, globFilter, globOptions } from '../globs.ts';
import { interruptible } from '../interrupt.ts';
import {
  type CacheOptions,
  cacheFolders,
  cacheOf,
  cacheOptions,
  collect,
  collectTier,
  padNamesOption,
  parseDate,
  parsePieceLength,
  parseSize,
  parseThreads,
} from '../options.ts';
import { stderr, Warnings, writeLines } from '../output.ts';
import { rootAndPaths } from '../roots.ts';
import {
  fileOf,
  isFolder,
  isStdout,
  nameOfTarget,
  ownOutput,
  realFolder,
  reportTo,
  requireFree,
  writeTorrent,
} from '../target.ts';

interface CreateOptions extends CacheOptions, GlobOptions {
  engine: 'native' | 'libtorrent';
  output?: string;
  torrentVersion: TorrentVersion;
  /** What `--kind` gave, if it was used instead. */
  kind?: TorrentVersion;
  pieceLength: number | 'auto';
  padNames?: PadNames;
  tracker?: string[][];
  webseed?: string[];
  comment?: string;
  source?: string;
  private?: boolean;
  name?: string;
  similar?: string[];
  collection?: string[];
  createdBy?: string | boolean;
  date?: Date;
  threads?: number;
  memoryLimit?: number;
  readSize?: number;
  force?: boolean;
  quiet?: boolean;
  json?: boolean;
}

const VERSIONS: readonly TorrentVersion[] = ['v1', 'v2', 'hybrid'];

const EXAMPLES = `
Examples:
  metainfo create album                       album.torrent, a hybrid
  metainfo create -k v1 -t udp://a/x -t udp://b/x film.mkv
  metainfo create album -o /srv --exclude '*.nfo' --piece-length 1MiB --json
  metainfo create album --cache --date now    later only what changed is read

Seeding: libtorrent, qBittorrent, Deluge and rtorrent 0.16 seed a hybrid folder
from its files. Transmission, aria2, WebTorrent and rtorrent 0.9 cannot, as
they look for its pad files on disk: give these -k v1.

Exit codes: 0 done, 1 failed (the output exists, a file cannot be read),
2 wrong usage, 130 stopped: nothing is written.`;

export function addCreate(program: Command): void {
  const command = program
    .command('create')
    .description('make a torrent of a file, a folder or several of both')
    .argument('<path...>', 'what to put into the torrent; several are taken from the folder that they share')
    .option(
      '-o, --output <file>',
      'the torrent file, the folder for it, or - for standard output (default: NAME.torrent in the current folder)',
    )
    .addOption(new Option('-k, --torrent-version <version>', 'torrent version').choices(VERSIONS).default('hybrid'))
    .addOption(new Option('--kind <version>').choices(VERSIONS).conflicts('torrentVersion').hideHelp())
    .addOption(
      new Option('--piece-length <size>', 'a power of two such as 1MiB, or auto')
        .argParser(parsePieceLength)
        .default('auto'),
    )
    .addOption(padNamesOption())
    .option(
      '-t, --tracker <url>',
      'a tracker; repeat it for another tier, commas make one tier of several',
      collectTier,
    )
    .option('-w, --webseed <url>', 'a webseed (repeatable)', collect)
    .option('--comment <text>', 'a comment')
    .option('--source <text>', 'the source: another one gives another infohash')
    .option('--private', 'peers from the trackers only')
    .option('--name <name>', 'the name (default: that of the file or folder)')
    .option('--similar <infohash>', 'a torrent that may hold the same files (repeatable)', collect)
    .option('--collection <name>', 'a collection that it belongs to (repeatable)', collect)
    .option('--created-by <text>', 'who made it (default: metainfo and its version)')
    .option('--no-created-by', 'do not say who made it')
    .option(
      '--date <date>',
      'the creation date: now, seconds since 1970 or ISO 8601 (default: SOURCE_DATE_EPOCH, else none)',
      parseDate,
    )
    .addOption(
      new Option(
        '--engine <engine>',
        'what hashes: native (METAINFO_ENGINE=node: without native code); libtorrent needs `npm run build:libtorrent`',
      )
        .choices(['native', 'libtorrent'])
        .default('native'),
    )
    .option('--threads <n>', 'how many threads hash (default: one a core)', parseThreads)
    .option('--memory-limit <size>', 'for all buffers (default: 64MiB a thread)', parseSize)
    .option('--read-size <size>', 'bytes a read, a power of two (default: 1MiB for v2, else 128KiB)', parseSize);
  cacheOptions(globOptions(command))
    .option('--force', 'replace the output if it exists')
    .option('-q, --quiet', 'no progress, no summary')
    .option('--json', 'one JSON object instead of the summary')
    .addHelpText('after', EXAMPLES)
    .action((paths: string[], options: CreateOptions) => interruptible((signal) => create(paths, options, signal)));
}

async function create(paths: string[], options: CreateOptions, signal: AbortSignal): Promise<void> {
  const roots = rootAndPaths(paths);
  const name = options.name ?? path.basename(roots.pathRoot);
  const target = await outputPath(options.output, name);
  await requireFree(target, { ...options, output: target });
  const file = fileOf(target);
  const output = file && path.join(await realFolder(file), path.basename(file));
  const filter = await globFilter(options, roots.pathRoot, [...(await ownOutput(output)), ...cacheFolders(options)]);
  const draft = new TorrentCreate({ ...draftFields(options), ...roots, ...filter });
  const progress = !options.quiet && !options.json;
  // The library writes the bar, and knows nothing of closed terminals.
  if (progress) stderr();
  const started = process.uptime();
  // For `update`: what is modified from now on may have been read before.
  const mtime = new Date();
  const { onWarning, list: warnings } = new Warnings(options);
  const { torrent, ...how } = await made(draft, options, { progress, signal, onWarning, output });
  const seconds = process.uptime() - started;
  await writeTorrent(torrent, target, { force: options.force ?? false, mtime });
  await report(torrent, { target, seconds, warnings, ...how }, options);
}

interface HowMade {
  torrent: Torrent;
  /** What hashed. */
  kernel: string;
  /** With a cache: of files that it did not know. */
  bytesRead: number | null;
}

/** What both engines take. */
type Watched = WatchOptions & WarningOptions & { output: string | undefined };

async function made(draft: TorrentCreate, options: CreateOptions, watched: Watched): Promise<HowMade> {
  const { kind, torrentVersion, threads = null, memoryLimit, readSize, padNames } = options;
  const cache = cacheOf(options);
  if (options.engine === 'libtorrent') {
    const others = {
      '--cache': cache || undefined,
      '--memory-limit': memoryLimit,
      '--read-size': readSize,
      '--pad-names': padNames,
    };
    const [given] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
    if (given) throw new MetainfoError('ERR_INVALID_ARGUMENT', `${given} is of the native engine: leave it out.`);
    const { generateExt, libtorrent } = await import('../../create/libtorrent.ts');
    const torrent = await generateExt(draft, { version: kind ?? torrentVersion, threads, ...watched });
    return { torrent, kernel: `libtorrent ${libtorrent().version}`, bytesRead: null };
  }
  const engine = defaultEngine();
  let bytesRead = 0;
  const onProgress = ({ bytes }: Progress) => {
    bytesRead = bytes;
  };
  const noted = cache && { onProgress };
  const torrent = await draft.generate({
    version: kind ?? torrentVersion,
    threads,
    memoryLimit,
    readSize,
    padNames,
    engine,
    cache,
    ...noted,
    ...watched,
  });
  return { torrent, kernel: engine.kernel, bytesRead: cache ? bytesRead : null };
}

async function outputPath(output: string | undefined, name: string): Promise<string> {
  const file = `${name}.torrent`;
  if (output === undefined) return file;
  if (isStdout(output)) return output;
  return (await isFolder(output)) ? path.join(output, file) : output;
}

function draftFields(options: CreateOptions): TorrentCreateFields {
  const { createdBy, name, source } = options;
  return {
    info: {
      ...(name !== undefined && { name }),
      ...(source !== undefined && { source }),
      ...(options.private && { private: true }),
    },
    pieceLength: options.pieceLength === 'auto' ? null : options.pieceLength,
    trackers: options.tracker,
    urlList: options.webseed,
    comment: options.comment,
    similar: options.similar,
    collections: options.collection,
    creationDate: options.date,
    createdBy: createdBy === false ? null : typeof createdBy === 'string' ? createdBy : undefined,
  };
}

interface Made extends Omit<HowMade, 'torrent'> {
  warnings: Warnings['list'];
  target: string;
  seconds: number;
}

async function report(torrent: Torrent, how: Made, { json, quiet }: CreateOptions): Promise<void> {
  const { target, seconds, kernel, warnings } = how;
  if (quiet && !json) return;
  const { totalSize, infohashV1, infohashV2, nFiles, nPieces, info } = torrent;
  const bytesRead = how.bytesRead ?? totalSize;
  const bytesPerSecond = Math.round(bytesRead / seconds);
  if (json) {
    const object = {
      path: target,
      version: torrent.torrentVersion,
      name: info.name,
      infohash: { v1: infohashV1, v2: infohashV2 },
      pieceLength: info.pieceLength,
      pieces: nPieces,
      files: nFiles,
      totalSize,
      ...(how.bytesRead !== null && { bytesRead }),
      seconds,
      bytesPerSecond,
      kernel,
      warnings,
    };
    await writeLines([printableJson(object)]);
    return;
  }
  const lines = [
    `${nameOfTarget(target)}: ${torrent.torrentVersion}, ${plural(nFiles, 'file')}, ${formatBytes(totalSize)}, ${plural(nPieces, 'piece')} of ${formatBytes(info.pieceLength)}`,
    ...(infohashV1 ? [`infohash v1  ${infohashV1}`] : []),
    ...(infohashV2 ? [`infohash v2  ${infohashV2}`] : []),
    ...(bytesRead < totalSize ? [`read ${formatBytes(bytesRead)}: the rest was in the cache`] : []),
    ...(bytesRead > 0 ? [`hashed in ${seconds.toFixed(2)} s (${formatBytes(bytesPerSecond)}/s, ${kernel})`] : []),
  ];
  await writeLines(lines, reportTo(target));
}
