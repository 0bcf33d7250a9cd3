/** Finds the files of a draft on disk and among its sources, in the order of the torrent. */
import { type ScannedFile, type ScanOptions, scan, scannedFiles } from '../disk/scan.ts';
import { MetainfoError } from '../errors/errors.ts';
import { sortV1, sortV2 } from '../layout/order.ts';
import { isPadFile } from '../layout/padding.ts';
import { flattenTree } from '../model/file-tree.ts';
import { type Draft, relativeParts } from './draft-fields.ts';
import type { SourceFile } from './sources.ts';

/** A file of a torrent under construction: on disk, in memory, or a stream. */
export type ContentFile =
  | (ScannedFile & { data?: undefined; stream?: undefined })
  | (SourceFile & { diskPath?: undefined; mtimeMs?: undefined; ctimeMs?: undefined });

/** The files of a draft, in the order of the torrent. */
export interface FoundFiles {
  /** Whether the torrent is a single file instead of a folder. */
  isSingleFile: boolean;
  files: ContentFile[];
}

/** How {@link findFiles} scans and orders. */
export interface FindOptions extends Pick<ScanOptions, 'readable' | 'systemFiles' | 'signal' | 'slot'> {
  /** Order the files as v1 torrents do, instead of as a v2 tree. A v1 order that the draft gives is kept. */
  v1Order: boolean;
  /** The sources of the draft. */
  sources: readonly SourceFile[];
}

/**
 * Finds the files of a draft.
 *
 * @throws {MetainfoError} see {@link scan}; `ERR_DUPLICATE_PATH` for sources whose paths collide
 */
export async function findFiles(draft: Draft, { v1Order, sources, ...options }: FindOptions): Promise<FoundFiles> {
  const { exclude, include } = draft.fields;
  const named = namedPaths(draft);
  const isOnDisk = named !== null || sources.length === 0;
  const scanned = isOnDisk ? scannedFiles(await scan(draft.pathRoot, named, { exclude, include, ...options })) : [];
  if (sources.length === 0) {
    const isSingleFile = scanned.length === 1 && (scanned[0]?.path.length === 0 || namesSingleFile(draft));
    if (!v1Order) return { isSingleFile, files: sortV2(scanned) };
    return { isSingleFile, files: named ? inNamedOrder(scanned, named) : sortV1(scanned) };
  }
  const files = [...(named ? inNamedOrder(scanned, named) : scanned), ...sources];
  requireDistinctPaths(files);
  const isSingleFile = files.length === 1 && scanned.length === 0 && isSingleSource(draft);
  return { isSingleFile, files: v1Order ? files : sortV2(files) };
}

/** The paths that a draft names, as components. The first of `paths`, `fileTree`, `files` and `length` wins; null for none. */
export function namedPaths({ fields, info, pathRoot }: Draft): string[][] | null {
  const { fileTree, files, name, length } = info;
  if (fields.paths) return fields.paths.map((entry) => relativeParts(entry, pathRoot) as string[]);
  if (fileTree) return flattenTree(fileTree).map((file) => file.path);
  if (files) return files.filter((file) => !isPadFile(file)).map((file) => file.path);
  return name != null && length != null ? [[name]] : null;
}

/** Whether the info dictionary describes a single file: by `length`, or by a tree whose only leaf has the torrent's name. */
export function namesSingleFile({ fields, info }: Draft): boolean {
  const { name, length, files, fileTree } = info;
  if (fields.paths || files) return false;
  if (!fileTree) return length != null;
  const leaf = name == null || fileTree.size !== 1 ? undefined : fileTree.get(name);
  return leaf instanceof Map && (leaf as Map<string, unknown>).has('');
}

/** Whether the only source is the whole torrent: it is at the top level and has the torrent's name. */
function isSingleSource({ fields: { sources }, info }: Draft): boolean {
  return sources?.length === 1 && sources[0]?.path === info.name;
}

/** The order of the named paths. The files of a named folder are in v1 order at the folder's place. */
function inNamedOrder(files: readonly ScannedFile[], named: readonly (readonly string[])[]): ScannedFile[] {
  const ranks = new Map(named.map((parts, index) => [parts.join('/'), index]));
  const rankOf = (parts: readonly string[]) => {
    for (let depth = parts.length; depth >= 0; depth -= 1) {
      const rank = ranks.get(parts.slice(0, depth).join('/'));
      if (rank !== undefined) return rank;
    }
    return named.length;
  };
  const ranked = sortV1(files).map((file) => ({ file, rank: rankOf(file.path) }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ file }) => file);
}

/** Sources may repeat a path, or need a folder where another has a file. The file system rules both out on disk. */
function requireDistinctPaths(files: readonly ContentFile[]): void {
  const paths = files.map(({ path }) => path.join('/'));
  const known = new Set<string>();
  for (const path of paths) {
    if (known.has(path)) throw new MetainfoError('ERR_DUPLICATE_PATH', `Two files have the path ${path}.`, { path });
    known.add(path);
  }
  for (const path of paths) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      if (!known.has(folder)) continue;
      const message = `${folder} is the path of a file, and also the folder of ${path}.`;
      throw new MetainfoError('ERR_DUPLICATE_PATH', message, { path });
    }
  }
}
