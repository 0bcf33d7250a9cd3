/** The files that a user gives to a page: chosen, dropped, or in a folder. */
import { throwIfAborted } from '../errors/cancel.ts';
import { shown } from '../errors/errors.ts';
import { checkOptions, invalidArgument, type OptionStructs, Signal } from '../errors/guard.ts';
import { sortV1 } from '../layout/order.ts';
import { isSystemFileName } from '../layout/safe-path.ts';

/** A File, as browsers give it. */
export interface NamedBlob extends Blob {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly lastModified?: number;
  /** Where `<input webkitdirectory>` found it, from the folder that was chosen on, with `/`. */
  readonly webkitRelativePath?: string;
}

/** A `FileSystemFileHandle` or `FileSystemDirectoryHandle`. */
export type Handle =
  | { readonly kind: 'file'; readonly name: string; getFile(): Promise<NamedBlob> }
  | { readonly kind: 'directory'; readonly name: string; values(): AsyncIterable<Handle> };

/** A `FileSystemEntry`, which `webkitGetAsEntry` gives. */
export interface Entry {
  readonly isDirectory: boolean;
  readonly name: string;
}
interface FileEntry extends Entry {
  file(done: (file: NamedBlob) => void, fail: (error: unknown) => void): void;
}
interface FolderEntry extends Entry {
  createReader(): { readEntries(done: (entries: Entry[]) => void, fail: (error: unknown) => void): void };
}

/** A `DataTransfer`: pass that of a `drop` event before you wait for anything, because it is empty later. */
export interface Dropped {
  readonly items: ArrayLike<{ readonly kind: string; webkitGetAsEntry(): Entry | null }>;
}

/** Files or folders of a user. */
export type GivenFiles =
  | NamedBlob
  | Handle
  | Entry
  | Dropped
  | ArrayLike<NamedBlob>
  | Iterable<NamedBlob | Handle | Entry>;

/** A file of a user, as a source of a draft. */
export interface GivenFile {
  /** The path from the torrent's root, with `/`. */
  path: string;
  data: NamedBlob;
}

/** The files that were found. */
export interface FoundFolder {
  /** The name of the only folder or file; null if there are several. */
  name: string | null;
  /** The files in the order of a v1 torrent, for the field `sources` of a draft and for `verify`. */
  sources: GivenFile[];
}

const OPTIONS: OptionStructs<{ signal?: AbortSignal | undefined }> = { signal: Signal };

/**
 * Lists the files that a user has chosen or dropped: Files, a `FileList`, handles of the File System Access API, entries of
 * `webkitGetAsEntry` or a whole `DataTransfer`. Folders are listed with everything in them except .DS_Store, Thumbs.db and desktop.ini, in the
 * order of {@link sortV1}: the library in Node makes the same torrent of the folder.
 *
 * @param given The files or folders.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for anything else
 * @throws {AbortError} if the signal fires
 * @example
 * ```ts
 * import { filesFrom, TorrentCreate } from 'metainfo/browser';
 *
 * const files = [new File(['hello'], 'hello.txt')]; // in a page: event.dataTransfer, or input.files
 * const { name, sources } = await filesFrom(files);
 * const torrent = await new TorrentCreate({ name, sources }).generate();
 * console.log(torrent.magnet());
 * ```
 */
export async function filesFrom(
  given: GivenFiles,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<FoundFolder> {
  const { signal } = checkOptions(options, OPTIONS);
  return listFiles(given, signal, { systemFiles: false });
}

/** As {@link filesFrom}, with the files of systems or without them. */
export async function listFiles(
  given: GivenFiles,
  signal: AbortSignal | undefined,
  { systemFiles }: { systemFiles: boolean },
): Promise<FoundFolder> {
  const found: { path: string[]; data: NamedBlob }[] = [];
  for (const top of topsOf(given))
    for await (const { path, data } of filesIn(top, '', signal)) {
      if (systemFiles || path === data.name || !isSystemFileName(data.name))
        found.push({ path: path.split('/'), data });
    }
  const names = new Set(found.map(({ path }) => path[0] as string));
  const [name = null] = names.size === 1 ? names : [];
  const isFolder = name !== null && found.every(({ path }) => path.length > 1);
  const files = isFolder ? found.map(({ path, data }) => ({ path: path.slice(1), data })) : found;
  // Browsers list folders in any order, and a v1 torrent keeps that of its sources.
  return { name, sources: sortV1(files).map(({ path, data }) => ({ path: path.join('/'), data })) };
}

type Top = NamedBlob | Handle | Entry;

function topsOf(given: GivenFiles): Top[] {
  if (typeof given !== 'object' || given === null)
    throw invalidArgument(`expected files or folders, got ${shown(given)}`);
  // A DataTransfer forgets its entries after the event.
  if ('items' in given)
    return Array.from(given.items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const tops = Symbol.iterator in given || 'length' in given ? Array.from(given as Iterable<Top>) : [given as Top];
  for (const top of tops) if (!isTop(top)) throw invalidArgument(`expected files or folders, got ${shown(top)}`);
  return tops;
}

function isTop(top: unknown): boolean {
  return (
    typeof top === 'object' && top !== null && 'name' in top && ('size' in top || 'kind' in top || 'isDirectory' in top)
  );
}

async function* filesIn(top: Top, folder: string, signal: AbortSignal | undefined): AsyncGenerator<GivenFile> {
  throwIfAborted(signal);
  const path = folder + top.name;
  if ('size' in top) yield { path: top.webkitRelativePath || path, data: top };
  else if ('kind' in top) {
    if (top.kind === 'file') yield { path, data: await top.getFile() };
    else for await (const inner of top.values()) yield* filesIn(inner, `${path}/`, signal);
  } else if (top.isDirectory) {
    for (const inner of await entriesOf(top as FolderEntry)) yield* filesIn(inner, `${path}/`, signal);
  } else {
    const data = await new Promise<NamedBlob>((resolve, reject) => (top as FileEntry).file(resolve, reject));
    yield { path, data };
  }
}

async function entriesOf(folder: FolderEntry): Promise<Entry[]> {
  const reader = folder.createReader();
  const all: Entry[] = [];
  // Chromium gives a hundred at a time, and none at the end.
  for (;;) {
    const some = await new Promise<Entry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}
