/** Numbers the files of a torrent as magnet links do (`so`, BEP 53), and finds those at given paths. */
import { MetainfoError, shown } from '../errors/errors.ts';

/** A file that a user sees, with its index among all files, pads counted. */
export interface IndexedFile {
  path: string;
  index: number;
}

/** The first and the last index of a run of files. */
export type FileRun = [first: number, last: number];

/**
 * The indexes of the files of a v2 tree. Clients put a pad after each file that does not end with a piece and count it,
 * though no tree holds pads.
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
 * The runs of files that are at these paths, or beneath them; pads are in no run.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a path where the torrent has nothing
 */
export function fileRunsOf(files: Iterable<IndexedFile>, paths: readonly string[]): FileRun[] {
  const unused = new Set(paths);
  const wanted = new Set(paths);
  const runs: FileRun[] = [];
  for (const { path, index } of files) {
    const found = prefixesOf(path).filter((prefix) => wanted.has(prefix));
    if (found.length === 0) continue;
    for (const prefix of found) unused.delete(prefix);
    const last = runs.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else runs.push([index, index]);
  }
  const [missing] = unused;
  if (missing === undefined) return runs;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `The torrent has no file or folder ${shown(missing)}.`);
}

/** A path and the folders that it is in. */
function prefixesOf(path: string): string[] {
  const prefixes = [path];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    prefixes.push(path.slice(0, end));
  return prefixes;
}
