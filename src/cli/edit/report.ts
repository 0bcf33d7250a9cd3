/** Describes an edit, and the differences between two torrents: as JSON, and as lines. */
import type { BencodeValue } from '../../bencode/value.ts';
import type { Finding } from '../../create/findings/findings.ts';
import { type Difference, hasSameInfo } from '../../edit/differences.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { bencodeJson, keyText, shownValue } from '../../model/unknown-keys.ts';
import { plural } from '../../text/format.ts';
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
  /** The number of trackers that were removed; those that were replaced do not count. */
  removed: number;
}

/** The edit for `--json`. */
export function toJson({ file, target, before, after, changed, warnings }: Edited, dryRun: boolean) {
  const infohash = infohashOf(after);
  const infohashChanged = !hasSameInfo(before, after);
  const changes = changed.map(differenceJson);
  return { torrent: file, output: dryRun ? null : target, infohash, infohashChanged, changes, warnings };
}

/** The edit for people. @param moved Whether the target is not the file itself. */
export function linesOf({ file, target, before, after, changed, removed }: Edited, moved: boolean): string[] {
  if (changed.length === 0) return [`${printable(nameOfInput(file))}: no changes`];
  const hashes = changedInfohashes(before, after);
  const count = removed > 0 ? `, ${plural(removed, 'tracker')} removed` : '';
  const where = moved ? ` -> ${nameOfTarget(target)}` : '';
  return [
    `${printable(nameOfInput(file))}${where}: ${hashes.length > 0 ? 'new infohash' : 'same infohash'}${count}`,
    ...hashes,
    ...changed.map(differenceLine),
  ];
}

/** The lines of the infohashes that both torrents have and that differ. */
export function changedInfohashes(before: Torrent, after: Torrent): string[] {
  return (['infohashV1', 'infohashV2'] as const).flatMap((key, i) => {
    const [from, to] = [before[key], after[key]];
    return from === null || to === null || from === to ? [] : [`  infohash v${i + 1}  ${from} -> ${to}`];
  });
}

/** A difference as JSON: null where there is no such key, or where its value was not decoded. */
export function differenceJson({ key, before, after }: Difference) {
  const [old, now] = [before, after].map((value) => (value == null ? null : bencodeJson(value as BencodeValue)));
  return { key: keyText(key), before: old, after: now };
}

/** The line of a difference. */
export function differenceLine({ key, before, after }: Difference): string {
  const name = `  ${printable(keyText(key))}`;
  if (before === undefined) return `${name}  + ${shownValue(after)}`;
  return after === undefined
    ? `${name}  - ${shownValue(before)}`
    : `${name}  ${shownValue(before)} -> ${shownValue(after)}`;
}
