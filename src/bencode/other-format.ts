/** Recognizes data of other formats by its first bytes, for users who pass a web page, a link or a film as a torrent. */
// biome-ignore-all lint/suspicious/noControlCharactersInRegex: many formats begin with control characters
import { latin1Text } from '../platform/node.ts';
import { BencodeError } from './bencode-error.ts';
import { LimitError } from './limits.ts';

/** A value of {@link BencodeError.format}. */
export type OtherFormat = 'web page' | 'JSON' | 'magnet link' | 'URL' | 'compressed' | 'UTF-16' | 'content';

/** Bytes to look at. */
export const HEAD = 256;

/** The first bytes of formats as latin1, with words for an error. A function, because expressions take a millisecond at start-up. */
const formats = (): readonly (readonly [RegExp, OtherFormat, what: string])[] => [
  [/^\xff\xfe|^\xfe\xff/, 'UTF-16', 'text in UTF-16, such as Windows PowerShell writes with >'],
  [/^(?:\xef\xbb\xbf)?\s*</, 'web page', 'a web page (HTML or XML)'],
  [/^(?:\xef\xbb\xbf)?\s*[[{]/, 'JSON', 'JSON'],
  [/^(?:\xef\xbb\xbf)?\s*magnet:/i, 'magnet link', 'a magnet link'],
  [/^(?:\xef\xbb\xbf)?\s*(?:https?|ftp):\/\//i, 'URL', 'a URL'],
  [/^\x1f\x8b/, 'compressed', 'a gzip file (compressed)'],
  [/^PK\x03\x04/, 'compressed', 'a ZIP archive'],
  [/^7z\xbc\xaf\x27\x1c/, 'compressed', 'a 7z archive'],
  [/^Rar!\x1a\x07/, 'compressed', 'a RAR archive'],
  [/^BZh\d/, 'compressed', 'a bzip2 file (compressed)'],
  [/^\xfd7zXZ\0/, 'compressed', 'an xz file (compressed)'],
  [/^\x28\xb5\x2f\xfd/, 'compressed', 'a zstd file (compressed)'],
  [/^G.{187}G/s, 'content', 'a video (MPEG transport stream)'],
  [/^\x1a\x45\xdf\xa3|^.{4}ftyp|^RIFF.{4}AVI |^FLV\x01|^\0\0\x01\xba/s, 'content', 'a video'],
  [/^ID3|^\xff[\xe2-\xfb]|^fLaC|^OggS|^RIFF.{4}WAVE/s, 'content', 'an audio file'],
  [/^\x89PNG|^\xff\xd8\xff|^GIF8/, 'content', 'a picture'],
  [/^%PDF/, 'content', 'a PDF document'],
  [/^MZ|^\x7fELF/, 'content', 'a program'],
];

/** The error for data that is no bencode because it is something else; null if its first bytes do not tell. */
export function notBencode(head: Uint8Array): BencodeError | null {
  const text = latin1Text(head.subarray(0, HEAD));
  const known = formats().find(([start]) => start.test(text));
  if (known) return new BencodeError('bad_character', 0, `this is ${known[2]}, not bencode`, known[1]);
  return /^[^dli0-9]/s.test(text) ? new BencodeError('bad_character', 0, 'no value starts with this byte') : null;
}

/** The error for data that is larger than the limit: what it is instead of bencode, or a {@link LimitError}. */
export function tooManyBytes(most: number, head: Uint8Array): BencodeError | LimitError {
  const other = notBencode(head);
  return other?.format ? other : new LimitError('bytes', most, most);
}
