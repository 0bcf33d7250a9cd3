/** Finds the files of a torrent on disk, and reports every file that cannot be added. */
import { constants } from 'node:os';
import nodePath from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { isPromise } from 'node:util/types';
import { throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { Callback, type Checked, invalidArgument, type OptionStructs } from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { addonOrNull } from '../hash/addon.ts';
import type { Slot } from '../hash/limiter.ts';
import { diskPathBelow, type FileColumns, FileTable, pathBytes } from '../layout/file-table.ts';
import { isTorrentFileName } from '../layout/safe-path.ts';
import { nameBytes, nameText } from '../text/name-bytes.ts';
import { isSystemFile, requireName, strayKind } from './entry-names.ts';
import { FileColumnsBuilder, filteredColumns } from './file-columns.ts';
import { type BeneathOptions, requireBeneath } from './held-folder.ts';
import {
  entryPath,
  type Listing,
  listInNode,
  listNatively,
  type OtherEntry,
  readErrno,
  systemError,
} from './listing.ts';
import { componentsWithin } from './path-within.ts';
import { follow, type LinkTarget, resolveWithin, type StoredLink, storedLink } from './scan-links.ts';
import { type OnProblem, ScanProblems } from './scan-problems.ts';
import { enter, mayLoop, type Place, type Start, shownBelow, startOf } from './scan-starts.ts';
import { describeType, isFolder, isLink, isRegularFile, isRestricted, type Status } from './stat-files.ts';

/** The files that a scan found. */
export interface Scanned {
  /** The folder that all files are below, without links, or the only file: the path root, or the file system with `followOutside`. */
  root: string;
  /** Whether the path root is the file itself, whose path has no components. */
  isFile: boolean;
  /** The files, in the order of the entries that were asked for. The files below one entry are in no particular order. */
  columns: FileColumns;
  /** The links to be stored, in no particular order. */
  links: readonly StoredLink[];
  /** The paths of the files that are named like torrents, from the path root, with `/`. */
  torrents: readonly string[];
}

/** A file that the scan found. */
export interface ScannedFile {
  /** The path from the path root, as components; empty if the path root is the file itself. */
  path: readonly string[];
  /** The path on disk, with links resolved. */
  diskPath: string;
  /** Bytes. */
  length: number;
  /** When the content changed last, in milliseconds since 1970. */
  mtimeMs: number;
  /** When the content or the status changed last, in milliseconds since 1970. */
  ctimeMs: number;
}

/** Chooses among the files in folders, by their paths from the root, with `/`. Files that are named outright are always added. */
export interface ScanFilter {
  /** Returns true to leave out a file, or a folder and everything in it. */
  exclude?: ((path: string) => boolean) | undefined;
  /** Returns true to add a file. */
  include?: ((path: string) => boolean) | undefined;
}

/** How a scan treats symbolic links in folders. */
export type SymlinkPolicy = 'follow' | 'skip' | 'store' | 'error';

/** Decides what a scan does with entries that are in the way. Files that are named outright are always added. */
export interface ScanPolicies {
  /**
   * Symbolic links in folders. `follow`: add what they lead to. `skip`: leave them out. `store`: add the links themselves, as
   * files without content (BEP 47). `error`: each of them is an error.
   *
   * @default 'follow'
   */
  symlinks?: SymlinkPolicy | undefined;
  /**
   * If links are followed, also follow those that lead out of the path root. They are errors otherwise.
   *
   * @default false
   */
  followOutside?: boolean | undefined;
  /**
   * Leave out files and folders that there is no permission to read. They are errors otherwise.
   *
   * @default false
   */
  skipUnreadable?: boolean | undefined;
  /**
   * Add files and folders whose names begin with a dot.
   *
   * @default true
   */
  hidden?: boolean | undefined;
  /**
   * Add files and folders that NAS systems and macOS keep among others, such as `@eaDir` and `._name`, and unfinished downloads such as
   * `name.part`. Files such as `.DS_Store` are left out in any case.
   *
   * @default true
   */
  systemFiles?: boolean | undefined;
}

/** Why a scan left out an entry: a system file or an unfinished output, a torrent beside the content, or one of {@link ScanPolicies}. */
export type LeftOutReason = 'system' | 'torrent' | 'unfinished' | 'link' | 'unreadable' | 'hidden';

export const FILTER: OptionStructs<ScanFilter> = { exclude: Callback, include: Callback };

export interface ScanOptions extends ScanFilter, ScanPolicies, Checked<BeneathOptions> {
  /** Tells whether a torrent at the top of the path root belongs to the content. They are left out otherwise, unless `include` adds them. */
  keepsTorrent?: ((path: string) => boolean) | undefined;
  /**
   * Add files that operating systems create, such as `.DS_Store`, and torrents at the top of the path root.
   *
   * @default false
   */
  anyFiles?: boolean;
  /**
   * Add files whose names are not UTF-8, with paths as {@link nameText} gives them. They are errors otherwise.
   *
   * @default false
   */
  anyNames?: boolean;
  /**
   * Reject files that cannot be opened for reading.
   *
   * @default false
   */
  readable?: boolean;
  /** Called for each file or folder that cannot be added. Without it, the scan fails with one error for all of them. */
  onProblem?: OnProblem | undefined;
  /** Called for each entry that is left out, with its path from the path root, with `/`. */
  onLeftOut?: ((path: string, reason: LeftOutReason) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Lets other jobs go first while the scan goes through many folders. */
  slot?: Slot | undefined;
}

/** How many files are filtered before the event loop runs again: it takes a few milliseconds. */
const FILTERED_AT_ONCE = 4096;

/**
 * Finds the files at and below `entries`. Links are followed within the root. One error reports all problems with files.
 *
 * @param root The path root, absolute: a folder, or a single file (then `entries` must be null).
 * @param entries Paths from the root, as components; null for everything.
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_NOT_A_FILE`, `ERR_BROKEN_LINK`, `ERR_LINK_LOOP`,
 *   `ERR_LINK_OUTSIDE`, `ERR_PATH_OUTSIDE`, `ERR_NAME`, `ERR_DUPLICATE_PATH`, `ERR_FILE_CHANGED`, `ERR_TOO_LARGE`, `ERR_ABORTED`
 */
export async function scan(
  root: string,
  entries: readonly (readonly string[])[] | null,
  options: ScanOptions = {},
): Promise<Scanned> {
  const { real: realRoot, asked } = await follow(root);
  await requireBeneath(realRoot, options, root);
  const status = await asked;
  if (!isFolder(status) && entries) {
    throw invalidArgument(`${root} is a file: \`paths\` needs a folder as pathRoot`, { path: root });
  }
  const { symlinks = 'follow', followOutside = false } = options;
  const top = followOutside && symlinks === 'follow' && isFolder(status) ? nodePath.parse(realRoot).root : realRoot;
  const scanner = new Scanner(top, entries !== null && mayRepeat(entries), options);
  const place = { path: '', disk: (componentsWithin(top, realRoot) as string[]).join('\0'), shown: root };
  if (!isFolder(status)) await scanner.addNamed(place, status);
  else if (!entries) await scanner.scanFolder(place);
  else await scanner.visitAll(entries, root);
  scanner.problems.throwIfAny();
  const { files, links, torrents } = scanner;
  return { root: top, isFile: !isFolder(status), columns: files.finish(), links, torrents };
}

/** Makes an object of each file. */
export function scannedFiles({ root, columns }: Pick<Scanned, 'root' | 'columns'>): readonly ScannedFile[] {
  return new FileTable<ScannedFile>({ root, columns }).rows();
}

/** Whether files may be found twice: an entry repeats another one, or is in it. */
function mayRepeat(entries: readonly (readonly string[])[]): boolean {
  const sorted = entries.map((entry) => entry.map((name) => `${name}\0`).join('')).sort();
  return sorted.some((path, i) => i > 0 && path.startsWith(sorted[i - 1] as string));
}

/** Wraps a filter so that it throws if it returns a promise, which would count as true. */
function synchronous(name: string, filter: (path: string) => unknown): (path: string) => boolean {
  return (path) => {
    const answer = filter(path);
    if (!isPromise(answer)) return Boolean(answer);
    answer.catch(() => {});
    throw invalidArgument(`${name} must return true or false, not a promise: it cannot be an async function`);
  };
}

class Scanner {
  readonly files = new FileColumnsBuilder();
  readonly problems: ScanProblems;
  readonly links: StoredLink[] = [];
  readonly torrents: string[] = [];
  readonly #realRoot: string;
  /** Null if there are no filters. */
  readonly #filter: { exclude: (path: string) => boolean; include: (path: string) => boolean } | null;
  readonly #options: ScanOptions;
  /** The paths found so far, with zero characters; null if no path can be found twice. */
  readonly #seen: Set<string> | null;

  constructor(realRoot: string, mayRepeat: boolean, options: ScanOptions) {
    this.#realRoot = realRoot;
    this.#options = options;
    this.problems = new ScanProblems(options.onProblem);
    this.#seen = mayRepeat ? new Set() : null;
    const { exclude, include, hidden = true, systemFiles = true } = options;
    const hasPolicy = !hidden || !systemFiles;
    const excluded = synchronous('exclude', exclude ?? (() => false));
    this.#filter =
      exclude || include || hasPolicy
        ? {
            exclude: hasPolicy ? (path) => excluded(path) || this.#isLeftOut(path) : excluded,
            include: synchronous('include', include ?? (() => true)),
          }
        : null;
  }

  /** Whether a policy leaves out an entry because of its name. */
  #isLeftOut(path: string): boolean {
    const { hidden = true, systemFiles = true, onLeftOut } = this.#options;
    const name = path.slice(path.lastIndexOf('/') + 1);
    const isHidden = !hidden && name.startsWith('.');
    const reason = isHidden ? 'hidden' : systemFiles ? null : strayKind(name);
    if (reason) onLeftOut?.(path, reason);
    return reason !== null;
  }

  /** Adds the paths that are named outright. A path within a folder that is named too counts once. */
  async visitAll(entries: readonly (readonly string[])[], root: string): Promise<void> {
    const named = new Set<string>();
    for (const entry of entries) {
      const shown = nodePath.join(root, ...entry);
      const key = entry.join('\0');
      try {
        if (named.has(key)) throw new MetainfoError('ERR_DUPLICATE_PATH', `${shown} is given twice.`, { path: shown });
        named.add(key);
        // The path to it may contain links too.
        const { disk, status } = await this.#resolve(shown);
        const place = { path: key, disk, shown };
        if (isFolder(status)) await this.scanFolder(place);
        else await this.addNamed(place, status);
      } catch (error) {
        this.problems.add(error, { canExclude: false });
      }
    }
  }

  /** Adds a file that is named outright. */
  async addNamed(place: Place, status: Status): Promise<void> {
    await this.#requireReadable(place, status);
    this.#add(place, status);
  }

  /**
   * Adds everything below a folder. The listing enters the folders by itself as long as nothing must be asked about them: then one
   * round lists everything, and further rounds list what links lead to.
   */
  async scanFolder(place: Place): Promise<void> {
    for (let starts: Start[] = [{ ...place, top: place.disk, link: null, isNamed: true }]; starts.length > 0; ) {
      const below: Start[] = [];
      for (const isRecursive of [true, false]) {
        const chosen = starts.filter((start) => (this.#filter === null && !mayLoop(start)) === isRecursive);
        if (chosen.length > 0) await this.#addListing(await this.#list(chosen, isRecursive), chosen, below);
      }
      starts = below;
    }
  }

  async #list(starts: readonly Start[], isRecursive: boolean): Promise<Listing> {
    await this.#pause();
    const options = {
      root: this.#realRoot,
      isRecursive,
      readable: this.#options.readable ?? false,
      signal: this.#options.signal,
      pause: () => this.#pause(),
    };
    // Native code takes the paths of folders as text.
    const hasText = this.#realRoot.isWellFormed() && starts.every(({ disk }) => disk.isWellFormed());
    const addon = hasText ? addonOrNull() : null;
    const listing = addon && (await listNatively(addon, starts, options));
    return listing ?? listInNode(starts, options);
  }

  /** Adds what was found in and below `starts`, and collects the folders that must be listed next. */
  async #addListing({ files, others }: Listing, starts: readonly Start[], below: Start[]): Promise<void> {
    const byPath = new Map(starts.map((start) => [start.path, start]));
    this.#addFiles(await this.#chosen(files));
    for (const other of inOrder(others)) {
      // A filter, which is the caller's code, may have fired the signal.
      throwIfAborted(this.#options.signal);
      const path = other.name === null ? other.folder : entryPath(other.folder, nameText(other.name));
      try {
        await this.#addOther(other, path, startOf(other.folder, byPath), below);
      } catch (error) {
        this.#addProblem(error, path);
      }
    }
  }

  /** The files that the filters choose. */
  async #chosen(files: FileColumns): Promise<FileColumns> {
    if (!this.#filter) return files;
    const count = files.lengths.length;
    const keeps = new Uint8Array(count);
    for (let i = 0; i < count; i += 1) {
      if (i % FILTERED_AT_ONCE === FILTERED_AT_ONCE - 1) {
        await nextRound();
        await this.#pause();
      }
      throwIfAborted(this.#options.signal);
      const path = textAt(files, i).replaceAll('\0', '/');
      keeps[i] = !this.#filter.exclude(path) && this.#filter.include(path) ? 1 : 0;
    }
    return filteredColumns(files, keeps);
  }

  /** Adds listed files that the filters have chosen. */
  #addFiles(files: FileColumns): void {
    if (!this.#seen) {
      this.files.addColumns(files);
      return;
    }
    const keeps = new Uint8Array(files.lengths.length);
    for (const i of keeps.keys()) keeps[i] = this.#isNew(textAt(files, i)) ? 1 : 0;
    this.files.addColumns(filteredColumns(files, keeps));
  }

  async #addOther(other: OtherEntry, path: string, start: Start, below: Start[]): Promise<void> {
    const { folder, name, errno, status } = other;
    const shownFolder = shownBelow(start, folder);
    if (name === null) {
      const error = notListed(errno, shownFolder);
      if (folder !== start.path || !start.isNamed) throw error;
      // A folder that is named outright is never left out.
      this.problems.add(error, { canExclude: false });
      return;
    }
    const relative = path.replaceAll('\0', '/');
    // Ask first: an excluded entry has no problems.
    if (this.#filter?.exclude(relative)) return;
    const text = nameText(name);
    requireName(name, text, shownFolder, this.#options.anyNames);
    const isSystem = !this.#options.anyFiles && isSystemFile(text);
    const isIncluded = !isSystem && (this.#filter?.include(relative) ?? true);
    const isSkipped = isSystem || (isIncluded && folder === '' && this.#leavesOut(text));
    const isTold = isRegularFile(status) || (isLink(status) && !isSystem);
    if (isSkipped && isTold) this.#options.onLeftOut?.(relative, isSystem ? 'system' : 'torrent');
    const isAdded = isIncluded && !isSkipped;
    const place = { path, disk: entryPath(other.disk, text), shown: shownBelow(start, path) };
    const entry = { start, disk: other.disk };
    if (isLink(status)) await this.#follow(place, entry, isAdded, below);
    else if (isFolder(status)) enter(place, entry, false, below);
    else if (!isAdded) return;
    else if (errno !== 0) throw fromSystemError(systemError(errno, place.shown), place.shown, 'read');
    else this.#add(place, status);
  }

  /** Whether a name at the top of the path root is that of a torrent that hardly belongs to the content: it may hold a passkey. */
  #leavesOut(name: string): boolean {
    const { anyFiles, include, keepsTorrent } = this.#options;
    return !anyFiles && !include && isTorrentFileName(name) && !keepsTorrent?.(name);
  }

  async #follow(link: Place, entry: NonNullable<Start['link']>, isIncluded: boolean, below: Start[]): Promise<void> {
    const { symlinks = 'follow' } = this.#options;
    if (symlinks !== 'follow') {
      if (isIncluded) await this.#treatLink(link, symlinks);
      return;
    }
    const target = await this.#resolve(link.shown).catch((error: unknown) => {
      if (isIncluded) throw error;
      // A broken link is a problem only if a file in its place would be added.
      return null;
    });
    if (!target) return;
    const { disk, status } = target;
    if (isFolder(status)) enter({ ...link, disk }, entry, true, below);
    else if (isIncluded) await this.addNamed({ ...link, disk }, status);
  }

  /** Treats a link that is not followed. */
  async #treatLink({ path, shown }: Place, policy: Exclude<SymlinkPolicy, 'follow'>): Promise<void> {
    if (policy === 'skip') this.#options.onLeftOut?.(path.replaceAll('\0', '/'), 'link');
    else if (policy === 'error') {
      const message = `${shown} is a symbolic link: leave it out, or choose what to do with links.`;
      throw new MetainfoError('ERR_LINK', message, { path: shown });
    } else this.links.push(await storedLink(path, shown, (await this.#resolve(shown)).disk));
  }

  /** Collects a problem of an entry that was not named outright. */
  #addProblem(error: unknown, path: string): void {
    const isUnreadable = error instanceof MetainfoError && error.code === 'ERR_UNREADABLE';
    if (isUnreadable && this.#options.skipUnreadable)
      this.#options.onLeftOut?.(path.replaceAll('\0', '/') || '.', 'unreadable');
    else this.problems.add(error);
  }

  #resolve(shown: string): Promise<LinkTarget> {
    return resolveWithin(this.#realRoot, shown, this.#options);
  }

  #add({ path, disk, shown }: Place, status: Status): void {
    if (!isRegularFile(status)) {
      throw new MetainfoError('ERR_NOT_A_FILE', `${shown} is ${describeType(status)}, not a file: leave it out.`, {
        path: shown,
      });
    }
    if (!this.#isNew(path)) return;
    if (isTorrentFileName(shown)) this.torrents.push(path.replaceAll('\0', '/'));
    const { size, mtimeMs, ctimeMs } = status;
    this.files.addFile({ path, disk, size, mtimeMs, ctimeMs });
  }

  #isNew(path: string): boolean {
    const isNew = !this.#seen?.has(path);
    this.#seen?.add(path);
    return isNew;
  }

  /** Checks what the listing has not checked. */
  async #requireReadable({ disk, shown }: Place, status: Status): Promise<void> {
    if (!this.#options.readable || !isRestricted(status)) return;
    const errno = await readErrno(diskPathBelow(this.#realRoot, disk));
    if (errno !== 0) throw fromSystemError(systemError(errno, shown), shown, 'read');
  }

  /** Lets other jobs go first. */
  async #pause(): Promise<void> {
    throwIfAborted(this.#options.signal);
    await this.#options.slot?.offer();
  }
}

function textAt({ paths }: FileColumns, index: number): string {
  return nameText(pathBytes(paths, index));
}

/** The order in which problems are listed: shallow paths first. */
function inOrder(others: readonly OtherEntry[]): OtherEntry[] {
  const ranked = others.map((other) => {
    const path = Buffer.concat([nameBytes(other.folder), Buffer.from('\0'), other.name ?? Buffer.alloc(0)]);
    return { other, path, depth: path.reduce((depth, byte) => depth + (byte === 0 ? 1 : 0), 0) };
  });
  return ranked.sort((a, b) => a.depth - b.depth || a.path.compare(b.path)).map(({ other }) => other);
}

function notListed(errno: number, shown: string): MetainfoError {
  if (errno !== constants.errno.ELOOP) return fromSystemError(systemError(errno, shown), shown, 'read');
  const message = `${shown} changed during the scan: there is a symbolic link in its path.`;
  return new MetainfoError('ERR_FILE_CHANGED', message, { path: shown, cause: systemError(errno, shown) });
}
