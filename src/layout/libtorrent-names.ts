/** The names that libtorrent looks for on the disk: it changes some names when it loads a torrent (docs/interop.md). */
import { utf8Length } from '../platform/node.ts';

/** Marks that change the direction of text: libtorrent removes them. New releases also remove the isolates and U+061C. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
const CONTROL = /[\u0000-\u001f]/g;
/** A longer name is cut after the character that reaches this many bytes. */
const MAX_BYTES = 240;
/** The longest ending that a cut name keeps, in bytes with the dot. */
const MAX_EXTENSION = 10;

/** The name that libtorrent has for a file or folder of a torrent, where it is not Windows. */
export function libtorrentName(name: string): string {
  const clean = name.replace(DIRECTION, '').replaceAll('\\', '').replace(CONTROL, '_');
  if (clean.length <= MAX_BYTES / 3 || utf8Length(clean) <= MAX_BYTES) return clean;
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
