/** Numbers the files of a torrent as magnet links do (`so`, BEP 53), and finds the numbers of given paths. */
import { MetainfoError, shown } from '../errors/errors.ts';
import { PathPrefixes } from '../layout/path-prefixes.ts';

/** The first and the last index of consecutive files. */
export type IndexRange = [first: number, last: number];

/**
 * The indexes of the files of a v2 tree. A tree has no pad files, but clients add one after each file that does not end with a
 * piece, and count it.
 */
export function* indexesOfTree(
  files: Iterable<{ length: number; attr: string | null }>,
  pieceLength: number,
): Generator<number> {
  let index = 0;
  for (const { length, attr } of files) {
    yield index;
    const isLink = attr?.includes('l') ?? false;
    index += length % pieceLength === 0 || isLink ? 1 : 2;
  }
}

/**
 * The index ranges of the files at the given paths or below them, without pad files.
 *
 * @param indexes The index of each file among all files, pad files included.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a path that is not in the torrent
 */
export function indexRangesOf(
  files: readonly { path: string }[],
  indexes: readonly number[],
  paths: readonly string[],
): IndexRange[] {
  const unused = new Set(paths);
  const selected = new PathPrefixes(paths);
  const ranges: IndexRange[] = [];
  for (const [i, index] of indexes.entries()) {
    const { path } = files[i] as { path: string };
    let isSelected = false;
    for (const prefix of selected.of(path)) {
      isSelected = true;
      unused.delete(prefix);
    }
    if (!isSelected) continue;
    const last = ranges.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  const [missing] = unused;
  if (missing === undefined) return ranges;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `The torrent has no file or folder ${shown(missing)}.`);
}
