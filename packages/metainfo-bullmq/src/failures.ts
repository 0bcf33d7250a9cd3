/** Errors of jobs: as text in the queue, and as errors again for those who wait. */
import { inspect } from 'node:util';
import { UnrecoverableError } from 'bullmq';
import { ERROR_CODES, isPermanent, MetainfoError, type MetainfoErrorCode } from 'metainfo';

/** The error of a wrong argument, or of wrong data of a job. `problem` is a sentence without its full stop. */
export function refused(problem: string): MetainfoError {
  return new MetainfoError('ERR_INVALID_ARGUMENT', `${problem}.`);
}

/** Another worker may be able to run a job: this one lacks a root, the job was planned by a newer version, or the store refuses it. */
export class OtherWorkerError extends MetainfoError {
  /** How often a job may start before it fails: for half an hour or longer, a worker that can run it may come. */
  readonly passes: number = 1000;
}

/** How often a job is passed on for want of a root: the worker that has it may be away for hours. */
export const ROOT_PASSES = 5000;

/** A job names a root that this worker does not have. */
export class UnknownRootError extends OtherWorkerError {
  override readonly passes = ROOT_PASSES;
}

/** Describes a value in a message. */
export function shown(value: unknown): string {
  return inspect(value, { depth: 0, breakLength: Infinity }).slice(0, 100);
}

/**
 * The error that a processor throws: one that is never tried again if that is pointless. It has no stack, which others could read.
 *
 * @param text The error as text, without paths of this machine.
 */
export function jobError(error: unknown, text: string): Error {
  const failure =
    error instanceof UnrecoverableError || isPermanent(error) ? new UnrecoverableError(text) : new Error(text);
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

/** Errors of clients for a server that speaks another protocol. */
const OTHER_KIND: readonly (readonly [RegExp, kind: string])[] = [
  [/^Protocol error, got/, 'Redis'],
  [
    /connection timeout|timeout expired|timeout exceeded when trying to connect|^received invalid response/i,
    'PostgreSQL',
  ],
];

/** An error of the server or of a connection, for the caller. The errors of ioredis hold the command that failed, and AUTH has a password. */
export function publicError(error: unknown): MetainfoError {
  if (error instanceof MetainfoError) return error;
  const text = textOf(error);
  const kind = OTHER_KIND.find(([pattern]) => pattern.test(text))?.[1];
  return new MetainfoError(
    'ERR_QUEUE',
    kind ? `The server does not answer as ${kind} does: is it one? (${text})` : text,
  );
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
export function notInStore(what: string): MetainfoError {
  return new MetainfoError('ERR_QUEUE', `The part store does not have ${what}: do all workers have the same store?`);
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
