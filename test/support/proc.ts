/** Reads from /proc what Linux knows about a process: its threads, descriptors and memory. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const count = (name: string) => readdirSync(`/proc/self/${name}`).length;
export const threadCount = (): number => count('task');
export const descriptorCount = (): number => count('fd');

/** The paths of the files that a process has open in a folder and below it. */
export function openFilesIn(folder: string, pid: number | 'self' = 'self'): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
      return target.startsWith(`${folder}${path.sep}`) ? [target] : [];
    } catch {
      // It is closed already, as is the descriptor of readdir itself.
      return [];
    }
  });
}

/** Returns the number that a pattern finds in a file of /proc; null where the system does not say, or the process has ended. */
function numberIn(file: string, pattern: RegExp, unit: number): number | null {
  try {
    const match = pattern.exec(readFileSync(`/proc/${file}`, 'utf8'));
    return match ? Number(match[1]) * unit : null;
  } catch {
    return null;
  }
}

/** Peak resident memory of a process in bytes, or null. Unlike maxRSS, it does not include the parent process. */
export const peakOf = (pid: number | undefined): number | null =>
  numberIn(`${pid ?? 'self'}/status`, /VmHWM:\s+(\d+)/, 1024);

/** Peak resident memory of this process in bytes. */
export const peak = (): number => peakOf(process.pid) ?? process.resourceUsage().maxRSS * 1024;

/** Collects garbage, waits until V8 has given it back, which it does on other threads, and resets the peak. */
export async function resetPeak(): Promise<void> {
  globalThis.gc?.();
  await delay(100);
  globalThis.gc?.();
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Where the peak cannot be reset, the highest until now counts as idle.
  }
}

/** Seconds for which the main thread, which runs JavaScript, had or awaited a processor; null where the system does not say. */
export const mainThreadSeconds = (state: 'running' | 'waiting'): number | null =>
  numberIn(`self/task/${process.pid}/schedstat`, state === 'running' ? /^(\d+)/ : /^\d+ (\d+)/, 1e-9);
