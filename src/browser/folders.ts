/** The files that a user gives to a page: chosen, dropped, or in a folder. */
import { throwIfAborted } from '../errors/cancel.ts';
import { type MetainfoError, shown } from '../errors/errors.ts';
import { checkOptions, Flag, invalidArgument, type OptionStructs, Signal } from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { sortV1 } from '../layout/order.ts';
import { isSystemFileName, isTorrentFileName, unsafeComponent } from '../layout/safe-path.ts';

/** A File, as browsers give it. */
export interface NamedBlob extends Blob {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly lastModified?: number;
  /** Where `<input webkitdirectory>` found it, from the folder that was chosen on, with `/`. */
  readonly webkitRelativePath?: string;
}

/** A `FileSystemFileHandle` or `FileSystemDirectoryHandle`. Versions of TypeScript differ in the types of their methods. */
export interface Handle {
  readonly kind: 'file' | 'directory';
  readonly name: string;
}
interface FileHandle extends Handle {
  getFile(): Promise<NamedBlob>;
}
interface DirectoryHandle extends Handle {
  values(): AsyncIterable<Handle>;
}

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

/** A `DataTransferItem`. */
interface Item {
  webkitGetAsEntry(): Entry | null;
  getAsFile(): NamedBlob | null;
}

/** A `DataTransfer`: pass that of a `drop` event before you wait for anything, because it is empty later. */
export interface Dropped {
  readonly items: ArrayLike<Item>;
}

/** Files or folders of a user. */
export type GivenFiles =
  | NamedBlob
  | Handle
  | Entry
  | Dropped
  | ArrayLike<NamedBlob | Item>
  | Iterable<NamedBlob | Handle | Entry>;

/** A file of a user, as a source of a draft. */
export interface GivenFile {
  /** The path from the torrent's root, with `/`. */
  path: string;
  data: NamedBlob;
}

/** The files that were found. */
export interface FoundFolder {
  /** The name of the only folder or file; null if there are several, or if no torrent can have the name, such as that of a drive. */
  name: string | null;
  /** The files in the order of a v1 torrent, for the field `sources` of a draft and for `verify`. */
  sources: GivenFile[];
}

const OPTIONS: OptionStructs<NonNullable<Parameters<typeof filesFrom>[1]>> = { signal: Signal, everything: Flag };

/**
 * Lists the files that a user has chosen or dropped: Files, a `FileList`, handles of the File System Access API, entries of
 * `webkitGetAsEntry`, a `DataTransfer` or its `items`. Folders are listed with everything in them except .DS_Store, Icon\r, Thumbs.db,
 * desktop.ini and torrents at the top of the only folder, in the order of {@link sortV1}: the library in Node makes the same torrent of it.
 *
 * @param given The files or folders.
 * @param options.everything Leave nothing out, as `verify` does: files that cannot be opened are listed with an unknown size.
 * @throws {MetainfoError} `ERR_READ` for a file or folder that cannot be read, with its path; `ERR_INVALID_ARGUMENT` for
 *   anything else than files and folders
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
  options: { signal?: AbortSignal | undefined; everything?: boolean | undefined } = {},
): Promise<FoundFolder> {
  const { signal, everything = false } = checkOptions(options, OPTIONS);
  const found: { path: string[]; data: NamedBlob }[] = [];
  for (const top of topsOf(given))
    for await (const { path, data } of filesIn(top, '', { signal, everything })) {
      if (everything || path === data.name || !isSystemFileName(data.name)) found.push({ path: path.split('/'), data });
    }
  const names = new Set(found.map(({ path }) => path[0] as string));
  const [name = null] = names.size === 1 ? names : [];
  const isFolder = name !== null && found.every(({ path }) => path.length > 1);
  const inside = isFolder ? found.map(({ path, data }) => ({ path: path.slice(1), data })) : found;
  const isLeftOut = (path: string[]) =>
    isFolder && !everything && path.length === 1 && isTorrentFileName(path[0] as string);
  const files = inside.filter(({ path }) => !isLeftOut(path));
  // Browsers list folders in any order, and a v1 torrent keeps that of its sources.
  const sources = sortV1(files).map(({ path, data }) => ({ path: path.join('/'), data }));
  if (!isFolder) for (const source of sources) single.add(source);
  return { name: name !== null && unsafeComponent(name) === null ? name : null, sources };
}

const single = new WeakSet<GivenFile>();
/** Whether the user gave this file itself, instead of a folder that holds it. */
export const isSingle = (file: GivenFile): boolean => single.has(file);

type Top = NamedBlob | Handle | Entry;

function topsOf(given: GivenFiles): Top[] {
  if (typeof given !== 'object' || given === null)
    throw invalidArgument(`expected files or folders, got ${shown(given)}`);
  const list = 'items' in given ? given.items : given;
  const all = Symbol.iterator in list || 'length' in list ? Array.from(list as Iterable<Top | Item>) : [list as Top];
  // A DataTransfer forgets its entries after the event. Files that are not on a disk have no entry, and text has no file either.
  const tops = all
    .map((one) => (isItem(one) ? (one.webkitGetAsEntry() ?? one.getAsFile()) : one))
    .filter((one, i) => one !== null || !isItem(all[i])) as Top[];
  for (const top of tops) if (!isTop(top)) throw invalidArgument(`expected files or folders, got ${shown(top)}`);
  return tops;
}

function isItem(one: unknown): one is Item {
  return typeof one === 'object' && one !== null && 'webkitGetAsEntry' in one;
}

function isTop(top: unknown): boolean {
  return (
    typeof top === 'object' && top !== null && 'name' in top && ('size' in top || 'kind' in top || 'isDirectory' in top)
  );
}

async function* filesIn(
  top: Top,
  folder: string,
  options: { signal: AbortSignal | undefined; everything: boolean },
): AsyncGenerator<GivenFile> {
  throwIfAborted(options.signal);
  const path = folder + top.name;
  if ('size' in top) return yield { path: top.webkitRelativePath || path, data: top };
  const isFolder = 'kind' in top ? top.kind === 'directory' : top.isDirectory;
  try {
    if (!isFolder) yield { path, data: await fileOf(top) };
    else for await (const inner of entriesOf(top)) yield* filesIn(inner, `${path}/`, options);
  } catch (error) {
    const failure = fromSystemError(error, path, 'read');
    if (isFolder || !options.everything) throw failure;
    yield { path, data: unreadable(top.name, failure) };
  }
}

/** Stands for a file that cannot be opened, so nobody knows its size. */
function unreadable(name: string, error: MetainfoError): NamedBlob {
  const slice = () => ({ arrayBuffer: () => Promise.reject(error) });
  return { name, size: Number.POSITIVE_INFINITY, slice, stream: slice } as unknown as NamedBlob;
}

function fileOf(file: Handle | Entry): Promise<NamedBlob> {
  if ('kind' in file) return (file as FileHandle).getFile();
  return new Promise((resolve, reject) => (file as FileEntry).file(resolve, reject));
}

async function* entriesOf(folder: Handle | Entry): AsyncGenerator<Handle | Entry> {
  if ('kind' in folder) return yield* (folder as DirectoryHandle).values();
  const reader = (folder as FolderEntry).createReader();
  // Chromium gives a hundred at a time, and none at the end.
  for (;;) {
    const some = await new Promise<Entry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    yield* some;
  }
}
