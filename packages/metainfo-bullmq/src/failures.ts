/** Errors of jobs: as text in the queue, and as errors again for those who wait. */
import { inspect } from 'node:util';
import { UnrecoverableError } from 'bullmq';
import { ERROR_CODES, isPermanent, MetainfoError, type MetainfoErrorCode } from 'metainfo';

/** The error of a wrong argument, or of wrong data of a job. `problem` is a sentence without its full stop. */
export function refused(problem: string): MetainfoError {
  return new MetainfoError('ERR_INVALID_ARGUMENT', `${problem}.`);
}

const MINUTE = 60_000;

/** Another worker may be able to run a job: for example, it was planned by a newer version. */
export class OtherWorkerError extends MetainfoError {
  /** Milliseconds for which a job is passed on: until then, a worker that can run it may come. */
  readonly patience: number = 30 * MINUTE;
}

/** A job names a root that this worker does not have. The worker that has it may be away for hours. */
export class UnknownRootError extends OtherWorkerError {
  override readonly patience: number = 300 * MINUTE;
}

/** Something is wrong with the machine of a worker: its disk, a mount, its access to the store. */
export class SickWorkerError extends OtherWorkerError {}

/** A worker does not have what a job needs, or has it changed. Others may have it. */
export class UnseenError extends OtherWorkerError {}

/** The same for an output, of which nobody has seen the folder. */
export class UnseenOutputError extends UnseenError {}

/** Describes a value in a message. */
export function shown(value: unknown): string {
  return inspect(value, { depth: 0, breakLength: Infinity }).slice(0, 100);
}

/** The error that a processor throws: final if retries are pointless. It has no stack and no paths, which others could read. */
export function jobError(error: unknown, text: string): Error {
  const isLasting = error instanceof UnrecoverableError || error instanceof OtherWorkerError || isPermanent(error);
  const failure = isLasting ? new UnrecoverableError(text) : new Error(text);
  failure.stack = text;
  return failure;
}

/** An error as text: its code and its message. */
export function textOf(error: unknown): string {
  if (error instanceof MetainfoError) return `${error.code}: ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  // The message of an AggregateError of several connections is empty.
  const { errors = [] } = error as Partial<AggregateError>;
  return error.message || errors.map(textOf).join('; ') || error.name;
}

const MEANINGS: readonly (readonly [RegExp, meaning: string])[] = [
  [/^Protocol error, got/, 'The server does not answer as Redis does: is it one?'],
  [
    /connection timeout|timeout expired|timeout exceeded when trying to connect|^received invalid response/i,
    'The server does not answer as PostgreSQL does: is it one?',
  ],
  [/^OOM /, 'The server of the queue is out of memory: raise its maxmemory, or remove jobs.'],
];

/** The server refuses credentials or a permission. It will do so again. */
export class RefusedError extends MetainfoError {}

/** The error of a server that takes no writes. After a failover, another one does. */
export const REPLICA = 'The server of the queue is a replica, which takes no writes.';

/** Whether a server refuses credentials, a permission or a database: by the codes of PostgreSQL, or the words of Redis. */
export function isRefusal(error: unknown): boolean {
  return /^(28000|28P01|3D000|42501)$/.test(Object(error).code) || /\b(WRONGPASS|NOAUTH|NOPERM)\b/.test(textOf(error));
}

/** An error of the server, for the caller: those of ioredis hold the command that failed, and AUTH has a password. */
export function publicError(error: unknown, doing = ''): MetainfoError {
  if (error instanceof MetainfoError) return error;
  // The reason why a transaction was given up.
  const text = textOf(Object(error).previousErrors?.[0] ?? error);
  const meaning = MEANINGS.find(([pattern]) => pattern.test(text))?.[1];
  const message = meaning ? `${meaning} (${text})` : `${doing}${text}`;
  return isRefusal(error) ? new RefusedError('ERR_QUEUE', message) : new MetainfoError('ERR_QUEUE', message);
}

/** The failure of a torrent that somebody has cancelled: no retry. */
export function cancelledError(): Error {
  return new UnrecoverableError('ERR_ABORTED: The torrent was cancelled.');
}

/** The error of those who wait for a torrent that somebody has cancelled. */
export function wasCancelledError(): MetainfoError {
  return new MetainfoError('ERR_ABORTED', 'The torrent was cancelled.');
}

/** The error of a part store that lacks what somebody needs. Another worker may have the right store. */
export function notInStore(what: string): UnseenError {
  return new UnseenError('ERR_QUEUE', `The part store does not have ${what}: do all workers have the same store?`);
}

/** The error of a job that is not in the queue any more. */
export function lostError(what: string): MetainfoError {
  return new MetainfoError(
    'ERR_QUEUE',
    `The ${what} is no longer in the queue: its data were lost, or somebody removed it or queued it again with another output. Queue it again: stored parts are not hashed again.`,
  );
}

/** The id of the job of the part whose failure has failed a join, from the text of BullMQ; undefined for any other failure. */
export const failedPart = (text: string): string | undefined => /^child .*:([0-9a-f]{64}-\d+) failed$/.exec(text)?.[1];

/** The error that a job has failed with. */
export function errorOf(text: string): MetainfoError {
  const [, code = '', message = ''] = /^(ERR_\w+): (.*)$/s.exec(text) ?? [];
  if (Object.hasOwn(ERROR_CODES, code)) return new MetainfoError(code as MetainfoErrorCode, message);
  return new MetainfoError('ERR_QUEUE', `A job failed: ${text}`);
}
