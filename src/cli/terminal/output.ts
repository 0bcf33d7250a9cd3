/** Standard output and standard error: lines, colors, JSON, bytes and warnings, safe for closed pipes. */
import { once } from 'node:events';
import type { Colors } from 'picocolors/types.js';
import type { Finding } from '../../create/findings/findings.ts';
import { throwIfAborted, untilAbort } from '../../errors/cancel.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { variable } from '../../platform/node.ts';
import { escaped, printable } from '../../text/printable.ts';
import { FAILED, host, ofRun } from '../run.ts';
import { toPlain } from './messages.ts';
import { wrapped } from './wrap.ts';

const CHUNK = 65536;

// Node opens its standard streams on first use, which takes as long as creating a small torrent. So nothing here opens
// one before there is something to write.

/** Why {@link outputClosed} fires. */
export const CLOSED = 'EPIPE';

const closing = ofRun(() => new AbortController());

/** Fires when standard output takes no more, such as a closed pipe (`metainfo show x | head`). */
export const outputClosed = (): AbortSignal => closing().signal;

/** Standard output. A write error cancels the job. It is shown and is a failure, unless the output is a closed pipe. */
export const stdout: () => NodeJS.WriteStream = ofRun(() =>
  host().stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Writes that were queued fail too.
    if (outputClosed().aborted) return;
    if (error.code !== 'EPIPE') {
      const { code, message } = fromSystemError(error, 'standard output', 'write');
      stderr().write(`error: ${message} [${code}]\n`);
      host().exitCode = FAILED;
    }
    closing().abort(CLOSED);
  }),
);

/** Standard error. Write errors are ignored, so the job continues when the terminal or log is closed. */
export const stderr: () => NodeJS.WriteStream = ofRun(() => host().stderr.on('error', () => {}));

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
    await write(text, to);
    text = '';
  }
  if (text !== '') await write(text, to);
}

/** The JSON record of a job that is the only one, with the paths of it: the same as that of one among many. */
export const recordJson = (place: object, result: object) => ({ event: 'done', job: 0, ...place, ...result });

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

async function write(text: string, to: typeof stdout): Promise<void> {
  const signal = to === stdout ? outputClosed() : undefined;
  throwIfAborted(signal);
  if (!to().write(text)) await untilAbort(signal, once(to(), 'drain'));
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
  if (!error) return;
  const { code } = error as NodeJS.ErrnoException;
  // The listener of the stream has shown any other error.
  if (code !== 'EPIPE' && code !== 'ERR_STREAM_DESTROYED') throwIfAborted(outputClosed());
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

/** Colors for a terminal; no colors for a pipe or file. */
export async function colorsFor(stream: NodeJS.WriteStream): Promise<Colors> {
  // Loaded on demand: picocolors opens standard output of the process when it is loaded.
  const { default: picocolors } = await import('picocolors');
  return picocolors.createColors(stream.isTTY === true && !variable('NO_COLOR') && variable('TERM') !== 'dumb');
}

/**
 * Formats a value as JSON in which the characters that `printable` escapes are escaped too. It parses to the same value.
 *
 * @throws {MetainfoError} `ERR_LIMIT` when the JSON would be longer than a string can be
 */
export function printableJson(value: unknown): string {
  const escape16 = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  try {
    return escaped(JSON.stringify(value), (char) => char.split('').map(escape16).join(''));
  } catch (error) {
    // V8 throws it for a string of more than half a GiB.
    if (!(error instanceof RangeError)) throw error;
    throw new MetainfoError('ERR_LIMIT', 'The JSON is longer than a string can be (512 MiB).', { cause: error });
  }
}

/** The most items of a kind without `-v`: the wrong folder may have millions of files. */
const MAX_ITEMS = 20;

/**
 * The lines of the first items of each kind, and one for each kind that has more.
 *
 * @param kind The plural of the items, or of each of them, as in "and 5 more missing files".
 * @param isAll Whether every item gets its lines, as with `-v`.
 */
export function firstLines<T>(
  items: Iterable<T>,
  kind: string | ((item: T) => string),
  isAll: boolean | undefined,
  linesOf: (item: T) => string | readonly string[],
): string[] {
  const limit = isAll ? Infinity : MAX_ITEMS;
  const counts = new Map<string, number>();
  const lines: string[] = [];
  for (const item of items) {
    const own = typeof kind === 'string' ? kind : kind(item);
    const count = (counts.get(own) ?? 0) + 1;
    counts.set(own, count);
    if (count <= limit) lines.push(...[linesOf(item)].flat());
  }
  for (const [own, count] of counts)
    if (count > limit) lines.push(`… and ${(count - limit).toLocaleString('en')} more ${own} (-v lists all)`);
  return lines;
}
