/** The named roots of a worker: all paths of its jobs stay beneath them. */
import { opendir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MetainfoError, type MetainfoErrorCode } from 'metainfo';
import { refused, SickWorkerError, shown, UnknownRootError } from './failures.ts';
import { withDeadline } from './with-deadline.ts';

/** Folders of a worker by name. */
export type Roots = Readonly<Record<string, string>>;

/** The roots of a worker, and files by the names of the roots that are mounted only if they have them. */
export interface Mounts {
  roots: Roots;
  required: Roots;
}

const NAME = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/;

/**
 * Checks named roots.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 */
export function checkedRoots(roots: unknown): Roots {
  const isObject = typeof roots === 'object' && roots !== null && !Array.isArray(roots);
  const entries = isObject ? Object.entries(roots) : [];
  if (entries.length === 0)
    throw refused(`roots must name at least one folder, such as { media: '/srv/media' }, not ${shown(roots)}`);
  for (const [name] of entries) {
    if (!NAME.test(name))
      throw refused(
        `the name of a root has 1 to 64 letters, digits, dots, - and _, and is not . or .., unlike ${shown(name)}`,
      );
  }
  return Object.fromEntries(entries.map(([name, folder]) => [name, path.resolve(folderOf(name, folder))]));
}

/** The path of a folder, or of a `file:` URL. */
function folderOf(name: string, folder: unknown): string {
  try {
    const text = typeof folder === 'string' ? folder : fileURLToPath(folder as URL);
    if (text !== '' && !text.includes('\0')) return text;
  } catch {
    // The same as any other value.
  }
  throw refused(`the root ${name} must be a folder, not ${shown(folder)}`);
}

/** A path of a job, and the root that it must not leave. */
export interface Place {
  path: string;
  beneath: string;
}

/** The folders that a job has looked at, so that it looks at each of them once. */
export type SeenFolders = Map<string, Promise<unknown>>;

function once<T>(seen: SeenFolders, key: string, look: () => Promise<T>): Promise<T> {
  const found = seen.get(key) ?? look();
  seen.set(key, found);
  return found as Promise<T>;
}

/**
 * The name of the root of a place, which may be any value: the text before the first slash. Null if no root can have it.
 */
export function rootOf(place: unknown): string | null {
  const name = typeof place === 'string' ? (place.split('/', 1)[0] as string) : '';
  return NAME.test(name) ? name : null;
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a place that begins with no name of a root */
export function requiredRoot(place: unknown): string {
  const name = rootOf(place);
  if (name !== null) return name;
  throw refused(`a path must begin with the name of a root, as in NAME/path, unlike ${shown(place)}`);
}

/**
 * The path of a place beneath its root, as text: empty for the root itself.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`; `ERR_PATH_OUTSIDE` for `..`
 */
function pathBeneath(place: string): string {
  const below = place.split('/').slice(1).join('/');
  if (below.includes('\0')) throw refused(`a path must have no NUL, unlike ${shown(place)}`);
  const components = below === '' ? [] : below.split(/[/\\]/);
  if (components.includes('..'))
    throw new MetainfoError('ERR_PATH_OUTSIDE', `${place} has a component .., which may leave its root.`, {
      path: place,
    });
  if (components.some((one) => one === '' || one === '.'))
    throw refused(`a path must have no empty component and no ., unlike ${shown(place)}`);
  return below;
}

/** @throws {MetainfoError} as {@link pathBeneath}; `ERR_INVALID_ARGUMENT` for a place that begins with no name of a root */
export function requireContent(place: unknown): string {
  const name = requiredRoot(place);
  pathBeneath(place as string);
  return name;
}

/** @throws {MetainfoError} as {@link requireContent}; `ERR_INVALID_ARGUMENT` for a root */
export function requireOutput(place: unknown): string {
  const name = requireContent(place);
  if (isBeneathRoot(place)) return name;
  throw refused(`an output must be a file beneath a root, such as NAME/x.torrent, not ${shown(place)}`);
}

/** Whether a place, which may be any value, is `NAME/path` and not only `NAME`. */
export const isBeneathRoot = (place: unknown): boolean => typeof place === 'string' && /\/./s.test(place);

function requireNamed(roots: Roots, name: string): void {
  if (Object.hasOwn(roots, name)) return;
  requiredRoot(name);
  const message = `this worker has no root named ${shown(name)}: it has ${Object.keys(roots).join(', ')}.`;
  throw new UnknownRootError('ERR_INVALID_ARGUMENT', message);
}

/**
 * Checks that this worker has the roots of some places. Names that no root can have are left to those who use the places.
 *
 * @throws {UnknownRootError}
 */
export function requireRootsOf(roots: Roots, places: readonly unknown[]): void {
  for (const place of places) {
    const name = rootOf(place);
    if (name !== null) requireNamed(roots, name);
  }
}

/**
 * The path of content: `NAME` or `NAME/path`. Its links are checked by the function that opens it.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, also for an unknown root; `ERR_PATH_OUTSIDE`; `ERR_READ` if the root is missing
 */
export async function contentAt(roots: Roots, place: unknown, seen: SeenFolders = new Map()): Promise<Place> {
  const text = typeof place === 'string' ? place : '';
  const [name = ''] = text.split('/');
  requireNamed(roots, name);
  const below = pathBeneath(text);
  const beneath = roots[name] as string;
  await once(seen, `root ${beneath}`, () => requireRoot(beneath));
  return { path: path.join(beneath, below), beneath };
}

/**
 * The path of a file to be written: `NAME/path`. Its folder must exist beneath the root. Writing the file checks that again.
 *
 * @throws {MetainfoError} as {@link contentAt}; `ERR_NOT_FOUND`, `ERR_UNREADABLE` for the folder
 */
export async function outputAt(roots: Roots, place: unknown, seen: SeenFolders = new Map()): Promise<Place> {
  requireOutput(place);
  const { path: target, beneath } = await contentAt(roots, place, seen);
  const folder = path.dirname(target);
  await once(seen, `output ${folder}`, () => requireOutputFolder(folder, beneath));
  return { path: target, beneath };
}

async function requireOutputFolder(folder: string, beneath: string): Promise<void> {
  const real = await realpath(folder).catch(unreadable(folder));
  const within = path.relative(await realpath(beneath), real);
  if (path.isAbsolute(within) || within.split(path.sep)[0] === '..') throw outside(folder, beneath);
}

/**
 * Files by the names of their roots.
 *
 * @param file The path of a file beneath each root, or `NAME/path` for one root.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 */
export function requiredFiles(roots: Roots, file: string | undefined): Roots {
  if (file === undefined) return {};
  if (file === '' || pathBeneath(`/${file}`) === '') throw refused('requiredFile must be the path of a file');
  const [name = '', ...rest] = file.split('/');
  if (rest.length > 0) requireNamed(roots, name);
  const of = Object.entries(roots).filter(([root]) => rest.length === 0 || root === name);
  return Object.fromEntries(of.map(([root, folder]) => [root, path.join(folder, rest.join('/') || file)]));
}

/**
 * Checks that the roots of some places are mounted: a folder that is gone or empty is not, nor is one without its required file.
 *
 * @param options How to look.
 * @param options.mayBeEmpty An empty folder is mounted, as before the first output.
 * @throws {SickWorkerError} `ERR_READ`
 */
export async function requireMounted(
  { roots, required }: Mounts,
  places: readonly unknown[],
  { mayBeEmpty = false } = {},
): Promise<void> {
  for (const name of new Set(places.map((place) => rootOf(place) ?? ''))) {
    if (!Object.hasOwn(roots, name)) continue;
    const folder = roots[name] as string;
    await requireRoot(folder);
    const file = required[name];
    if (file !== undefined)
      await stat(file).catch((cause: NodeJS.ErrnoException) => {
        throw unmounted(
          folder,
          cause.code === 'ENOENT'
            ? `it has no ${path.basename(file)}`
            : `cannot look for ${path.basename(file)} (${cause.code})`,
        );
      });
    else if (!mayBeEmpty && (await isEmpty(folder))) throw unmounted(folder, 'it is empty');
  }
}

async function isEmpty(folder: string): Promise<boolean> {
  try {
    for await (const _ of await opendir(folder)) return false;
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EIO' || code === 'ESTALE') throw unmounted(folder, `cannot read it (${code})`);
    return false;
  }
}

function outside(place: string, root: string): MetainfoError {
  return new MetainfoError('ERR_PATH_OUTSIDE', `${place} leaves ${root}.`, { path: place });
}

/** Milliseconds for which a disk may be silent. */
const REAL_MS = 2000;

/** Replaces the folders of roots in a text by their names: what goes to the queue tells nothing about the disk of a worker. */
export async function withoutFolders(text: string, roots: Roots): Promise<string> {
  const folders = new Map<string, string>();
  for (const [name, folder] of Object.entries(roots)) {
    folders.set(folder, name);
    // A disk that does not answer must not hold up the failure.
    folders.set(
      (await withDeadline(
        REAL_MS,
        realpath(folder).catch(() => folder),
      )) ?? folder,
      name,
    );
  }
  const longestFirst = [...folders].sort(([a], [b]) => b.length - a.length);
  return longestFirst.reduce((rest, [folder, name]) => {
    // The root of the file system has no name of its own to be found.
    if (path.dirname(folder) === folder) return rest;
    const [first, ...others] = rest.split(folder);
    // `/srv` is no part of `/srv2` or of `/mnt/srv`.
    return others.reduce((done, next) => {
      const isWhole = /(^|[^\w./-])$/.test(done) && /^($|[^\w-])/.test(next);
      return `${done}${isWhole ? name : folder}${next}`;
    }, first as string);
  }, text);
}

/** If a root is missing, another worker may have it. */
async function requireRoot(folder: string): Promise<void> {
  await stat(folder).catch((cause: NodeJS.ErrnoException) => {
    throw unmounted(folder, cause.code === 'ENOENT' ? 'no such file or folder' : `cannot read it (${cause.code})`);
  });
}

function unmounted(folder: string, why: string): SickWorkerError {
  const message = `${folder}: ${why}. It is a root of this worker: is it mounted?`;
  return new SickWorkerError('ERR_READ', message, { path: folder });
}

/**
 * Checks that all roots are folders.
 *
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_INVALID_ARGUMENT`
 */
export async function requireFolders(roots: Roots, required: Roots = {}): Promise<void> {
  for (const [name, folder] of Object.entries(roots)) {
    // The worker waits for these.
    if (Object.hasOwn(required, name)) continue;
    const found = await stat(folder).catch(unreadable(folder));
    if (!found.isDirectory()) throw refused(`the root ${name} must be a folder, which ${folder} is not`);
  }
}

const CODES: Readonly<Record<string, MetainfoErrorCode>> = {
  ENOENT: 'ERR_NOT_FOUND',
  ENOTDIR: 'ERR_NOT_FOUND',
  EACCES: 'ERR_UNREADABLE',
  EPERM: 'ERR_UNREADABLE',
};

/** Throws the error of a folder that cannot be looked at. */
function unreadable(folder: string): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    const code = CODES[cause.code ?? ''] ?? 'ERR_READ';
    const why = code === 'ERR_NOT_FOUND' ? 'no such file or folder' : `cannot read it (${cause.code ?? ''})`;
    throw new MetainfoError(code, `${folder}: ${why}.`, { path: folder, cause });
  };
}
