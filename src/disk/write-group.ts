/** Writes files of one folder in groups: they share the syncs that make them survive a power cut. Linux only. */
import { existsSync } from 'node:fs';
import { AbortError, onAbort } from '../errors/cancel.ts';
import type { Checked } from '../errors/guard.ts';
import { type Addon, addonOrNull, type NewFile } from '../hash/addon.ts';
import { type BeneathOptions, holdBeneath } from './held-folder.ts';

/** Larger groups gain little, and each file holds a descriptor. */
export const MAX_GROUP = 64;

/** The groups for which a folder is looked up once: a folder that was moved or swapped is soon noticed. */
const HELD_GROUPS = 16;

interface Waiting {
  file: NewFile;
  /** Called when it no longer waits. */
  begin: () => void;
  resolve: (errno: number) => void;
  reject: (error: unknown) => void;
}

/** The files that wait for the group before them, by folder: there is a list as long as a group is being written. */
const queues = new Map<string, Waiting[]>();

/** Files get their names through /proc, which some containers do not have. */
let hasProc: boolean | undefined;

/** The addon if it can write groups. Writing does not need it, and so reports no error of loading it. */
export function groupWriter(): Addon | null {
  if (process.platform !== 'linux') return null;
  try {
    hasProc ??= existsSync('/proc/self/fd');
    return hasProc ? addonOrNull() : null;
  } catch {
    return null;
  }
}

/**
 * Writes a file into a folder: alone if no other file is being written there, else with all that have come meanwhile. So groups
 * grow with the load, and no file waits for others to come.
 *
 * @returns errno, or 0. The file has left nothing after an error.
 * @throws {AbortError} when the signal fires while the file waits
 * @throws {Error} as {@link holdBeneath}
 */
export function writeInGroup(
  addon: Addon,
  folder: string,
  file: NewFile,
  { beneath, signal }: Checked<BeneathOptions> & { signal?: AbortSignal | undefined },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const key = `${folder}\0${beneath ?? ''}`;
    const queue = queues.get(key) ?? [];
    const waiting: Waiting = { file, begin: () => removeListener(), resolve, reject };
    const removeListener = onAbort(signal, () => {
      queue.splice(queue.indexOf(waiting), 1);
      reject(new AbortError(signal as AbortSignal));
    });
    queue.push(waiting);
    if (queues.has(key)) return;
    queues.set(key, queue);
    void writeGroups(addon, folder, key, { beneath });
  });
}

async function writeGroups(addon: Addon, folder: string, key: string, options: Checked<BeneathOptions>): Promise<void> {
  const queue = queues.get(key) as Waiting[];
  while (queue.length > 0) {
    try {
      await holdBeneath(folder, options, async ({ path: held }) => {
        for (let groups = 0; groups < HELD_GROUPS && queue.length > 0; groups += 1)
          await writeGroup(addon, held, queue);
      });
    } catch (error) {
      for (const { reject } of nextGroup(queue)) reject(error);
    }
  }
  queues.delete(key);
}

async function writeGroup(addon: Addon, held: string, queue: Waiting[]): Promise<void> {
  const group = nextGroup(queue);
  try {
    const files = group.map(({ file }) => file);
    const errors = await addon.writeFiles(held, files);
    for (const [i, { resolve }] of group.entries()) resolve(errors[i] as number);
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}

function nextGroup(queue: Waiting[]): Waiting[] {
  const group = queue.splice(0, MAX_GROUP);
  for (const { begin } of group) begin();
  return group;
}
