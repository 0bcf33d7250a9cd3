/** Puts files that were found elsewhere where a torrent wants them: links or renames them. It never replaces other content. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, symlink, unlink } from 'node:fs/promises';
import nodePath from 'node:path';
import { at, descriptorPath, type Held, hold, holdMade, realPath } from '../../disk/held-folder.ts';
import { isWithin } from '../../disk/path-within.ts';
import { NO_LINKS, temporaryName, UnfinishedFile } from '../../disk/unfinished-file.ts';
import { isTemporary } from '../../disk/write-file.ts';
import { throwIfAborted } from '../../errors/cancel.ts';
import { MetainfoError } from '../../errors/errors.ts';
import {
  Callback,
  checkArgument,
  checkOptions,
  expected,
  Flag,
  type OptionStructs,
  oneOf,
  Signal,
} from '../../errors/guard.ts';
import { fromSystemError, throwSystemError } from '../../errors/system-error.ts';
import { closeRead, isSameTime, readFully } from '../../hash/read.ts';
import { systemPath } from '../../hash/system-path.ts';
import { newBytes } from '../../platform/node.ts';
import type { FoundContent, MovedFile } from './find-moved.ts';

const HOW = ['link', 'rename', 'symlink', 'reflink', 'copy'] as const;

type PlaceMode = (typeof HOW)[number];

/** Options of {@link placeMoved}. */
export interface PlaceMovedOptions {
  /** Stops between two files. */
  signal?: AbortSignal | undefined;
  /** Called after each file that was placed, with its path from the torrent's root: also before a cancellation. */
  onPlaced?: ((path: string) => void) | undefined;
  /**
   * Also link and rename files that are `unproven`: see {@link MovedFile.content}. A client that downloads the pieces which these files
   * share writes into them, and through a link into the file at `from`, which another torrent may seed.
   *
   * @default false
   */
  allowUnproven?: boolean | undefined;
}

const Found = expected<PlacedFiles>('the result of findMoved', (value) => {
  const { moved, empty, root } = (value ?? {}) as Partial<PlacedFiles>;
  const arePaths = (...paths: unknown[]) => paths.every((path) => typeof path === 'string');
  const isMoved = Array.isArray(moved) && moved.every((one) => one?.hashed && arePaths(one.path, one.from, one.to));
  return isMoved && Array.isArray(empty) && empty.every((one) => arePaths(one?.path, one?.to)) && arePaths(root);
});

const PLACE: OptionStructs<PlaceMovedOptions> = { signal: Signal, onPlaced: Callback, allowUnproven: Flag };

/** The fields of the result of {@link findMoved} that {@link placeMoved} checks. */
type PlacedFiles = Pick<FoundContent, 'moved' | 'empty' | 'root'>;

/** The result of {@link placeMoved}. */
export interface PlacedContent {
  /** The paths that now have their content, from the torrent's root, with `/`. */
  placed: string[];
  /** The files that could not be placed, and why. */
  failed: FailedPlacing[];
}

/** A file that could not be placed. */
export interface FailedPlacing {
  /** From the torrent's root, with `/`. */
  path: string;
  /** The reason; its path is on disk. */
  error: MetainfoError;
}

/**
 * Puts files that {@link findMoved} found where the torrent wants them, and makes its missing empty files. A file that fails does
 * not end the others. No content is ever lost: a file that is in the way is a failure, unless it is itself put elsewhere. A file that
 * was replaced after it was hashed is a failure, too. Folders that are swapped for symlinks lead to no file outside: SECURITY.md says what
 * holds on each system. A process that is killed while it swaps files may leave `.metainfo-*.tmp` beside them: another search and another
 * call finish its work. Killed while it copies, it leaves nothing on Linux, and may leave `.metainfo-*.tmp` elsewhere.
 *
 * Links and `rename` are only for files that are proven (see {@link MovedFile.content}): any other is a failure with `ERR_UNPROVEN`. Copies
 * are for all.
 *
 * @param found The result of {@link findMoved}, or a part of its files.
 * @param how `link` makes hard links, so that each file has both names; `rename` moves the files. Both need one file system. `symlink`
 *   makes symbolic links to absolute paths, which a verification with `followOutside` reads. `reflink` makes copies that share their
 *   blocks on disk until either changes, where the file system can (such as Btrfs, XFS and APFS); `copy` makes copies.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, and no other error of a file: those are in `failed`. `ERR_ABORTED`, after which each file is at its old or its new path
 * @example
 * ```ts
 * import { rename } from 'node:fs/promises';
 * import { findMoved, placeMoved, Torrent } from 'metainfo';
 *
 * await rename('album/01 fifth.wav', 'fifth.wav');
 * const found = await findMoved(await Torrent.read('album.torrent'), 'album', ['.']);
 * const { placed, failed } = await placeMoved(found, 'link');
 * console.log(placed.length, failed.length);
 * ```
 *
 * ```text
 * 1 0
 * ```
 */
export async function placeMoved(
  found: Pick<FoundContent, 'moved' | 'empty' | 'root'>,
  how: 'link' | 'rename' | 'symlink' | 'reflink' | 'copy',
  options: PlaceMovedOptions = {},
): Promise<PlacedContent> {
  checkArgument('found', found, Found);
  checkArgument('how', how, oneOf(...HOW));
  return placeFound(found, how, checkOptions(options, PLACE));
}

/** See {@link placeMoved}. @param linked The files that got or lost a name since they were listed: device and inode. */
export async function placeFound(
  found: PlacedFiles,
  how: PlaceMode,
  options: PlaceMovedOptions,
  linked = new Set<string>(),
): Promise<PlacedContent> {
  const placer = new Placer(nodePath.resolve(found.root), how, options, linked);
  await placer.place(found.moved);
  for (const one of found.empty) await placer.attempt(one.path, () => placer.makeEmpty(one.to));
  return { placed: placer.placed, failed: placer.failed };
}

/** A name in a folder that is held open, and its path for messages. */
interface HeldName {
  folder: Held;
  name: string;
  path: string;
  /** Its path through the folder. */
  held: string | Buffer;
}

function nameIn(folder: Held, path: string, name = nodePath.basename(path)): HeldName {
  return { folder, name, path, held: at(folder, name) };
}

/** Bytes. A cancellation waits for them. */
const COPIED_AT_ONCE = 2 ** 20;

/** Puts files in their places, one by one. Both ends are reached through folders that are held open. */
class Placer implements PlacedContent {
  readonly placed: string[] = [];
  readonly failed: PlacedContent['failed'] = [];
  /** The root as it was found: without links. */
  readonly #root: string;
  readonly #how: PlaceMode;
  readonly #options: PlaceMovedOptions;
  /** The files that got or lost a name here, which changes their `ctimeMs`. */
  readonly #linked: Set<string>;
  /** The files that a swap which was killed has left under a second name. */
  readonly #left = new Set<string>();

  constructor(root: string, how: PlaceMode, options: PlaceMovedOptions, linked: Set<string>) {
    this.#root = root;
    this.#how = how;
    this.#options = options;
    this.#linked = linked;
  }

  /** Does something for a path, and notes the result. */
  async attempt(path: string, place: () => Promise<void>): Promise<void> {
    throwIfAborted(this.#options.signal);
    try {
      await place();
    } catch (error) {
      this.#fail(path, error);
      return;
    }
    this.placed.push(path);
    this.#options.onPlaced?.(path);
  }

  /** Notes a failure. Only a cancellation ends the others. */
  #fail(path: string, cause: unknown): void {
    const error = fromSystemError(cause, path, 'write');
    if (error.code === 'ERR_ABORTED') throw error;
    this.failed.push({ path, error });
  }

  async makeEmpty(path: string): Promise<void> {
    await this.#inTarget(path, async ({ held, folder }) => {
      await (await open(held, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | folder.flags)).close();
    });
  }

  async place(moved: readonly MovedFile[]): Promise<void> {
    let waiting: MovedFile[] = [];
    for (const one of moved) {
      const error = this.#refusalOf(one);
      if (error) this.failed.push({ path: one.path, error });
      else waiting.push(one);
    }
    for (const { from } of waiting.filter(isLeft))
      this.#left.add(idOf(await this.#inSource(from, statusOf).catch(() => null)));
    const leavesNone = this.#how === 'rename' || this.#how === 'link';
    // A file in the way that is put elsewhere goes first. A shared file stays where it is.
    const sources = new Set(waiting.filter(({ isShared }) => leavesNone && !isShared).map(({ from }) => from));
    for (let before = Infinity; waiting.length > 0 && waiting.length < before; ) {
      before = waiting.length;
      const blocked: MovedFile[] = [];
      for (const one of waiting) {
        const real = await realPath(one.to).catch(() => null);
        // Another file that is put elsewhere is in the way.
        if (real !== null && real !== one.from && sources.has(real)) blocked.push(one);
        else {
          const count = this.placed.length;
          await this.attempt(one.path, () => this.#atBothEnds(one, (from, to) => this.#placeOne(one, from, to)));
          // After a link, the old name is one of two, and may be replaced.
          if (this.#how === 'rename' || this.placed.length === count) sources.delete(one.from);
        }
      }
      // Each file of a row may wait for the next one: in the other order, one round is enough for them.
      waiting = blocked.reverse();
    }
    await this.#swap(waiting);
  }

  /** Why a file is not placed in this way; null if it may be. */
  #refusalOf(one: MovedFile): MetainfoError | null {
    if (this.#how === 'rename' && one.isShared) return isShared(one);
    const isSafe = one.content === 'proven' || this.#how === 'copy' || this.#how === 'reflink';
    const isAllowed = one.content === 'unproven' && this.#options.allowUnproven;
    return isSafe || isAllowed ? null : unproven(one);
  }

  async #placeOne(one: MovedFile, from: HeldName, to: HeldName): Promise<void> {
    const hashed = await this.#requireHashed(one, statusOf(from));
    if (this.#how === 'symlink') return symlink(systemPath(one.from), to.held, 'file');
    if (this.#how === 'copy' || this.#how === 'reflink') return this.#copy(one, from, to);
    const isRename = this.#how === 'rename';
    if (isRename && (await this.#isSecondName(to, one))) return rename(from.held, to.held);
    if (await this.#link(from, to, hashed)) {
      if (isRename) await unlink(from.held).catch(throwSystemError(from.path, 'write'));
      return;
    }
    if (!isRename) throw noLinks(from.path, to.path, ' Choose symlink, reflink or copy instead.');
    await renameToFree(from, to);
    if (idOf(await statusOf(to)) === idOf(hashed)) return;
    await rename(to.held, from.held).catch(() => {});
    throw changed(from.path);
  }

  /**
   * The status of a file that is still the one that was hashed.
   *
   * @throws {MetainfoError} `ERR_FILE_CHANGED`, `ERR_NOT_FOUND`
   */
  async #requireHashed({ from, hashed }: MovedFile, look: Promise<Stats>): Promise<Stats> {
    const status = await look.catch(throwSystemError(from, 'read'));
    const isSame = status.isFile() && status.size === hashed.size && isSameTime(status.mtimeMs, hashed.mtimeMs);
    if (isSame && (isSameTime(status.ctimeMs, hashed.ctimeMs) || this.#linked.has(idOf(status)))) return status;
    throw changed(from);
  }

  /**
   * Makes a hard link, which never replaces a file, and makes sure that it leads to the file that was hashed. Returns false where
   * there are no links.
   *
   * @throws {MetainfoError} `ERR_FILE_CHANGED`, `ERR_OUTPUT_EXISTS` and errors of writing
   */
  async #link(from: HeldName, to: HeldName, hashed: Stats): Promise<boolean> {
    try {
      await link(from.held, to.held);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') throw fromSystemError(error, from.path, 'read');
      if (NO_LINKS.has(code)) return false;
      throw error;
    }
    const made = await statusOf(to);
    this.#linked.add(idOf(hashed));
    if (idOf(made) === idOf(hashed) && made.size === hashed.size && made.mtimeMs === hashed.mtimeMs) return true;
    await unlink(to.held).catch(() => {});
    throw changed(from.path);
  }

  /** Copies a file from a descriptor, which is compared with what was hashed, and gives the copy its name once it is whole. */
  async #copy(one: MovedFile, from: HeldName, to: HeldName): Promise<void> {
    if (await statusOf(to).catch(() => null)) throw await inTheWay(to);
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | from.folder.flags;
    const source = await open(from.held, flags).catch(async (error: NodeJS.ErrnoException) => {
      throw error.code === 'ELOOP' ? changed(one.from) : fromSystemError(error, one.from, 'read');
    });
    let copy: UnfinishedFile | null = null;
    try {
      const { mode, atime, mtime } = await this.#requireHashed(one, source.stat());
      copy = await UnfinishedFile.open(to.folder, { mode: mode & 0o777 });
      if (this.#how === 'copy') await this.#copyBytes(source, copy);
      else await copy.clone(to.folder, from.folder.path === from.folder.real ? from.held : descriptorPath(source));
      await copy.setTimes(to.folder, atime, mtime);
      await this.#requireHashed(one, source.stat());
      await copy.name(to.folder, to.name, { force: false, shown: to.path });
    } catch (error) {
      throwIfAborted(this.#options.signal);
      const { code = '' } = error as NodeJS.ErrnoException;
      if (this.#how === 'reflink' && NO_REFLINKS.has(code)) throw noReflink(one.from, to.path, error);
      throw error;
    } finally {
      await closeRead(source);
      await copy?.discard(to.folder);
    }
  }

  async #copyBytes(from: FileHandle, to: UnfinishedFile): Promise<void> {
    const chunk = newBytes(COPIED_AT_ONCE);
    for (let at = 0, bytes = chunk.length; bytes === chunk.length; at += bytes) {
      throwIfAborted(this.#options.signal);
      bytes = await readFully(from, chunk, at);
      await to.append(chunk.subarray(0, bytes));
    }
  }

  /** Whether the file in the way has another name, which a swap gave it that was killed: then its content is not lost. */
  async #isSecondName(to: HeldName, one: MovedFile): Promise<boolean> {
    const status = await statusOf(to).catch(() => null);
    const isSecond = status !== null && status.nlink > 1 && (isLeft(one) || this.#left.has(idOf(status)));
    if (isSecond) this.#linked.add(idOf(status));
    return isSecond;
  }

  /** Files whose places are taken by each other: each gets a second name first, so that its content always has one. */
  async #swap(moved: readonly MovedFile[]): Promise<void> {
    const spares = new Map<MovedFile, string>();
    try {
      for (const one of moved) {
        throwIfAborted(this.#options.signal);
        await this.#atBothEnds(one, (from, to) => this.#spare(one, from, to, spares));
      }
    } catch (error) {
      for (const [one, spare] of spares)
        await this.#inTarget(one.to, async ({ folder }) => unlink(at(folder, spare))).catch(() => {});
      for (const { path } of moved) this.#fail(path, error);
      return;
    }
    for (const [one, spare] of spares)
      await this.attempt(one.path, () => this.#inTarget(one.to, (to) => this.#takePlace(to, spare)));
  }

  async #spare(one: MovedFile, from: HeldName, to: HeldName, spares: Map<MovedFile, string>): Promise<void> {
    const spare = temporaryName();
    const hashed = await this.#requireHashed(one, statusOf(from));
    if (!(await this.#link(from, nameIn(to.folder, one.to, spare), hashed))) throw noLinks(from.path, to.path);
    spares.set(one, spare);
  }

  async #takePlace(to: HeldName, spare: string): Promise<void> {
    try {
      await rename(at(to.folder, spare), to.held);
    } catch (cause) {
      const { code, message } = fromSystemError(cause, to.path, 'write');
      const where = nodePath.join(to.folder.real, spare);
      throw new MetainfoError(code, `${message} Its content is in ${where} too.`, { path: to.path, cause });
    }
  }

  /** Holds the folders of a file that was found and of its place. */
  async #atBothEnds(one: MovedFile, use: (from: HeldName, to: HeldName) => Promise<void>): Promise<void> {
    // Errors of writing are not those of the source.
    await this.#inTarget(one.to, (to) => this.#inSource(one.from, (from) => use(from, to).catch(throwWriteError(to))));
  }

  /** Holds the folder of a target, which is made if it is missing: within the root, even where links lead to it. */
  async #inTarget<T>(path: string, use: (to: HeldName) => Promise<T>): Promise<T> {
    const check = (real: string) => {
      if (isWithin(this.#root, real)) return;
      throw new MetainfoError('ERR_LINK_OUTSIDE', `${path} is outside ${this.#root}: a link leads there.`, { path });
    };
    const inFolder = (folder: Held) => {
      const to = nameIn(folder, path);
      return use(to).catch(throwWriteError(to));
    };
    return holdMade(nodePath.dirname(path), check, inFolder).catch(throwSystemError(path, 'write'));
  }

  /** Holds the folder of a file that was found. The search followed no link, so one in its path was swapped in since. */
  async #inSource<T>(path: string, use: (from: HeldName) => Promise<T>): Promise<T> {
    const folder = nodePath.dirname(path);
    const check = (real: string) => {
      if (real !== folder) throw changed(path);
    };
    return hold(folder, check, (held) => use(nameIn(held, path))).catch(throwSystemError(path, 'read'));
  }
}

/** The status of a name, which may be a link. */
async function statusOf({ held }: HeldName): Promise<Stats> {
  return lstat(held);
}

/** The errors of a file system that has no copies on write, or of two file systems. */
const NO_REFLINKS = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EINVAL', 'ENOTTY']);

function noReflink(from: string, target: string, cause: unknown): MetainfoError {
  const message = `${target} cannot be a reflink of ${from}: their file system has none, or they are on two. Make a hard link, a symlink or a copy instead.`;
  return new MetainfoError('ERR_WRITE', message, { path: target, cause });
}

/** Renames where there are no hard links. The system offers no rename that keeps an existing file, so this one looks first. */
async function renameToFree(from: HeldName, to: HeldName): Promise<void> {
  if (await statusOf(to).catch(() => null)) throw await inTheWay(to);
  await rename(from.held, to.held).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error;
    const message = `${from.path} is on another file system than ${to.path}: copy it there.`;
    throw new MetainfoError('ERR_WRITE', message, { path: from.path, cause: error });
  });
}

/** The identity of a file on this system. */
function idOf(status: Pick<Stats, 'dev' | 'ino'> | null): string {
  return status ? `${status.dev}:${status.ino}` : '';
}

/** Whether a swap that was killed has left a file under this name. */
function isLeft({ from }: MovedFile): boolean {
  return isTemporary(nodePath.basename(from));
}

function changed(from: string): MetainfoError {
  const message = `${from} was replaced or changed after it was hashed: search again.`;
  return new MetainfoError('ERR_FILE_CHANGED', message, { path: from });
}

/** A handler for errors of changes on disk. */
function throwWriteError(to: HeldName): (error: NodeJS.ErrnoException) => Promise<never> {
  return async (error) => {
    throw error.code === 'EEXIST' ? await inTheWay(to) : fromSystemError(error, to.path, 'write');
  };
}

async function inTheWay(to: HeldName): Promise<MetainfoError> {
  const isLink = (await statusOf(to).catch(() => null))?.isSymbolicLink();
  const message = `${to.path} is in the way: it ${isLink ? 'is a link' : 'has other content'}. Move it away first.`;
  return new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: to.path });
}

function noLinks(from: string, target: string, advice = ''): MetainfoError {
  const message = `There can be no hard link from ${from} to ${target}: they are on other file systems, theirs has no hard links, or the system allows none to a file of another user.${advice}`;
  return new MetainfoError('ERR_WRITE', message, { path: target });
}

function isShared({ path, from }: MovedFile): MetainfoError {
  const message = `${from} has the content of ${path}, but the torrent wants it at another path too: link it.`;
  return new MetainfoError('ERR_WRITE', message, { path: from });
}

function unproven({ path, from, content }: MovedFile): MetainfoError {
  const what = content === 'contradicted' ? 'differs from' : 'is not proven to be';
  const message = `${from} ${what} ${path} in a piece that it shares: a client would write into it. Copy it instead.`;
  return new MetainfoError('ERR_UNPROVEN', message, { path: from });
}
