import { MetainfoError, type MetainfoErrorCode, ValidationError } from '../errors.ts';
import { printable, printableJson, printableLines } from '../print/text.ts';
import { colorsFor } from './colors.ts';
import { stderr, stdout } from './output.ts';

export const FAILED = 1;
export const USAGE = 2;

/** What a wrong option value leads to. */
const USAGE_ERRORS: readonly MetainfoErrorCode[] = ['ERR_INVALID_ARGUMENT', 'ERR_PIECE_LENGTH', 'ERR_KERNEL'];

/** Says what went wrong, and gives the exit code for it. */
export async function exitCodeOf(error: unknown, json: boolean): Promise<number> {
  if (!(error instanceof MetainfoError)) {
    // A defect: the stack is what helps.
    stderr().write(`${printableLines((error instanceof Error && error.stack) || String(error))}\n`);
    return FAILED;
  }
  if (error.code === 'ERR_ABORTED') {
    stderr().write('stopped: nothing was written\n');
    // As a shell would say it: 128 and the signal's number.
    return error.cause === 'SIGTERM' ? 143 : 130;
  }
  if (json) {
    const { code, message, path = null } = error;
    stdout().write(`${printableJson({ error: { code, message, path } })}\n`);
  } else {
    const { red, dim } = await colorsFor(stderr());
    stderr().write(`${red('error:')} ${printable(error.message)} ${dim(`[${error.code}]`)}\n`);
  }
  const badInput = error instanceof ValidationError && ['draft', 'magnet link'].includes(error.subject);
  return badInput || USAGE_ERRORS.includes(error.code) ? USAGE : FAILED;
}
