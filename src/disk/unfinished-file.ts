/** Files that get their names when they are complete. */
import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, lstat, open, rename, unlink, utimes } from 'node:fs/promises';
import { MetainfoError } from '../errors/errors.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { closeRead } from '../hash/read.ts';
import { errnoName } from '../platform/node.ts';
import { at, descriptorPath, type Held } from './held-folder.ts';
import { groupWriter } from './write-group.ts';

type Folder = Pick<Held, 'path' | 'flags'>;

/** Files without a name stay open until they get one. With more of them in this process, others get temporary names. */
const MOST_UNNAMED = 256;
let unnamed = 0;

/** Makes a file of Linux without a name. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;

/**
 * A file that is being written. On Linux, it has no name, so that nothing stays if the process is killed. On other systems, on NFS, without
 * the addon and beside many others, it has a temporary one.
 */
export class UnfinishedFile {
  handle: FileHandle;
  /** The temporary name; null for none. */
  readonly temporary: string | null;
  #isOpen = true;

  private constructor(handle: FileHandle, temporary: string | null) {
    this.handle = handle;
    this.temporary = temporary;
  }

  static async open(folder: Folder, { mode = 0o666, isNamed = false } = {}): Promise<UnfinishedFile> {
    if (!isNamed && unnamed < MOST_UNNAMED && groupWriter()) {
      unnamed += 1;
      const handle = await open(folder.path, O_TMPFILE | constants.O_WRONLY, mode).catch(() => null);
      if (handle) return new UnfinishedFile(handle, null);
      unnamed -= 1;
    }
    const temporary = temporaryName();
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | folder.flags;
    return new UnfinishedFile(await open(at(folder, temporary), flags, mode), temporary);
  }

  async append(bytes: Uint8Array): Promise<void> {
    // Pass all bytes to the system at once: writeFile would pass half a MiB at a time.
    for (let done = 0; done < bytes.length; ) done += (await this.handle.write(bytes, done)).bytesWritten;
  }

  async setTimes(folder: Folder, atime: Date, mtime: Date): Promise<void> {
    await this.handle.utimes(atime, mtime).catch(async (error: unknown) => {
      if (this.temporary === null) throw error;
      // The permission model of newer versions of Node allows this only by path.
      await utimes(at(folder, this.temporary), atime, mtime);
    });
  }

  /** Makes it share the blocks of another file, instead of writing to it. */
  async clone(folder: Folder, source: string | Buffer): Promise<void> {
    const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
    if (this.temporary === null) return copyFile(source, descriptorPath(this.handle), COPYFILE_FICLONE_FORCE);
    // macOS clones to new names only.
    const named = at(folder, this.temporary);
    await this.handle.close();
    await unlink(named);
    await copyFile(source, named, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    this.handle = await open(named, constants.O_RDONLY | folder.flags);
  }

  /**
   * Gives it its name, and makes that survive a power cut.
   *
   * @param shown The path for messages.
   * @throws {Error} the system's error: EEXIST unless it may replace a file
   * @throws {MetainfoError} `ERR_WRITE` or `ERR_NO_SPACE` if it has replaced a file, but cannot be flushed
   */
  async name(folder: Folder, name: string, { force, shown }: { force: boolean; shown: string }): Promise<void> {
    if (this.temporary === null) {
      const file = { name, bytes: new Uint8Array(), descriptor: this.handle.fd, mtime: null, owner: null };
      const temporary = force ? temporaryName('replace-') : '';
      const [errno = 0] = (await groupWriter()?.writeFiles(folder.path, [{ ...file, temporary }])) ?? [];
      const error = errorOfGroup(errno, shown);
      if (error) throw error;
      return this.close();
    }
    if (this.#isOpen) await this.handle.sync();
    await this.close();
    const [from, to] = [at(folder, this.temporary), at(folder, name)];
    await (force ? rename(from, to) : renameExclusively(from, to));
    await syncFolder(folder.path).catch(async (error: unknown) => {
      if (force) throw notFlushed(shown, error);
      await unlink(to).catch(() => {});
      throw error;
    });
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.temporary === null) unnamed -= 1;
    await this.handle.close();
  }

  /** Removes what is left of it beside its name. */
  async discard(folder: Folder): Promise<void> {
    await this.close().catch(() => {});
    if (this.temporary !== null) await unlink(at(folder, this.temporary)).catch(() => {});
  }
}

/** The name of a temporary file, which stays if the process is killed while the file has it. */
export const TEMPORARY: RegExp = /^\.metainfo-(replace-)?[0-9a-z]+\.tmp$/;

/**
 * A name for an unfinished output, which scans leave out.
 *
 * @param kind A file that has been written and is about to replace another one, or one that is still being written.
 */
export function temporaryName(kind: 'replace-' | '' = ''): string {
  return `.metainfo-${kind}${Math.random().toString(36).slice(2)}.tmp`;
}

/** The error of a number that {@link Addon.writeFiles} gives; null for none. */
export function errorOfGroup(errno: number, shown: string): (Error & { code: string }) | null {
  if (errno === 0) return null;
  const code = errnoName(Math.abs(errno)) ?? '';
  const error = Object.assign(new Error(`${code}, write`), { code, errno: -errno, syscall: 'write', path: shown });
  // A file system that cannot flush is no failure of this file: another way of writing may do.
  return errno < 0 && FINAL.has(code) ? notFlushed(shown, error) : error;
}

/** The error of a file that has replaced another one, but may not survive a power cut. */
function notFlushed(shown: string, cause: unknown): MetainfoError {
  const { code } = cause as NodeJS.ErrnoException;
  const message = `${shown}: the new content is in place, but could not be flushed to the disk (${code}): a power cut may lose it.`;
  return new MetainfoError(fromSystemError(cause, shown, 'write').code, message, { path: shown, cause });
}

/** The errors of a write that no other way of writing avoids. */
export const FINAL: ReadonlySet<string> = new Set(['EEXIST', 'EIO', 'ENOSPC', 'EDQUOT', 'EROFS']);

/** Makes the names in a folder survive a crash of the system. Not every system supports that; the files are safe without it. */
async function syncFolder(folder: string): Promise<void> {
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
export const NO_LINKS: ReadonlySet<string> = new Set([
  ...['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EISDIR'],
]);

/** Renames with link(2), which fails if the target exists: so it cannot replace a file that appeared after a check. */
async function renameExclusively(from: string | Buffer, to: string | Buffer): Promise<void> {
  try {
    await link(from, to);
    await unlink(from).catch(() => {});
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!NO_LINKS.has(code)) throw error;
    if (await lstat(to).catch(() => null))
      throw Object.assign(new Error('EEXIST', { cause: error }), { code: 'EEXIST' });
    await rename(from, to);
  }
}
