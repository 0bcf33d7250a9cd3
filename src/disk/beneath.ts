/** Keeps paths that others choose in a folder, also while its files and folders are swapped for symlinks. */
import { open, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { throwSystemError } from '../errors/system-error.ts';
import type { ShortPath } from '../hash/engine.ts';
import { closeRead } from '../hash/read.ts';
import { isWithin } from './path-within.ts';

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

/** Opens a file or folder of Linux without reading it: neither permission nor a device or FIFO is touched. */
const O_PATH = 0x200000;
/** Makes open(2) of macOS follow no symlink, in no component. */
const O_NOFOLLOW_ANY = 0x20000000;

/**
 * Calls `use` with a path of a file or folder in the folder `beneath`. On Linux, that path leads to the same file or folder however
 * its names change in the meantime, on both engines: a path of /proc, through an open descriptor. On other systems, it is the path without
 * links, which is checked before and after; `use` adds `flags` when it opens it or a name in it.
 *
 * @throws {MetainfoError} `ERR_PATH_OUTSIDE`
 * @throws {Error} the system's error if the path leads nowhere
 */
export async function holdBeneath<T>(
  target: string,
  { beneath }: Checked<BeneathOptions>,
  use: (held: string, flags: number) => Promise<T>,
): Promise<T> {
  if (beneath === undefined) return use(target, 0);
  if (process.platform !== 'linux') return checkBeneath(target, beneath, use);
  const handle = await open(target, O_PATH);
  try {
    const held = `/proc/self/fd/${handle.fd}`;
    const real = await readlink(held).catch(() => null);
    // Some containers have no /proc.
    if (real === null) return await checkBeneath(target, beneath, use);
    await requireBeneath(real, { beneath }, target);
    return await use(held, 0);
  } finally {
    await closeRead(handle);
  }
}

async function checkBeneath<T>(
  target: string,
  beneath: string,
  use: (held: string, flags: number) => Promise<T>,
): Promise<T> {
  const real = await realpath(target);
  await requireBeneath(real, { beneath }, target);
  const result = await use(real, process.platform === 'darwin' ? O_NOFOLLOW_ANY : 0);
  await requireBeneath(await realpath(real), { beneath }, target);
  return result;
}
