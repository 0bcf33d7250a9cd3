/** Errors of jobs: as text in the queue, and as errors again for those who wait. */
import { UnrecoverableError } from 'bullmq';
import { ERROR_CODES, type MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError } from '../errors/errors.ts';
import { isPermanent } from '../errors/permanent.ts';

/** The error that a processor throws: one that is never tried again if that is pointless. It has no stack, which others could read. */
export function jobError(error: unknown): Error {
  const text = textOf(error);
  const failure =
    error instanceof UnrecoverableError || isPermanent(error) ? new UnrecoverableError(text) : new Error(text);
  failure.stack = text;
  return failure;
}

/** An error as text: its code and its message. */
export function textOf(error: unknown): string {
  if (error instanceof MetainfoError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** An error of the server or of a connection, for the caller. The errors of ioredis hold the command that failed, and AUTH has a password. */
export function publicError(error: unknown): MetainfoError {
  return error instanceof MetainfoError ? error : new MetainfoError('ERR_QUEUE', textOf(error));
}

/** The error that a job has failed with. */
export function errorOf(text: string): MetainfoError {
  const [, code = '', message = ''] = /^(ERR_\w+): (.*)$/s.exec(text) ?? [];
  if (Object.hasOwn(ERROR_CODES, code)) return new MetainfoError(code as MetainfoErrorCode, message);
  return new MetainfoError('ERR_QUEUE', `A job failed: ${text}`);
}
