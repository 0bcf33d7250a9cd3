/** An engine that sends the parts of every hash plan elsewhere, so that all jobs of this library can run on other machines. */
import { realpathSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { hashingCancelled, untilAbort } from '../errors/cancel.ts';
import { fromSystemError } from '../errors/errors.ts';
import { Callback, checkOptions, expected, invalidArgument, type OptionStructs, Path } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import type { Engine } from '../hash/engine.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import {
  checkedResources,
  type Digests,
  type HashJob,
  type HashRequest,
  type JobProgress,
  type RequestedFile,
} from '../hash/hash-request.ts';
import { type PortableHashPlan, portableHashPlan, restoredHashPlan } from './hash-plan.ts';
import { JoinedDigests } from './joined-digests.ts';
import { payloadBytes, payloadOf, rangesOf, type SplitPlan } from './part-payload.ts';
import { unsealed } from './sealed-part.ts';
import type { PartRange } from './split-into-parts.ts';

/** Accompanies a part that is hashed elsewhere. */
export interface RunPartContext {
  /** Fires when the part is no longer needed. */
  signal: AbortSignal;
  /** Reports the bytes of the part that are hashed so far. */
  onProgress: (bytes: number) => void;
}

/** Options of {@link partsEngine}. */
export interface PartsEngineOptions {
  /**
   * Has a part hashed elsewhere, by {@link hashPart}, and gives the sealed part. The plan is plain data. Its nonce is new for each hash
   * job, so its parts must not be taken from a store: a verification must read the content.
   *
   * @param index The index of the part, from 0.
   */
  run: (plan: PortableHashPlan, index: number, context: RunPartContext) => Promise<Uint8Array>;
  /**
   * Bytes of content of a part.
   *
   * @default 4 GiB
   */
  partSize?: number | undefined;
  /**
   * The folder that all files are below: the paths in the plans are relative to it. On a machine that has it elsewhere, that place is the
   * option `root` of {@link hashPart}.
   *
   * @default the root of the file system
   */
  root?: string | undefined;
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
}

const Count = expected<number>(
  'a whole number of at least 1',
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
);
const OPTIONS: OptionStructs<PartsEngineOptions> = {
  run: Callback,
  partSize: Count,
  root: Path,
  remoteRoot: Path,
  concurrency: Count,
};

const PART_SIZE = 4 * 2 ** 30;

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
  const {
    run,
    partSize = PART_SIZE,
    root: given,
    remoteRoot,
    concurrency = 64,
  } = checkOptions(options, OPTIONS, {
    example: '{ run: (plan, index) => hashPart(plan, index) }',
  });
  if (!run) throw invalidArgument('partsEngine needs the option run, which has a part hashed elsewhere');
  const root = realRootSync(given ?? path.parse(process.cwd()).root);
  const local = defaultEngine();
  return {
    name: 'parts',
    kernel: local.kernel,
    start: (plan) => {
      const files = [...plan.files];
      if (files.every((file) => file.path === null)) return local.start(plan);
      if (plan.onMissing === 'mark') throw invalidArgument('the parts engine cannot mark missing files');
      return new PartsJob({ plan, files, root, remoteRoot, partSize, concurrency, run, local });
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

interface PartsJobOptions extends Pick<PartsEngineOptions, 'run'> {
  concurrency: number;
  plan: HashRequest;
  files: readonly RequestedFile[];
  root: string;
  remoteRoot: string | undefined;
  partSize: number;
  /** The engine for content in memory. */
  local: Engine;
}

/** A hash job whose parts run elsewhere. */
class PartsJob implements HashJob {
  readonly done: Promise<Digests>;
  readonly #plan: PortableHashPlan;
  readonly #split: SplitPlan;
  readonly #options: PartsJobOptions;
  readonly #stop = new AbortController();
  readonly #local: HashJob[] = [];
  /** Bytes of each part that runs or has ended. */
  readonly #bytes = new Map<number, number>();
  #file = 0;
  #fail: (error: unknown) => void = () => {};

  constructor(options: PartsJobOptions) {
    const { plan, files, root, remoteRoot, partSize } = options;
    this.#options = options;
    this.#plan = portableHashPlan({ ...plan, files }, { root, remoteRoot, partSize });
    this.#split = restoredHashPlan(this.#plan).split;
    // Memory may change once this returns, so its jobs start now.
    const apart = this.#partsInMemory();
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.done = Promise.race([this.#run(apart), failed]).catch((error: unknown) => {
      this.cancel();
      throw error;
    });
    this.done.catch(() => {});
  }

  progress(): JobProgress {
    let bytes = this.#local.reduce((sum, job) => sum + job.progress().bytes, 0);
    for (const part of this.#bytes.values()) bytes += part;
    return { bytes, fileIndex: this.#file, queued: 0 };
  }

  cancel(): void {
    this.#stop.abort();
    for (const job of this.#local) job.cancel();
    this.#fail(hashingCancelled());
  }

  /** Starts to hash the parts with content in memory. */
  #partsInMemory(): Map<number, Promise<Uint8Array>> {
    const { files, local, plan } = this.#options;
    const found = new Map<number, Promise<Uint8Array>>();
    if (!files.some(({ data }) => data)) return found;
    for (let index = 0; index < this.#split.parts.count; index += 1) {
      const ranges = [...rangesOf(this.#split, index)];
      if (!ranges.some(({ file }) => files[file]?.data)) continue;
      const { paddedFiles } = this.#split;
      const job = local.start({
        ...plan,
        files: ranges.map((range) => shareOf(files[range.file] as RequestedFile, range)),
        paddedFiles: ranges.filter((range) => range.file < (paddedFiles ?? 0)).length,
        ...checkedResources({ threads: plan.threads }, plan.version, availableParallelism()),
      });
      this.#local.push(job);
      const payload = job.done.then((digests) => payloadOf(this.#split, index, { digests, ranges }));
      payload.catch(() => {});
      found.set(index, payload);
    }
    return found;
  }

  async #run(apart: ReadonlyMap<number, Promise<Uint8Array>>): Promise<Digests> {
    const joined = await JoinedDigests.of(this.#split);
    const options = { concurrency: this.#options.concurrency, signal: this.#stop.signal };
    await forEachConcurrently(Array(this.#split.parts.count).keys(), options, async (index, _index, signal) => {
      joined.add(index, await untilAbort(signal, apart.get(index) ?? this.#remote(index)));
    });
    const { pieces, trees } = await joined.finish();
    return { ...(pieces && { v1: pieces }), ...(trees && { v2: trees }), missing: [] };
  }

  async #remote(index: number): Promise<Uint8Array> {
    this.#file = Math.max(this.#file, this.#split.parts.files[index] as number);
    const onProgress = (bytes: number) => void this.#bytes.set(index, bytes);
    const sealed = await this.#options.run(this.#plan, index, { signal: this.#stop.signal, onProgress });
    const payload = unsealed(sealed, { id: this.#split.id, index, length: payloadBytes(this.#split, index) });
    let bytes = 0;
    for (const { file, length } of rangesOf(this.#split, index)) if (!this.#split.isPad(file)) bytes += length;
    this.#bytes.set(index, bytes);
    return payload;
  }
}

/** A share of a plan file. */
function shareOf(file: RequestedFile, { offset, length }: PartRange): RequestedFile {
  return { ...file, offset: file.offset + offset, length };
}
