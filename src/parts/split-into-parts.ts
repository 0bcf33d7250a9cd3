/** Splits a plan into parts: shares of about equal size that can be hashed apart. */
import { is, type Struct } from 'superstruct';
import { MetainfoError } from '../errors/errors.ts';
import { expected, wholeFrom } from '../errors/guard.ts';

/** The limits of a plan. A plan of a few bytes may claim any size, and the memory of a split grows with these. */
export const MOST = { files: 2 ** 22, pieces: 2 ** 26, parts: 2 ** 20 } as const;

/** Accepts sizes and numbers of parts. */
export const Count: Struct<number, null> = wholeFrom(1);
/** Accepts part sizes. */
export const PartSize: Struct<number | 'auto', null> = expected(
  "a whole number of at least 1, or 'auto'",
  (value) => value === 'auto' || is(value, Count),
);

/** The files of a plan, as far as a split needs them. */
export interface PartShape {
  version: 'v1' | 'v2' | 'hybrid';
  /** Bytes. */
  pieceLength: number;
  /** Bytes of each file or pad file. */
  lengths: ArrayLike<number>;
  /** How many files, from the first on, have their last v1 piece filled up by a pad file that `lengths` does not list. */
  paddedFiles: number;
  /** Bytes of content of a part: whole pieces. */
  partSize: number;
}

/**
 * Where each part begins, and behind the last part where it ends. Part `i` has the bytes from `offsets[i]` of file `files[i]` up to
 * `offsets[i + 1]` of file `files[i + 1]`.
 */
export interface PartTable {
  /** The number of parts. */
  count: number;
  files: readonly number[];
  /** Bytes from the start of the file. */
  offsets: readonly number[];
  /** The first v1 piece of each part; null in v2. */
  pieces: readonly number[] | null;
}

/** A shorter file counts as this many bytes: to open one takes as long as to hash that much. */
const LEAST_BYTES = 16 * 2 ** 10;

/** The input of {@link autoPartSize}, with about how many workers hash at once. */
export type SizedWork = Pick<PartShape, 'pieceLength' | 'lengths'> & { workers?: number | undefined };

/** A part costs as much as hashing this many bytes: see docs/scaling.md. */
const PART_COST = 32 * 2 ** 20;
/** Smaller parts are slower on any number of workers, unless each worker would get less than one part. */
const LEAST_PART = 512 * 2 ** 20;
/** The parts of one flow that a queue has at once. Reading more of them takes a join longer than it saves. */
const MOST_AUTO_PARTS = 4096;
const WORKERS = 256;

/**
 * A part size that suits the content: all parts have about the same size. Smaller parts cost more, and with larger ones, workers
 * wait for the last parts. It depends on the content and the given number alone, so the same plan has the same parts.
 */
export function autoPartSize({ pieceLength, lengths, workers = WORKERS }: SizedWork): number {
  let bytes = 0;
  for (let file = 0; file < lengths.length; file += 1) bytes += Math.max(lengths[file] as number, LEAST_BYTES);
  // Where the cost of all parts and half a part of every worker are least together.
  const best = Math.sqrt((2 * PART_COST * bytes) / workers);
  const size = Math.max(best, LEAST_PART, bytes / MOST_AUTO_PARTS);
  return wholePartSize(bytes / Math.max(1, Math.round(bytes / size)), pieceLength);
}

/** The part size in whole pieces: at least one. */
export function wholePartSize(partSize: number, pieceLength: number): number {
  return Math.max(1, Math.ceil(partSize / pieceLength)) * pieceLength;
}

/** Requires that a plan may have so many files and bytes. Throws `ERR_TOO_LARGE`. */
export function requireModest({ files, bytes, pieceLength }: Record<'files' | 'bytes' | 'pieceLength', number>): void {
  if (files > MOST.files) throw tooLarge(`${MOST.files} files`);
  if (bytes / pieceLength > MOST.pieces) throw tooLarge(`${MOST.pieces} pieces: choose a larger piece length`);
}

function tooLarge(most: string): MetainfoError {
  return new MetainfoError('ERR_TOO_LARGE', `A plan for parts cannot have more than ${most}.`);
}

/**
 * Splits files into parts. Every part begins with a piece: in v1 at any byte that starts one, in v2 and hybrid at the start of a file
 * or of a piece of a file. The same shape always gives the same parts.
 *
 * @param most The most parts.
 * @throws {MetainfoError} `ERR_TOO_LARGE` for more files, pieces or parts
 */
export function splitIntoParts(
  { version, pieceLength, lengths, paddedFiles, partSize }: PartShape,
  most: number = MOST.parts,
): PartTable {
  let bytes = 0;
  for (let file = 0; file < lengths.length; file += 1) bytes += lengths[file] as number;
  requireModest({ files: lengths.length, bytes, pieceLength });
  const files = [0];
  const offsets = [0];
  const pieces = [0];
  /** Where the current file begins among the pieces, in bytes. */
  let start = 0;
  /** The bytes that the current part counts as. */
  let used = 0;
  let isEmpty = true;
  for (let file = 0; file < lengths.length; file += 1) {
    const length = lengths[file] as number;
    let from = 0;
    for (;;) {
      const room = partSize - used;
      if (Math.max(length, LEAST_BYTES) - from <= room) break;
      const to = from + bytesToCut(start + from, room, isEmpty, pieceLength);
      // A cut at the start of an empty file counts too.
      if (to > from && to >= length) break;
      from = to;
      if (files.length >= most) throw tooLarge(`${most} parts: choose a larger part size`);
      files.push(file);
      offsets.push(from);
      pieces.push((start + from) / pieceLength);
      used = 0;
      isEmpty = true;
    }
    used += Math.max(length, LEAST_BYTES) - from;
    isEmpty = false;
    start += length;
    if (version === 'v2' || file < paddedFiles) start = Math.ceil(start / pieceLength) * pieceLength;
  }
  const count = files.length;
  files.push(lengths.length);
  offsets.push(0);
  pieces.push(Math.ceil(start / pieceLength));
  return { count, files, offsets, pieces: version === 'v2' ? null : pieces };
}

/** The bytes from a position to the end of the part: to the last start of a piece for which there is room, else to the next one. */
function bytesToCut(position: number, room: number, isEmpty: boolean, pieceLength: number): number {
  const most = Math.floor((position + Math.max(0, room)) / pieceLength) * pieceLength - position;
  if (most > 0) return most;
  const begun = position % pieceLength;
  return begun === 0 && !isEmpty ? 0 : pieceLength - begun;
}

/** A contiguous share of one file. */
export interface PartRange {
  /** The index of the file. */
  file: number;
  /** Bytes from the start of the file. */
  offset: number;
  /** Bytes. */
  length: number;
}

/** The shares of files that a part has, empty files too. */
export function* rangesOf(
  { parts: { files, offsets }, lengths }: { parts: PartTable; lengths: ArrayLike<number> },
  part: number,
): Generator<PartRange> {
  const [first, last] = [files[part] as number, files[part + 1] as number];
  const end = offsets[part + 1] as number;
  for (let file = first; file <= last; file += 1) {
    if (file === last && end === 0) return;
    const offset = file === first ? (offsets[part] as number) : 0;
    yield { file, offset, length: (file === last ? end : (lengths[file] as number)) - offset };
  }
}
