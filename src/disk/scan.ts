/** Finds the files of a torrent on disk, and reports every file that cannot be added. */
import { isUtf8 } from 'node:buffer';
import { constants, type Dirent } from 'node:fs';
import { access, lstat, open, readdir, realpath } from 'node:fs/promises';
import nodePath from 'node:path';
import { isPromise } from 'node:util/types';
import { throwIfAborted } from '../errors/cancel.ts';
import { fromSystemError, MetainfoError } from '../errors/errors.ts';
import { Callback, invalidArgument, type OptionStructs } from '../errors/guard.ts';
import type { Slot } from '../hash/limiter.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { isWithin } from './containment.ts';
import { ScanProblems } from './scan-problems.ts';
import { describeType, isFolder, isRegularFile, STAT_NUMBERS, type Status, statFiles, statusOf } from './stat-files.ts';
import { isTemporary } from './write-file.ts';

/** A file that the scan found. */
export interface ScannedFile {
  /** The path from the path root, as components; empty if the path root is the file itself. */
  path: string[];
  /** The path on disk, with links resolved. */
  diskPath: string;
  /** Bytes. */
  length: number;
  /** When the content changed last, in milliseconds since 1970. */
  mtimeMs: number;
  /** When the content or the status changed last, in milliseconds since 1970. */
  ctimeMs: number;
}

/**
 * Chooses among the files in folders, by their paths from the root, with `/`. Files that are named outright are always added.
 */
export interface ScanFilter {
  /** Returns true to leave out a file, or a folder and everything in it. */
  exclude?: ((path: string) => boolean) | undefined;
  /** Returns true to add a file. */
  include?: ((path: string) => boolean) | undefined;
}

export const FILTER: OptionStructs<ScanFilter> = { exclude: Callback, include: Callback };

export interface ScanOptions extends ScanFilter {
  /**
   * Add files that operating systems create, such as `.DS_Store`.
   *
   * @default false
   */
  systemFiles?: boolean;
  /**
   * Reject files that cannot be opened for reading.
   *
   * @default false
   */
  readable?: boolean;
  signal?: AbortSignal | undefined;
  /** Lets other jobs go first while the scan goes through many folders. */
  slot?: Slot | undefined;
}

/** Files that operating systems create in folders. The scan skips them, and unfinished outputs, unless they are named outright. */
const SYSTEM_FILES = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);
const isSystemFile = (name: string) => SYSTEM_FILES.has(name) || isTemporary(name);

/** System calls that wait at once: enough to keep the file system busy. */
const FOLDERS_AT_ONCE = 16;
const FILES_AT_ONCE = 4096;

/**
 * Finds the files at and below `entries`. They come in the order of the entries and, within a folder, of readdir: sort them.
 * Links are followed within the root. One error reports all problems with files.
 *
 * @param root The path root, absolute: a folder, or a single file (then `entries` must be null).
 * @param entries Paths from the root, as components; null for everything.
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_NOT_A_FILE`, `ERR_BROKEN_LINK`, `ERR_LINK_LOOP`,
 *   `ERR_LINK_OUTSIDE`, `ERR_NAME`, `ERR_DUPLICATE_PATH`, `ERR_ABORTED`
 */
export async function scan(
  root: string,
  entries: readonly (readonly string[])[] | null,
  options: ScanOptions = {},
): Promise<ScannedFile[]> {
  const scanner = new Scanner(await resolveLink(root, root), entries && new Set(), options);
  const status = await statusOf(scanner.realRoot, root);
  if (!isFolder(status) && entries) {
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `${root} is a file: \`paths\` needs a folder as pathRoot.`, {
      path: root,
    });
  }
  if (!isFolder(status)) await scanner.addNamed([], scanner.realRoot, root, status);
  else if (!entries) await scanner.walk([], root);
  else for (const entry of entries) await scanner.visit(entry, nodePath.join(root, ...entry));
  scanner.problems.throwIfAny();
  return scanner.files;
}

type Entry = Dirent<string> | Dirent<Buffer>;

/** Wraps a filter so that it throws if it returns a promise, which would count as true. */
function synchronous(name: string, filter: (path: string) => unknown): (path: string) => boolean {
  return (path) => {
    const answer = filter(path);
    if (!isPromise(answer)) return Boolean(answer);
    answer.catch(() => {});
    throw invalidArgument(`${name} must return true or false, not a promise: it cannot be an async function`);
  };
}

/** An entry of a folder that may be added. */
interface Candidate {
  entry: Entry;
  path: string[];
  /** The path as the user knows it. */
  shown: string;
  /** The path without links, except that the entry itself may be one. */
  real: string;
  /** Whether to add it if it is a file. A folder or link may lead to such files even if this is false. */
  isIncluded: boolean;
}

interface Folder {
  path: string[];
  shown: string;
  real: string;
  /** Its real path, and those of all folders above it. */
  ancestors: string[];
}

class Scanner {
  readonly files: ScannedFile[] = [];
  readonly problems = new ScanProblems();
  readonly realRoot: string;
  readonly #exclude: (path: string) => boolean;
  readonly #include: (path: string) => boolean;
  readonly #systemFiles: boolean;
  readonly #readable: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #slot: Slot | undefined;
  /** The paths found so far, with `/`; null if no path can be found twice. */
  readonly #seen: Set<string> | null;

  constructor(
    realRoot: string,
    seen: Set<string> | null,
    { exclude = () => false, include = () => true, ...options }: ScanOptions,
  ) {
    this.realRoot = realRoot;
    this.#seen = seen;
    this.#exclude = synchronous('exclude', exclude);
    this.#include = synchronous('include', include);
    this.#systemFiles = options.systemFiles ?? false;
    this.#readable = options.readable ?? false;
    this.#signal = options.signal;
    this.#slot = options.slot;
  }

  /** Adds a path that is named outright. The path to it may contain links too. */
  async visit(path: readonly string[], shown: string): Promise<void> {
    try {
      const real = await resolveLink(shown, shown);
      this.#requireInside(real, shown);
      const status = await statusOf(real, shown);
      if (isFolder(status)) await this.walk([...path], shown, real);
      else await this.addNamed([...path], real, shown, status);
    } catch (error) {
      this.problems.add(error, { canExclude: false });
    }
  }

  /** Adds a file that is named outright. */
  async addNamed(path: string[], real: string, shown: string, status: Status): Promise<void> {
    this.add(path, real, shown, status);
    if (this.#readable && isRestricted(status)) await requireReadable(real, shown);
  }

  /** Adds everything below a folder: lists the folders level by level, then looks up the sizes of all files. */
  async walk(path: string[], shown: string, real = this.realRoot): Promise<void> {
    const files: Candidate[] = [];
    let level: Folder[] = [{ path, shown, real, ancestors: [real] }];
    while (level.length > 0) {
      const below: Folder[] = [];
      for (let i = 0; i < level.length; i += FOLDERS_AT_ONCE) {
        await this.#pause();
        const folders = level.slice(i, i + FOLDERS_AT_ONCE);
        const listed = await Promise.all(
          folders.map((folder) => entriesOf(folder).catch((error: unknown) => this.problems.add(error))),
        );
        for (const [j, folder] of folders.entries()) {
          for (const candidate of this.#candidates(listed[j] ?? [], folder)) {
            if (candidate.entry.isDirectory()) this.#enter(candidate, candidate.real, folder, below);
            else if (candidate.entry.isSymbolicLink()) await this.#follow(candidate, folder, below);
            else files.push(candidate);
          }
        }
      }
      level = below;
    }
    for (let i = 0; i < files.length; i += FILES_AT_ONCE) {
      await this.#pause();
      await this.#addAll(files.slice(i, i + FILES_AT_ONCE));
    }
  }

  async #addAll(files: readonly Candidate[]): Promise<void> {
    const restricted: Candidate[] = [];
    for (const [i, status] of (await this.#statAll(files)).entries()) {
      const file = files[i] as Candidate;
      if (!status) continue;
      // It may have become a folder after it was listed.
      if (isFolder(status)) await this.walk(file.path, file.shown, file.real);
      else if (this.#tryAdd(file.path, file.real, file.shown, status) && isRestricted(status)) restricted.push(file);
    }
    if (!this.#readable) return;
    const checks = await Promise.allSettled(restricted.map(({ real, shown }) => requireReadable(real, shown)));
    for (const check of checks) if (check.status === 'rejected') this.problems.add(check.reason);
  }

  /** The status is null for files with a problem. */
  async #statAll(files: readonly Candidate[]): Promise<(Status | null)[]> {
    const numbers = await statFiles(files);
    const statuses: (Status | null)[] = [];
    for (const [i, { real, shown }] of files.entries()) {
      const number = (index: number) => numbers[i * STAT_NUMBERS + index] as number;
      if (number(0) === 0) statuses.push({ mode: number(1), size: number(2), mtimeMs: number(3), ctimeMs: number(4) });
      // Call stat again for its error message.
      else statuses.push((await statusOf(real, shown).catch((error: unknown) => this.problems.add(error))) ?? null);
    }
    return statuses;
  }

  async #pause(): Promise<void> {
    throwIfAborted(this.#signal);
    await this.#slot?.offer();
  }

  #candidates(entries: readonly Entry[], folder: Folder): Candidate[] {
    const candidates: Candidate[] = [];
    const within = (parent: string) => (parent.endsWith(nodePath.sep) ? parent : parent + nodePath.sep);
    const [shownParent, realParent] = [within(folder.shown), within(folder.real)];
    const relativeParent = folder.path.map((name) => `${name}/`).join('');
    for (const entry of entries) {
      // A filter, which is the caller's code, may have fired the signal.
      throwIfAborted(this.#signal);
      const text = entry.name.toString();
      const relative = relativeParent + text;
      // Ask first: an excluded entry has no problems.
      if (this.#exclude(relative)) continue;
      const name = this.#nameOf(entry, text, folder.shown);
      if (name === null) continue;
      const isIncluded = (this.#systemFiles || !isSystemFile(name)) && this.#include(relative);
      if (!isIncluded && !entry.isDirectory() && !entry.isSymbolicLink()) continue;
      const path = [...folder.path, name];
      candidates.push({ entry, path, shown: shownParent + name, real: realParent + name, isIncluded });
    }
    return candidates;
  }

  async #follow(link: Candidate, folder: Folder, folders: Folder[]): Promise<void> {
    const { path, shown, isIncluded } = link;
    let real: string;
    let status: Status;
    try {
      real = await resolveLink(shown, shown);
      this.#requireInside(real, shown);
      status = await statusOf(real, shown);
    } catch (error) {
      // A broken link is a problem only if a file in its place would be added.
      if (isIncluded) this.problems.add(error);
      return;
    }
    if (isFolder(status)) this.#enter({ path, shown }, real, folder, folders);
    else if (isIncluded && this.#tryAdd(path, real, shown, status) && this.#readable && isRestricted(status))
      await requireReadable(real, shown).catch((error: unknown) => this.problems.add(error));
  }

  #nameOf(entry: Entry, text: string, folder: string): string | null {
    try {
      return nameOf(entry, text, folder);
    } catch (error) {
      this.problems.add(error);
      return null;
    }
  }

  #enter(...entry: Parameters<typeof enter>): void {
    try {
      enter(...entry);
    } catch (error) {
      this.problems.add(error);
    }
  }

  #tryAdd(...file: Parameters<Scanner['add']>): boolean {
    try {
      this.add(...file);
      return true;
    } catch (error) {
      this.problems.add(error);
      return false;
    }
  }

  add(path: string[], real: string, shown: string, status: Status): void {
    if (!isRegularFile(status)) {
      throw new MetainfoError('ERR_NOT_A_FILE', `${shown} is ${describeType(status)}, not a file: leave it out.`, {
        path: shown,
      });
    }
    const key = this.#seen && path.join('/');
    if (key !== null && this.#seen?.has(key)) {
      throw new MetainfoError('ERR_DUPLICATE_PATH', `${shown} is listed twice in \`paths\`.`, { path: shown });
    }
    if (key !== null) this.#seen?.add(key);
    const { size: length, mtimeMs, ctimeMs } = status;
    this.files.push({ path, diskPath: real, length, mtimeMs, ctimeMs });
  }

  #requireInside(real: string, shown: string): void {
    if (isWithin(this.realRoot, real)) return;
    const message = `${shown} links to ${real}, outside ${this.realRoot}: leave it out, or copy its target.`;
    throw new MetainfoError('ERR_LINK_OUTSIDE', message, { path: shown });
  }
}

function enter(
  { path, shown }: Pick<Candidate, 'path' | 'shown'>,
  real: string,
  parent: Folder,
  folders: Folder[],
): void {
  if (parent.ancestors.includes(real)) {
    throw new MetainfoError('ERR_LINK_LOOP', `${shown} links to a folder that contains it.`, { path: shown });
  }
  folders.push({ path, shown, real, ancestors: [...parent.ancestors, real] });
}

async function entriesOf({ real, shown }: Folder): Promise<Entry[]> {
  try {
    const entries = await readdir(real, { withFileTypes: true });
    // U+FFFD stands for bytes that are not UTF-8, or is a character of the name: only the bytes tell.
    if (!entries.some(({ name }) => name.includes('\ufffd'))) return entries;
    return await readdir(real, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    throw fromSystemError(error, shown, 'read');
  }
}

/** Returns a name as text. If a torrent cannot hold it (BEP 3: UTF-8), throws an error that shows its bytes. */
function nameOf({ name }: Entry, text: string, folder: string): string {
  const isText = typeof name === 'string' || isUtf8(name);
  const problem = isText ? unsafeComponent(text) : 'a name that is not UTF-8';
  if (!problem) return text;
  const shown = nodePath.join(folder, escaped(Buffer.from(name)));
  throw new MetainfoError('ERR_NAME', `${shown}: a torrent cannot contain ${problem}: rename it or leave it out.`, {
    path: shown,
  });
}

/** Printable ASCII characters as they are, all other bytes as \xNN. */
function escaped(bytes: Buffer): string {
  const hex = (byte: number) => `\\x${byte.toString(16).padStart(2, '0')}`;
  return [...bytes].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : hex(byte))).join('');
}

/** Whether somebody may not read a file: then only the system can tell who. */
function isRestricted({ mode }: Status): boolean {
  return (mode & 0o444) !== 0o444;
}

/** @throws {MetainfoError} for a file that cannot be opened */
async function requireReadable(real: string, shown: string): Promise<void> {
  try {
    await access(real, constants.R_OK);
  } catch {
    // access(2) ignores effective users and capabilities: try to open the file.
    const file = await open(real).catch((error: unknown) => {
      throw fromSystemError(error, shown, 'read');
    });
    await file.close();
  }
}

async function resolveLink(path: string, shown: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const isLink = await lstat(path).then(
      (status) => status.isSymbolicLink(),
      () => false,
    );
    if (isLink && ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw new MetainfoError('ERR_BROKEN_LINK', `${shown} is a broken link: its target does not exist.`, {
        path: shown,
        cause: error,
      });
    }
    throw fromSystemError(error, shown, 'read');
  }
}
