/** `metainfo create`: creates a torrent from files and folders. */
import path from 'node:path';
import { type Command, Option } from 'commander';
import { TorrentCreate } from '../../create/draft.ts';
import type { TorrentCreateFields } from '../../create/draft-fields.ts';
import type { WarningOptions } from '../../create/warnings.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { defaultEngine } from '../../hash/default-engine.ts';
import type { WatchOptions } from '../../jobs/watch.ts';
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
  type HashingOptions,
  hashingOptions,
  type OutputOptions,
  type PadNamesOptions,
  padNamesOption,
  parseDate,
  parsePieceLength,
  parseSize,
  type SummaryOptions,
  summaryOptions,
} from '../options.ts';
import { showsProgress, Warnings, writeLines } from '../output.ts';
import { rootAndPaths } from '../roots.ts';
import {
  fileOf,
  isFolder,
  isStdout,
  nameOfTarget,
  outputToSkip,
  realFolder,
  reportTo,
  requireWritable,
  writeTorrent,
} from '../target.ts';

interface MetadataOptions {
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
}

interface CreateOptions
  extends MetadataOptions,
    CacheOptions,
    GlobOptions,
    HashingOptions,
    OutputOptions,
    PadNamesOptions,
    SummaryOptions {
  maker: 'metainfo' | 'libtorrent';
  torrentVersion: TorrentVersion;
  /** The value of `--kind`, which stands for `--torrent-version`. */
  kind?: TorrentVersion;
  pieceLength: number | 'auto';
  readSize?: number;
}

const VERSIONS: readonly TorrentVersion[] = ['v1', 'v2', 'hybrid'];

const EXAMPLES = `
Examples:
  metainfo create album                       write album.torrent, a hybrid
  metainfo create -k v1 -t udp://a/x -t udp://b/x film.mkv
  metainfo create album -o /srv --exclude '*.nfo' --piece-length 1MiB --json
  metainfo create album --cache --date now    reads only changed files next time

Seeding: libtorrent, qBittorrent, Deluge and rtorrent 0.16 seed a folder from a
hybrid. Transmission, aria2, WebTorrent and rtorrent 0.9 cannot, because they
expect the pad files on disk: create a v1 torrent for them (-k v1).

Exit codes: 0 success, 1 failure (the output exists, a file cannot be read),
2 wrong usage, 130 cancelled (nothing is written).`;

export function addCreate(program: Command): void {
  const command = program
    .command('create')
    .description('create a torrent from files and folders')
    .argument('<path...>', 'a file or folder; the root of several paths is their common folder')
    .option(
      '-o, --output <file>',
      'the torrent file, a folder for it, or - for standard output (default: NAME.torrent in the current folder)',
    )
    .addOption(new Option('-k, --torrent-version <version>', 'torrent version').choices(VERSIONS).default('hybrid'))
    .addOption(new Option('--kind <version>').choices(VERSIONS).conflicts('torrentVersion').hideHelp())
    .addOption(
      new Option('--piece-length <size>', 'a power of two such as 1MiB, or auto')
        .argParser(parsePieceLength)
        .default('auto'),
    )
    .addOption(padNamesOption());
  metadataOptions(command).addOption(
    new Option('--maker <maker>', 'code that creates the torrent; libtorrent needs `npm run build:libtorrent`')
      .choices(['metainfo', 'libtorrent'])
      .default('metainfo'),
  );
  hashingOptions(command).option(
    '--read-size <size>',
    'bytes per read, a power of two (default: 1MiB for v2, else 128KiB)',
    parseSize,
  );
  cacheOptions(globOptions(command)).option('--force', 'replace the output if it exists');
  summaryOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((paths: string[], options: CreateOptions) => interruptible((signal) => create(paths, options, signal)));
}

function metadataOptions(command: Command): Command {
  return command
    .option(
      '-t, --tracker <url>',
      'tracker URL; repeat it for more tiers, or list the URLs of one tier with commas',
      collectTier,
    )
    .option('-w, --webseed <url>', 'webseed URL (repeatable)', collect)
    .option('--comment <text>', 'comment')
    .option('--source <text>', 'source tag (changes the infohash)')
    .option('--private', 'get peers from the trackers only')
    .option('--name <name>', 'name of the torrent (default: that of the file or folder)')
    .option('--similar <infohash>', 'a torrent that may share files with this one (repeatable)', collect)
    .option('--collection <name>', 'a collection that the torrent belongs to (repeatable)', collect)
    .option('--created-by <text>', 'creating program (default: metainfo and its version)')
    .option('--no-created-by', 'omit the creating program')
    .option(
      '--date <date>',
      'creation date: now, seconds since 1970 or ISO 8601 (default: SOURCE_DATE_EPOCH, else none)',
      parseDate,
    );
}

async function create(paths: string[], options: CreateOptions, signal: AbortSignal): Promise<void> {
  const roots = rootAndPaths(paths);
  const name = options.name ?? path.basename(roots.pathRoot);
  const target = await targetFor(options.output, name);
  await requireWritable(target, { ...options, output: target });
  const file = fileOf(target);
  const output = file && path.join(await realFolder(file), path.basename(file));
  const skipped = [...(await outputToSkip(output)), ...cacheFolders(options)];
  const filter = await globFilter(options, roots.pathRoot, skipped);
  const draft = new TorrentCreate({ ...draftFields(options), ...roots, ...filter });
  const progress = showsProgress(options);
  const started = process.uptime();
  // Taken before hashing: `update` must read files again that change from now on.
  const mtime = new Date();
  const { onWarning, list: warnings } = new Warnings(options);
  const creation = await createTorrent(draft, options, { progress, signal, onWarning, output });
  const seconds = process.uptime() - started;
  await writeTorrent(creation.torrent, target, { force: options.force ?? false, mtime });
  if (options.quiet && !options.json) return;
  const summary = { ...creation, target, seconds, warnings };
  await writeLines(options.json ? [printableJson(toJson(summary))] : linesOf(summary), reportTo(target));
}

interface Creation {
  torrent: Torrent;
  /** The kernel, or libtorrent with its version. */
  kernel: string;
  /** With a cache, the bytes of the files that it did not know; null without a cache, where every byte is read. */
  bytesRead: number | null;
}

/** The options that both makers take. */
type MakerOptions = WatchOptions & WarningOptions & { output: string | undefined };

function createTorrent(draft: TorrentCreate, options: CreateOptions, shared: MakerOptions): Promise<Creation> {
  return options.maker === 'libtorrent'
    ? createWithLibtorrent(draft, options, shared)
    : createWithMetainfo(draft, options, shared);
}

async function createWithLibtorrent(
  draft: TorrentCreate,
  options: CreateOptions,
  shared: MakerOptions,
): Promise<Creation> {
  const { kind, torrentVersion, threads = null } = options;
  const unsupported = Object.entries({
    '--memory-limit': options.memoryLimit,
    '--read-size': options.readSize,
    '--pad-names': options.padNames,
    '--cache': options.cache,
    '--cache-dir': options.cacheDir,
  }).find(([, value]) => value !== undefined);
  if (unsupported) {
    const message = `${unsupported[0]} works only with --maker metainfo: omit one of them.`;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
  }
  const { generateExt, libtorrent } = await import('../../create/libtorrent.ts');
  const torrent = await generateExt(draft, { version: kind ?? torrentVersion, threads, ...shared });
  return { torrent, kernel: `libtorrent ${libtorrent().version}`, bytesRead: null };
}

async function createWithMetainfo(
  draft: TorrentCreate,
  options: CreateOptions,
  shared: MakerOptions,
): Promise<Creation> {
  const { kind, torrentVersion, threads = null, memoryLimit, readSize, padNames } = options;
  const engine = defaultEngine();
  const cache = cacheOf(options);
  let bytesRead = 0;
  const torrent = await draft.generate({
    version: kind ?? torrentVersion,
    threads,
    memoryLimit,
    readSize,
    padNames,
    engine,
    cache,
    ...(cache !== false && {
      onProgress: ({ bytes }) => {
        bytesRead = bytes;
      },
    }),
    ...shared,
  });
  return { torrent, kernel: engine.kernel, bytesRead: cache ? bytesRead : null };
}

async function targetFor(output: string | undefined, name: string): Promise<string> {
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

interface Summary extends Creation {
  target: string;
  seconds: number;
  warnings: Warnings['list'];
}

function toJson({ torrent, target, seconds, kernel, warnings, bytesRead }: Summary): object {
  const { totalSize, infohashV1, infohashV2, nFiles, nPieces, info } = torrent;
  return {
    path: target,
    version: torrent.torrentVersion,
    name: info.name,
    infohash: { v1: infohashV1, v2: infohashV2 },
    pieceLength: info.pieceLength,
    pieces: nPieces,
    files: nFiles,
    totalSize,
    ...(bytesRead !== null && { bytesRead }),
    seconds,
    bytesPerSecond: Math.round((bytesRead ?? totalSize) / seconds),
    kernel,
    warnings,
  };
}

function linesOf({ torrent, target, seconds, kernel, ...summary }: Summary): string[] {
  const { totalSize, infohashV1, infohashV2, nFiles, nPieces, info } = torrent;
  const bytesRead = summary.bytesRead ?? totalSize;
  const files = `${plural(nFiles, 'file')}, ${formatBytes(totalSize)}`;
  const pieces = `${plural(nPieces, 'piece')} of ${formatBytes(info.pieceLength)}`;
  const speed = `${formatBytes(Math.round(bytesRead / seconds))}/s, ${kernel}`;
  return [
    `${nameOfTarget(target)}: ${torrent.torrentVersion}, ${files}, ${pieces}`,
    ...(infohashV1 ? [`infohash v1  ${infohashV1}`] : []),
    ...(infohashV2 ? [`infohash v2  ${infohashV2}`] : []),
    ...(bytesRead < totalSize
      ? [`read ${formatBytes(bytesRead)} of ${formatBytes(totalSize)}; the cache provided the rest`]
      : []),
    ...(bytesRead > 0 ? [`hashed in ${seconds.toFixed(2)} s (${speed})`] : []),
  ];
}
