/** Chooses the piece length by what the caller wishes: at most so long, about so many pieces, or a torrent of at most so many bytes. */
import { MetainfoError } from '../errors/errors.ts';
import { expected, type OptionStructs, orNull } from '../errors/guard.ts';
import {
  BLOCK_SIZE,
  choosePieceLength,
  MAX_PIECE_LENGTH,
  powerOfTwoWithin,
  UNKNOWN_PIECE_LENGTH,
} from '../layout/piece-length.ts';
import { exactBytes } from '../text/format.ts';
import { SizesOf, type TorrentShape } from './findings/torrent-sizes.ts';

/** Wishes about the piece length and its effects. */
export interface PieceLengthWishes {
  /**
   * The longest piece length to choose, in bytes: at least 16 KiB.
   *
   * @default none
   */
  maxPieceLength?: number | null | undefined;
  /**
   * Choose the piece length whose number of pieces is closest to this one, as a ratio.
   *
   * @default none
   */
  targetPieces?: number | null | undefined;
  /**
   * The most bytes that the torrent file may have. If the piece length would give a larger torrent, a longer one is chosen.
   * The size is known before anything is hashed; files of equal content can only make the torrent smaller.
   *
   * @default none
   */
  maxTorrentSize?: number | null | undefined;
}

const wholeFrom = (least: number) =>
  orNull(
    expected<number>(
      `a whole number of at least ${least}`,
      (value) => Number.isSafeInteger(value) && (value as number) >= least,
    ),
  );

/** The structs of {@link PieceLengthWishes}. */
export const WISHES: OptionStructs<PieceLengthWishes> = {
  maxPieceLength: wholeFrom(BLOCK_SIZE),
  targetPieces: wholeFrom(1),
  maxTorrentSize: wholeFrom(1),
};

/** A torrent whose piece length is to be chosen, and the piece length that the draft gives. */
export interface LengthChoice {
  shape: TorrentShape;
  /** Bytes; null to choose. */
  pieceLength: number | null;
}

/** Whether there is any wish. */
export function hasWishes({ maxPieceLength, targetPieces, maxTorrentSize }: PieceLengthWishes): boolean {
  return (maxPieceLength ?? targetPieces ?? maxTorrentSize) != null;
}

/**
 * The piece length that satisfies all wishes. It starts from the automatic choice or from the length for `targetPieces`, within
 * `maxPieceLength`, and is the next longer one (else the next shorter one) whose torrent is small enough.
 *
 * @throws {MetainfoError} `ERR_PIECE_LENGTH` if two wishes contradict each other, with both; `ERR_SIZE_UNKNOWN` for wishes that
 *   need the size of a stream
 */
export async function lengthFor({ shape, pieceLength }: LengthChoice, wishes: PieceLengthWishes): Promise<number> {
  const { maxPieceLength, targetPieces, maxTorrentSize } = wishes;
  const max = maxPieceLength == null ? MAX_PIECE_LENGTH : Math.min(MAX_PIECE_LENGTH, powerOfTwoWithin(maxPieceLength));
  if (pieceLength !== null && maxPieceLength != null && pieceLength > maxPieceLength)
    throw refused(`pieceLength is ${exactBytes(pieceLength)}, but maxPieceLength is ${exactBytes(maxPieceLength)}.`, [
      'pieceLength',
      'maxPieceLength',
    ]);
  if (!shape.files.hasAllLengths) {
    requireNoSizes(shape, wishes);
    return pieceLength ?? Math.min(max, UNKNOWN_PIECE_LENGTH);
  }
  const total = shape.files.totalLength;
  const automatic = Math.min(max, choosePieceLength(total));
  // The creation fails because there is no content.
  if (total === 0) return pieceLength ?? automatic;
  const sizes = new SizesOf(shape);
  if (pieceLength !== null) return fixedLength(sizes, pieceLength, { ...wishes, max });
  const start = targetPieces == null ? automatic : await lengthForPieces(sizes, targetPieces, max);
  if (maxTorrentSize == null) return start;
  const found = await lengthForSize(sizes, start, { max, maxTorrentSize });
  if (found !== null) return found;
  throw await tooLarge(sizes, maxTorrentSize, { max, limit: 'maxPieceLength', is: maxPieceLength ?? max });
}

/** Checks that a piece length that the draft gives does not contradict a wish. */
async function fixedLength(
  sizes: SizesOf,
  pieceLength: number,
  { targetPieces, maxTorrentSize, max }: PieceLengthWishes & { max: number },
): Promise<number> {
  if (maxTorrentSize != null && (await torrentSize(sizes, pieceLength)) > maxTorrentSize)
    throw await tooLarge(sizes, maxTorrentSize, { max: pieceLength, limit: 'pieceLength', is: pieceLength });
  if (targetPieces == null) return pieceLength;
  const start = await lengthForPieces(sizes, targetPieces, max);
  const found =
    maxTorrentSize == null ? start : ((await lengthForSize(sizes, start, { max, maxTorrentSize })) ?? pieceLength);
  const [given, best] = [await piecesOf(sizes, pieceLength), await piecesOf(sizes, found)];
  if (distance(given, targetPieces) <= distance(best, targetPieces)) return pieceLength;
  const counts = `which gives ${best} pieces, but pieceLength is ${exactBytes(pieceLength)}, which gives ${given}`;
  throw refused(`targetPieces ${targetPieces} needs a piece length of ${exactBytes(found)}, ${counts}.`, [
    'targetPieces',
    'pieceLength',
  ]);
}

async function torrentSize(sizes: SizesOf, pieceLength: number): Promise<number> {
  return (await sizes.torrent({ pieceLength })).bytes;
}

async function piecesOf(sizes: SizesOf, pieceLength: number): Promise<number> {
  return (await sizes.torrent({ pieceLength })).pieces;
}

/** How far apart two counts are, as a ratio. */
function distance(a: number, b: number): number {
  return Math.max(a, b) / Math.min(a, b);
}

/** The piece lengths to choose from, of at most `max` bytes. */
function lengthsWithin(max: number): number[] {
  const count = Math.log2(max / BLOCK_SIZE) + 1;
  return Array.from({ length: count }, (_, i) => BLOCK_SIZE * 2 ** i);
}

/** The length of at most `max` bytes whose number of pieces is closest to a number. Of two equally close, the shorter one. */
async function lengthForPieces(sizes: SizesOf, target: number, max: number): Promise<number> {
  const lengths = lengthsWithin(max);
  // Longer pieces are never more pieces.
  const fewest = await piecesOf(sizes, max);
  const below = await firstWithin(sizes, lengths, Math.max(target, fewest));
  const longer = lengths[below] as number;
  if (below === 0) return longer;
  const above = await piecesOf(sizes, lengths[below - 1] as number);
  if (distance(above, target) > distance(await piecesOf(sizes, longer), target)) return longer;
  return lengths[await firstWithin(sizes, lengths, above)] as number;
}

/** The index of the shortest length that gives at most so many pieces: the longest one does. */
async function firstWithin(sizes: SizesOf, lengths: readonly number[], pieces: number): Promise<number> {
  let [first, last] = [0, lengths.length - 1];
  while (first < last) {
    const middle = (first + last) >> 1;
    if ((await piecesOf(sizes, lengths[middle] as number)) <= pieces) last = middle;
    else first = middle + 1;
  }
  return first;
}

/** The shortest length from `start` on whose torrent is small enough, else the longest one below; null if there is none. */
async function lengthForSize(
  sizes: SizesOf,
  start: number,
  { max, maxTorrentSize }: { max: number; maxTorrentSize: number },
): Promise<number | null> {
  // Pad files can make the torrent of longer pieces the larger one.
  const lengths = lengthsWithin(max);
  const [shorter, longer] = [lengths.filter((length) => length < start), lengths.filter((length) => length >= start)];
  for (const length of [...longer, ...shorter.reverse()])
    if ((await torrentSize(sizes, length)) <= maxTorrentSize) return length;
  return null;
}

/** The error of `maxTorrentSize`: says which length it needs, or that no length is enough. */
async function tooLarge(
  sizes: SizesOf,
  maxTorrentSize: number,
  { max, limit, is }: { max: number; limit: keyof PieceLengthWishes | 'pieceLength'; is: number },
): Promise<MetainfoError> {
  const all: { length: number; bytes: number }[] = [];
  for (const length of lengthsWithin(MAX_PIECE_LENGTH)) all.push({ length, bytes: await torrentSize(sizes, length) });
  const enough = all.filter(({ bytes }) => bytes <= maxTorrentSize);
  const [shortest] = enough;
  const wish = `maxTorrentSize ${exactBytes(maxTorrentSize)}`;
  if (shortest) {
    const needed = enough.find(({ length }) => length > max);
    const need = needed
      ? `pieces of at least ${exactBytes(needed.length)}`
      : `pieces of at most ${exactBytes((enough.at(-1) as typeof shortest).length)}`;
    return refused(`${wish} needs ${need}, but ${limit} is ${exactBytes(is)}.`, ['maxTorrentSize', limit]);
  }
  const least = all.reduce((a, b) => (b.bytes < a.bytes ? b : a));
  return refused(
    `${wish} is too small: the smallest possible torrent has ${least.bytes} bytes, with pieces of ${exactBytes(least.length)}. Use fewer files, or another version.`,
    ['maxTorrentSize'],
  );
}

function requireNoSizes({ files }: TorrentShape, { targetPieces, maxTorrentSize }: PieceLengthWishes): void {
  const wish = targetPieces != null ? 'targetPieces' : maxTorrentSize != null ? 'maxTorrentSize' : null;
  if (wish === null) return;
  const path = files.pathAt(files.lengths.findIndex(Number.isNaN));
  throw new MetainfoError(
    'ERR_SIZE_UNKNOWN',
    `The size of ${path} must be given: ${wish} needs the size of all files.`,
    { path, option: { [wish]: null } },
  );
}

/** @param options The options that the message names. */
function refused(message: string, options: readonly string[]): MetainfoError {
  const option = Object.fromEntries(options.map((name) => [name, null]));
  return new MetainfoError('ERR_PIECE_LENGTH', message, { option });
}
