/** Finds the files of a draft on disk and among its sources, in the order of the torrent. */
import { type ScannedFile, type ScanOptions, scan } from '../disk/scan.ts';
import type { StoredLink } from '../disk/scan-links.ts';
import { FileTable } from '../layout/file-table.ts';
import { isPadFile } from '../layout/padding.ts';
import { isTorrentFileName } from '../layout/safe-path.ts';
import { flattenTree } from '../model/file-tree.ts';
import { inNode } from '../platform/node.ts';
import type { SourceFile } from '../sources/sources.ts';
import { type Draft, relativeParts } from './draft-fields.ts';
import type { ListedFile } from './file-list.ts';
import { orderDistinctFiles, orderFiles } from './order-files.ts';

/** A file of a torrent under construction: on disk, in memory, or a stream. */
export type ContentFile = (
  | (ScannedFile & { data?: undefined; stream?: undefined })
  | (SourceFile & { diskPath?: undefined; mtimeMs?: undefined; ctimeMs?: undefined })
) &
  Pick<ListedFile, 'attr' | 'symlinkPath'>;

/** The files of a draft, in the order of the torrent. */
export interface FoundFiles {
  /** Whether the torrent is a single file instead of a folder. */
  isSingleFile: boolean;
  files: FileTable<ContentFile>;
  /** The paths of the files that are named like torrents, with `/`; empty for the path root itself. */
  torrents: readonly string[];
}

/** How {@link findFiles} scans and orders. */
export interface FindOptions
  extends Pick<
    ScanOptions,
    'readable' | 'beneath' | 'anyFiles' | 'keepsTorrent' | 'signal' | 'slot' | 'onProblem' | 'onLeftOut'
  > {
  /** Order the files as v1 torrents do, instead of as a v2 tree. The order of a file list in the draft is kept. */
  v1Order: boolean;
  /** The sources of the draft. */
  sources: readonly SourceFile[];
}

/** Finds the files of a draft. Throws as {@link scan}, and `ERR_DUPLICATE_PATH` for sources whose paths collide. */
export async function findFiles(draft: Draft, { v1Order, sources, ...options }: FindOptions): Promise<FoundFiles> {
  const named = namedPaths(draft);
  const isOnDisk = named !== null || sources.length === 0;
  const found = isOnDisk ? await scan(draft.pathRoot, named, { ...draft.fields, ...options }) : null;
  const asFound = new FileTable<ContentFile>(found ?? []);
  const scanned = inNode() ? await described(asFound, found?.links ?? [], draft) : asFound;
  // `paths` are sorted as `V1Hasher` sorts them; only a file list or tree of the draft has an order of its own.
  const listed = named && v1Order && !draft.fields.paths ? inNamedOrder(scanned.rows(), named) : null;
  const ordered = async () => (listed ? new FileTable(listed) : orderFiles(scanned, v1Order ? 'v1' : 'v2'));
  if (sources.length === 0) {
    const isSingleFile = scanned.length === 1 && (found?.isFile === true || namesSingleFile(draft));
    return { isSingleFile, files: await ordered(), torrents: found?.torrents ?? [] };
  }
  const files = new FileTable<ContentFile>([...(v1Order ? await ordered() : scanned), ...sources]);
  const sorted = await orderDistinctFiles(files);
  const isSingleFile = files.length === 1 && scanned.length === 0 && isSingleSource(draft);
  const ofSources = sources.map(({ path }) => path.join('/')).filter(isTorrentFileName);
  return { isSingleFile, files: v1Order ? files : sorted, torrents: [...(found?.torrents ?? []), ...ofSources] };
}

/** The files with the stored links, in the Unicode form that the draft wants. */
async function described(files: FileTable<ContentFile>, links: readonly StoredLink[], { fields }: Draft) {
  const linked = withLinks(files, links);
  return fields.normalize ? composed(linked) : linked;
}

/** The files with names in NFC. Two files whose paths are then equal are an error. */
async function composed(files: FileTable<ContentFile>): Promise<FileTable<ContentFile>> {
  const nfc = (names: readonly string[]) => names.map((name) => name.normalize('NFC'));
  const isComposed = ({ path }: ContentFile) => path.every((name) => name === name.normalize('NFC'));
  if ([...files].every(isComposed)) return files;
  const rows = files.map(
    ({ path, symlinkPath, ...file }) =>
      ({ ...file, path: nfc(path), ...(symlinkPath && { symlinkPath: nfc(symlinkPath) }) }) as ContentFile,
  );
  return orderDistinctFiles(new FileTable<ContentFile>(rows));
}

/** Adds stored links to the files on disk: files without content (BEP 47). */
function withLinks(files: FileTable<ContentFile>, links: readonly StoredLink[]): FileTable<ContentFile> {
  if (links.length === 0) return files;
  const stored = links.map((link): ContentFile => ({ ...link, attr: 'l', length: 0, data: NO_CONTENT }));
  return new FileTable<ContentFile>([...files, ...stored]);
}

const NO_CONTENT = new Uint8Array(0);

/** The paths that a draft names, as components. The first of `paths`, `fileTree`, `files` and `length` wins; null for none. */
export function namedPaths({ fields, info, pathRoot }: Draft): (readonly string[])[] | null {
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

/** The order of the files that a draft lists. */
function inNamedOrder(files: readonly ContentFile[], named: readonly (readonly string[])[]): ContentFile[] {
  const ranks = new Map(named.map((parts, index) => [parts.join('/'), index]));
  const rankOf = ({ path }: ContentFile) => ranks.get(path.join('/')) ?? named.length;
  return [...files].sort((a, b) => rankOf(a) - rankOf(b));
}
