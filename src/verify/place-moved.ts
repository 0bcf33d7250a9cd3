/** Puts files that were found elsewhere where a torrent wants them: links or renames them. It never replaces other content. */
import { createReadStream, createWriteStream, type Stats } from 'node:fs';
import { constants, copyFile, link, lstat, mkdir, open, rename, rm, rmdir, symlink, utimes } from 'node:fs/promises';
import nodePath from 'node:path';
import { isWithin } from '../disk/path-within.ts';
import { realPath } from '../disk/real-path.ts';
import { isTemporary, NO_LINKS, temporaryName } from '../disk/write-file.ts';
import { throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import { Callback, checkArgument, checkOptions, expected, type OptionStructs, oneOf, Signal } from '../errors/guard.ts';
import { fromSystemError, throwSystemError } from '../errors/system-error.ts';
import { isSameTime } from '../hash/read.ts';
import { systemPath } from '../hash/system-path.ts';
import type { FoundContent, MovedFile } from './find-moved.ts';

const HOW = ['link', 'rename', 'symlink', 'reflink', 'copy'] as const;

type PlaceMode = (typeof HOW)[number];

/** Options of {@link placeMoved}. */
export interface PlaceMovedOptions {
  /** Stops between two files. */
  signal?: AbortSignal | undefined;
  /** Called after each file that was placed, with its path from the torrent's root: also before a cancellation. */
  onPlaced?: ((path: string) => void) | undefined;
}

const Found = expected<PlacedFiles>('the result of findMoved', (value) => {
  const { moved, empty, root } = (value ?? {}) as Partial<PlacedFiles>;
  const isMoved = Array.isArray(moved) && moved.every((one) => Object(one?.hashed) === one?.hashed);
  return isMoved && Array.isArray(empty) && typeof root === 'string';
});

const PLACE: OptionStructs<PlaceMovedOptions> = { signal: Signal, onPlaced: Callback };

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
 * was replaced after it was hashed is a failure, too. A process that is killed while it swaps files may leave `.metainfo-*.tmp`
 * beside them: another search and another call finish its work.
 *
 * @param found The result of {@link findMoved}, or a part of its files.
 * @param how `link` makes hard links, so that each file has both names; `rename` moves the files. Both need one file system. `symlink`
 *   makes symbolic links to absolute paths, which a verification with `followOutside` reads. `reflink` makes copies that share their
 *   blocks on disk until either changes, where the file system can (such as Btrfs, XFS and APFS); `copy` makes copies.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`; `ERR_ABORTED`, after which each file is at its old or its new path
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
  const placer = new Placer(found.root, how, options, linked);
  await placer.place(found.moved);
  for (const one of found.empty) await placer.attempt(one.path, () => placer.makeEmpty(one.to));
  return placer;
}

/** Puts files in their places, one by one. */
class Placer implements PlacedContent {
  readonly placed: string[] = [];
  readonly failed: PlacedContent['failed'] = [];
  readonly #root: string;
  readonly #how: PlaceMode;
  readonly #options: PlaceMovedOptions;
  /** The files that got or lost a name here, which changes their `ctimeMs`. */
  readonly #linked: Set<string>;
  /** The files that a swap which was killed has left under a second name. */
  readonly #left = new Set<string>();
  /** The folders that were made for the present file: the first and the last. */
  #made: { first: string; last: string } | null = null;

  constructor(root: string, how: PlaceMode, options: PlaceMovedOptions, linked: Set<string>) {
    this.#root = root;
    this.#how = how;
    this.#options = options;
    this.#linked = linked;
  }

  /** Does something for a path, and notes the result. */
  async attempt(path: string, place: () => Promise<void>): Promise<void> {
    throwIfAborted(this.#options.signal);
    this.#made = null;
    try {
      await place();
      this.#note(path);
    } catch (error) {
      await this.#removeMade();
      if (!(error instanceof MetainfoError) || error.code === 'ERR_ABORTED') throw error;
      this.failed.push({ path, error });
    }
  }

  /** Removes the folders that were made for a file, as far as they are empty. */
  async #removeMade(): Promise<void> {
    if (!this.#made) return;
    const { first, last } = this.#made;
    try {
      for (let folder = last; isWithin(first, folder); folder = nodePath.dirname(folder)) await rmdir(folder);
    } catch {
      // Another file is in it.
    }
  }

  #note(path: string): void {
    this.placed.push(path);
    this.#options.onPlaced?.(path);
  }

  async makeEmpty(to: string): Promise<void> {
    const target = await this.#targetOf(to);
    await (await written(target, open(systemPath(target), 'wx'))).close();
  }

  async place(moved: readonly MovedFile[]): Promise<void> {
    let waiting: MovedFile[] = [];
    for (const one of moved) {
      if (this.#how === 'rename' && one.isShared) this.failed.push({ path: one.path, error: isShared(one) });
      else waiting.push(one);
    }
    for (const { from } of waiting.filter(isLeft))
      this.#left.add(idOf(await lstat(systemPath(from)).catch(() => null)));
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
          await this.attempt(one.path, () => this.#placeOne(one));
          // After a link, the old name is one of two, and may be replaced.
          if (this.#how === 'rename' || this.placed.length === count) sources.delete(one.from);
        }
      }
      // Each file of a row may wait for the next one: in the other order, one round is enough for them.
      waiting = blocked.reverse();
    }
    await this.#swap(waiting);
  }

  async #placeOne(one: MovedFile): Promise<void> {
    const { from, to } = one;
    const target = await this.#targetOf(to);
    const hashed = await this.#requireHashed(one);
    if (this.#how === 'symlink') return written(target, symlink(systemPath(from), systemPath(target), 'file'));
    if (this.#how === 'copy' || this.#how === 'reflink') return this.#copy(one, target, hashed);
    const isRename = this.#how === 'rename';
    if (isRename && (await this.#isSecondName(target, one)))
      return written(target, rename(systemPath(from), systemPath(target)));
    if (await this.#link(one, target, hashed)) {
      if (isRename) await written(from, rm(systemPath(from)));
      return;
    }
    if (!isRename) throw noLinks(from, target, ' Choose symlink, reflink or copy instead.');
    await renameToFree(from, target);
    if (idOf(await lstat(systemPath(target))) === idOf(hashed)) return;
    await rename(systemPath(target), systemPath(from)).catch(() => {});
    throw changed(from);
  }

  /**
   * The status of a file that is still the one that was hashed.
   *
   * @throws {MetainfoError} `ERR_FILE_CHANGED`, `ERR_NOT_FOUND`
   */
  async #requireHashed({ from, hashed: { size, mtimeMs, ctimeMs } }: MovedFile): Promise<Stats> {
    const status = await lstat(systemPath(from)).catch(throwSystemError(from, 'read'));
    const isSame = status.isFile() && status.size === size && isSameTime(status.mtimeMs, mtimeMs);
    if (isSame && (isSameTime(status.ctimeMs, ctimeMs) || this.#linked.has(idOf(status)))) return status;
    throw changed(from);
  }

  /**
   * Makes a hard link, which never replaces a file, and makes sure that it leads to the file that was hashed. Returns false where
   * there are no links.
   *
   * @throws {MetainfoError} `ERR_FILE_CHANGED`, `ERR_OUTPUT_EXISTS` and errors of writing
   */
  async #link({ from }: MovedFile, target: string, hashed: Stats): Promise<boolean> {
    try {
      await link(systemPath(from), systemPath(target));
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') throw fromSystemError(error, from, 'read');
      if (NO_LINKS.has(code)) return false;
      throw await writeError(error, target);
    }
    const made = await lstat(systemPath(target));
    this.#linked.add(idOf(hashed));
    if (idOf(made) === idOf(hashed) && made.size === hashed.size && made.mtimeMs === hashed.mtimeMs) return true;
    await rm(systemPath(target)).catch(() => {});
    throw changed(from);
  }

  /** Copies a file to a temporary name, and gives it its name once it is whole. */
  async #copy(one: MovedFile, target: string, { mode, atime, mtime }: Stats): Promise<void> {
    const [source, temporary] = [systemPath(one.from), nodePath.join(nodePath.dirname(target), temporaryName())];
    const copied = systemPath(temporary);
    if (await lstat(systemPath(target)).catch(() => null)) throw await inTheWay(target);
    try {
      if (this.#how === 'reflink')
        await copyFile(source, copied, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
      else {
        const { signal } = this.#options;
        // Streams are slow to load, and the command would load them for every run.
        const { pipeline } = process.getBuiltinModule('node:stream/promises');
        const to = createWriteStream(copied, { flags: 'wx', mode, flush: true });
        await pipeline(createReadStream(source), to, { ...(signal && { signal }) });
      }
      await utimes(copied, atime, mtime);
      await this.#requireHashed(one);
      await link(copied, systemPath(target)).catch(async (error: unknown) => {
        if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
        await renameToFree(temporary, target);
      });
    } catch (error) {
      throwIfAborted(this.#options.signal);
      const { code = '' } = error as NodeJS.ErrnoException;
      if (this.#how === 'reflink' && NO_REFLINKS.has(code)) throw noReflink(one.from, target, error);
      throw error instanceof MetainfoError ? error : await writeError(error, target);
    } finally {
      await rm(copied, { force: true }).catch(() => {});
    }
  }

  /** Whether the file in the way has another name, which a swap gave it that was killed: then its content is not lost. */
  async #isSecondName(target: string, one: MovedFile): Promise<boolean> {
    const status = await lstat(systemPath(target)).catch(() => null);
    const isSecond = status !== null && status.nlink > 1 && (isLeft(one) || this.#left.has(idOf(status)));
    if (isSecond) this.#linked.add(idOf(status));
    return isSecond;
  }

  /** Files whose places are taken by each other: each gets a second name first, so that its content always has one. */
  async #swap(moved: readonly MovedFile[]): Promise<void> {
    const prepared: { one: MovedFile; target: string; spare: string }[] = [];
    try {
      for (const one of moved) {
        throwIfAborted(this.#options.signal);
        const target = await this.#targetOf(one.to);
        const spare = nodePath.join(nodePath.dirname(target), temporaryName());
        if (!(await this.#link(one, spare, await this.#requireHashed(one)))) throw noLinks(one.from, target);
        prepared.push({ one, target, spare });
      }
    } catch (error) {
      for (const { spare } of prepared) await rm(systemPath(spare), { force: true }).catch(() => {});
      if (!(error instanceof MetainfoError) || error.code === 'ERR_ABORTED') throw error;
      for (const { path } of moved) this.failed.push({ path, error });
      return;
    }
    for (const { one, target, spare } of prepared) {
      try {
        await rename(systemPath(spare), systemPath(target));
        this.#note(one.path);
      } catch (cause) {
        const { code, message } = await writeError(cause, target);
        const error = new MetainfoError(code, `${message} Its content is in ${spare} too.`, { path: target, cause });
        this.failed.push({ path: one.path, error });
      }
    }
  }

  /** The path to write to: its folder exists, and is within the root even where links lead to it. */
  async #targetOf(to: string): Promise<string> {
    const folder = nodePath.dirname(to);
    const [root, final] = [await realFolder(this.#root), await realFolder(folder)];
    if (!isWithin(root, final))
      throw new MetainfoError('ERR_LINK_OUTSIDE', `${to} is outside ${root}: a link leads there.`, { path: to });
    const first = await written(folder, mkdir(systemPath(final), { recursive: true }));
    if (first !== undefined) this.#made = { first, last: final };
    return nodePath.join(final, nodePath.basename(to));
  }
}

/**
 * The real path of a folder that may not exist: the nearest folder that exists decides where new ones are made.
 *
 * @throws {MetainfoError} if a link leads nowhere
 */
async function realFolder(folder: string): Promise<string> {
  let existing = nodePath.resolve(folder);
  while ((await lstat(systemPath(existing)).catch(() => null)) === null && existing !== nodePath.dirname(existing))
    existing = nodePath.dirname(existing);
  const real = await written(folder, realPath(existing));
  return nodePath.join(real, nodePath.relative(existing, nodePath.resolve(folder)));
}

/** The errors of a file system that has no copies on write, or of two file systems. */
const NO_REFLINKS = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EINVAL', 'ENOTTY']);

function noReflink(from: string, target: string, cause: unknown): MetainfoError {
  const message = `${target} cannot be a reflink of ${from}: their file system has none, or they are on two. Make a hard link, a symlink or a copy instead.`;
  return new MetainfoError('ERR_WRITE', message, { path: target, cause });
}

/** Renames where there are no hard links. The system offers no rename that keeps an existing file, so this one looks first. */
async function renameToFree(from: string, target: string): Promise<void> {
  if (await lstat(systemPath(target)).catch(() => null)) throw await inTheWay(target);
  await rename(systemPath(from), systemPath(target)).catch(async (error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EXDEV') throw await writeError(error, target);
    const message = `${from} is on another file system than ${target}: copy it there.`;
    throw new MetainfoError('ERR_WRITE', message, { path: from, cause: error });
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

/** Names the path in the error of a change on disk. */
async function written<T>(target: string, change: Promise<T>): Promise<T> {
  return change.catch(async (error: unknown) => {
    throw await writeError(error, target);
  });
}

async function writeError(error: unknown, target: string): Promise<MetainfoError> {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'
    ? inTheWay(target)
    : fromSystemError(error, target, 'write');
}

async function inTheWay(target: string): Promise<MetainfoError> {
  const isLink = (await lstat(systemPath(target)).catch(() => null))?.isSymbolicLink();
  const message = `${target} is in the way: it ${isLink ? 'is a link' : 'has other content'}. Move it away first.`;
  return new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: target });
}

function noLinks(from: string, target: string, advice = ''): MetainfoError {
  const message = `There can be no hard link from ${from} to ${target}: they are on other file systems, theirs has no hard links, or the system allows none to a file of another user.${advice}`;
  return new MetainfoError('ERR_WRITE', message, { path: target });
}

function isShared({ path, from }: MovedFile): MetainfoError {
  const message = `${from} has the content of ${path}, but the torrent wants it at another path too: link it.`;
  return new MetainfoError('ERR_WRITE', message, { path: from });
}
