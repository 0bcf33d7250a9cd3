/** The orders of files in v1 and v2 torrents; `native/core/table/path_order.cc` has them for many files. */
import { compareUtf8 } from '../bencode/value.ts';
import { checkArgument, expected, isListOf } from '../errors/guard.ts';

/** A path as its components, from the root of the torrent. */
export type PathParts = readonly string[];

/** Compares paths in the order of a v2 file tree: component by component, by UTF-8 bytes (BEP 52). `a/x` precedes `a-b/x`. */
export function comparePathsV2(a: PathParts, b: PathParts): number {
  const depth = Math.min(a.length, b.length);
  for (let i = 0; i < depth; i += 1) {
    // Most components are equal folders, and comparing for equality is fast.
    if (a[i] !== b[i]) return compareUtf8(a[i] as string, b[i] as string);
  }
  return a.length - b.length;
}

/**
 * Compares paths in the v1 order of common clients (BEP 3 does not define one): files at the top level first, then all others,
 * both by lower-cased path and then by bytes.
 */
export function comparePathsV1(a: PathParts, b: PathParts): number {
  return compareRanks(rankOf(a), rankOf(b));
}

/** A path with `/` between its components, or an object with a path as components. */
export type Pathed =
  | string
  | {
      /** The path's components, from the root of the torrent. */
      path: PathParts;
    };

const Files = expected<readonly Pathed[]>('a list of paths, or of files whose path is a list of strings', (value) => {
  const isPathed = (file: unknown) => {
    if (typeof file === 'string') return true;
    const path = (file as Partial<{ path: unknown }> | null)?.path;
    return isListOf(path, (part) => typeof part === 'string');
  };
  return isListOf(value, isPathed);
});

function partsOf(file: Pathed): PathParts {
  return typeof file === 'string' ? file.split('/') : file.path;
}

/**
 * Returns a copy of `files` in v1 order: files at the top level first, then all others, both by lower-cased path. BEP 3 does not
 * define an order; common clients use this one.
 *
 * @param files Paths, or objects with a path.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when `files` is not a list of paths or of objects with a path
 *
 * @example
 * ```ts
 * import { sortV1 } from 'metainfo';
 *
 * console.log(sortV1(['b/1.flac', 'a/2.flac', 'cover.jpg'])); // [ 'cover.jpg', 'a/2.flac', 'b/1.flac' ]
 * ```
 */
export function sortV1<T extends Pathed>(files: readonly T[]): T[] {
  checkArgument('files', files, Files);
  const ranked = files.map((file) => ({ file, rank: rankOf(partsOf(file)) }));
  return ranked.sort((a, b) => compareRanks(a.rank, b.rank)).map(({ file }) => file);
}

/**
 * Returns a copy of `files` in v2 order: component by component, by UTF-8 bytes (BEP 52). `a/x` precedes `a-b/x`.
 *
 * @param files Paths, or objects with a path.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when `files` is not a list of paths or of objects with a path
 *
 * @example
 * ```ts
 * import { sortV2 } from 'metainfo';
 *
 * console.log(sortV2(['b', 'a-b/x', 'a/x'])); // [ 'a/x', 'a-b/x', 'b' ]
 * ```
 */
export function sortV2<T extends Pathed>(files: readonly T[]): T[] {
  checkArgument('files', files, Files);
  return [...files].sort((a, b) => comparePathsV2(partsOf(a), partsOf(b)));
}

/** The sort keys of v1 order, computed once for each file. */
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
