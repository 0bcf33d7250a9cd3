import picocolors from 'picocolors';
import { MetainfoError, type MetainfoErrorCode, ValidationError } from '../errors.ts';
import { printable, printableJson } from '../print/text.ts';

export const FAILED = 1;
export const USAGE = 2;

/** What a wrong option value leads to. */
const USAGE_ERRORS: readonly MetainfoErrorCode[] = ['ERR_INVALID_ARGUMENT', 'ERR_PIECE_LENGTH', 'ERR_KERNEL'];

/** Says what went wrong, and gives the exit code for it. */
export function exitCodeOf(error: unknown, json: boolean): number {
  if (!(error instanceof MetainfoError)) {
    // A defect: the stack is what helps.
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    return FAILED;
  }
  if (error.code === 'ERR_ABORTED') {
    process.stderr.write('stopped: nothing was written\n');
    // As a shell would say it: 128 and the signal's number.
    return error.cause === 'SIGTERM' ? 143 : 130;
  }
  if (json) {
    const { code, message, path = null } = error;
    process.stdout.write(`${printableJson({ error: { code, message, path } })}\n`);
  } else {
    const { red, dim } = picocolors.createColors(picocolors.isColorSupported && process.stderr.isTTY);
    process.stderr.write(`${red('error:')} ${printable(error.message)} ${dim(`[${error.code}]`)}\n`);
  }
  const badDraft = error instanceof ValidationError && error.subject === 'draft';
  return badDraft || USAGE_ERRORS.includes(error.code) ? USAGE : FAILED;
}
