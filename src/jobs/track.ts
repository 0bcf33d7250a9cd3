/** Counts the jobs of users, and reports each one to the tracing channel `metainfo:job`. */
import type { TracingChannel } from 'node:diagnostics_channel';
import { ERROR_CODES, type MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError } from '../errors/errors.ts';

/** The calls that are jobs. `create` stands for `generate` and `generateWithTimes` too, and `process` is that of a hasher. */
export type JobOperation =
  | 'create'
  | 'findMoved'
  | 'hashPart'
  | 'joinParts'
  | 'planParts'
  | 'process'
  | 'update'
  | 'upgrade'
  | 'verify';

/** The content of a job, as far as the job knows it. */
export interface JobFacts {
  /** The version of the torrent; null as long as it is unknown. */
  version: 'v1' | 'v2' | 'hybrid' | null;
  /** Bytes of its content; null as long as they are unknown. A part has fewer than its torrent. */
  bytes: number | null;
  /** Files of its content, without pad files; null as long as they are unknown. */
  files: number | null;
}

/**
 * The message of the tracing channel `metainfo:job`: the same object in all events of a job, which fill it in.
 *
 * @example
 * ```ts
 * import { tracingChannel } from 'node:diagnostics_channel';
 * import { type JobEvent, TorrentCreate } from 'metainfo';
 *
 * tracingChannel<unknown, JobEvent>('metainfo:job').asyncEnd.subscribe((message) => {
 *   const { operation, version, bytes, files, error } = message as JobEvent;
 *   console.log(operation, version, bytes, files, error);
 * });
 * await new TorrentCreate({ sources: [{ path: 'a', data: Buffer.from('content') }] }).generate();
 * ```
 *
 * ```text
 * create hybrid 7 1 undefined
 * ```
 */
export interface JobEvent extends JobFacts {
  /** The call that is a job. */
  readonly operation: JobOperation;
  /** Seconds that the job has waited in the queue of this process; null while it waits, and if it was cancelled meanwhile. */
  readonly queueSeconds: number | null;
  /** In `asyncEnd` of a job that has succeeded: what the call gives; for `create`, an object with the `torrent`. */
  result?: unknown;
  /** In `error`, and in `asyncEnd` of a job that has failed: what the call rejects with. */
  error?: unknown;
}

/** A job that runs, as its code sees it. */
export interface Job {
  /** The job has left the queue. */
  begin(): void;
  /** Tells what is known about the content. */
  describe(facts: Partial<JobFacts>): void;
}

/** The facts of the content of a layout. */
export function factsOfLayout({
  version,
  files: { totalLength, hasAllLengths, length },
}: {
  version: JobFacts['version'];
  files: { totalLength: number; hasAllLengths: boolean; length: number };
}): JobFacts {
  return { version, bytes: hasAllLengths ? totalLength : null, files: length };
}

/** The facts of the content of a torrent. */
export function factsOf(torrent: { torrentVersion: JobFacts['version']; totalSize: number; nFiles: number }): JobFacts {
  return { version: torrent.torrentVersion, bytes: torrent.totalSize, files: torrent.nFiles };
}

/** A job that nobody watches. */
export const UNWATCHED: Job = { begin() {}, describe() {} };

/** The jobs of this module: bundles and worker threads have modules of their own. */
export const counts = {
  /** Jobs that have begun and not ended. */
  active: 0,
  ended: 0,
  failures: new Map<MetainfoErrorCode | 'other', number>(),
};

let channel: TracingChannel<unknown, JobEvent> | undefined;

/** The first job loads Node's module: that takes 0.3 ms, which `import 'metainfo'` does not have to wait for. */
function jobChannel(): TracingChannel<unknown, JobEvent> {
  channel ??= process.getBuiltinModule('node:diagnostics_channel').tracingChannel<unknown, JobEvent>('metainfo:job');
  return channel;
}

/**
 * Runs a job of a user: counts it, and reports it if anybody listens. A job that another one runs as a step of its own must not be
 * tracked.
 *
 * @returns What `run` returns. It is a promise if somebody listens.
 */
export function track<T>(operation: JobOperation, run: (job: Job) => T | Promise<T>): T | Promise<T> {
  const jobs = jobChannel();
  if (!jobs.hasSubscribers) return counted(run, UNWATCHED);
  const started = performance.now();
  const facts: JobFacts = { version: null, bytes: null, files: null };
  const event: { -readonly [K in keyof JobEvent]: JobEvent[K] } = { operation, ...facts, queueSeconds: null };
  const job: Job = {
    begin() {
      event.queueSeconds ??= (performance.now() - started) / 1000;
    },
    describe(known) {
      Object.assign(event, known);
    },
  };
  return jobs.tracePromise(async () => counted(run, job), event);
}

function counted<T>(run: (job: Job) => T | Promise<T>, job: Job): T | Promise<T> {
  counts.active += 1;
  try {
    const result = run(job);
    return result instanceof Promise ? result.then(ended, failed) : ended(result);
  } catch (error) {
    return failed(error);
  }
}

function ended<T>(result: T): T {
  counts.active -= 1;
  counts.ended += 1;
  return result;
}

function failed(error: unknown): never {
  // A caller's engine may make any error.
  const isKnown = error instanceof MetainfoError && Object.hasOwn(ERROR_CODES, error.code);
  const code = isKnown ? error.code : 'other';
  counts.failures.set(code, (counts.failures.get(code) ?? 0) + 1);
  throw ended(error);
}
