/** Writes whole files: a temporary file beside the target, renamed when it is complete. */
import type { Stats } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { fromSystemError, MetainfoError } from '../errors/errors.ts';
import { closeRead } from '../hash/read.ts';

/** How a file is written. */
export interface WriteOptions {
  /** Replace an existing file; default false. */
  force?: boolean;
  /** When the file is to be said to have been modified: a torrent's time may tell how old its hashes are. Default: now. */
  mtime?: Date | undefined;
}

/**
 * Writes a file: a temporary file beside the target, renamed when it is whole. A process that is killed leaves a
 * `.metainfo-*.tmp`, which may be deleted.
 *
 * @throws {MetainfoError} `ERR_OUTPUT_EXISTS`, `ERR_NOT_A_FILE`, `ERR_NO_SPACE`, `ERR_NOT_FOUND`, `ERR_WRITE`
 */
export async function writeWhole(
  target: string,
  bytes: Uint8Array,
  { force = false, mtime }: WriteOptions,
): Promise<void> {
  const temporary = path.join(path.dirname(target), temporaryName());
  try {
    const file = await open(temporary, 'wx');
    try {
      // What is replaced keeps who may read it: a torrent may hold a passkey.
      const old = force ? await statusOf(target) : null;
      if (old && !old.isFile() && !old.isDirectory()) throw replacesNoFile(target);
      if (old) await keepOwner(file, old);
      // At once where the system takes it: writeFile would hand over half a MiB at a time.
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
      if (mtime) await file.utimes(mtime, mtime);
      await file.sync();
    } finally {
      await file.close();
    }
    if (force) await rename(temporary, target);
    else await renameExclusively(temporary, target);
    await syncFolder(path.dirname(target));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw outputExists(target, error);
    throw fromSystemError(error, target, 'write');
  } finally {
    // After a rename there is nothing left to remove.
    await unlink(temporary).catch(() => {});
  }
}

/** What is left where the process is killed as it writes: nobody needs it. */
const TEMPORARY = /^\.metainfo-[0-9a-z]+\.tmp$/;

function temporaryName(): string {
  return `.metainfo-${Math.random().toString(36).slice(2)}.tmp`;
}

/** Whether a file is the beginning of an output that somebody writes, or was killed as it wrote. */
export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

/** Owner, group and mode of the file that is replaced, as far as the system lets this user give files away. */
async function keepOwner(file: FileHandle, old: Stats): Promise<void> {
  const { uid, gid } = await file.stat();
  if (uid !== old.uid || gid !== old.gid) await file.chown(old.uid, old.gid).catch(() => {});
  await file.chmod(old.mode & 0o777);
}

/** Makes a rename last through a crash of the system. Not every system can: the file itself is safe either way. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  if (!handle) return;
  await handle.sync().catch(() => {});
  await closeRead(handle);
}

/** link() fails where the target exists, so a file that appeared since any check before is not lost. */
async function renameExclusively(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    // File systems without hard links; EISDIR is what libuv says on Windows of exFAT.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EISDIR'].includes(code)) throw error;
    if (await exists(to)) throw outputExists(to, error);
    await rename(from, to);
  }
}

/**
 * Whether anything has that name, a broken link too.
 *
 * @throws {MetainfoError} where the system cannot tell
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

/** Null when it is not there; whatever else is wrong must not pass for that. */
async function statusOf(file: string): Promise<Stats | null> {
  return stat(file).catch((error) => {
    if (isGone(error)) return null;
    throw error;
  });
}

function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** To root, renaming would put a file in the place of a device. */
function replacesNoFile(target: string): MetainfoError {
  const message = `${target} is a FIFO, socket or device, which no file may replace: choose another output.`;
  return new MetainfoError('ERR_NOT_A_FILE', message, { path: target });
}

/** The error of an output that is there already. */
export function outputExists(target: string, cause?: unknown): MetainfoError {
  const message = `${target} exists already: choose another output, or replace it (force: true).`;
  return new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: target, cause });
}
