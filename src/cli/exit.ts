/** Ends commands: cancels a job on Ctrl-C, reports the error that ended a command, and chooses its exit code. */
import type { CommanderError } from 'commander';
import type { Finding } from '../create/findings/findings.ts';
import { onAbort } from '../errors/cancel.ts';
import { isPermanent } from '../errors/category.ts';
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError, ValidationError } from '../errors/errors.ts';
import { fromSystemError, isDenied } from '../errors/system-error.ts';
import { printable, printableLines } from '../text/printable.ts';
import { withHint } from './options/hints.ts';
import { currentRun, FAILED, host, USAGE } from './run.ts';
import { messageOf } from './terminal/messages.ts';
import { CLOSED, colorsFor, fitted, outputClosed, printableJson, stderr, stdout } from './terminal/output.ts';

/** The codes of errors that a wrong option value causes. */
const USAGE_ERRORS: readonly MetainfoErrorCode[] = ['ERR_INVALID_ARGUMENT', 'ERR_PIECE_LENGTH', 'ERR_KERNEL'];

/** A failure that may pass: EX_TEMPFAIL of sysexits(3). Schedulers try again. */
const TRY_AGAIN = 75;

const CANCELLED = 'cancelled: nothing was written';

/** Whether the command line contains `--json`. Works before the options are parsed, and if they cannot be parsed. */
export function wantsJson({ args } = currentRun()): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end).includes('--json');
}

/** Reports a usage error found by commander, and returns the exit code: 0 for `--help` and `--version`. */
export function exitCodeOfUsage({ exitCode, code, message }: CommanderError): number {
  if (exitCode === 0) return 0;
  // Without --json, commander has printed the message already.
  if (wantsJson()) {
    const text =
      code === 'commander.help' ? 'expected a command: see --help' : withHint(message).replace(/^error: /, '');
    writeJson({ code: 'ERR_INVALID_ARGUMENT', message: text, path: null });
  }
  return USAGE;
}

/** Properties of errors that `--json` prints too. */
interface ErrorDetails {
  indexes?: readonly number[] | undefined;
  findings?: readonly Finding[] | undefined;
  placed?: readonly string[] | undefined;
}

/** An error as `--json` prints it. */
export function errorJson(error: MetainfoError & ErrorDetails) {
  const { code, path = null, indexes, findings, placed } = error;
  return { code, message: messageOf(error), path, indexes, findings, placed };
}

/** Prints an error as JSON. */
export function writeJson(error: Pick<ReturnType<typeof errorJson>, 'code' | 'message' | 'path'>): void {
  stdout().write(`${printableJson({ error })}\n`);
}

/**
 * The exit code of a job that a signal has cancelled, by the convention of shells: 128 plus the number of the signal. If standard
 * output was closed, the exit code that was set before.
 */
export function exitCodeOfSignal({ cause }: { cause?: unknown }): number {
  if (cause === CLOSED) return Number(host().exitCode ?? 0);
  return cause === 'SIGTERM' ? 143 : 130;
}

/** Runs an interruptible command for schedulers: its exit code tells whether to try again after a failure. */
export async function forSchedulers(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await interruptible(run);
  } catch (error) {
    host().exitCode = await exitCodeOf(error, wantsJson(), { retries: true });
  }
}

/** Reports an error, and returns its exit code. @param options.retries Whether failures that may pass have a code of their own. */
export async function exitCodeOf(thrown: unknown, json = wantsJson(), options = { retries: false }): Promise<number> {
  const { resource } = (thrown ?? {}) as { resource?: string };
  const { syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  const isWithoutFolder = syscall === 'uv_cwd';
  const error = isWithoutFolder
    ? new MetainfoError('ERR_NOT_FOUND', 'The current folder does not exist any more: change to another one.')
    : isDenied(thrown)
      ? fromSystemError(thrown, resource || 'a file', 'read')
      : thrown;
  if (!(error instanceof MetainfoError)) {
    // Any other error is a bug in metainfo: the stack is what a bug report needs.
    stderr().write(`${printableLines((error instanceof Error && error.stack) || String(error))}\n`);
    return FAILED;
  }
  if (error.code === 'ERR_ABORTED') {
    const advice = 'advice' in error ? `. ${error.advice}` : '';
    const done = 'done' in error ? `cancelled: ${error.done}; run the command again to go on` : CANCELLED + advice;
    if (json && error.cause !== CLOSED) writeJson({ ...errorJson(error), message: done, path: null });
    else if (error.cause !== CLOSED) stderr().write(`${done}\n`);
    return exitCodeOfSignal(error);
  }
  if (json) writeJson(errorJson(error));
  else {
    const { red, dim } = await colorsFor(stderr());
    // The problems of a configuration file have a line each; their texts are escaped already.
    const shown = error.code === 'ERR_CONFIG' ? printableLines : printable;
    const lines = `${red('error:')} ${shown(messageOf(error))} ${dim(`[${error.code}]`)}`.split('\n');
    for (const line of lines) stderr().write(`${fitted(line, stderr())}\n`);
  }
  if (options.retries && !isPermanent(error)) return TRY_AGAIN;
  const isBadInput = error instanceof ValidationError && ['draft', 'edit', 'magnet link'].includes(error.subject);
  return isBadInput || USAGE_ERRORS.includes(error.code) ? USAGE : FAILED;
}

/** How long a cancelled command has to end, in milliseconds. */
const GRACE_MS = 1000;

/**
 * Runs a job with an abort signal that a closed standard output and the signal of the run fire; without one, SIGINT and SIGTERM. The
 * reason is that of the run, the name of the signal or {@link CLOSED}: see `exitCodeOf`.
 */
export async function interruptible<T>(job: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { signal } = host();
  const removeListener = onAbort(outputClosed(), () => controller.abort(CLOSED));
  const cancel = () => controller.abort(signal?.reason);
  if (signal?.aborted) cancel();
  const removeInterrupt = signal ? onAbort(signal, cancel) : onInterrupt((name) => controller.abort(name));
  try {
    return await job(controller.signal);
  } finally {
    removeListener();
    removeInterrupt();
  }
}

/** Calls back for SIGINT and SIGTERM, until the returned function is called. */
function onInterrupt(callback: (signal: NodeJS.Signals) => void): () => void {
  let received: NodeJS.Signals | undefined;
  const interrupt = (signal: NodeJS.Signals) => {
    received ??= signal;
    callback(signal);
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt);
  return () => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeListener(name, interrupt);
    if (received) endIfStuck(received);
  };
}

/**
 * Ends the process by a signal if it still runs after the grace time. A read from a pipe without data keeps it: libuv waits for its
 * threads, even in `process.exit`.
 */
function endIfStuck(signal: NodeJS.Signals): void {
  setTimeout(() => process.kill(process.pid, signal), GRACE_MS).unref();
}
