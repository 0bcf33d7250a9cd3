/** Runs one creation: from the paths and options of a command line to a written torrent. */
import path from 'node:path';
import type { TorrentCreate } from '../../create/draft.ts';
import type { WarningOptions } from '../../create/warnings.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { defaultEngine } from '../../hash/default-engine.ts';
import type { Progress, WatchOptions } from '../../jobs/watch.ts';
import type { Torrent } from '../../model/torrent.ts';
import { cacheOf } from '../options.ts';
import { rootAndPaths } from '../roots.ts';
import { fileOf, isFolder, isStdout, realFolder, requireWritable, writeTorrent } from '../target.ts';
import { draftOf } from './draft-of.ts';
import type { CreateOptions } from './options.ts';

/** Callbacks and the signal of a creation. */
export type CreateWatch = WatchOptions & WarningOptions;

/** A torrent that was created and written. */
export interface Created extends Creation {
  /** The torrent file, or `-` for standard output. */
  target: string;
  /** The time from the scan to the last hash. */
  seconds: number;
}

/** Creates a torrent and writes it. */
export async function runCreate(
  paths: readonly string[],
  options: CreateOptions,
  watch: CreateWatch,
): Promise<Created> {
  const target = await targetFor(paths, options);
  await requireWritable(target, { ...options, output: target });
  const file = fileOf(target);
  const output = file && path.join(await realFolder(file), path.basename(file));
  const draft = await draftOf(paths, options, output);
  const started = process.uptime();
  // Taken before hashing: `update` must read files again that change from now on.
  const mtime = new Date();
  const creation = await createTorrent(draft, options, { ...watch, output });
  const seconds = process.uptime() - started;
  await writeTorrent(creation.torrent, target, { force: options.force ?? false, mtime });
  return { ...creation, target, seconds };
}

/** The torrent file of a creation: by default `NAME.torrent` in the current folder. */
export async function targetFor(paths: readonly string[], { output, name }: CreateOptions): Promise<string> {
  const file = `${name ?? path.basename(rootAndPaths(paths).pathRoot)}.torrent`;
  if (output === undefined) return file;
  if (isStdout(output)) return output;
  return (await isFolder(output)) ? path.join(output, file) : output;
}

/** A torrent that was created. */
interface Creation {
  torrent: Torrent;
  /** The kernel, or libtorrent with its version. */
  kernel: string;
  /** With a cache, the bytes of the files that it did not know; null without a cache, where every byte is read. */
  bytesRead: number | null;
}

/** The options that both makers take. */
type MakerOptions = CreateWatch & { output: string | undefined };

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
    ...shared,
    ...(cache !== false && {
      onProgress: (progress: Progress) => {
        bytesRead = progress.bytes;
        return shared.onProgress?.(progress);
      },
    }),
  });
  return { torrent, kernel: engine.kernel, bytesRead: cache ? bytesRead : null };
}
