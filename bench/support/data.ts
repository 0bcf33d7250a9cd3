// Writes the files that the benches hash, and drops files from the page cache.
import { spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';

const CHUNK = randomFillSync(Buffer.alloc(2 ** 20));

/** Writes the same random MiB over and over, because no kernel's speed depends on content. The file ends up in the page cache. */
export function writeData(file: string, size: number): void {
  const descriptor = openSync(file, 'w');
  for (let at = 0; at < size; at += CHUNK.length) writeSync(descriptor, CHUNK, 0, Math.min(CHUNK.length, size - at));
  // Otherwise the disk would still be busy during the first rounds.
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Writes files of one size, at most 1,000 in a folder. */
export function writeFiles(folder: string, count: number, size: number): void {
  for (let i = 0; i < count; i += 1) {
    const file = path.join(folder, fileName(i));
    if (i % 1000 === 0) mkdirSync(path.dirname(file), { recursive: true });
    if (size > CHUNK.length) writeData(file, size);
    else writeFileSync(file, CHUNK.subarray(0, size));
  }
  spawnSync('sync', ['-f', folder]);
}

/** The path of a file of {@link writeFiles} in its folder. */
export const fileName = (index: number): string => `folder ${Math.floor(index / 1000)}/file ${index}`;

/** Drops a file from the page cache; fails where that is not possible. */
export function dropFromCache(file: string): void {
  const run = (command: string, ...args: string[]) => {
    const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) throw error ?? new Error(stderr);
    return stdout;
  };
  // posix_fadvise(POSIX_FADV_DONTNEED) for the whole file, which needs no privilege.
  run('dd', `of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0');
  const cached = Number(run('fincore', '--bytes', '--noheadings', '--output', 'RES', file));
  if (cached !== 0) throw new Error(`${cached} bytes of ${file} stay in the page cache`);
}
