/** Shows the differences between two torrents: infohashes and keys. */
import { isUtf8 } from 'node:buffer';
import type { Difference } from '../../edit/differences.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { printable } from '../../text/printable.ts';

/** The lines of the infohashes that both torrents have and that differ. */
export function changedInfohashes(before: Torrent, after: Torrent): string[] {
  return (['infohashV1', 'infohashV2'] as const).flatMap((key, i) => {
    const [from, to] = [before[key], after[key]];
    return from === null || to === null || from === to ? [] : [`  infohash v${i + 1}  ${from} -> ${to}`];
  });
}

/** A difference as JSON: null where there is no such key. */
export function differenceJson({ key, before, after }: Difference) {
  return {
    key: textOfKey(key),
    before: before === undefined ? null : shownValue(before),
    after: after === undefined ? null : shownValue(after),
  };
}

/** The line of a difference. */
export function differenceLine({ key, before, after }: Difference): string {
  const name = `  ${printable(textOfKey(key))}`;
  if (before === undefined) return `${name}  + ${shownValue(after)}`;
  return after === undefined
    ? `${name}  - ${shownValue(before)}`
    : `${name}  ${shownValue(before)} -> ${shownValue(after)}`;
}

/** Decodes a key, which holds one character per byte. */
function textOfKey(key: string): string {
  const bytes = Buffer.from(key, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : key;
}

/** The longest value that is printed, in characters. */
const MAX_SHOWN = 200;

/** A decoded value as JSON in one line, shortened to {@link MAX_SHOWN}. */
function shownValue(value: unknown): string {
  const text = jsonOf(value, { left: MAX_SHOWN });
  return printable(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text);
}

/** A decoded value as JSON, with integers of any size. When the room is used up, zeros stand for the rest, which is cut off. */
function jsonOf(value: unknown, room: { left: number }): string {
  room.left -= 1;
  if (room.left < 0) return '0';
  if (Array.isArray(value)) return `[${value.slice(0, MAX_SHOWN).map((item) => jsonOf(item, room))}]`;
  if (value instanceof Map) {
    const entries = [...value].slice(0, MAX_SHOWN).map(([key, item]) => {
      room.left -= key.length;
      return `${JSON.stringify(textOfKey(key))}:${jsonOf(item, room)}`;
    });
    return `{${entries}}`;
  }
  if (!(value instanceof Uint8Array)) return String(value);
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  // Four bytes per character are enough, so a character cut at the end is never shown.
  const text = bytes.subarray(0, 4 * MAX_SHOWN).toString(isUtf8(bytes) ? 'utf8' : 'hex');
  room.left -= text.length;
  return JSON.stringify(text);
}
