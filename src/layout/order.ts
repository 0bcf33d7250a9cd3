import { compareUtf8 } from '../bencode/value.ts';
import { checkArgument, expected } from '../errors/guard.ts';

/** A path as components, from the torrent's root. */
export type PathParts = readonly string[];

/** The order of a v2 file tree: component by component, by UTF-8 bytes (BEP 52). `a/x` comes before `a-b/x`. */
export function compareV2(a: PathParts, b: PathParts): number {
  const depth = Math.min(a.length, b.length);
  for (let i = 0; i < depth; i += 1) {
    // Most have their folders in common.
    if (a[i] !== b[i]) return compareUtf8(a[i] as string, b[i] as string);
  }
  return a.length - b.length;
}

/**
 * The order that common clients give v1 files, which BEP 3 leaves open: files at the top level first, then the rest,
 * each by lower-cased path. Equal ones by bytes.
 */
export function compareV1(a: PathParts, b: PathParts): number {
  return compareRanks(rankOf(a), rankOf(b));
}

/** What has a path: a file, or the path itself with `/`. */
export type Pathed =
  | string
  | {
      /** From the torrent's root. */
      path: PathParts;
    };

const Files = expected<readonly Pathed[]>('a list of paths, or of files whose path is a list of texts', (value) => {
  const isPathed = (file: unknown) => {
    if (typeof file === 'string') return true;
    const path = (file as Partial<{ path: unknown }> | null)?.path;
    return Array.isArray(path) && path.every((part) => typeof part === 'string');
  };
  return Array.isArray(value) && value.every(isPathed);
});

function partsOf(file: Pathed): PathParts {
  return typeof file === 'string' ? file.split('/') : file.path;
}

/**
 * A copy in v1 order: files at the top level first, then the rest, each by lower-cased path. BEP 3 leaves it open; common
 * clients do so.
 */
export function sortV1<T extends Pathed>(files: readonly T[]): T[] {
  checkArgument('files', files, Files);
  const ranked = files.map((file) => ({ file, rank: rankOf(partsOf(file)) }));
  return ranked.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ file }) => file);
}

/** A copy in v2 order: component by component, by UTF-8 bytes (BEP 52). `a/x` comes before `a-b/x`. */
export function sortV2<T extends Pathed>(files: readonly T[]): T[] {
  checkArgument('files', files, Files);
  return [...files].sort((a, b) => compareV2(partsOf(a), partsOf(b)));
}

/** What v1 order looks at. */
interface Rank {
  nested: number;
  lower: string;
  path: string;
}

function rankOf(parts: PathParts): Rank {
  const path = parts.join('/');
  return { nested: parts.length > 1 ? 1 : 0, lower: path.toLowerCase(), path };
}

function compareRanks(a: Rank, b: Rank): number {
  return a.nested - b.nested || compareUtf8(a.lower, b.lower) || compareUtf8(a.path, b.path);
}
