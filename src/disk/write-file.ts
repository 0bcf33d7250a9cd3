/** Writes whole files, which get their names when they are complete. */
import { lstat, readdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { MetainfoError, optionText } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { fromSystemError, isDenied, throwSystemError } from '../errors/system-error.ts';
import type { Addon } from '../hash/addon.ts';
import { Limiter } from '../hash/limiter.ts';
import { systemPath } from '../hash/system-path.ts';
import { type BeneathOptions, type Held, holdBeneath } from './held-folder.ts';
import { errorOfGroup, FINAL, TEMPORARY, temporaryName, UnfinishedFile } from './unfinished-file.ts';
import { groupWriter, writeInGroup } from './write-group.ts';

/** Options of writing a file. */
export interface WriteOptions extends BeneathOptions {
  /**
   * Replace an existing file.
   *
   * @default false
   */
  force?: boolean;
  /**
   * Modification time of the file. The time of a torrent may tell how old its hashes are.
   *
   * @default now
   */
  mtime?: Date | undefined;
  /** Cancels the write while it waits for others. One that has begun ends. */
  signal?: AbortSignal | undefined;
}

/** Each file that is written under a temporary name holds a descriptor. */
const limiter = new Limiter(16);

/**
 * Writes a file in one step, and makes it survive a power cut. On Linux, it has no name before it is complete: see
 * {@link writeInGroup}. Elsewhere, it has a temporary one: a process that is killed may leave a `.metainfo-*.tmp`, which you can delete.
 *
 * @throws {MetainfoError} `ERR_OUTPUT_EXISTS`, `ERR_NOT_A_FILE`, `ERR_NO_SPACE`, `ERR_NOT_FOUND`, `ERR_PATH_OUTSIDE`, `ERR_WRITE`
 */
export async function writeWhole(target: string, bytes: Uint8Array, options: Checked<WriteOptions>): Promise<void> {
  try {
    const addon = groupWriter();
    // A path that ends with a slash is a folder.
    if (addon && !target.endsWith('/') && (await wroteInGroup(addon, target, bytes, options))) return;
    await limiter.run(options.signal, () => writeRenamed(target, bytes, options));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      await replacedFile(target, options).catch(throwSystemError(target, 'write'));
      throw outputExists(target, error);
    }
    throw fromSystemError(error, target, 'write');
  }
}

/** Writes a file with others: false if the system or the file system cannot do that. */
async function wroteInGroup(
  addon: Addon,
  target: string,
  bytes: Uint8Array,
  { force = false, mtime, beneath, signal }: Checked<WriteOptions>,
): Promise<boolean> {
  const folder = path.dirname(target);
  const name = path.basename(target);
  const oldIn = ({ path: held }: Pick<Held, 'path'>) => replacedFile(target, { beneath }, path.join(held, name));
  const old = force ? await holdBeneath(folder, { beneath }, oldIn) : null;
  const owner = old && { uid: old.uid, gid: old.gid, mode: old.mode & 0o777 };
  // A file that is there can only be replaced by one with a name.
  const temporary = old ? temporaryName('replace-') : '';
  const file = { name, bytes, mtime: mtime?.getTime() ?? null, temporary, owner };
  const errno = await writeInGroup(addon, folder, file, { beneath, signal });
  const error = errorOfGroup(errno, target);
  if (error instanceof MetainfoError || (error && FINAL.has(error.code) && !(force && error.code === 'EEXIST')))
    throw error;
  return error === null;
}

async function writeRenamed(
  target: string,
  bytes: Uint8Array,
  { force = false, mtime, beneath }: Checked<WriteOptions>,
): Promise<void> {
  // With its slash, the system says that it is no file.
  const name = path.basename(target) + (target.endsWith('/') ? '/' : '');
  await holdBeneath(path.dirname(target), { beneath }, async (folder) => {
    // The permissions of the file that it replaces from the first byte on: a torrent may hold a passkey.
    const old = force ? await replacedFile(target, { beneath }, path.join(folder.path, name)) : null;
    const file = await UnfinishedFile.open(folder, { isNamed: true, ...(old && { mode: old.mode & 0o777 }) });
    try {
      if (old) await keepOwner(file.handle, old);
      await file.append(bytes);
      if (mtime) await file.setTimes(folder, mtime, mtime);
      await file.name(folder, name, { force, shown: target });
    } finally {
      await file.discard(folder);
    }
  });
}

/** The owner and mode of a file. Node's types would not compile in pages, whose types lead here. */
interface Owner {
  uid: number;
  gid: number;
  mode: number;
}

/** An open file whose owner and mode can be changed. */
interface OwnedFile {
  stat(): Promise<Owner>;
  chown(uid: number, gid: number): Promise<void>;
  chmod(mode: number): Promise<void>;
}

/**
 * The file that is to be replaced; null if there is none.
 *
 * @param place Its path in a held folder: the folder at `target` may have been swapped since.
 * @throws {MetainfoError} `ERR_NOT_A_FILE` for a folder, a device and the like
 */
export async function replacedFile(
  target: string,
  options: Checked<BeneathOptions>,
  place = target,
): Promise<Owner | null> {
  const look = (held: Pick<Held, 'path'>) => stat(systemPath(held.path));
  const old = await holdBeneath(place, options, look, target).catch((error) => {
    if (isGone(error)) return null;
    throw error;
  });
  if (!old || old.isFile()) return old;
  // Root could replace a device by renaming a file to its name.
  const what = old.isDirectory() ? 'a folder' : 'a FIFO, socket or device';
  const message = `${target} is ${what} and cannot be replaced: choose another output.`;
  throw new MetainfoError('ERR_NOT_A_FILE', message, { path: target });
}

/**
 * Removes the names that killed processes have left in a folder when they replaced files. A living process has them between two system calls only, and writes
 * again a file that it loses.
 */
export async function removeAbandoned(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const abandoned = names.filter((name) => TEMPORARY.exec(name)?.[1]);
  await Promise.all(abandoned.map((name) => unlink(path.join(folder, name)).catch(() => {})));
}

/** Whether a file is an unfinished output. */
export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

/** Copies owner, group and mode of the file that is replaced, if the system allows this user to change them. */
export async function keepOwner(file: OwnedFile, old: Owner): Promise<void> {
  const { uid, gid, mode } = await file.stat();
  if (uid !== old.uid || gid !== old.gid) await file.chown(old.uid, old.gid).catch(() => {});
  await file.chmod(old.mode & 0o777).catch((error: unknown) => {
    // Node's permission model forbids that. A file that is open to more users than before must not replace it.
    if (!isDenied(error) || (mode & 0o777 & ~old.mode) !== 0) throw error;
  });
}

/** Whether a file, folder or link of that name exists, also a broken link. Throws if the system cannot tell. */
export async function exists(target: string): Promise<boolean> {
  return lstat(target).then(
    () => true,
    (error) => {
      if (isGone(error)) return false;
      throw fromSystemError(error, target, 'write');
    },
  );
}

/** Whether a system call failed because a file, or a folder above it, is not there any more. */
export function isGone({ code }: { code?: string | undefined }): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/**
 * Checks, before the work for an output, that it can get its name.
 *
 * @returns Whether it replaces a file.
 * @throws {MetainfoError} `ERR_NOT_A_FILE` for a folder, a device and the like; `ERR_OUTPUT_EXISTS` for a file without `force`
 */
export async function requireOutput(
  target: string,
  { force, beneath }: Checked<BeneathOptions> & { force?: boolean | undefined } = {},
): Promise<boolean> {
  if (!(await exists(target))) return false;
  await replacedFile(target, { beneath }).catch(throwSystemError(target, 'write'));
  if (!force) throw outputExists(target);
  return true;
}

/** The error of an output that exists. */
export function outputExists(target: string, cause?: unknown): MetainfoError {
  const message = `output file exists: ${target} (use ${optionText('force', true)} to replace it)`;
  return new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: target, cause, option: { force: true } });
}
