import { constants } from 'node:buffer';
import { MetainfoError } from '../errors/errors.ts';
import { expected, type OptionStructs, options } from '../errors/guard.ts';

/** What bounds the time and memory that input of a stranger may take. A caller may lower or raise each. */
export interface Limits {
  /** Bytes of input; default 1 GiB. A larger file is not read. */
  bytes?: number | undefined;
  /** Lists and dictionaries within each other; default 100. Of a torrent: default 99, as in libtorrent, and at most 1,000. */
  depth?: number | undefined;
  /** Digits of an integer; default 100 (of a torrent 20, as in libtorrent), more than any BEP needs: keeps the cost of big integers linear in the input. */
  digits?: number | undefined;
  /** Values and keys in all; default 3 million, as libtorrent has it: what bounds memory, at about 200 bytes each. */
  items?: number | undefined;
  /** Bytes of a key, of a text, or of a string of the list of files; default 16 MiB, at most what a string can hold. */
  text?: number | undefined;
  /** Characters of the paths of all files of a v2 file tree, which names a folder once; default 128 Mi. */
  paths?: number | undefined;
  /** Files of a torrent, pads among them, in each of its descriptions; default 1 million. */
  files?: number | undefined;
  /** Hashes of pieces of a torrent, in each of its descriptions; default 10 million. */
  pieces?: number | undefined;
  /** Bytes of pad files of a torrent; default 1 TiB. They are on no disk, and take as long to hash as what is. */
  padding?: number | undefined;
}

/** Which of the {@link Limits}. */
export type LimitName = keyof Limits;

/** The limits where the caller names none. */
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

/** For what was within the caller's limits when it was read. */
export const NO_LIMITS: Readonly<Record<LimitName, number>> = {
  bytes: Infinity,
  depth: Infinity,
  digits: Infinity,
  items: Infinity,
  text: constants.MAX_STRING_LENGTH,
  paths: Infinity,
  files: Infinity,
  pieces: Infinity,
  padding: Infinity,
};

/** What cannot be more, whatever the caller says. */
const MOST: Readonly<Limits> = { text: constants.MAX_STRING_LENGTH };

const NOUNS: Readonly<Record<LimitName, string>> = {
  bytes: 'bytes',
  depth: 'lists and dictionaries within each other',
  digits: 'digits of an integer',
  items: 'values',
  text: 'bytes of a text',
  paths: 'characters of paths',
  files: 'files',
  pieces: 'pieces',
  padding: 'bytes of pad files',
};

/** Input beyond one of the {@link Limits}. */
export class LimitError extends MetainfoError {
  override readonly name = 'LimitError';
  /** Which was passed. */
  readonly limit: LimitName;
  /** What was allowed. */
  readonly most: number;
  /** Where in the input the limit was passed, in bytes; null where no one place is. */
  readonly offset: number | null;

  /** @internal */
  constructor(limit: LimitName, most: number, offset: number | null = null) {
    const place = offset === null ? '' : ` at byte ${offset}`;
    const raise = `raise it with limits: { ${limit} } if you trust the input`;
    super('ERR_LIMIT', `More than the limit of ${most} ${NOUNS[limit]}${place}: ${raise}.`);
    this.limit = limit;
    this.most = most;
    this.offset = offset;
  }
}

/**
 * All limits, those that are not given from `others`.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for one that is no number from 0, or that there is not: it would bound nothing
 */
export function limitsOf(given: Limits = {}, others = DEFAULT_LIMITS): Readonly<Record<LimitName, number>> {
  if (given === NO_LIMITS) return NO_LIMITS;
  const limits = { ...others };
  const checked = options(given, LIMITS, { name: 'limits', example: '{ files: 1000 }' });
  for (const [name, most] of Object.entries(checked) as [LimitName, number][])
    limits[name] = Math.min(most, MOST[name] ?? Infinity);
  return limits;
}

const Limit = expected<number>('a number from 0', (value) => typeof value === 'number' && value >= 0);
const LIMITS: OptionStructs<Limits> = {
  bytes: Limit,
  depth: Limit,
  digits: Limit,
  items: Limit,
  text: Limit,
  paths: Limit,
  files: Limit,
  pieces: Limit,
  padding: Limit,
};
