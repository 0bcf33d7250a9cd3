/** The error for bytes that are not canonical bencode, and its codes. */
import { MetainfoError } from '../errors/errors.ts';
import { shareClass } from '../errors/shared.ts';
import type { OtherFormat } from './other-format.ts';

/**
 * The codes of {@link BencodeError}, each with a summary: one for each rule of bencode (BEP 3). Codes are stable.
 *
 * @enum
 */
export const BENCODE_CODES = {
  bad_character: 'No value starts with this byte.',
  bad_integer: 'An integer is not digits followed by `e`.',
  bad_length: 'The length of a string is not digits followed by a colon.',
  duplicate_key: 'A dictionary has the same key twice.',
  empty: 'There is no data.',
  key_not_string: 'A dictionary key is not a string.',
  leading_zero: 'An integer or the length of a string has leading zeros.',
  missing_value: 'A dictionary key has no value.',
  negative_zero: 'An integer is `-0`.',
  trailing_data: 'There is data after the end of the value.',
  truncated: 'The data ends before the value does.',
  unsorted_key: 'The keys of a dictionary are not in byte order.',
} as const;
/**
 * A code of {@link BENCODE_CODES}.
 *
 * @useDeclaredType
 */
export type BencodeCode = keyof typeof BENCODE_CODES;

/** Bytes that are not canonical bencode. */
export class BencodeError extends MetainfoError {
  override readonly name = 'BencodeError';
  /** The rule that is broken: see {@link BENCODE_CODES}. */
  readonly bencodeCode: BencodeCode;
  /** The offset in the input, in bytes. */
  readonly offset: number;
  /** The message without the offset. */
  readonly reason: string;
  /** The format that the data seems to have instead: `web page`, `JSON`, `content` for a video and so on. Null if unknown. */
  readonly format: OtherFormat | null;

  /**
   * Makes an error whose message begins with the offset.
   *
   * @param bencodeCode The rule that is broken.
   * @param offset The offset in the input, in bytes.
   * @param message The problem, without the offset.
   * @param format The format that the data seems to have instead.
   */
  constructor(bencodeCode: BencodeCode, offset: number, message: string, format: OtherFormat | null = null) {
    super('ERR_BENCODE', `invalid bencode at byte ${offset}: ${message}.`);
    this.bencodeCode = bencodeCode;
    this.offset = offset;
    this.reason = message;
    this.format = format;
  }
}
shareClass(BencodeError, 'BencodeError');

/** The codes of errors that do not change the decoded value. libtorrent accepts them in v1 torrents. */
export type ForgivableCode = 'duplicate_key' | 'leading_zero' | 'negative_zero' | 'trailing_data' | 'unsorted_key';
