/** Reads a short file, or a folder of few short files, in one step instead of ten. */
import { onAbort, throwIfAborted } from '../errors/cancel.ts';
import type { Checked } from '../errors/guard.ts';
import { addonOrNull } from '../hash/addon.ts';
import { diskPathBelow } from '../layout/file-table.ts';
import { type BeneathOptions, shortPathOf } from './held-folder.ts';
import type { ScannedFile } from './scan.ts';

/** A file on disk whose content is in memory. */
export interface HeldFile extends ScannedFile {
  content: Uint8Array;
}

/** All files at and below a path. */
export interface SmallTree {
  /** Whether the path is the file itself, whose path has no components. */
  isFile: boolean;
  /** In no particular order. */
  files: HeldFile[];
}

/** Whether Node or Deno restricts this process: their permissions do not reach native code. */
const isRestricted = 'permission' in process || 'Deno' in globalThis;
/** Characters. Any system takes paths of so many. */
const MAX_PATH = 300;

interface SmallTreeOptions extends Checked<BeneathOptions> {
  /** Bytes of all files together. */
  maxBytes: number;
  /** 0: only a file is read. */
  maxFiles: number;
  signal?: AbortSignal | undefined;
}

/**
 * Reads everything at a path. Null unless that is 1 to `maxBytes` bytes in regular files with plain names that did not change meanwhile: the
 * scan finds out what is there, or what is wrong.
 *
 * @throws {AbortError} if the signal fires
 */
export async function readSmallTree(target: string, options: SmallTreeOptions): Promise<SmallTree | null> {
  const { maxBytes, maxFiles, signal } = options;
  const place = shortPathOf(target, options);
  const Job = place && !isRestricted && addonOrNull()?.SmallTree;
  if (!Job) return null;
  const job = new Job(place.root, place.path, maxBytes, maxFiles);
  const removeListener = onAbort(signal, () => job.cancel());
  const found = await job.done;
  removeListener();
  throwIfAborted(signal);
  if (!found) return null;
  const { folder, paths, numbers, bytes } = found;
  const isFile = folder === '';
  let end = 0;
  const fileAt = (path: string, i: number): HeldFile => {
    const [length, mtimeMs, ctimeMs] = [numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]] as [
      number,
      number,
      number,
    ];
    end += length;
    const content = bytes.subarray(end - length, end);
    const diskPath = isFile ? target : diskPathBelow(folder, path);
    return { path: isFile ? [] : path.split('\0'), diskPath, length, mtimeMs, ctimeMs, content };
  };
  if (isFile) return { isFile, files: [fileAt('', 0)] };
  // The last path is ended too.
  const files = paths.split('\0\0').slice(0, -1).map(fileAt);
  // No call could open a file by a path that is too long, wherever its folder is open.
  return files.some(({ diskPath }) => diskPath.length > MAX_PATH) ? null : { isFile, files };
}
