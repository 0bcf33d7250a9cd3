/** Standard input: a torrent that another program writes, or the content of a new torrent. */
import { createReadStream, fstatSync } from 'node:fs';
import { tooManyBytes } from '../../bencode/other-format.ts';
import { readWithin } from '../../disk/read-file.ts';
import { onAbort, throwIfAborted } from '../../errors/cancel.ts';
import { MetainfoError, withPath } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { type Host, host } from '../run.ts';

/** The argument for standard input, as in other programs. `./-` is a file. */
export const STDIN = '-';

export const isStdin = (file: string | undefined): boolean => file === STDIN;

/** The name of a file in a summary. */
export const nameOfInput = (file: string): string => (isStdin(file) ? 'standard input' : file);

/** Throws `ERR_INVALID_ARGUMENT` for a command line that reads standard input twice. */
export function requireOneStdin(files: readonly string[]): void {
  if (files.filter(isStdin).length > 1) throw invalidArgument('Standard input can be read only once: give - only once');
}

/**
 * Standard input as a stream.
 *
 * @param example A command line for the hint.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a terminal, `ERR_NOT_A_FILE` for a folder
 */
export function openStdin(example: string): Host['stdin'] {
  const { stdin } = host();
  // Node treats a folder as an empty stream.
  if (isFolder(stdin))
    throw new MetainfoError('ERR_NOT_A_FILE', 'standard input: cannot be read, because it is a folder.', {
      path: STDIN,
    });
  if (stdin.isTTY)
    throw invalidArgument(
      `Standard input (-) is a terminal: pipe the output of another program to it, as in ${example}`,
    );
  return stdin;
}

/** The input that a command expects on standard input, and an example of it. */
export interface InputHint {
  what: string;
  example: string;
}

const TORRENT_INPUT: InputHint = { what: 'a torrent', example: 'cat a.torrent | metainfo show -' };

/**
 * Reads a file or standard input.
 *
 * @param most The maximum size, in bytes.
 * @throws {LimitError} if there are more bytes
 * @throws {MetainfoError} `ERR_NO_DATA` for empty standard input; as {@link readWithin} for a file
 */
export async function readInput(file: string, most: number, hint: InputHint = TORRENT_INPUT): Promise<Uint8Array> {
  const isBencode = hint === TORRENT_INPUT;
  if (!isStdin(file)) return readWithin(file, most, { isBencode });
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of inputChunks(file, hint)) {
    total += chunk.length;
    chunks.push(chunk);
    if (total <= most) continue;
    const head = isBencode ? (chunks[0] as Buffer) : Buffer.alloc(0);
    throw named(withPath(tooManyBytes(most, head), STDIN));
  }
  return Buffer.concat(chunks);
}

/** Reads a file or standard input in chunks. Throws `ERR_NO_DATA` for empty standard input. */
export async function* inputChunks(file: string, hint: InputHint, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const stream = isStdin(file) ? openStdin(hint.example) : createReadStream(file);
  // A pipe whose writer goes on would keep the process.
  const removeListener = onAbort(signal, () => stream.destroy());
  let isEmpty = true;
  try {
    for await (const chunk of stream) {
      isEmpty = false;
      yield chunk as Buffer;
    }
  } catch (error) {
    throwIfAborted(signal);
    throw named(withPath(fromSystemError(error, file, 'read'), file));
  } finally {
    removeListener();
    stream.destroy();
  }
  throwIfAborted(signal);
  if (isEmpty && isStdin(file))
    throw named(new MetainfoError('ERR_NO_DATA', `${file}: it is empty: pipe ${hint.what} to it.`, { path: file }));
}

function isFolder({ fd }: Host['stdin']): boolean {
  try {
    return fd !== undefined && fstatSync(fd).isDirectory();
  } catch {
    // A closed descriptor is an empty stream.
    return false;
  }
}

/** Writes `standard input` instead of `-` at the start of a message. */
export function named(error: unknown): unknown {
  if (!(error instanceof MetainfoError) || !isStdin(error.path) || !error.message.startsWith('-: ')) return error;
  return Object.assign(error, { message: `standard input: ${error.message.slice(3)}` });
}
