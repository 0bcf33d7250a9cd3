/** Describes an edit: as JSON, and as lines. */
import type { Finding } from '../../create/findings/findings.ts';
import { type Difference, hasSameInfo } from '../../edit/differences.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { printable } from '../../text/printable.ts';
import { infohashOf } from '../create/summary.ts';
import { nameOfTarget } from '../options/target.ts';
import { changedInfohashes, differenceJson, differenceLine } from '../terminal/differences.ts';
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
  const changes = changed.map(differenceJson);
  return { file, output: dryRun ? null : target, infohash, infohashChanged, changes, warnings };
}

/**
 * The edit for people.
 *
 * @param moved Whether the target is not the file itself.
 */
export function linesOf({ file, target, before, after, changed }: Edited, moved: boolean): string[] {
  if (changed.length === 0) return [`${printable(nameOfInput(file))}: no changes`];
  const hashes = hasSameInfo(before, after) ? [] : changedInfohashes(before, after);
  const where = moved ? ` -> ${nameOfTarget(target)}` : '';
  return [
    `${printable(nameOfInput(file))}${where}: ${hashes.length > 0 ? 'new infohash' : 'same infohash'}`,
    ...hashes,
    ...changed.map(differenceLine),
  ];
}
