/** The names that libtorrent looks for on the disk: it changes some names when it loads a torrent (docs/interop.md). */
import { isUtf8, utf8Length, utf8Text } from '../platform/node.ts';
import { nameBytes } from '../text/name-bytes.ts';

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
/** libtorrent removes separators, NUL, and marks that change the direction of text. Only new releases remove the isolates and U+061C. */
const REMOVED = /[\u0000/\\\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const CONTROL = /[\u0001-\u001f]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
/** A longer name is cut after the character that reaches this many bytes. */
const MAX_BYTES = 240;
/** The longest ending that a cut name keeps, in bytes with the dot. */
const MAX_EXTENSION = 10;

/**
 * Replaces bytes that are not UTF-8, as libtorrent does: by `_` in place of each of them or, in other releases, of each sequence that begins
 * with such a byte, as long as its first byte says.
 *
 * @param name As `nameText` gives it.
 */
export function withoutBytes(name: string, unit: 'bytes' | 'sequences'): string {
  if (unit === 'bytes' || name.isWellFormed()) return name.replace(/[\udc80-\udcff]/gu, '_');
  const bytes = nameBytes(name);
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] as number;
    const length = first < 0xc0 || first >= 0xfc ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 5;
    const sequence = bytes.subarray(at, at + length);
    text += isUtf8(sequence) ? utf8Text(sequence) : '_';
    at += length;
  }
  return text;
}

/** The name that libtorrent has for a file or folder of a torrent, where it is not Windows. */
export function libtorrentName(name: string): string {
  const clean = name.replace(REMOVED, '').replace(CONTROL, '_');
  if (clean.length <= MAX_BYTES / 3) return clean;
  let cut = '';
  let bytes = 0;
  for (const char of clean) {
    cut += char;
    bytes += utf8Length(char);
    if (bytes >= MAX_BYTES) break;
  }
  const dot = clean.lastIndexOf('.');
  const extension = dot < cut.length ? '' : clean.slice(dot);
  return utf8Length(extension) < MAX_EXTENSION ? cut + extension : cut;
}

/**
 * The components of the path at which libtorrent stores a file. An empty one becomes `_`: BitComet writes an empty folder as an empty file
 * whose name is empty. Components of dots, and those of which nothing remains, are left out.
 */
export function libtorrentPath(parts: readonly string[]): string[] {
  const kept = parts.map((part) => libtorrentName(part || '_')).filter((part) => !/^\.{0,2}$/.test(part));
  return kept[0] ? kept : ['_'];
}
