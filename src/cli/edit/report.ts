/** Describes an edit: as JSON, and as lines. */
import { isUtf8 } from 'node:buffer';
import type { Finding } from '../../create/findings/findings.ts';
import { type Difference, hasSameInfo } from '../../edit/differences.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { printable } from '../../text/printable.ts';
import { infohashOf } from '../create/summary.ts';
import { nameOfTarget } from '../options/target.ts';
import { nameOfInput } from '../terminal/standard-input.ts';

/** An edit of a torrent. */
export interface Edited {
  file: string;
  target: string;
  before: Torrent;
  after: Torrent;
  changed: readonly Difference[];
  warnings: readonly Finding[];
}

/** The edit for `--json`. */
export function toJson({ file, target, before, after, changed, warnings }: Edited, dryRun: boolean) {
  const infohash = infohashOf(after);
  const infohashChanged = !hasSameInfo(before, after);
  const changes = changed.map(({ key, before: from, after: to }) => ({
    key: textOfKey(key),
    before: from === undefined ? null : shownValue(from),
    after: to === undefined ? null : shownValue(to),
  }));
  return { file, output: dryRun ? null : target, infohash, infohashChanged, changes, warnings };
}

/**
 * The edit for people.
 *
 * @param moved Whether the target is not the file itself.
 */
export function linesOf({ file, target, before, after, changed }: Edited, moved: boolean): string[] {
  if (changed.length === 0) return [`${printable(nameOfInput(file))}: no changes`];
  const line = (name: string, from: string | null, to: string | null) =>
    from === null || to === null || from === to ? [] : [`  ${name}  ${from} -> ${to}`];
  const hashes = hasSameInfo(before, after)
    ? []
    : [
        ...line('infohash v1', before.infohashV1, after.infohashV1),
        ...line('infohash v2', before.infohashV2, after.infohashV2),
      ];
  const where = moved ? ` -> ${nameOfTarget(target)}` : '';
  return [
    `${printable(nameOfInput(file))}${where}: ${hashes.length > 0 ? 'new infohash' : 'same infohash'}`,
    ...hashes,
    ...changed.map(({ key, before: from, after: to }) => {
      const name = `  ${printable(textOfKey(key))}`;
      if (from === undefined) return `${name}  + ${shownValue(to)}`;
      return to === undefined ? `${name}  - ${shownValue(from)}` : `${name}  ${shownValue(from)} -> ${shownValue(to)}`;
    }),
  ];
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
  const text = JSON.stringify(decodedPlain(value, { left: MAX_SHOWN }));
  return printable(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text);
}

/** Converts a decoded value for JSON. When the room is used up, zeros stand for the rest, which is cut off. */
function decodedPlain(value: unknown, room: { left: number }): unknown {
  room.left -= 1;
  if (room.left < 0) return 0;
  if (typeof value === 'bigint') return value.toString().slice(0, MAX_SHOWN);
  if (Array.isArray(value)) return value.slice(0, MAX_SHOWN).map((item) => decodedPlain(item, room));
  if (value instanceof Map) {
    const plain = [...value].slice(0, MAX_SHOWN).map(([key, item]) => {
      room.left -= key.length;
      return [textOfKey(key), decodedPlain(item, room)];
    });
    return Object.fromEntries(plain);
  }
  if (!(value instanceof Uint8Array)) return value;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  // Four bytes per character are enough, so a character cut at the end is never shown.
  const text = bytes.subarray(0, 4 * MAX_SHOWN).toString(isUtf8(bytes) ? 'utf8' : 'hex');
  room.left -= text.length;
  return text;
}
