/** Hashes a long request in steps: a step tells its digests when it ends, and is tried again if it fails in passing. */
import { setTimeout as delay } from 'node:timers/promises';
import { hashingCancelled } from '../errors/cancel.ts';
import type { MetainfoError } from '../errors/errors.ts';
import { systemCode } from '../errors/system-error.ts';
import { concatBytes, uptime } from '../platform/node.ts';
import type { Digests, Engine, HashJob, HashRequest, JobProgress, OnHashed } from './engine.ts';
import { splitDigests } from './file-digests.ts';
import { isPad, requireHashesFit } from './hash-request.ts';
import { bytesToPieceEnd, lengthsOf, RequestedTable, requestedBetween } from './make-requested-files.ts';
import { pathOf } from './open-without-links.ts';

/** @internal Tests change them. */
export const stepping = {
  /** Bytes of the first step. A request that is not longer is one step. */
  bytes: 256 * 2 ** 20,
  /** The same where the digests of files are kept. */
  keptBytes: 16 * 2 ** 20,
  /** The pauses before further attempts to read a file. */
  pausesMs: [1000, 2000, 5000],
};

/** Later steps take about so long, but have at most a quarter of the bytes that were hashed before. */
const STEP_SECONDS = 2;
/** To open a file takes as long as to hash so many bytes. */
const FILE_BYTES = 2 ** 16;
/** How long a cancelled job waits until digests are kept: a dead drive may never answer. */
const KEEP_MS = 1000;
/** Errors that may pass: of drives, file servers and the network. */
const PASSING =
  /^(EAGAIN|ECONNRESET|EHOSTDOWN|EHOSTUNREACH|EINTR|EIO|ENETDOWN|ENETUNREACH|ENOTCONN|EREMOTEIO|ESTALE|ETIMEDOUT)$/;

/** Makes the function of an engine that starts hash jobs. Requests without files on disk are not changed. */
export function inSteps(start: (request: HashRequest) => HashJob): Engine['start'] {
  return (request, onHashed) => {
    const { files } = request;
    const isOnDisk = files instanceof RequestedTable || (Array.isArray(files) && files.some((file) => file?.path));
    return isOnDisk && fits(request) ? new SteppedJob(start, request, onHashed) : start(request);
  };
}

/** Otherwise the engine rejects the request. */
function fits(request: HashRequest): boolean {
  try {
    requireHashesFit(request);
    return request.pieceLength > 0;
  } catch {
    return false;
  }
}

/** Consecutive files of the request: the first, and the one after the last. */
type Step = readonly [first: number, end: number];

class SteppedJob implements HashJob {
  readonly done: Promise<Digests>;
  readonly #start: (request: HashRequest) => HashJob;
  readonly #request: HashRequest;
  readonly #lengths: ArrayLike<number>;
  readonly #onHashed: OnHashed | undefined;
  readonly #stop = new AbortController();
  /** How often each file has failed, by its path. */
  readonly #failures = new Map<string, number>();
  /** The parts of a step that has failed. */
  #queue: Step[] = [];
  #step: Step = [0, 0];
  #job: HashJob;
  #limit: number;
  /** Bytes of the steps that have ended, and the most that were reported. */
  readonly #bytes = { ended: 0, most: 0 };
  #kept: Promise<void> = Promise.resolve();
  #retrying: Pick<JobProgress, 'retrying'> = {};

  constructor(start: (request: HashRequest) => HashJob, request: HashRequest, onHashed: OnHashed | undefined) {
    this.#start = start;
    this.#request = request;
    this.#lengths = lengthsOf(request.files);
    this.#onHashed = onHashed;
    this.#limit = onHashed ? stepping.keptBytes : stepping.bytes;
    // An invalid request throws here.
    this.#job = this.#begin();
    this.done = this.#run();
  }

  progress(): JobProgress {
    const { bytes, fileIndex, queued } = this.#job.progress();
    this.#bytes.most = Math.max(this.#bytes.most, this.#bytes.ended + bytes);
    return { bytes: this.#bytes.most, fileIndex: this.#step[0] + fileIndex, queued, ...this.#retrying };
  }

  cancel(): void {
    this.#stop.abort();
    this.#job.cancel();
  }

  #begin(): HashJob {
    const [first, end] = this.#queue.shift() ?? this.#nextStep();
    this.#step = [first, end];
    const { files, paddedFiles = 0 } = this.#request;
    const some = {
      files: requestedBetween(files, first, end),
      paddedFiles: Math.max(0, Math.min(paddedFiles, end) - first),
    };
    this.#job = this.#start(end - first < files.length ? { ...this.#request, ...some } : this.#request);
    return this.#job;
  }

  async #run(): Promise<Digests> {
    try {
      const digests = await this.#hash();
      await this.#kept;
      return digests;
    } catch (error) {
      const kept = this.#kept.catch(() => {});
      const timer = new AbortController();
      const wait = () => delay(KEEP_MS, undefined, timer).catch(() => {});
      await (this.#stop.signal.aborted ? Promise.race([kept, wait()]) : kept);
      timer.abort();
      throw error;
    }
  }

  async #hash(): Promise<Digests> {
    const steps: Digests[] = [];
    for (let total = 0; ; this.#begin()) {
      const started = uptime();
      const digests = await this.#job.done.catch((error) => this.#recover(error));
      if (this.#stop.signal.aborted) throw hashingCancelled();
      if (!digests) continue;
      const [first, end] = this.#step;
      steps.push({ ...digests, missing: digests.missing.map((index) => first + index) });
      this.#keep(digests);
      if (end === this.#lengths.length) return joined(steps);
      const { bytes } = this.#job.progress();
      this.#bytes.ended += bytes;
      const cost = bytes + (end - first) * FILE_BYTES;
      total += cost;
      this.#limit = Math.max(this.#limit, Math.min(total / 4, (cost / (uptime() - started)) * STEP_SECONDS));
    }
  }

  /** Keeps digests while the next step is hashed. Pad files end in the last piece of a file. */
  #keep(digests: Digests): void {
    const [first, end] = this.#step;
    const onHashed = this.#onHashed;
    if (!onHashed) return;
    const files = [...requestedBetween(this.#request.files, first, end)];
    const lengths = files.map((file) => (isPad(file) ? 0 : file.length));
    const each = splitDigests(lengths, digests, this.#request);
    this.#kept = this.#kept.then(() => onHashed(first, each));
    this.#kept.catch(() => {});
  }

  /** Cuts the step around the file that failed, and waits before the next attempt. @throws the error if there is none */
  async #recover(error: unknown): Promise<void> {
    const { path = '', cause } = (error ?? {}) as Partial<MetainfoError>;
    const code = systemCode((cause ?? {}) as NodeJS.ErrnoException) ?? '';
    const isPassing = PASSING.test(code);
    // Without anybody who keeps digests, there is no use in those of other files.
    if (this.#stop.signal.aborted || (!isPassing && !this.#onHashed)) throw error;
    const attempt = (this.#failures.get(path) ?? 0) + 1;
    this.#failures.set(path, attempt);
    const steps = this.#around(path);
    const pauseMs = isPassing ? stepping.pausesMs[attempt - 1] : 0;
    if (pauseMs === undefined || (!isPassing && steps.length === 1)) throw error;
    this.#queue = [...steps, ...this.#queue];
    if (!isPassing) return;
    this.#retrying = { retrying: { path, code, attempt, seconds: pauseMs / 1000 } };
    await delay(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => {});
    this.#retrying = {};
  }

  #nextStep(): Step {
    const [, first] = this.#step;
    for (const [end, cost] of this.#ends(first)) if (cost >= this.#limit) return [first, end];
    return [first, this.#lengths.length];
  }

  /** The files of the step before the one of a path, that one, and those after it. */
  #around(path: string): Step[] {
    const [first, last] = this.#step;
    const files = [...requestedBetween(this.#request.files, first, last)];
    const failed = first + files.findIndex((file) => file.path !== null && pathOf(file) === path);
    const ends = [first, ...Array.from(this.#ends(first), ([end]) => end)];
    const [low, high] = [ends.findLast((end) => end <= failed) ?? first, ends.find((end) => end > failed) ?? last];
    const steps: Step[] =
      failed < first
        ? [this.#step]
        : [
            [first, low],
            [low, high],
            [high, last],
          ];
    return steps.filter((step) => step[0] < step[1]);
  }

  /** The indexes at which a step may end, because no v1 piece goes on there, and the bytes and files up to there. */
  *#ends(first: number): Generator<[end: number, cost: number]> {
    const { version, pieceLength, paddedFiles = 0 } = this.#request;
    let [at, cost] = [0, 0];
    for (let i = first; i < this.#lengths.length; i += 1) {
      const length = this.#lengths[i] as number;
      at += length + (i < paddedFiles ? bytesToPieceEnd(length, pieceLength) : 0);
      cost += length + FILE_BYTES;
      if (version === 'v2' || at % pieceLength === 0 || i === this.#lengths.length - 1) yield [i + 1, cost];
    }
  }
}

/** Joins the digests of steps. */
function joined(steps: readonly Digests[]): Digests {
  const [first] = steps as [Digests];
  if (steps.length === 1) return first;
  const join = (of: (step: Digests) => unknown) => concatBytes(steps.map((step) => of(step) as Uint8Array));
  return {
    ...(first.v1 && { v1: join(({ v1 }) => v1) }),
    ...(first.v2 && { v2: { roots: join(({ v2 }) => v2?.roots), layers: join(({ v2 }) => v2?.layers) } }),
    missing: steps.flatMap(({ missing }) => missing),
  };
}
