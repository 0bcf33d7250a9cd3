/**
 * Folders that are held open while names in them are made, changed and removed: a symlink that is swapped in leads nowhere else. So paths that
 * others choose stay in a folder.
 */
import { lstat, mkdir, open, readlink, realpath, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { isDenied, throwSystemError } from '../errors/system-error.ts';
import type { ShortPath } from '../hash/engine.ts';
import { closeRead } from '../hash/read.ts';
import { systemPath } from '../hash/system-path.ts';
import { nameText } from '../text/name-bytes.ts';
import { isWithin } from './path-within.ts';

/** Opens a file or folder of Linux without reading it: neither permission nor a device or FIFO is touched. */
const O_PATH = 0x200000;
/** Makes open(2) of macOS follow no symlink, in no component. */
const O_NOFOLLOW_ANY = 0x20000000;

/** A folder that is held open, or a file. */
export interface Held {
  /** On Linux, a path through its descriptor, which leads to it however its names change; else its path without links. */
  path: string;
  /** Flags for opening it, or a name in it. */
  flags: number;
  /** Its path without links when it was opened. */
  real: string;
}

/** @internal The path of a name in a held folder. */
export function at(folder: Pick<Held, 'path'>, name: string): string | Buffer {
  return systemPath(path.join(folder.path, name));
}

/** The path of Linux that leads to an open file. */
export function descriptorPath({ fd }: { fd: number }): string {
  return `/proc/self/fd/${fd}`;
}

/**
 * Holds a file or folder as long as `use` takes.
 *
 * @param check Throws if its path without links is not allowed. Where no descriptor leads to it, it is called again after `use`.
 * @throws {Error} the system's error if the path leads nowhere
 */
export async function hold<T>(
  target: string,
  check: (real: string) => unknown,
  use: (held: Held) => Promise<T>,
): Promise<T> {
  const handle = process.platform === 'linux' ? await open(systemPath(target), O_PATH) : null;
  try {
    const link = handle && readlink(descriptorPath(handle), { encoding: 'buffer' });
    // Some containers have no /proc. Some versions of Deno give text.
    const seen = (await link?.then((bytes) => nameText(Buffer.from(bytes))).catch(() => null)) ?? null;
    const real = seen ?? (await realPath(target));
    await check(real);
    const checked = async () => {
      const result = await use({ path: real, flags: process.platform === 'darwin' ? O_NOFOLLOW_ANY : 0, real });
      await check(await realPath(real));
      return result;
    };
    if (!handle || seen === null) return await checked();
    return await use({ path: descriptorPath(handle), flags: 0, real }).catch((error: unknown) => {
      // A permission to write into the folder does not cover its path in /proc.
      if (isDenied(error)) return checked();
      throw error;
    });
  } finally {
    if (handle) await closeRead(handle);
  }
}

/**
 * Holds a folder, and makes it and those above it first if they are missing: each in the one before. If `use` fails, those that it made
 * are removed, as far as they are empty.
 */
export async function holdMade<T>(
  folder: string,
  check: (real: string) => unknown,
  use: (held: Held) => Promise<T>,
): Promise<T> {
  const existing = await nearestFolder(folder);
  const missing = path.relative(existing, path.resolve(folder)).split(path.sep).filter(Boolean);
  return hold(
    existing,
    (real) => check(path.join(real, ...missing)),
    (held) => inMade(held, missing, check, use),
  );
}

async function inMade<T>(
  parent: Held,
  [name, ...rest]: readonly string[],
  check: (real: string) => unknown,
  use: (held: Held) => Promise<T>,
): Promise<T> {
  if (name === undefined) return use(parent);
  const isMade = await mkdir(at(parent, name)).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  const within = (real: string) => check(path.join(real, ...rest));
  return hold(path.join(parent.path, name), within, (held) => inMade(held, rest, check, use)).catch(async (error) => {
    // Another file may be in it.
    if (isMade) await rmdir(at(parent, name)).catch(() => {});
    throw error;
  });
}

/** The nearest folder that exists: a folder, or one above it. */
async function nearestFolder(folder: string): Promise<string> {
  let existing = path.resolve(folder);
  while ((await lstat(systemPath(existing)).catch(() => null)) === null && existing !== path.dirname(existing))
    existing = path.dirname(existing);
  return existing;
}

/** Does what `realpath` does, but keeps bytes that are not UTF-8: see {@link nameText}. */
export async function realPath(path: string): Promise<string> {
  return nameText(await realpath(systemPath(path), { encoding: 'buffer' }));
}

/** The path without links of a folder that may be missing: the nearest folder that exists decides. */
export async function realFolder(folder: string): Promise<string> {
  const existing = await nearestFolder(folder);
  return path.join(await realPath(existing), path.relative(existing, path.resolve(folder)));
}

/** The option of jobs whose paths somebody else chooses. */
export interface BeneathOptions {
  /**
   * The folder that the path must be in, with symlinks resolved; else the job fails with `ERR_PATH_OUTSIDE`. A symlink that is swapped
   * in during the job is not followed out of the folder: SECURITY.md says what that means on each system.
   *
   * @default anywhere
   */
  beneath?: string | URL | undefined;
}

/** @throws {MetainfoError} `ERR_PATH_OUTSIDE` if a path without links is not in the folder `beneath` */
export async function requireBeneath(real: string, { beneath }: Checked<BeneathOptions>, shown: string): Promise<void> {
  if (beneath === undefined) return;
  const root = await realpath(beneath).catch(throwSystemError(beneath, 'read'));
  if (isWithin(root, real)) return;
  throw new MetainfoError('ERR_PATH_OUTSIDE', `${shown} leaves ${beneath}.`, { path: shown });
}

/**
 * A path for a task that opens it in one step. Null where only {@link holdBeneath} can tell whether it is in the folder. Such a task follows no
 * link below the folder, so it gives nothing where there is one.
 */
export function shortPathOf(target: string, { beneath }: Checked<BeneathOptions>): ShortPath | null {
  // Native code takes paths as UTF-8.
  if (!target.isWellFormed()) return null;
  if (beneath === undefined) return { root: '', path: target };
  // The text of other paths does not tell where they lead.
  const isPlain = (one: string) => path.resolve(one) === one && one.isWellFormed();
  if (!isPlain(beneath) || !isPlain(target) || !target.startsWith(beneath + path.sep)) return null;
  return { root: beneath, path: target.slice(beneath.length + 1) };
}

/**
 * Holds a file or folder in the folder `beneath` as long as `use` takes: see {@link hold}. Without `beneath`, its path is used as it is.
 *
 * @param shown The path for messages.
 * @throws {MetainfoError} `ERR_PATH_OUTSIDE`
 * @throws {Error} the system's error if the path leads nowhere
 */
export async function holdBeneath<T>(
  target: string,
  { beneath }: Checked<BeneathOptions>,
  use: (held: Pick<Held, 'path' | 'flags'>) => Promise<T>,
  shown = target,
): Promise<T> {
  if (beneath === undefined) return use({ path: target, flags: 0 });
  return hold(target, (real) => requireBeneath(real, { beneath }, shown), use);
}
