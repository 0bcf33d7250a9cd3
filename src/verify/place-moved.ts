/** Puts files that were found elsewhere where a torrent wants them: links or renames them. It never replaces other content. */
import { link, lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import nodePath from 'node:path';
import { isWithin } from '../disk/path-within.ts';
import { throwIfAborted } from '../errors/cancel.ts';
import { fromSystemError, MetainfoError } from '../errors/errors.ts';
import { checkArgument, checkOptions, expected, type OptionStructs, oneOf, Signal } from '../errors/guard.ts';
import type { FoundContent, MovedFile } from './find-moved.ts';

/** Options of {@link placeMoved}. */
export interface PlaceMovedOptions {
  /** Stops between two files. */
  signal?: AbortSignal | undefined;
}

const Found = expected<PlacedFiles>('the result of findMoved', (value) => {
  const { moved, empty, root } = (value ?? {}) as Partial<PlacedFiles>;
  return Array.isArray(moved) && Array.isArray(empty) && typeof root === 'string';
});

const PLACE: OptionStructs<PlaceMovedOptions> = { signal: Signal };

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
 * not end the others. Nothing is ever overwritten: a file that is in the way is a failure, unless it is itself put elsewhere.
 *
 * @param found The result of {@link findMoved}, or a part of its files.
 * @param how `link` makes hard links, so that each file has both names; `rename` moves the files. Both need one file system.
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
  how: 'link' | 'rename',
  options: PlaceMovedOptions = {},
): Promise<PlacedContent> {
  checkArgument('found', found, Found);
  checkArgument('how', how, oneOf('link', 'rename'));
  const { signal } = checkOptions(options, PLACE);
  const placer = new Placer(found.root, how, signal);
  await placer.place(found.moved);
  for (const one of found.empty) await placer.attempt(one.path, () => placer.makeEmpty(one.to));
  return placer;
}

/** Puts files in their places, one by one. */
class Placer implements PlacedContent {
  readonly placed: string[] = [];
  readonly failed: PlacedContent['failed'] = [];
  readonly #root: string;
  readonly #how: 'link' | 'rename';
  readonly #signal: AbortSignal | undefined;

  constructor(root: string, how: 'link' | 'rename', signal: AbortSignal | undefined) {
    this.#root = root;
    this.#how = how;
    this.#signal = signal;
  }

  /** Does something for a path, and notes the result. */
  async attempt(path: string, place: () => Promise<void>): Promise<void> {
    throwIfAborted(this.#signal);
    try {
      await place();
      this.placed.push(path);
    } catch (error) {
      if (!(error instanceof MetainfoError)) throw error;
      this.failed.push({ path, error });
    }
  }

  async makeEmpty(to: string): Promise<void> {
    const target = await this.#targetOf(to);
    const file = await open(target, 'wx').catch((error: unknown) => {
      throw writeError(error, target);
    });
    await file.close();
  }

  async place(moved: readonly MovedFile[]): Promise<void> {
    let waiting: MovedFile[] = [];
    for (const one of moved) {
      if (this.#how === 'rename' && one.isShared) this.failed.push({ path: one.path, error: isShared(one) });
      else waiting.push(one);
    }
    // A file in the way that is put elsewhere goes first. A shared file stays where it is.
    const sources = new Set(waiting.filter(({ isShared }) => !isShared).map(({ from }) => from));
    for (let before = Infinity; waiting.length > 0 && waiting.length < before; ) {
      before = waiting.length;
      const blocked: MovedFile[] = [];
      for (const one of waiting) {
        if (await this.#isSource(one.to, sources, one.from)) blocked.push(one);
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

  /** Whether another file that is put elsewhere is at a path. */
  async #isSource(to: string, sources: ReadonlySet<string>, own: string): Promise<boolean> {
    const real = await realpath(to).catch(() => null);
    return real !== null && real !== own && sources.has(real);
  }

  async #placeOne({ from, to }: MovedFile): Promise<void> {
    const target = await this.#targetOf(to);
    const linked = await linkOrNull(from, target);
    if (linked === 'unsupported') {
      if (this.#how === 'link') throw noLinks(from, target);
      await renameToFree(from, target);
    } else if (this.#how === 'rename') {
      await rm(from).catch((error: unknown) => {
        throw writeError(error, from);
      });
    }
  }

  /** Files whose places are taken by each other: each gets a second name first, so that its content always has one. */
  async #swap(moved: readonly MovedFile[]): Promise<void> {
    const prepared: { one: MovedFile; target: string; spare: string }[] = [];
    try {
      for (const one of moved) {
        throwIfAborted(this.#signal);
        const target = await this.#targetOf(one.to);
        const spare = `${target}.metainfo-${process.pid}-${prepared.length}`;
        if ((await linkOrNull(one.from, spare)) === 'unsupported') throw noLinks(one.from, target);
        prepared.push({ one, target, spare });
      }
    } catch (error) {
      for (const { spare } of prepared) await rm(spare, { force: true }).catch(() => {});
      if (!(error instanceof MetainfoError) || error.code === 'ERR_ABORTED') throw error;
      for (const { path } of moved) this.failed.push({ path, error });
      return;
    }
    for (const { one, target, spare } of prepared) {
      try {
        await rename(spare, target);
        this.placed.push(one.path);
      } catch (cause) {
        const error = writeError(cause, target);
        this.failed.push({ path: one.path, error: withHint(error, `Its content is in ${spare} too.`) });
      }
    }
  }

  /** The path to write to: its folder exists, and is within the root even where links lead to it. */
  async #targetOf(to: string): Promise<string> {
    const folder = nodePath.dirname(to);
    const [root, final] = [await realFolder(this.#root), await realFolder(folder)];
    if (!isWithin(root, final))
      throw new MetainfoError('ERR_LINK_OUTSIDE', `${to} is outside ${root}: a link leads there.`, { path: to });
    await mkdir(final, { recursive: true }).catch((error: unknown) => {
      throw writeError(error, folder);
    });
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
  while ((await lstat(existing).catch(() => null)) === null && existing !== nodePath.dirname(existing))
    existing = nodePath.dirname(existing);
  const real = await realpath(existing).catch((error: unknown) => {
    throw writeError(error, folder);
  });
  return nodePath.join(real, nodePath.relative(existing, nodePath.resolve(folder)));
}

/** Codes of systems and file systems that have no hard links, or not between these folders. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

/**
 * Makes a hard link, which never replaces a file.
 *
 * @throws {MetainfoError} `ERR_OUTPUT_EXISTS` and errors of writing
 */
async function linkOrNull(from: string, target: string): Promise<'linked' | 'unsupported'> {
  try {
    await link(from, target);
    return 'linked';
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw fromSystemError(error, from, 'read');
    if (!NO_LINKS.has(code)) throw writeError(error, target);
    return 'unsupported';
  }
}

/** Renames where there are no hard links. The system offers no rename that keeps an existing file, so this one looks first. */
async function renameToFree(from: string, target: string): Promise<void> {
  if (await lstat(target).catch(() => null)) throw inTheWay(target);
  await rename(from, target).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EXDEV') throw writeError(error, target);
    const message = `${from} is on another file system than ${target}: copy it there.`;
    throw new MetainfoError('ERR_WRITE', message, { path: from, cause: error });
  });
}

function writeError(error: unknown, target: string): MetainfoError {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'
    ? inTheWay(target)
    : fromSystemError(error, target, 'write');
}

function inTheWay(target: string): MetainfoError {
  const message = `${target} is in the way: it has other content. Move it away first.`;
  return new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: target });
}

function noLinks(from: string, target: string): MetainfoError {
  const message = `There can be no hard link from ${from} to ${target}: they are on other file systems, theirs has no hard links, or the system allows none to a file of another user.`;
  return new MetainfoError('ERR_WRITE', message, { path: target });
}

function isShared({ path, from }: MovedFile): MetainfoError {
  const message = `${from} has the content of ${path}, but the torrent wants it at another path too: link it.`;
  return new MetainfoError('ERR_WRITE', message, { path: from });
}

function withHint(error: MetainfoError, hint: string): MetainfoError {
  const { code, message, path, cause } = error;
  return new MetainfoError(code, `${message} ${hint}`, { path, cause });
}
