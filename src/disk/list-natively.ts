/** Lists folders on native threads. */
import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort, throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import type { Addon, NativeListing } from '../hash/addon.ts';
import { pathBytes } from '../layout/file-table.ts';
import { nameText } from '../text/name-bytes.ts';
import type { ListedFolder, Listing, ListOptions, OtherEntry } from './listing.ts';
import { isFolder } from './stat-files.ts';

/** How often a native listing lets other jobs go first, in milliseconds. */
const PAUSE_MS = 5;

/** Lists folders on native threads. Returns null if the system grants no thread. */
export async function listNatively(
  addon: Addon,
  folders: readonly ListedFolder[],
  { root, isRecursive, readable, signal, pause }: ListOptions,
): Promise<Listing | null> {
  const disks = folders.map(({ disk }) => disk);
  const paths = folders.map(({ path }) => path);
  const running = new addon.Scan({ root, disks, paths, isRecursive, readable });
  const removeListener = onAbort(signal, () => running.cancel());
  const done = running.done.catch((failure: Error & { code?: string }) => {
    throwIfAborted(signal);
    if (failure.code === 'no-thread') return null;
    throw new MetainfoError('ERR_NO_MEMORY', 'Out of memory: the paths of all files do not fit.', { cause: failure });
  });
  try {
    // Its threads share the budget with those of other jobs, so it goes on while this job waits for others.
    while ((await Promise.race([done, sleep(PAUSE_MS, WAITING, { ref: false })])) === WAITING) await pause();
    const found = await done;
    return found && { files: found.files, others: othersOf(found) };
  } finally {
    removeListener();
    running.cancel();
  }
}

const WAITING = Symbol();

function othersOf({ others, errors, modes }: NativeListing): OtherEntry[] {
  const { paths, diskPaths, lengths, mtimes, ctimes } = others;
  return Array.from(errors, (errno, i) => {
    const status = {
      mode: modes[i] as number,
      size: lengths[i] as number,
      mtimeMs: mtimes[i] as number,
      ctimeMs: ctimes[i] as number,
    };
    const isUnlisted = isFolder(status) && errno !== 0;
    const [folder, name] = split(pathBytes(paths, i), isUnlisted);
    const [disk] = split(pathBytes(diskPaths ?? paths, i), isUnlisted);
    return { folder, disk, name, errno, status };
  });
}

/** Splits a path into that of its folder and a name in the system's bytes; none if it is the folder's own. */
function split(bytes: Uint8Array, isFolder: boolean): [folder: string, name: Buffer | null] {
  const path = Buffer.from(bytes);
  if (isFolder) return [nameText(path), null];
  const end = path.lastIndexOf(0);
  return [nameText(path.subarray(0, Math.max(0, end))), path.subarray(end + 1)];
}
