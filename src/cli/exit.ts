/** Reports the error that ended a command, as text or JSON, and chooses its exit code. */
import type { CommanderError } from 'commander';
import type { Finding } from '../create/findings/findings.ts';
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError, ValidationError } from '../errors/errors.ts';
import { isPermanent } from '../errors/permanent.ts';
import { printable, printableLines } from '../text/printable.ts';
import { withHint } from './options/hints.ts';
import { colorsFor } from './terminal/colors.ts';
import { interruptible } from './terminal/interrupt.ts';
import { printableJson } from './terminal/json.ts';
import { messageOf } from './terminal/messages.ts';
import { CLOSED, fitted, stderr, stdout } from './terminal/output.ts';

export const FAILED = 1;
export const USAGE = 2;
/** A failure that may pass: EX_TEMPFAIL of sysexits(3). Schedulers try again. */
export const TRY_AGAIN = 75;

/** The codes of errors that a wrong option value causes. */
const USAGE_ERRORS: readonly MetainfoErrorCode[] = ['ERR_INVALID_ARGUMENT', 'ERR_PIECE_LENGTH', 'ERR_KERNEL'];

const CANCELLED = 'cancelled: nothing was written';

/** Whether the command line contains `--json`. Works before the options are parsed, and if they cannot be parsed. */
export function wantsJson(args = process.argv): boolean {
  const end = args.indexOf('--');
  return args.slice(2, end < 0 ? undefined : end).includes('--json');
}

/** Reports a usage error found by commander, and returns the exit code: 0 for `--help` and `--version`. */
export function exitCodeOfUsage({ exitCode, code, message }: CommanderError): number {
  if (exitCode === 0) return 0;
  // Without --json, commander has printed the message already.
  if (wantsJson()) {
    const text =
      code === 'commander.help' ? 'expected a command: see --help' : withHint(message).replace(/^error: /, '');
    writeJson('ERR_INVALID_ARGUMENT', text);
  }
  return USAGE;
}

/** Properties of errors that `--json` prints too. */
export function detailsOf(error: MetainfoError & ErrorDetails): ErrorDetails {
  const { indexes, findings, placed } = error;
  return { indexes, findings, placed };
}

interface ErrorDetails {
  indexes?: readonly number[] | undefined;
  findings?: readonly Finding[] | undefined;
  placed?: readonly string[] | undefined;
}

/** Prints an error as JSON. */
export function writeJson(
  code: MetainfoErrorCode,
  message: string,
  path: string | null = null,
  more: object = {},
): void {
  stdout().write(`${printableJson({ error: { code, message, path, ...more } })}\n`);
}

/**
 * The exit code of a job that a signal has cancelled, by the convention of shells: 128 plus the number of the signal. If standard
 * output was closed, the exit code that was set before.
 */
export function exitCodeOfSignal({ cause }: { cause?: unknown }): number {
  if (cause === CLOSED) return Number(process.exitCode ?? 0);
  return cause === 'SIGTERM' ? 143 : 130;
}

/** Runs an interruptible command for schedulers: its exit code tells whether to try again after a failure. */
export async function forSchedulers(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await interruptible(run);
  } catch (error) {
    process.exitCode = await exitCodeOf(error, wantsJson(), { retries: true });
  }
}

/**
 * Reports an error, and returns the exit code for it.
 *
 * @param options.retries Whether failures that may pass have an exit code of their own.
 */
export async function exitCodeOf(error: unknown, json = wantsJson(), options = { retries: false }): Promise<number> {
  if (!(error instanceof MetainfoError)) {
    // Any other error is a bug in metainfo: the stack is what a bug report needs.
    stderr().write(`${printableLines((error instanceof Error && error.stack) || String(error))}\n`);
    return FAILED;
  }
  if (error.code === 'ERR_ABORTED') {
    const done = 'done' in error ? `cancelled: ${error.done}; run the command again to go on` : CANCELLED;
    if (json && error.cause !== CLOSED) writeJson('ERR_ABORTED', done, null, detailsOf(error));
    else if (error.cause !== CLOSED) stderr().write(`${done}\n`);
    return exitCodeOfSignal(error);
  }
  const message = messageOf(error);
  if (json) writeJson(error.code, message, error.path, detailsOf(error));
  else {
    const { red, dim } = await colorsFor(stderr());
    // The problems of a configuration file have a line each; their texts are escaped already.
    const shown = error.code === 'ERR_CONFIG' ? printableLines : printable;
    const lines = `${red('error:')} ${shown(message)} ${dim(`[${error.code}]`)}`.split('\n');
    for (const line of lines) stderr().write(`${fitted(line, stderr())}\n`);
  }
  if (options.retries && !isPermanent(error)) return TRY_AGAIN;
  const isBadInput = error instanceof ValidationError && ['draft', 'edit', 'magnet link'].includes(error.subject);
  return isBadInput || USAGE_ERRORS.includes(error.code) ? USAGE : FAILED;
}
