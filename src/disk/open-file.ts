/** Files that the caller has opened, as content. */
import { fstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { changed } from '../hash/open-without-links.ts';
import { newBytes } from '../platform/node.ts';

/**
 * A `FileHandle` of node:fs/promises, which has no type in browsers. Without its `read`: in the union of all sources, TypeScript would
 * infer nothing for that of a range reader.
 */
export interface OpenFile {
  /** The number of the open file. */
  readonly fd: number;
  /** The size and times of the file. */
  stat(options: { bigint: true }): Promise<object>;
}

export function isOpenFile(value: object): value is OpenFile {
  // A ReadStream has no `stat`.
  return 'fd' in value && 'stat' in value && 'read' in value && typeof value.read === 'function';
}

/** The bytes of an open file; null if it was closed, or is a pipe, a device or a folder. */
export function sizeOfOpenFile({ fd }: OpenFile): number | null {
  try {
    const status = fstatSync(fd);
    return status.isFile() ? status.size : null;
  } catch {
    return null;
  }
}

/** The problem of a file that cannot be content. */
export function openFileProblem(data: object): string | null {
  return isOpenFile(data) && sizeOfOpenFile(data) === null
    ? 'expected an open FileHandle of a regular file, got another one'
    : null;
}

const CHUNK = 2 ** 20;

/**
 * The content of an open file from its first byte on, wherever its position is; null for other data. The same memory is used for each chunk,
 * and the file stays open.
 *
 * @throws {MetainfoError} `ERR_FILE_CHANGED` while it is read, if the file has another size or was written to
 */
export function contentOfOpenFile(
  data: object,
  { path, size }: { path: string; size: number },
): AsyncIterable<Uint8Array> | null {
  if (!isOpenFile(data)) return null;
  const file = data as FileHandle;
  return {
    async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
      const before = await file.stat({ bigint: true });
      if (before.size !== BigInt(size)) throw changed(path, `it has ${before.size} bytes instead of ${size}`);
      const chunk = newBytes(Math.min(CHUNK, size));
      for (let at = 0; at < size; ) {
        const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, size - at), at);
        if (bytesRead === 0) throw changed(path, `it ended at byte ${at} of ${size}`);
        at += bytesRead;
        yield chunk.subarray(0, bytesRead);
      }
      const after = await file.stat({ bigint: true });
      const isSame = after.size === before.size && after.mtimeNs === before.mtimeNs && after.ctimeNs === before.ctimeNs;
      if (!isSame) throw changed(path, 'its size or modification time changed');
    },
  };
}
