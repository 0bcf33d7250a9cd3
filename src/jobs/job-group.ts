/** Runs the hash jobs of one job as a group: they fail, are cancelled and report progress together. */
import { hashingCancelled } from '../errors/cancel.ts';
import type { Engine, Retrying } from '../hash/engine.ts';
import type { Digests, HashJob, HashRequest } from '../hash/hash-request.ts';
import { allowListeners } from '../platform/node.ts';

/** The progress of all hash jobs of a group. */
export interface GroupProgress {
  /** Bytes of content hashed by all hash jobs of the group, ended ones too. */
  bytes: number;
  /** Bytes hashed by the named hash jobs alone. */
  namedBytes: number;
  /** The file that the newest named hash job reads; empty before the first one starts. */
  file: string;
  /** Jobs of this process that go first while every running hash job of the group waits for a thread; else 0. */
  queued: number;
  /** See {@link JobProgress}. */
  retrying?: Retrying;
}

/** A group of hash jobs. The first failure cancels the others and is the failure of the group. */
export class JobGroup {
  readonly #engine: Engine;
  readonly #stop = new AbortController();
  /** The jobs that run, and whether each has a name. */
  readonly #running = new Map<HashJob, boolean>();
  readonly #unsettled = new Set<Promise<unknown>>();
  #failure: { error: unknown } | null = null;
  /** Bytes of hash jobs that have ended. */
  #hashedBytes = 0;
  /** Bytes of those that had a name. */
  #namedBytes = 0;
  #newest: { job: HashJob; nameOf: (fileIndex: number) => string } | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
    // Every request of a stream may listen to it.
    allowListeners(this.#stop.signal);
  }

  /** Fires when the group is cancelled or fails. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Hashes a request. @param nameOf The name of a file, for {@link progress}. Without it, the hash job names no file. */
  run(request: HashRequest, nameOf?: (fileIndex: number) => string): Promise<Digests> {
    return this.track(this.#run(request, nameOf));
  }

  async #run(request: HashRequest, nameOf?: (fileIndex: number) => string): Promise<Digests> {
    if (this.signal.aborted) throw hashingCancelled();
    const job = this.#engine.start(request);
    this.#running.set(job, nameOf !== undefined);
    if (nameOf) this.#newest = { job, nameOf };
    try {
      return await job.done;
    } finally {
      this.#running.delete(job);
      const { bytes } = job.progress();
      this.#hashedBytes += bytes;
      if (nameOf) this.#namedBytes += bytes;
    }
  }

  /** Makes other work part of the group: if it fails, the group fails, and {@link finish} waits for its end. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#unsettled.add(work);
    work.catch((error) => this.fail(error)).finally(() => this.#unsettled.delete(work));
    return work;
  }

  /** Cancels all hash jobs. The first error of a group is kept: those that follow come from cancelling. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop.abort();
    for (const job of this.#running.keys()) job.cancel();
  }

  /** Fails with `ERR_ABORTED`. */
  cancel(): void {
    this.fail(hashingCancelled());
  }

  /** Waits for `work` and for everything in the group: buffers are in use until then. Rejects with the first failure. */
  async finish<T>(work: Promise<T>): Promise<T> {
    const [result] = await Promise.allSettled([work]);
    if (result.status === 'rejected') this.fail(result.reason);
    await Promise.allSettled(this.#unsettled);
    if (this.#failure) throw this.#failure.error;
    return (result as PromiseFulfilledResult<T>).value;
  }

  progress(): GroupProgress {
    const running = Array.from(this.#running, ([job, isNamed]) => ({ ...job.progress(), isNamed }));
    const retrying = running.find((job) => job.retrying)?.retrying;
    return {
      bytes: running.reduce((sum, { bytes }) => sum + bytes, this.#hashedBytes),
      namedBytes: running.reduce((sum, { bytes, isNamed }) => sum + (isNamed ? bytes : 0), this.#namedBytes),
      file: this.#newest?.nameOf(this.#newest.job.progress().fileIndex) ?? '',
      ...(retrying && { retrying }),
      queued: running.length === 0 ? 0 : Math.min(...running.map(({ queued }) => queued)),
    };
  }
}
