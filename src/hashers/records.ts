/** Chunks and hashes: the input and output of hashers. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { enums, type Infer, refine, type Struct, string, type } from 'superstruct';
import { throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import {
  checkedPath,
  checkOptions,
  expected,
  invalidArgument,
  isSize,
  type OptionStructs,
  Signal,
  Size,
  Unchecked,
} from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { notAFile } from '../hash/open-without-links.ts';
import { closeRead, readFully } from '../hash/read.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import type { FieldStructs } from '../model/primitives.ts';
import { isUint8Array, newBytes } from '../platform/node.ts';

const Bytes = expected<Uint8Array>('a Uint8Array', isUint8Array);
const chunkFields = type({
  /** The path of the file. */
  path: string(),
  /** The bytes. */
  chunk: Bytes,
  /** The index of the chunk in the file, from 0. */
  idx: Size,
});
const hashFields = type({
  /** `block`: SHA-256 of at most 16 KiB; `v1_piece`: SHA-1; `v2_piece`: the root over a piece's blocks (BEP 52). */
  type: enums(['block', 'v1_piece', 'v2_piece']),
  /** The path of the file; for a v1 piece, the file in which it starts. */
  path: string(),
  /** 20 bytes for `v1_piece`, else 32. */
  hash: Bytes,
  /** The index of the piece in the torrent (v1), or of the block or piece in its file (v2). */
  idx: Size,
});

/** Some bytes of a file, such as a block of 16 KiB. */
export interface Chunk extends Infer<typeof chunkFields> {}
/** Checks a chunk. */
export const Chunk: Struct<Chunk, typeof chunkFields.schema> = chunkFields;

/** The hash of a block or piece. */
export interface Hash extends Infer<typeof hashFields> {}
/** Checks a hash: its length must match its type. */
export const Hash: Struct<Hash, FieldStructs<Hash>> = refine(
  hashFields as unknown as Struct<Hash, FieldStructs<Hash>>,
  'hash_length',
  (hash) => hashProblem(hash) ?? true,
);

/** Bytes of a hash by its type: SHA-1 for a v1 piece, else SHA-256. */
export const HASH_SIZES: Readonly<Record<'block' | 'v2_piece', 32> & Record<'v1_piece', 20>> = {
  block: 32,
  v1_piece: 20,
  v2_piece: 32,
} as const;

/** Returns the problem of a hash, or null. It uses no struct, because there may be millions of hashes. */
export function hashProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return `expected a hash, got ${shown(value)}`;
  const { type, path: name, hash, idx } = value as Partial<Hash>;
  if (typeof type !== 'string' || !Object.hasOwn(HASH_SIZES, type))
    return `expected the type block, v1_piece or v2_piece, got ${shown(type)}`;
  if (typeof name !== 'string') return `expected a path, got ${shown(name)}`;
  if (!isUint8Array(hash) || hash.length !== HASH_SIZES[type])
    return `expected a hash of ${HASH_SIZES[type]} bytes, got ${shown(hash)}`;
  return isSize(idx) ? null : `expected an idx from 0, got ${shown(idx)}`;
}

/** Options of {@link iterBlocks}. */
export interface IterBlocksOptions {
  /**
   * Bytes of every chunk but the last, at most 1 GiB.
   *
   * @default 16 KiB, the block of BEP 52
   */
  readSize?: number;
  /** Ends the iteration with an {@link AbortError}. */
  signal?: AbortSignal | undefined;
}

const ITER_BLOCKS: OptionStructs<IterBlocksOptions> = { readSize: Unchecked, signal: Signal };

/** Node aborts the process when it is asked for 2 GiB at once. */
const MAX_READ_SIZE = 2 ** 30;

/**
 * Reads a file in chunks of `readSize` bytes. An empty file has none. Each chunk has its own memory.
 *
 * @param file The path on disk. The chunks have the same `path`.
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_NOT_A_FILE`, `ERR_READ`, `ERR_FILE_CHANGED`,
 *   `ERR_INVALID_ARGUMENT`, `ERR_ABORTED`
 * @example
 * ```ts
 * import { iterBlocks } from 'metainfo';
 *
 * for await (const { idx, chunk } of iterBlocks('film.mkv', { readSize: 2 ** 20 })) console.log(idx, chunk.length);
 * ```
 *
 * ```text
 * 0 1048576
 * 1 1048576
 * 2 902848
 * ```
 */
export async function* iterBlocks(
  file: string | URL,
  options: IterBlocksOptions = {},
): AsyncGenerator<Chunk, void, undefined> {
  const { readSize = BLOCK_SIZE, signal } = checkOptions(options, ITER_BLOCKS, { example: '{ readSize: 65536 }' });
  if (!(Number.isSafeInteger(readSize) && readSize > 0 && readSize <= MAX_READ_SIZE)) {
    throw invalidArgument(`readSize must be 1 to ${MAX_READ_SIZE}, not ${shown(readSize)}`);
  }
  const path = checkedPath(file);
  throwIfAborted(signal);
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENXIO' ? notAFile(path) : fromSystemError(error, path, 'read');
  });
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw notAFile(path);
    for (let idx = 0; ; idx += 1) {
      throwIfAborted(signal);
      const chunk = newBytes(readSize);
      const filled = await readFully(handle, chunk, idx * readSize);
      if (filled > 0) yield { path, chunk: chunk.subarray(0, filled), idx };
      if (filled === readSize) continue;
      const bytes = idx * readSize + filled;
      if (bytes >= status.size) return;
      const message = `${path} changed while it was read: it ended at byte ${bytes} of ${status.size}.`;
      throw new MetainfoError('ERR_FILE_CHANGED', message, { path });
    }
  } catch (error) {
    throw fromSystemError(error, path, 'read');
  } finally {
    await closeRead(handle);
  }
}
