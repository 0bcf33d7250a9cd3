/** Opens and reads files of a hash request with `node:fs`, and refuses those that changed after they were planned. */
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import nodePath from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { nameText } from '../text/name-bytes.ts';
import type { RequestedFile } from './engine.ts';
import { closeRead, isSameTime, readFully, withinSecond } from './read.ts';

/** The memory that a stream is copied to. */
export interface StreamSink {
  /** Free memory: at least one byte. */
  room(): Uint8Array | Promise<Uint8Array>;
  /** Called when the first `bytes` of the last {@link room} are filled. */
  filled(bytes: number): void;
}

const LINK_IN_PATH = 'there is a symbolic link in its path';

/** The path of a request file on disk, as {@link nameText}. */
export function pathOf({ path }: RequestedFile): string {
  return typeof path === 'string' ? path : nameText(path as Buffer);
}

/**
 * Opens a file of a request.
 *
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_READ`, `ERR_NOT_A_FILE` for a socket, `ERR_FILE_CHANGED` for a
 *   symbolic link
 */
export async function openRequested(file: RequestedFile): Promise<FileHandle> {
  try {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    return await open(file.path as string | Buffer, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // open(2) fails with ENXIO for a socket.
    if (code === 'ENXIO') throw notAFile(pathOf(file));
    if (code === 'ELOOP') throw changed(pathOf(file), LINK_IN_PATH);
    throw fromSystemError(error, pathOf(file), 'read');
  }
}

/** @throws {MetainfoError} `ERR_FILE_CHANGED` or `ERR_NOT_A_FILE` when an open file is not as it was planned */
export async function requireAsRequested(handle: FileHandle, file: RequestedFile): Promise<void> {
  const path = pathOf(file);
  const stats = await handle.stat({ bigint: true });
  if (!stats.isFile()) throw notAFile(path);
  const size = Number(stats.size);
  if (size !== file.size) throw changed(path, `its size went from ${file.size} to ${size} bytes`);
  if (stats.nlink === 0n) throw changed(path, 'it was deleted or replaced');
  const isUnchanged = Number.isNaN(file.mtimeMs) || isSameTime(withinSecond(stats.mtimeNs).ms, file.mtimeMs);
  if (!isUnchanged) throw changed(path, 'its modification time changed');
}

/**
 * Checks, before anything is read, that the path of an open file has no symbolic links. Node cannot ask the system to follow
 * none, but Linux tells where an open file is. On other systems, a link that appears and disappears between the two calls
 * goes unnoticed.
 *
 * @throws {MetainfoError} `ERR_FILE_CHANGED`
 */
export async function requireNoLinks({ fd }: FileHandle, file: RequestedFile): Promise<void> {
  const path = pathOf(file);
  const bytes = { encoding: 'buffer' } as const;
  const actual = await readlink(`/proc/self/fd/${fd}`, bytes).catch(() =>
    realpath(file.path as string | Buffer, bytes),
  );
  const planned = typeof file.path === 'string' ? Buffer.from(nodePath.resolve(file.path)) : (file.path as Buffer);
  // Some versions of Deno give text.
  if (!planned.equals(Buffer.from(actual))) throw changed(path, LINK_IN_PATH);
}

/** Fills a buffer from `position` on. @throws {MetainfoError} `ERR_FILE_CHANGED` when the file ends before */
export async function readRange(handle: FileHandle, into: Uint8Array, position: number, path: string): Promise<void> {
  const bytes = await readFully(handle, into, position);
  if (bytes < into.length) throw changed(path, `it ended at byte ${position + bytes}`);
}

/**
 * Copies a file of a request to a sink.
 *
 * @param signal Ends it early.
 * @returns The bytes of the file.
 * @throws {MetainfoError} as {@link openRequested}
 */
export async function copyRequested(file: RequestedFile, sink: StreamSink, signal: AbortSignal): Promise<number> {
  const path = pathOf(file);
  const handle = await openRequested(file);
  try {
    await requireAsRequested(handle, file);
    await requireNoLinks(handle, file);
    for (let at = 0; at < file.length && !signal.aborted; ) {
      const room = await sink.room();
      const part = room.subarray(0, file.length - at);
      await readRange(handle, part, at, path);
      sink.filled(part.length);
      at += part.length;
    }
    await requireAsRequested(handle, file);
    return file.length;
  } catch (error) {
    throw fromSystemError(error, path, 'read');
  } finally {
    await closeRead(handle);
  }
}

/** The error of a path that is no file. */
export function notAFile(path: string, cause?: unknown): MetainfoError {
  return new MetainfoError('ERR_NOT_A_FILE', `${path} is not a regular file.`, { path, cause });
}

/** The error of a file that is no longer as it was planned. */
export function changed(path: string, how: string, cause?: unknown): MetainfoError {
  return new MetainfoError('ERR_FILE_CHANGED', `${path} changed while it was hashed: ${how}.`, { path, cause });
}
