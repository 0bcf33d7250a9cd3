import type { CommanderError } from 'commander';
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError, ValidationError } from '../errors/errors.ts';
import { printable, printableJson, printableLines } from '../layout/text.ts';
import { colorsFor } from './colors.ts';
import { messageOf } from './messages.ts';
import { stderr, stdout } from './output.ts';

export const FAILED = 1;
export const USAGE = 2;

/** What a wrong option value leads to. */
const USAGE_ERRORS: readonly MetainfoErrorCode[] = ['ERR_INVALID_ARGUMENT', 'ERR_PIECE_LENGTH', 'ERR_KERNEL'];

const STOPPED = 'stopped: nothing was written';

/** Whether the command was asked for JSON; before its options are parsed, and where they cannot be. */
export function wantsJson(args = process.argv): boolean {
  const end = args.indexOf('--');
  return args.slice(2, end < 0 ? undefined : end).includes('--json');
}

/** Says what commander refuses, and gives the exit code for it; its help and version leave with 0. */
export function exitCodeOfUsage({ exitCode, code, message }: CommanderError): number {
  if (exitCode === 0) return 0;
  // Without --json commander has said it.
  if (wantsJson()) {
    const text = code === 'commander.help' ? 'expected a command: see --help' : message.replace(/^error: /, '');
    writeJson('ERR_INVALID_ARGUMENT', text);
  }
  return USAGE;
}

function writeJson(code: MetainfoErrorCode, message: string, path: string | null = null): void {
  stdout().write(`${printableJson({ error: { code, message, path } })}\n`);
}

/** Says what went wrong, and gives the exit code for it. */
export async function exitCodeOf(error: unknown, json = wantsJson()): Promise<number> {
  if (!(error instanceof MetainfoError)) {
    // A defect: the stack is what helps.
    stderr().write(`${printableLines((error instanceof Error && error.stack) || String(error))}\n`);
    return FAILED;
  }
  if (error.code === 'ERR_ABORTED') {
    if (json) writeJson('ERR_ABORTED', STOPPED);
    else stderr().write(`${STOPPED}\n`);
    // As a shell would say it: 128 and the signal's number.
    return error.cause === 'SIGTERM' ? 143 : 130;
  }
  const message = messageOf(error);
  if (json) writeJson(error.code, message, error.path);
  else {
    const { red, dim } = await colorsFor(stderr());
    stderr().write(`${red('error:')} ${printable(message)} ${dim(`[${error.code}]`)}\n`);
  }
  const badInput = error instanceof ValidationError && ['draft', 'magnet link'].includes(error.subject);
  return badInput || USAGE_ERRORS.includes(error.code) ? USAGE : FAILED;
}
