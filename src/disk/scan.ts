import { isUtf8 } from 'node:buffer';
import { constants, type Dirent } from 'node:fs';
import { access, lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { constants as osConstants } from 'node:os';
import nodePath from 'node:path';
import { isPromise } from 'node:util/types';
import { throwIfAborted } from '../errors/cancel.ts';
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { fromSystemError, MetainfoError } from '../errors/errors.ts';
import { Callback, invalidArgument, type OptionStructs } from '../errors/guard.ts';
import { addonOrNull } from '../hash/addon.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { isWithin } from './containment.ts';
import { isTemporary } from './write-file.ts';

/** A file found on disk. */
export interface ScannedFile {
  /** Components from the path root; none when the path root is the file itself. */
  path: string[];
  /** Where to read it: with links resolved. */
  diskPath: string;
  /** Bytes. */
  length: number;
  /** When its content was changed last, in milliseconds since 1970. */
  mtimeMs: number;
  /** When its content or its status was changed last, in milliseconds since 1970. */
  ctimeMs: number;
}

/** Which of the files found in folders to take, by their path from the root with `/`. Files named outright are taken. */
export interface ScanFilter {
  /** Leaves out a file, or a folder with all that is in it. */
  exclude?: ((path: string) => boolean) | undefined;
  /** Takes only files for which it is true. */
  include?: ((path: string) => boolean) | undefined;
}

export const FILTER: OptionStructs<ScanFilter> = { exclude: Callback, include: Callback };

/** Lets other jobs go first between two steps of long work. */
export interface Yielding {
  offer(): Promise<void>;
}

export interface ScanOptions extends ScanFilter {
  /** Take what operating systems leave in folders too; default false. */
  systemFiles?: boolean;
  /** Refuse files that cannot be opened: they are going to be read. Default false. */
  readable?: boolean;
  signal?: AbortSignal | undefined;
  /** Where it takes long, others go first. */
  slot?: Yielding | undefined;
}

/** What operating systems, and outputs that were not finished, leave in folders; never wanted unless named outright. */
const SYSTEM_FILES = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);
const isOfSystem = (name: string) => SYSTEM_FILES.has(name) || isTemporary(name);

/** How many calls wait at once: enough to keep the file system busy. */
const FOLDERS_AT_ONCE = 16;
const FILES_AT_ONCE = 4096;

/** What is wrong with one file or folder, while all others can still be looked at. */
const OF_ONE_FILE: ReadonlySet<MetainfoErrorCode> = new Set([
  'ERR_BROKEN_LINK',
  'ERR_DUPLICATE_PATH',
  'ERR_LINK_LOOP',
  'ERR_LINK_OUTSIDE',
  'ERR_NAME',
  'ERR_NOT_A_FILE',
  'ERR_NOT_FOUND',
  'ERR_UNREADABLE',
]);
const MOST_LISTED = 10;

/** Collects what is wrong with files, so that one run reports all of it. */
class Problems {
  readonly #listed: MetainfoError[] = [];
  #count = 0;
  /** Whether a filter can leave any of them out: not what was named outright. */
  #canExclude = false;

  /** @throws the error, when it is not about one file */
  add(error: unknown, { canExclude = true } = {}): void {
    if (!(error instanceof MetainfoError && OF_ONE_FILE.has(error.code))) throw error;
    this.#count += 1;
    this.#canExclude ||= canExclude;
    if (this.#listed.length < MOST_LISTED) this.#listed.push(error);
  }

  /** @throws {MetainfoError} with the code and path of the first problem, and a message that lists them */
  throwIfAny(): void {
    const [first] = this.#listed;
    if (!first) return;
    const { code, path, cause } = first;
    const hint = this.#canExclude ? ' To leave out files and folders, use `exclude`.' : '';
    if (this.#count === 1) throw new MetainfoError(code, `${first.message}${hint}`, { path, cause });
    const texts = this.#listed.map(({ message }) => message.replace(/\.$/, ''));
    const rest = this.#count - texts.length;
    const more = rest > 0 ? `; and ${rest} more` : '';
    const message = `${this.#count} files or folders cannot be taken: ${texts.join('; ')}${more}.${hint}`;
    throw new MetainfoError(code, message, { path, cause: new AggregateError(this.#listed, message) });
  }
}

/**
 * The files at and beneath `entries`, in the order of the entries and, within a folder, of readdir: sort them.
 * Links are followed within the root. All problems with files are reported at once.
 *
 * @param root The path root, absolute: a folder, or a file (then it is the only one, and `entries` must be null).
 * @param entries Relative to the root; null is all of it.
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
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `${root} is a file: it has no paths beneath it.`, { path: root });
  }
  if (!isFolder(status)) await scanner.take([], scanner.realRoot, root, status);
  else if (!entries) await scanner.walk([], root);
  else for (const entry of entries) await scanner.visit(entry, nodePath.join(root, ...entry));
  scanner.problems.throwIfAny();
  return scanner.files;
}

type Entry = Dirent<string> | Dirent<Buffer>;

/** A filter that refuses promises: each would count as true. */
function atOnce(name: string, filter: (path: string) => unknown): (path: string) => boolean {
  return (path) => {
    const answer = filter(path);
    if (!isPromise(answer)) return Boolean(answer);
    answer.catch(() => {});
    throw invalidArgument(
      `${name} must answer true or false at once, not with a promise: it cannot be an async function`,
    );
  };
}

/** An entry of a folder that may be wanted. */
interface Candidate {
  entry: Entry;
  path: string[];
  /** As the user named the way to it. */
  shown: string;
  /** Without links, but for itself. */
  real: string;
  /** Whether it is wanted as a file; a folder or link may lead to files that are. */
  wanted: boolean;
}

interface Folder {
  path: string[];
  shown: string;
  real: string;
  /** Its real path, and those of the folders that it is in. */
  above: string[];
}

class Scanner {
  readonly files: ScannedFile[] = [];
  readonly problems = new Problems();
  readonly realRoot: string;
  readonly #exclude: (path: string) => boolean;
  readonly #include: (path: string) => boolean;
  readonly #systemFiles: boolean;
  readonly #readable: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #slot: Yielding | undefined;
  /** What was found, with `/`; null where nothing can be found twice. */
  readonly #seen: Set<string> | null;

  constructor(
    realRoot: string,
    seen: Set<string> | null,
    { exclude = () => false, include = () => true, ...options }: ScanOptions,
  ) {
    this.realRoot = realRoot;
    this.#seen = seen;
    this.#exclude = atOnce('exclude', exclude);
    this.#include = atOnce('include', include);
    this.#systemFiles = options.systemFiles ?? false;
    this.#readable = options.readable ?? false;
    this.#signal = options.signal;
    this.#slot = options.slot;
  }

  /** A path that was named outright: what leads to it may hold links too. */
  async visit(path: readonly string[], shown: string): Promise<void> {
    try {
      const real = await resolveLink(shown, shown);
      this.#requireInside(real, shown);
      const status = await statusOf(real, shown);
      if (isFolder(status)) await this.walk([...path], shown, real);
      else await this.take([...path], real, shown, status);
    } catch (error) {
      this.problems.add(error, { canExclude: false });
    }
  }

  /** Adds a file that was named outright. */
  async take(path: string[], real: string, shown: string, status: Status): Promise<void> {
    this.add(path, real, shown, status);
    if (this.#readable && isClosed(status)) await requireReadable(real, shown);
  }

  /** Everything beneath a folder: the folders level by level, then the sizes of all files. */
  async walk(path: string[], shown: string, real = this.realRoot): Promise<void> {
    const files: Candidate[] = [];
    let level: Folder[] = [{ path, shown, real, above: [real] }];
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
    const closed: Candidate[] = [];
    for (const [i, status] of (await this.#statAll(files)).entries()) {
      const file = files[i] as Candidate;
      if (!status) continue;
      // Since it was listed, it may have become a folder.
      if (isFolder(status)) await this.walk(file.path, file.shown, file.real);
      else if (this.#tryAdd(file.path, file.real, file.shown, status) && isClosed(status)) closed.push(file);
    }
    if (!this.#readable) return;
    const checks = await Promise.allSettled(closed.map(({ real, shown }) => requireReadable(real, shown)));
    for (const check of checks) if (check.status === 'rejected') this.problems.add(check.reason);
  }

  /** Null for what cannot be looked at. */
  async #statAll(files: readonly Candidate[]): Promise<(Status | null)[]> {
    const numbers = await statNumbers(files);
    const statuses: (Status | null)[] = [];
    for (const [i, { real, shown }] of files.entries()) {
      const number = (index: number) => numbers[i * STAT_NUMBERS + index] as number;
      if (number(0) === 0) statuses.push({ mode: number(1), size: number(2), mtimeMs: number(3), ctimeMs: number(4) });
      // Node has the words for what is wrong.
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
      // The filters are somebody's code.
      throwIfAborted(this.#signal);
      const text = entry.name.toString();
      const relative = relativeParent + text;
      // Before anything can be wrong with it.
      if (this.#exclude(relative)) continue;
      const name = this.#nameOf(entry, text, folder.shown);
      if (name === null) continue;
      const wanted = (this.#systemFiles || !isOfSystem(name)) && this.#include(relative);
      if (!wanted && !entry.isDirectory() && !entry.isSymbolicLink()) continue;
      const path = [...folder.path, name];
      candidates.push({ entry, path, shown: shownParent + name, real: realParent + name, wanted });
    }
    return candidates;
  }

  async #follow(link: Candidate, folder: Folder, folders: Folder[]): Promise<void> {
    const { path, shown, wanted } = link;
    let real: string;
    let status: Status;
    try {
      real = await resolveLink(shown, shown);
      this.#requireInside(real, shown);
      status = await statusOf(real, shown);
    } catch (error) {
      // A bad link fails the scan only when it could have been a wanted file.
      if (wanted) this.problems.add(error);
      return;
    }
    if (isFolder(status)) this.#enter({ path, shown }, real, folder, folders);
    else if (wanted && this.#tryAdd(path, real, shown, status) && this.#readable && isClosed(status))
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
    if (kindOf(status) !== constants.S_IFREG) {
      throw new MetainfoError('ERR_NOT_A_FILE', `${shown} is ${nameOfKind(status)}, not a file: leave it out.`, {
        path: shown,
      });
    }
    const key = this.#seen && path.join('/');
    if (key !== null && this.#seen?.has(key)) {
      throw new MetainfoError('ERR_DUPLICATE_PATH', `${shown} is named twice.`, { path: shown });
    }
    if (key !== null) this.#seen?.add(key);
    const { size: length, mtimeMs, ctimeMs } = status;
    this.files.push({ path, diskPath: real, length, mtimeMs, ctimeMs });
  }

  #requireInside(real: string, shown: string): void {
    if (isWithin(this.realRoot, real)) return;
    const message = `${shown} leads out of ${this.realRoot}, to ${real}: leave it out, or copy what it links to.`;
    throw new MetainfoError('ERR_LINK_OUTSIDE', message, { path: shown });
  }
}

function enter(
  { path, shown }: Pick<Candidate, 'path' | 'shown'>,
  real: string,
  parent: Folder,
  folders: Folder[],
): void {
  if (parent.above.includes(real)) {
    throw new MetainfoError('ERR_LINK_LOOP', `${shown} is a link to a folder that it is in.`, { path: shown });
  }
  folders.push({ path, shown, real, above: [...parent.above, real] });
}

/** What is used of `fs.Stats`. */
interface Status {
  mode: number;
  /** Bytes. */
  size: number;
  mtimeMs: number;
  ctimeMs: number;
}

/** How many numbers {@link statNumbers} gives of a file. */
export const STAT_NUMBERS = 7;

/**
 * What stat(2) says of files, as `statFiles` of the addon has it. Natively, where that loads: 20,000 calls through
 * libuv's pool take five times as long.
 */
export async function statNumbers(files: readonly { real: string }[]): Promise<Float64Array> {
  const addon = addonOrNull();
  const numbers = await addon?.statFiles(Buffer.from(files.map(({ real }) => `${real}\0`).join('')));
  if (numbers && numbers.length > 0) return numbers;
  const each = await Promise.all(
    files.map(({ real }) =>
      stat(real).then(
        ({ mode, size, mtimeMs, ctimeMs, dev, ino }) => [0, mode, size, mtimeMs, ctimeMs, dev, ino],
        // Not `errno`: on Windows that is a number of libuv's own.
        ({ code }: NodeJS.ErrnoException) => [errnoOf(code), 0, 0, 0, 0, 0, 0],
      ),
    ),
  );
  return Float64Array.from(each.flat());
}

function errnoOf(code = 'EIO'): number {
  return (osConstants.errno as Partial<Record<string, number>>)[code] ?? osConstants.errno.EIO;
}

async function entriesOf({ real, shown }: Folder): Promise<Entry[]> {
  try {
    const entries = await readdir(real, { withFileTypes: true });
    // What stands for a byte that is not UTF-8, and may also be a character of the name: only the bytes tell.
    if (!entries.some(({ name }) => name.includes('\ufffd'))) return entries;
    return await readdir(real, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    throw fromSystemError(error, shown, 'read');
  }
}

/** A name as text, or an error that shows its bytes: torrents hold UTF-8 (BEP 3). */
function nameOf({ name }: Entry, text: string, folder: string): string {
  const isText = typeof name === 'string' || isUtf8(name);
  const problem = isText ? unsafeComponent(text) : 'a name that is not UTF-8';
  if (!problem) return text;
  const shown = nodePath.join(folder, escaped(Buffer.from(name)));
  throw new MetainfoError('ERR_NAME', `${shown}: ${problem} cannot stand in a torrent: rename it or leave it out.`, {
    path: shown,
  });
}

/** Bytes as printable text, all others as \xNN. */
function escaped(bytes: Buffer): string {
  const hex = (byte: number) => `\\x${byte.toString(16).padStart(2, '0')}`;
  return [...bytes].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : hex(byte))).join('');
}

async function statusOf(real: string, shown: string): Promise<Status> {
  try {
    return await stat(real);
  } catch (error) {
    throw fromSystemError(error, shown, 'read');
  }
}

/** Whether a file is closed to somebody: then only the system can tell to whom. */
function isClosed({ mode }: Status): boolean {
  return (mode & 0o444) !== 0o444;
}

/** @throws {MetainfoError} for a file that cannot be opened */
async function requireReadable(real: string, shown: string): Promise<void> {
  try {
    await access(real, constants.R_OK);
  } catch {
    // It knows nothing of effective users and capabilities.
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
      throw new MetainfoError('ERR_BROKEN_LINK', `${shown} is a link to something that does not exist.`, {
        path: shown,
        cause: error,
      });
    }
    throw fromSystemError(error, shown, 'read');
  }
}

function kindOf({ mode }: Status): number {
  return mode & constants.S_IFMT;
}

function isFolder(status: Status): boolean {
  return kindOf(status) === constants.S_IFDIR;
}

function nameOfKind(status: Status): string {
  if (kindOf(status) === constants.S_IFIFO) return 'a FIFO';
  if (kindOf(status) === constants.S_IFSOCK) return 'a socket';
  return 'a device';
}
