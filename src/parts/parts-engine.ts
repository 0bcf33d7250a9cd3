/** An engine that sends the parts of every hash job elsewhere, so that all jobs of this library can run on other machines. */
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { componentsWithin } from '../disk/path-within.ts';
import { hashingCancelled, untilAbort } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { Callback, checkOptions, invalidArgument, type OptionStructs, Path } from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import type { Engine } from '../hash/engine.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import {
  checkedResources,
  type Digests,
  type HashJob,
  type HashRequest,
  isPad,
  type RequestedFile,
} from '../hash/hash-request.ts';
import { compareBytes, utf8Bytes, utf8Text } from '../platform/node.ts';
import { JoinedDigests } from './joined-digests.ts';
import { type NewPlan, newPlan, noFiles, type PartsPlan, type PlanFiles, type SplitPlan } from './plan.ts';
import { payloadBytes, payloadOf, unsealed } from './sealed-part.ts';
import { Count, PartSize, rangesOf } from './split-into-parts.ts';

/** Accompanies a part that is hashed elsewhere. */
export interface RunPartContext {
  /** Fires when the part is no longer needed. */
  signal: AbortSignal;
  /** Reports the bytes of the part that are hashed so far. */
  onProgress: (bytes: number) => void;
  /**
   * Checks a sealed part that may be damaged or of another plan, before it is returned.
   *
   * @throws {PartError} `ERR_PART`
   */
  check: (sealed: Uint8Array) => void;
}

/** Options of {@link partsEngine}. */
export interface PartsEngineOptions {
  /**
   * Has a part hashed elsewhere, by {@link hashPart}, and gives the sealed part. The plan is plain data. Its nonce is new for each hash
   * job by default, so its parts must not be taken from a store: a verification must read the content.
   *
   * @param index The index of the part, from 0.
   */
  run: (plan: PartsPlan, index: number, context: RunPartContext) => Promise<Uint8Array>;
  /**
   * Bytes of content of a part; `auto` chooses by the content.
   *
   * @default 'auto'
   */
  partSize?: number | 'auto' | undefined;
  /**
   * The folder that all files are below: the paths in the plans are relative to it. On a machine that has it elsewhere, that place is the
   * option `root` of {@link hashPart}.
   *
   * @default the root of the file system
   */
  root?: string | URL | undefined;
  /**
   * The name of the root in the plans, for machines that have it elsewhere.
   *
   * @default the root
   */
  remoteRoot?: string | undefined;
  /**
   * Parts that are under way at once.
   *
   * @default 64
   */
  concurrency?: number | undefined;
  /**
   * Gives the nonce of the plan of a hash job. Parts of an interrupted job fit the same job with the same nonce.
   *
   * @default a new one for each job
   */
  nonce?: (() => Promise<string>) | undefined;
}

const OPTIONS: OptionStructs<PartsEngineOptions> = {
  run: Callback,
  partSize: PartSize,
  root: Path,
  remoteRoot: Path,
  concurrency: Count,
  nonce: Callback,
};

/**
 * Makes an engine that sends the parts of each hash job elsewhere. With it, `generate`, `verify`, `update` and `upgrade` run on a
 * cluster. Content in memory is hashed in this process. `upgrade` has every file hashed twice: as a v1 torrent and as a hybrid.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`; `ERR_NOT_FOUND` for the root. Hash jobs fail with `ERR_PATH_OUTSIDE` for files that
 *   are not below the root, with `ERR_PART` for a part that is damaged or of another plan, and with the errors of `run`
 * @example
 * ```ts
 * import path from 'node:path';
 * import { hashPart, partsEngine, TorrentCreate, verify } from 'metainfo';
 *
 * // Send the plan and the index to another machine instead, and let it call hashPart.
 * const engine = partsEngine({ partSize: 2 ** 30, run: (plan, index) => hashPart(plan, index) });
 * const torrent = await new TorrentCreate({ pathRoot: path.resolve('album') }).generate({ engine });
 * const { ok } = await verify(torrent, 'album', { engine });
 * console.log(ok);
 * ```
 * ```text
 * true
 * ```
 */
export function partsEngine(options: PartsEngineOptions): Engine {
  const checked = checkOptions(options, OPTIONS, { example: '{ run: (plan, index) => hashPart(plan, index) }' });
  const { run, partSize = 'auto', root: given, remoteRoot, concurrency = 64, nonce } = checked;
  if (!run) throw invalidArgument('partsEngine needs the option run, which has a part hashed elsewhere');
  const root = realRootSync(given ?? path.parse(process.cwd()).root);
  const local = defaultEngine();
  return {
    name: 'parts',
    get kernel() {
      return local.kernel;
    },
    start: (request) => {
      const files = [...request.files];
      if (files.every((file) => file.path === null)) return local.start(request);
      if (request.onMissing === 'mark') throw invalidArgument('the parts engine cannot mark missing files');
      return startParts({ ...request, files }, { root, remoteRoot, partSize, concurrency, run, nonce, local });
    },
  };
}

function realRootSync(root: string): string {
  try {
    return realpathSync(root);
  } catch (error) {
    throw fromSystemError(error, root, 'read');
  }
}

interface PartsJobOptions extends Pick<PartsEngineOptions, 'run' | 'nonce'>, Pick<NewPlan, 'root' | 'partSize'> {
  concurrency: number;
  remoteRoot: string | undefined;
  /** The engine for content in memory. */
  local: Engine;
}

type Request = HashRequest & { files: readonly RequestedFile[] };

function startParts(
  request: Request,
  { root, remoteRoot = root, partSize, concurrency, run, nonce, local }: PartsJobOptions,
): HashJob {
  const { version, pieceLength, paddedFiles = 0 } = request;
  const { split, plan: made } = newPlan({
    nonce: nonce?.() ?? randomBytes(16).toString('hex'),
    root: remoteRoot,
    version,
    pieceLength,
    paddedFiles,
    partSize,
    torrent: null,
    files: filesOf(request.files, root),
  });
  made.catch(() => {});
  const stop = new AbortController();
  // Memory may change once this returns, so its jobs start now.
  const inMemory = startInMemory(request, split, local);
  /** Bytes of each part that runs or has ended elsewhere. */
  const bytesOf = new Map<number, number>();
  let fileIndex = 0;
  const remote = async (index: number): Promise<Uint8Array> => {
    const plan = await made;
    fileIndex = Math.max(fileIndex, split.parts.files[index] as number);
    const onProgress = (bytes: number) => void bytesOf.set(index, bytes);
    const opened = (sealed: Uint8Array) => unsealed(sealed, { id: plan.id, index, length: payloadBytes(split, index) });
    const check = (sealed: Uint8Array) => void opened(sealed);
    const payload = opened(await run(plan, index, { signal: stop.signal, onProgress, check }));
    const content = [...rangesOf(split, index)].filter(({ file }) => split.files.path[file] !== null);
    onProgress(content.reduce((sum, { length }) => sum + length, 0));
    return payload;
  };
  const finish = async (): Promise<Digests> => {
    const joined = new JoinedDigests(split);
    const options = { concurrency, signal: stop.signal };
    await forEachConcurrently(Array(split.parts.count).keys(), options, async (index, _index, signal) => {
      const local = inMemory.get(index)?.done.then((digests) => payloadOf(split, index, digests));
      joined.add(index, await untilAbort(signal, local ?? remote(index)));
    });
    return joined.finish();
  };
  const cancel = () => {
    stop.abort();
    for (const job of inMemory.values()) job.cancel();
  };
  const done = finish().catch((error: unknown) => {
    const isCancelled = stop.signal.aborted;
    cancel();
    throw isCancelled ? hashingCancelled() : error;
  });
  done.catch(() => {});
  const progress = () => {
    const local = Array.from(inMemory.values(), (job) => job.progress().bytes);
    return { bytes: [...local, ...bytesOf.values()].reduce((sum, bytes) => sum + bytes, 0), fileIndex, queued: 0 };
  };
  return { done, cancel, progress };
}

/** The path of content in memory. Its parts never leave this process. */
const IN_MEMORY = '(in memory)';

/** The files of a plan. Throws `ERR_PATH_OUTSIDE` for a file that is not below the root. */
function filesOf(requested: readonly RequestedFile[], root: string): PlanFiles {
  const columns = noFiles();
  for (const [index, file] of requested.entries()) {
    const { offset, length, size, mtimeMs } = file;
    const inMemory = isPad(file) ? null : IN_MEMORY;
    columns.path.push(file.path === null ? inMemory : relativePath(file.path, root));
    columns.length.push(length);
    columns.mtimeMs.push(Number.isNaN(mtimeMs) ? null : mtimeMs);
    columns.ctimeMs.push(null);
    if (offset !== 0 || size !== length) columns.shares[index] = { offset, size };
  }
  return columns;
}

function relativePath(file: string | Uint8Array, root: string): string {
  const text = typeof file === 'string' ? file : utf8Text(file);
  const components =
    typeof file === 'string' || compareBytes(utf8Bytes(text), file) === 0 ? componentsWithin(root, text) : null;
  if (components) return components.join('/');
  const message = `${text} is not below ${root}: other machines could not find it. Choose another root for the parts.`;
  throw new MetainfoError('ERR_PATH_OUTSIDE', message, { path: text });
}

/** Starts to hash the parts with content in memory: their jobs by the index of the part. */
function startInMemory(request: Request, split: SplitPlan, local: Engine): Map<number, HashJob> {
  const { files, threads, version, paddedFiles = 0 } = request;
  const jobs = new Map<number, HashJob>();
  if (!files.some(({ data }) => data)) return jobs;
  for (let index = 0; index < split.parts.count; index += 1) {
    const ranges = [...rangesOf(split, index)];
    if (!ranges.some(({ file }) => files[file]?.data)) continue;
    const shares = ranges.map(({ file: at, offset, length }) => {
      const file = files[at] as RequestedFile;
      return { ...file, offset: file.offset + offset, length };
    });
    const padded = ranges.filter(({ file }) => file < paddedFiles).length;
    const resources = checkedResources({ threads }, version);
    const job = local.start({ ...request, files: shares, paddedFiles: padded, ...resources });
    job.done.catch(() => {});
    jobs.set(index, job);
  }
  return jobs;
}
