/** Failures that another worker may not have: their jobs are passed on without an attempt, and this worker rests. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Job, Worker } from 'bullmq';
import { isPermanent, MetainfoError, type Progress } from 'metainfo';
import { array, is, number, string, type } from 'superstruct';
import { OtherWorkerError, SickWorkerError, UnknownRootError, UnseenError } from './failures.ts';
import { type Mounts, requireMounted } from './roots.ts';
import { MOST_MS } from './with-deadline.ts';

/** How a worker is. */
export interface WorkerState {
  /** The root whose jobs it takes or does not take. */
  root: string;
  /** Why it rests: it takes no jobs of the root for some time. Null when a job of the root has ended well again. */
  reason: string | null;
}

/** Milliseconds. Tests are in a hurry. */
export const RESTS = {
  /** The first rest of a worker: each is twice as long as the one before. */
  first: 2000,
  /** The longest rest. */
  most: 120_000,
  /** After this time, a job fails if its only worker still misses content that was planned. */
  lone: 60_000,
};

/** Codes of failures of a disk, a mount or a machine. */
const OF_MACHINE: ReadonlySet<string> = new Set([
  'ERR_BROKEN_LINK',
  'ERR_FILE_CHANGED',
  'ERR_NOT_A_FILE',
  'ERR_NOT_FOUND',
  'ERR_NO_DATA',
  'ERR_NO_DESCRIPTORS',
  'ERR_NO_FILES',
  'ERR_NO_MEMORY',
  'ERR_NO_SPACE',
  'ERR_READ',
  'ERR_UNREADABLE',
  'ERR_WRITE',
]);

/**
 * Tells whose failure an error is: an {@link OtherWorkerError} is one of this worker.
 *
 * @param places The content and output of the job, as `NAME/path`.
 */
export async function judged(error: unknown, mounts: Mounts, places: readonly unknown[]): Promise<unknown> {
  if (!(error instanceof MetainfoError) || error instanceof OtherWorkerError || !OF_MACHINE.has(error.code))
    return error;
  const kind = isPermanent(error) ? UnseenError : SickWorkerError;
  return requireMounted(mounts, places).then(
    () => new kind(error.code, error.message, { cause: error }),
    (gone: unknown) => gone,
  );
}

/** Workers that must miss the same content, if there are so many, before its job fails. */
const WITNESSES = 3;

/** The longest time between two passes that counts: longer ones are those of a cluster that was off. */
const GAP_MS = 300_000;

const PASSED = type({ passed: type({ waited: number(), last: number(), by: array(string()) }) });

type Passed = Pick<Job, 'data' | 'processedOn'>;

/**
 * For how long nobody could run a job that was passed on, in milliseconds, and the workers that missed its content. Time in which it made
 * progress does not count. Nobody trusts the queue.
 */
function passesOf({ data, processedOn = Date.now() }: Passed, error: OtherWorkerError) {
  if (!is(data, PASSED)) return { waited: 0, by: [] };
  const { waited, last, by } = data.passed;
  const stalled = error instanceof StalledError ? Date.now() - processedOn : 0;
  return { waited: waited + Math.min(GAP_MS, Math.max(0, processedOn - last)) + stalled, by };
}

/** The data of a job that a worker passes on. */
export function passedData(job: Passed, error: OtherWorkerError, worker: string): object {
  const { waited, by } = passesOf(job, error);
  const all = error instanceof UnseenError ? [...new Set([...by, worker])] : by;
  return { ...job.data, passed: { waited, last: Date.now(), by: all } };
}

/**
 * Whether a failure ends a job: enough workers have missed its content, or none could run it for too long.
 *
 * @param isProven Whether somebody has seen the content: it was planned.
 * @param workers Counts the workers of the root.
 */
export async function endsJob(
  job: Passed,
  error: OtherWorkerError,
  { worker, isProven, workers }: { worker: string; isProven: boolean; workers: () => Promise<number> },
): Promise<boolean> {
  const { waited, by } = passesOf(job, error);
  if (waited >= error.patience || !(error instanceof UnseenError)) return waited >= error.patience;
  // A server that cannot count them may have many.
  const count = await workers().catch(() => WITNESSES);
  if (count <= 1) return !isProven || waited >= RESTS.lone;
  return new Set([...by, worker]).size >= Math.min(WITNESSES, count);
}

/** The workers of a root in this process. After a failure of theirs they rest, longer each time, until a job has ended well. */
export class RootWorkers {
  /** One for each kind of job. */
  readonly workers: readonly Worker[];
  readonly #probe: (isStart: boolean) => Promise<unknown>;
  readonly #tell: (reason: string | null) => void;
  readonly #closing: AbortSignal;
  /** Why they take no jobs. */
  readonly #holds: Set<'clock' | 'start' | 'rest'> = new Set(['start']);
  #failures = 0;
  #reason: string | null = null;

  /**
   * @param how.probe Looks, at the start and after a rest, whether they can work: rejects with a {@link SickWorkerError} if they still cannot.
   * @param how.tell Called with the reason when they begin to rest, and with null when they can work again.
   */
  constructor(
    workers: readonly Worker[],
    {
      probe,
      tell,
      closing,
    }: { probe: (isStart: boolean) => Promise<unknown>; tell: (reason: string | null) => void; closing: AbortSignal },
  ) {
    this.workers = workers;
    this.#probe = probe;
    this.#tell = tell;
    this.#closing = closing;
  }

  /** Why they rest now; null if they do not, or only so that another worker takes a job first. */
  get resting(): string | null {
    return this.#holds.has('rest') || this.#holds.has('start') ? this.#reason : null;
  }

  /** Takes no jobs until {@link release} is called for the same reason. */
  async hold(why: 'clock' | 'rest'): Promise<void> {
    this.#holds.add(why);
    await Promise.all(this.workers.map((worker) => worker.pause(true)));
  }

  /** Takes jobs, unless there is another reason not to. */
  async release(why: 'clock' | 'start' | 'rest'): Promise<void> {
    if (this.#holds.delete(why) && this.#holds.size === 0 && !this.#closing.aborted)
      await Promise.all(this.workers.map((worker) => worker.resume()));
  }

  /** Takes jobs as soon as the probe succeeds. */
  async start(): Promise<void> {
    for (;;) {
      const problem = await this.#problem(true);
      if (!problem || this.#closing.aborted) break;
      this.#told(problem.message);
      await delay(RESTS.first, undefined, { signal: this.#closing, ref: false }).catch(() => {});
    }
    this.#told(null);
    await this.release('start');
  }

  /** Rests after a failure of this worker. Jobs that fail meanwhile make the rest no longer. */
  async failed(error: OtherWorkerError): Promise<void> {
    // One that lacks a second root is well, and a single job may miss its content everywhere.
    if (error instanceof UnknownRootError || this.#holds.has('rest')) return;
    this.#failures += 1;
    if (error instanceof SickWorkerError || this.#failures > 1) await this.#rest(error.message);
  }

  async #rest(reason: string): Promise<void> {
    this.#told(reason);
    await this.hold('rest');
    const wake = async () => {
      const problem = await this.#problem(false);
      if (!problem) return this.release('rest');
      this.#failures += 1;
      return this.#rest(problem.message);
    };
    setTimeout(
      () => void (this.#closing.aborted || wake().catch(() => {})),
      Math.min(RESTS.first * 2 ** (this.#failures - 1), RESTS.most),
    ).unref();
  }

  /** Why they cannot work; null if they can, as far as is known. */
  #problem(isStart: boolean): Promise<SickWorkerError | null> {
    return this.#probe(isStart).then(
      () => null,
      (error: unknown) => (error instanceof SickWorkerError ? error : null),
    );
  }

  /** Tells a reason once. */
  #told(reason: string | null): void {
    if ((this.#reason === null) !== (reason === null)) this.#tell(reason);
    this.#reason = reason;
  }

  /** A job has ended well. */
  succeeded(): void {
    this.#failures = 0;
    this.#told(null);
  }
}

/** The health check of a worker that rests: its server answers. */
export class RestingError extends MetainfoError {}

/** A job has made no progress. */
class StalledError extends SickWorkerError {}

/** Notices when a job makes no progress. */
export class StallWatch {
  readonly #stalled: AbortController = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly error: StalledError;
  readonly signal: AbortSignal = this.#stalled.signal;

  constructor(ms: number) {
    const why = `no progress for ${Math.round(ms / 1000)} s: its disk or the store does not answer.`;
    this.error = new StalledError('ERR_READ', why);
    this.#timer = setTimeout(() => this.#stalled.abort(this.error), Math.min(ms, MOST_MS)).unref();
  }

  /** Tells that the job makes progress. */
  readonly touch = (): void => {
    this.#timer.refresh();
  };

  /** Watches no more. */
  close(): void {
    clearTimeout(this.#timer);
  }
}

/** A progress callback that tells of bytes that were hashed: calls come without any, too. */
export function touching(touch: () => void): (progress: Pick<Progress, 'bytes'>) => void {
  let last = -1;
  return ({ bytes }) => {
    if (bytes !== last) touch();
    last = bytes;
  };
}
