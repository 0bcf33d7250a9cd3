/** The limits on untrusted input, their defaults and the error that is thrown beyond them. */
import { MetainfoError, optionText } from '../errors/errors.ts';
import { checkOptions, expected, type OptionStructs } from '../errors/guard.ts';
import { shareClass } from '../errors/shared.ts';
import { MAX_TEXT } from '../platform/node.ts';

/**
 * Bounds on the time and memory that untrusted input may take. You can lower or raise each of them.
 *
 * @example
 * ```ts
 * import { Torrent } from 'metainfo';
 *
 * const limits = { bytes: 10 * 2 ** 20, files: 100_000 };
 * const torrent = await Torrent.read('album.torrent', { limits });
 * console.log(torrent.name);
 * ```
 */
export interface Limits {
  /**
   * Bytes of input. A larger file is not read.
   *
   * @default 1 GiB
   */
  bytes?: number | undefined;
  /**
   * Nested lists and dictionaries. A torrent may have at most 1,000.
   *
   * @default 100; 99 for a torrent, as in libtorrent
   */
  depth?: number | undefined;
  /**
   * Digits of an integer. The limit keeps the cost of big integers linear in the input; no BEP needs as many.
   *
   * @default 100; 20 for a torrent, as in libtorrent
   */
  digits?: number | undefined;
  /**
   * Values and keys in total. Each takes up to 200 bytes of memory.
   *
   * @default 3 million, as in libtorrent; with less than 2 GiB for `--max-old-space-size`, one for each 700 bytes of it
   */
  items?: number | undefined;
  /**
   * Bytes of a key, a text or a string in the file list. It cannot exceed the longest string of JavaScript.
   *
   * @default 16 MiB
   */
  text?: number | undefined;
  /**
   * Characters of all file paths of a v2 file tree. The tree names each folder once, but the paths repeat it for every file.
   *
   * @default 128 Mi (2^27)
   */
  paths?: number | undefined;
  /**
   * Files of a torrent, pad files included. A hybrid may have as many in its v1 part and in its v2 part.
   *
   * @default 1 million
   */
  files?: number | undefined;
  /**
   * Piece hashes of a torrent. A hybrid may have as many in its v1 part and in its v2 part.
   *
   * @default 10 million
   */
  pieces?: number | undefined;
  /**
   * Bytes of all pad files of a torrent. Pad files take no disk space, but as long to hash as other files.
   *
   * @default 1 TiB
   */
  padding?: number | undefined;
}

/** The name of one of the {@link Limits}. */
export type LimitName = keyof Limits;

/** The default {@link Limits}. */
export const DEFAULT_LIMITS: Readonly<Record<LimitName, number>> = {
  bytes: 2 ** 30,
  depth: 100,
  digits: 100,
  items: 3_000_000,
  text: 2 ** 24,
  paths: 2 ** 27,
  files: 1_000_000,
  pieces: 10_000_000,
  padding: 2 ** 40,
};

const NOUNS: Readonly<Record<LimitName, string>> = {
  bytes: 'bytes',
  depth: 'nested lists and dictionaries',
  digits: 'digits in one integer',
  items: 'values',
  text: 'bytes in one string',
  paths: 'characters in paths',
  files: 'files',
  pieces: 'pieces',
  padding: 'bytes of pad files',
};

const limitNames = Object.keys(NOUNS) as LimitName[];
const forAll = <T>(value: T) => Object.fromEntries(limitNames.map((name) => [name, value])) as Record<LimitName, T>;

/** No limits but the longest string of JavaScript, for data that was within the limits of the caller when it was read. */
export const NO_LIMITS: Readonly<Record<LimitName, number>> = {
  ...forAll(Infinity),
  text: MAX_TEXT,
};

/** The input exceeds one of the {@link Limits}. */
export class LimitError extends MetainfoError {
  override readonly name = 'LimitError';
  /** The limit that is exceeded. */
  readonly limit: LimitName;
  /** The value of that limit. */
  readonly most: number;
  /** The offset in the input, in bytes, where the limit is exceeded; null if there is no such place. */
  readonly offset: number | null;

  /** @internal */
  constructor(limit: LimitName, most: number, offset: number | null = null, ofHeap = false) {
    const place = offset === null ? '' : ` at byte ${offset}`;
    const raise = ofHeap
      ? 'the heap of this process is too small for more (start Node with a larger --max-old-space-size)'
      : `raise it with ${optionText('limits', limit)} if you trust the input`;
    const option = ofHeap ? {} : { limits: limit };
    super('ERR_LIMIT', `limit of ${most} ${NOUNS[limit]} exceeded${place}: ${raise}.`, { option });
    this.limit = limit;
    this.most = most;
    this.offset = offset;
  }
}
shareClass(LimitError, 'LimitError');

/** Completes limits with defaults. Throws `ERR_INVALID_ARGUMENT` for an unknown limit, or one that is not a number of at least 0. */
export function limitsOf(given: Limits = {}, defaults = DEFAULT_LIMITS): Readonly<Record<LimitName, number>> {
  if (given === NO_LIMITS) return NO_LIMITS;
  const limits = { ...defaults };
  const checked = checkOptions(given, LIMITS, { name: 'limits', example: '{ files: 1000 }' });
  for (const [name, most] of Object.entries(checked) as [LimitName, number][])
    limits[name] = Math.min(most, NO_LIMITS[name]);
  return limits;
}

const Limit = expected<number>('a number of at least 0', (value) => typeof value === 'number' && value >= 0);
const LIMITS: OptionStructs<Limits> = forAll(Limit);
