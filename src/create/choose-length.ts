/** Chooses the piece length within limits: at most so long, about so many pieces, or a torrent of at most so many bytes. */
import { MetainfoError } from '../errors/errors.ts';
import { type OptionStructs, orNull, wholeFrom } from '../errors/guard.ts';
import {
  BLOCK_SIZE,
  choosePieceLength,
  MAX_PIECE_LENGTH,
  powerOfTwoWithin,
  UNKNOWN_PIECE_LENGTH,
} from '../layout/piece-length.ts';
import { exactBytes } from '../text/format.ts';
import { SizesOf, type TorrentShape } from './findings/torrent-sizes.ts';

/** Limits on the piece length and its effects. Each takes part in one choice, so the result satisfies all of them. */
export interface PieceLengthLimits {
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

/** The structs of {@link PieceLengthLimits}. */
export const LENGTH_LIMITS: OptionStructs<PieceLengthLimits> = {
  maxPieceLength: orNull(wholeFrom(BLOCK_SIZE)),
  targetPieces: orNull(wholeFrom(1)),
  maxTorrentSize: orNull(wholeFrom(1)),
};

/** @internal A torrent whose piece length is to be chosen, and the piece length that the draft gives. */
export interface LengthChoice {
  shape: TorrentShape;
  /** Bytes; null to choose. */
  pieceLength: number | null;
}

/** Whether there is any limit. */
export function hasLengthLimits({ maxPieceLength, targetPieces, maxTorrentSize }: PieceLengthLimits): boolean {
  return (maxPieceLength ?? targetPieces ?? maxTorrentSize) != null;
}

/**
 * @internal The piece length that satisfies all limits. It starts from the automatic choice or from the length for `targetPieces`, within
 * `maxPieceLength`, and is the next longer one (else the next shorter one) whose torrent is small enough.
 *
 * @throws {MetainfoError} `ERR_PIECE_LENGTH` if two limits contradict each other, with both; `ERR_SIZE_UNKNOWN` for limits that
 *   need the size of a stream
 */
export async function lengthFor({ shape, pieceLength }: LengthChoice, limits: PieceLengthLimits): Promise<number> {
  const { maxPieceLength, targetPieces, maxTorrentSize } = limits;
  const max = maxPieceLength == null ? MAX_PIECE_LENGTH : Math.min(MAX_PIECE_LENGTH, powerOfTwoWithin(maxPieceLength));
  if (pieceLength !== null && maxPieceLength != null && pieceLength > maxPieceLength)
    throw lengthError(
      `pieceLength is ${exactBytes(pieceLength)}, but maxPieceLength is ${exactBytes(maxPieceLength)}.`,
      ['pieceLength', 'maxPieceLength'],
    );
  if (!shape.files.hasAllLengths) {
    requireNoSizes(shape, limits);
    return pieceLength ?? Math.min(max, UNKNOWN_PIECE_LENGTH);
  }
  const total = shape.files.totalLength;
  const automatic = Math.min(max, choosePieceLength(total));
  // Without content, the creation fails later.
  if (total === 0 || (targetPieces ?? maxTorrentSize) == null) return pieceLength ?? automatic;
  const all = await Promise.all(LENGTHS.map((length) => measured(shape, length)));
  const within = all.filter(({ length }) => length <= max);
  const isSmall = ({ bytes }: Measured) => maxTorrentSize == null || bytes <= maxTorrentSize;
  /** How far the number of pieces is from the target, as a ratio. */
  const far = ({ pieces }: Measured) =>
    targetPieces == null ? 1 : Math.max(pieces, targetPieces) / Math.min(pieces, targetPieces);
  const closest = within.reduce((a, b) => (far(b) < far(a) ? b : a));
  const start = targetPieces == null ? automatic : closest.length;
  // Pad files can make the torrent of longer pieces the larger one.
  const best = within.find((one) => one.length >= start && isSmall(one)) ?? within.findLast(isSmall);
  const given = pieceLength === null ? null : await measured(shape, pieceLength);
  const wanted = given ?? best;
  if (!wanted || !isSmall(wanted))
    throw tooLarge(all, maxTorrentSize as number, {
      limit: given ? 'pieceLength' : 'maxPieceLength',
      is: given?.length ?? maxPieceLength ?? max,
    });
  if (!best || far(wanted) <= far(best)) return wanted.length;
  const counts = `which gives ${best.pieces} pieces, but pieceLength is ${exactBytes(wanted.length)}, which gives ${wanted.pieces}`;
  throw lengthError(`targetPieces ${targetPieces} needs a piece length of ${exactBytes(best.length)}, ${counts}.`, [
    'targetPieces',
    'pieceLength',
  ]);
}

/** The piece lengths to choose from. */
const LENGTHS = Array.from({ length: Math.log2(MAX_PIECE_LENGTH / BLOCK_SIZE) + 1 }, (_, i) => BLOCK_SIZE * 2 ** i);

/** A piece length, and the torrent that it gives. */
interface Measured {
  length: number;
  pieces: number;
  bytes: number;
}

async function measured(shape: TorrentShape, length: number): Promise<Measured> {
  const { pieces, bytes } = await new SizesOf(shape).torrent({ pieceLength: length });
  return { length, pieces, bytes };
}

/** The error of `maxTorrentSize`: says which length it needs, or that no length is enough. */
function tooLarge(
  all: readonly Measured[],
  maxTorrentSize: number,
  { limit, is }: { limit: keyof PieceLengthLimits | 'pieceLength'; is: number },
): MetainfoError {
  const wanted = `maxTorrentSize ${exactBytes(maxTorrentSize)}`;
  const enough = all.filter(({ bytes }) => bytes <= maxTorrentSize);
  const last = enough.at(-1);
  if (last) {
    const longer = enough.find(({ length }) => length > is);
    const need = longer ? `at least ${exactBytes(longer.length)}` : `at most ${exactBytes(last.length)}`;
    return lengthError(`${wanted} needs pieces of ${need}, but ${limit} is ${exactBytes(is)}.`, [
      'maxTorrentSize',
      limit,
    ]);
  }
  const least = all.reduce((a, b) => (b.bytes < a.bytes ? b : a));
  return lengthError(
    `${wanted} is too small: the smallest possible torrent has ${least.bytes} bytes, with pieces of ${exactBytes(least.length)}. Use fewer files, or another version.`,
    ['maxTorrentSize'],
  );
}

function requireNoSizes({ files }: TorrentShape, { targetPieces, maxTorrentSize }: PieceLengthLimits): void {
  const wanted = targetPieces != null ? 'targetPieces' : maxTorrentSize != null ? 'maxTorrentSize' : null;
  if (wanted === null) return;
  const path = files.pathAt(files.lengths.findIndex(Number.isNaN));
  throw new MetainfoError(
    'ERR_SIZE_UNKNOWN',
    `The size of ${path} must be given: ${wanted} needs the size of all files.`,
    { path, option: { [wanted]: null } },
  );
}

/** @param options The options that the message names. */
function lengthError(message: string, options: readonly string[]): MetainfoError {
  const option = Object.fromEntries(options.map((name) => [name, null]));
  return new MetainfoError('ERR_PIECE_LENGTH', message, { option });
}
