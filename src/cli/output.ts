import { once } from 'node:events';
import type { Issue } from '../errors/errors.ts';
import { printable } from '../layout/text.ts';
import { colorsFor } from './colors.ts';
import { messageOfWarning } from './messages.ts';

const CHUNK = 65536;

// Node makes its standard streams when they are first asked for, and that takes as long as making a small torrent:
// nothing here asks for one before there is something to say.

let out: NodeJS.WriteStream | undefined;
let err: NodeJS.WriteStream | undefined;

/**
 * Standard output. A closed pipe (`metainfo show x | head`) is no failure; where else it cannot be written to, the process
 * ends.
 */
export function stdout(): NodeJS.WriteStream {
  out ??= process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    stderr().write(`error: standard output: ${error.message}\n`);
    process.exit(1);
  });
  return out;
}

/** Standard error. A closed terminal or log takes no progress; the work goes on. */
export function stderr(): NodeJS.WriteStream {
  err ??= process.stderr.on('error', () => {});
  return err;
}

/** Writes lines as fast as they are taken, to standard output by default: millions of them never wait in memory. */
export async function writeLines(lines: Iterable<string>, to = stdout): Promise<void> {
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < CHUNK) continue;
    await write(text, to());
    text = '';
  }
  await write(text, to());
}

async function write(text: string | Uint8Array, to: NodeJS.WriteStream): Promise<void> {
  if (!to.write(text)) await once(to, 'drain');
}

/** Writes bytes to standard output. */
export async function writeBytes(bytes: Uint8Array): Promise<void> {
  await write(bytes, stdout());
}

/** The warnings of a creation: written to standard error as they come, or kept for `--json`. */
export class Warnings {
  readonly list: Pick<Issue, 'code' | 'message'>[] = [];
  readonly #json: boolean;

  constructor({ json = false }: { json?: boolean }) {
    this.#json = json;
  }

  readonly onWarning = async (warning: Issue): Promise<void> => {
    const { code } = warning;
    const message = messageOfWarning(warning);
    this.list.push({ code, message });
    if (this.#json) return;
    const { yellow, dim } = await colorsFor(stderr());
    stderr().write(`${yellow('warning:')} ${printable(message)} ${dim(`[${code}]`)}\n`);
  };
}
