/** Writes whole files, which get their names when they are complete. */
import { constants, type Stats } from 'node:fs';
import { link, lstat, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { MetainfoError, optionText } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { fromSystemError, throwSystemError } from '../errors/system-error.ts';
import type { Addon } from '../hash/addon.ts';
import { Limiter } from '../hash/limiter.ts';
import { closeRead } from '../hash/read.ts';
import { errnoName } from '../platform/node.ts';
import { type BeneathOptions, holdBeneath } from './beneath.ts';
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
      await requireReplaceable(target, options);
      throw outputExists(target, error);
    }
    throw fromSystemError(error, target, 'write');
  }
}

/** The errors of a group that no other way of writing avoids. */
const FINAL = new Set(['EEXIST', 'EIO', 'ENOSPC', 'EDQUOT', 'EROFS']);

/** Writes a file with others: false if the system or the file system cannot do that. */
async function wroteInGroup(
  addon: Addon,
  target: string,
  bytes: Uint8Array,
  { force = false, mtime, beneath, signal }: Checked<WriteOptions>,
): Promise<boolean> {
  const folder = path.dirname(target);
  const old = force ? await holdBeneath(folder, { beneath }, () => replacedFile(target, { beneath })) : null;
  const owner = old && { uid: old.uid, gid: old.gid, mode: old.mode & 0o777 };
  // A file that is there can only be replaced by one with a name.
  const temporary = old ? temporaryName('replace-') : '';
  const file = { name: path.basename(target), bytes, mtime: mtime?.getTime() ?? null, temporary, owner };
  const errno = await writeInGroup(addon, folder, file, { beneath, signal });
  if (errno === 0) return true;
  const code = errnoName(errno) ?? '';
  if (FINAL.has(code) && !(force && code === 'EEXIST'))
    throw Object.assign(new Error(`${code}, write`), { code, errno: -errno, syscall: 'write', path: target });
  return false;
}

async function writeRenamed(target: string, bytes: Uint8Array, options: Checked<WriteOptions>): Promise<void> {
  const { beneath, force } = options;
  await holdBeneath(path.dirname(target), { beneath }, async (folder, flags) => {
    const temporary = path.join(folder, temporaryName());
    try {
      await writeTemporary({ temporary, target, flags }, bytes, options);
      const held = beneath === undefined ? target : path.join(folder, path.basename(target));
      if (force) await rename(temporary, held);
      else await renameExclusively(temporary, held);
      await syncFolder(folder).catch(async (error: unknown) => {
        if (!force) await unlink(held).catch(() => {});
        throw error;
      });
    } finally {
      // After a rename there is nothing left to remove.
      await unlink(temporary).catch(() => {});
    }
  });
}

/** Writes the temporary file, with the permissions of the file that it replaces: a torrent may hold a passkey. */
async function writeTemporary(
  { temporary, target, flags }: { temporary: string; target: string; flags: number },
  bytes: Uint8Array,
  { force = false, mtime, beneath }: Checked<WriteOptions>,
): Promise<void> {
  const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | flags);
  try {
    const old = force ? await replacedFile(target, { beneath }) : null;
    if (old) await keepOwner(file, old);
    // Pass all bytes to the system at once: writeFile would pass half a MiB at a time.
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
    if (mtime) await file.utimes(mtime, mtime);
    await file.sync();
  } finally {
    await file.close();
  }
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
 * @throws {MetainfoError} `ERR_NOT_A_FILE` for a folder, a device and the like
 */
export async function replacedFile(target: string, options: Checked<BeneathOptions>): Promise<Owner | null> {
  const old = await statusOf(target, options);
  if (!old || old.isFile()) return old;
  // Root could replace a device by renaming a file to its name.
  const what = old.isDirectory() ? 'a folder' : 'a FIFO, socket or device';
  const message = `${target} is ${what} and cannot be replaced: choose another output.`;
  throw new MetainfoError('ERR_NOT_A_FILE', message, { path: target });
}

/** The name of a temporary file, which stays if the process is killed while the file has it. */
const TEMPORARY = /^\.metainfo-(replace-)?[0-9a-z]+\.tmp$/;

/**
 * A name for an unfinished output, which scans leave out: see {@link isTemporary}.
 *
 * @param kind A file that has been written and is about to replace another one, or one that is still being written.
 */
export function temporaryName(kind: 'replace-' | '' = ''): string {
  return `.metainfo-${kind}${Math.random().toString(36).slice(2)}.tmp`;
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
  const { uid, gid } = await file.stat();
  if (uid !== old.uid || gid !== old.gid) await file.chown(old.uid, old.gid).catch(() => {});
  await file.chmod(old.mode & 0o777);
}

/** Makes the names in a folder survive a crash of the system. Not every system supports that; the files are safe without it. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  if (!handle) return;
  try {
    await handle.sync();
  } catch (error) {
    if (FINAL.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await closeRead(handle);
  }
}

/** Codes of systems and file systems that have no hard links, or not between these folders: EISDIR on exFAT of Windows. */
export const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EISDIR']);

/** Renames with link(2), which fails if the target exists: so it cannot replace a file that appeared after a check. */
export async function renameExclusively(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!NO_LINKS.has(code)) throw error;
    if (await exists(to)) throw Object.assign(new Error('EEXIST', { cause: error }), { code: 'EEXIST' });
    await rename(from, to);
  }
}

/**
 * Whether a file, folder or link of that name exists. A broken link counts.
 *
 * @throws {MetainfoError} if the system cannot tell
 */
export async function exists(target: string): Promise<boolean> {
  return lstat(target).then(
    () => true,
    (error) => {
      if (isGone(error)) return false;
      throw fromSystemError(error, target, 'write');
    },
  );
}

/** Returns null if the file does not exist. Throws every other error. */
async function statusOf(file: string, options: Checked<BeneathOptions>): Promise<Stats | null> {
  return holdBeneath(file, options, (held) => stat(held)).catch((error) => {
    if (isGone(error)) return null;
    throw error;
  });
}

/** Whether a system call failed because a file, or a folder above it, is not there any more. */
export function isGone({ code }: { code?: string | undefined }): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/**
 * Checks, before the work for an output, that the file which it replaces is a file.
 *
 * @throws {MetainfoError} `ERR_NOT_A_FILE` for a folder, a device and the like
 */
export async function requireReplaceable(target: string, options: Checked<BeneathOptions> = {}): Promise<void> {
  await replacedFile(target, options).catch(throwSystemError(target, 'write'));
}

/** The error of an output that exists. */
export function outputExists(target: string, cause?: unknown): MetainfoError {
  const message = `output file exists: ${target} (use ${optionText('force', true)} to replace it)`;
  return new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: target, cause, option: { force: true } });
}
