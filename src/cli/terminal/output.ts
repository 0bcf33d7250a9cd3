/** Standard output and standard error: lines, bytes and warnings, safe for closed pipes. */
import { once } from 'node:events';
import type { Finding } from '../../create/findings/findings.ts';
import { throwIfAborted, untilAbort } from '../../errors/cancel.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { printable } from '../../text/printable.ts';
import { colorsFor } from './colors.ts';
import { printableJson } from './json.ts';
import { toPlain } from './messages.ts';
import { wrapped } from './wrap.ts';

const CHUNK = 65536;

// Node opens its standard streams on first use, which takes as long as creating a small torrent. So nothing here opens
// one before there is something to write.

let out: NodeJS.WriteStream | undefined;
let err: NodeJS.WriteStream | undefined;

/** Why {@link outputClosed} fires. */
export const CLOSED = 'EPIPE';

const closed = new AbortController();

/** Fires when standard output is a closed pipe (`metainfo show x | head`): nobody waits for more. */
export const outputClosed: AbortSignal = closed.signal;

/** Standard output. A closed pipe cancels the job without an error; any other write error ends the process with exit code 1. */
export function stdout(): NodeJS.WriteStream {
  out ??= process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') closed.abort(CLOSED);
    // Writes that were queued fail too.
    if (outputClosed.aborted) return;
    const { code, message } = fromSystemError(error, 'standard output', 'write');
    stderr().write(`error: ${message} [${code}]\n`);
    process.exit(1);
  });
  return out;
}

/** Standard error. Write errors are ignored, so the job continues when the terminal or log is closed. */
export function stderr(): NodeJS.WriteStream {
  err ??= process.stderr.on('error', () => {});
  return err;
}

/**
 * Whether to show a progress bar. Opens standard error first, because the library, which draws the bar, does not handle a
 * closed terminal.
 */
export function showsProgress({ quiet, json }: { quiet?: boolean; json?: boolean }): boolean {
  const progress = !quiet && !json;
  if (progress) stderr();
  return progress;
}

/** Text for a stream: wrapped at words if that is a terminal. */
export function fitted(line: string, to: NodeJS.WriteStream): string {
  return to.isTTY ? wrapped(line, to.columns) : line;
}

/**
 * Writes lines in chunks, and waits for the stream to drain: millions of lines never queue up in memory. On a terminal, long lines
 * are wrapped at words.
 *
 * @param options.wrap False for lines that fit already.
 */
export async function writeLines(lines: Iterable<string>, to = stdout, { wrap = true } = {}): Promise<void> {
  let text = '';
  for (const line of lines) {
    text += `${wrap ? fitted(line, to()) : line}\n`;
    if (text.length < CHUNK) continue;
    await write(text, to());
    text = '';
  }
  if (text !== '') await write(text, to());
}

/** Writes the result of a command: with `--json` as one object, otherwise as lines, unless it is quiet. */
export async function writeResult(
  { json, quiet }: { json?: boolean | undefined; quiet?: boolean | undefined },
  object: object,
  lines: Iterable<string>,
  to = stdout,
): Promise<void> {
  if (json) await writeLines([printableJson(object)], to);
  else if (!quiet) await writeLines(lines, to);
}

async function write(text: string | Uint8Array, to: NodeJS.WriteStream): Promise<void> {
  const signal = to === out ? outputClosed : undefined;
  throwIfAborted(signal);
  if (!to.write(text)) await untilAbort(signal, once(to, 'drain'));
}

/**
 * Writes a file to standard output. Text may end early (`| head`), but a part of a file is useless: so a closed pipe is an error.
 *
 * @param what What the bytes are, for the error.
 * @throws {MetainfoError} `ERR_WRITE` if standard output was closed before all bytes were written
 */
export async function writeBytes(bytes: Uint8Array, what = 'file'): Promise<void> {
  const to = stdout();
  const error = await new Promise((resolve) => to.write(bytes, resolve));
  // The listener of the stream ends the process for any other error.
  if (!error || ((error as NodeJS.ErrnoException).code !== 'EPIPE' && !outputClosed.aborted)) return;
  const message = `standard output was closed before the whole ${what} was written`;
  throw new MetainfoError('ERR_WRITE', message, { cause: error });
}

/** Takes the warnings of a command: writes them to standard error at once, or collects them for `--json`. */
export function warningsOf({ json = false }: { json?: boolean }) {
  const list: Pick<Finding, 'code' | 'message'>[] = [];
  const onWarning = async (warning: Finding): Promise<void> => {
    const { code, message: problem, advice } = toPlain(warning);
    const message = `${problem} ${advice}`;
    list.push({ code, message });
    if (json) return;
    const { yellow, dim } = await colorsFor(stderr());
    const line = `${yellow('warning:')} ${printable(message)} ${dim(`[${code}]`)}`;
    stderr().write(`${fitted(line, stderr())}\n`);
  };
  return { list, onWarning };
}
