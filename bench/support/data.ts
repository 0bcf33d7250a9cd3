// Writes the files that the benches hash, and drops files from the page cache.
import { spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { formatBytes } from '../../src/text/format.ts';

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
    const inner = path.join(folder, `folder ${Math.floor(i / 1000)}`);
    if (i % 1000 === 0) mkdirSync(inner, { recursive: true });
    const file = path.join(inner, `file ${i}`);
    if (size > CHUNK.length) writeData(file, size);
    else writeFileSync(file, CHUNK.subarray(0, size));
  }
  spawnSync('sync', ['-f', folder]);
}

/** Fails if the file system of a folder has no space for so many files of at most 4 KiB. */
export function requireSpace(folder: string, files: number): void {
  const { bavail, bsize, files: inodes, ffree } = statfsSync(folder);
  const [free, bytes] = [bavail * bsize, files * (4096 + 512)];
  if (free < bytes) throw new Error(`${folder} has ${formatBytes(free)} free, but ${formatBytes(bytes)} are needed`);
  // 0: the file system makes inodes when it needs them.
  if (inodes > 0 && ffree < files * 1.01)
    throw new Error(`${folder} has ${ffree} inodes free, but ${Math.ceil(files * 1.01)} are needed`);
}

/** A way to drop a file from the page cache. */
export interface Dropper {
  name: string;
  drop: (file: string) => void;
}

const DROPPERS: readonly Dropper[] = [
  {
    name: 'drop_caches',
    drop: () => {
      spawnSync('sync');
      writeFileSync('/proc/sys/vm/drop_caches', '3');
    },
  },
  {
    // posix_fadvise(POSIX_FADV_DONTNEED) for the whole file, which needs no privilege.
    name: 'dd oflag=nocache',
    drop: (file) => {
      const args = [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'];
      const { status, stderr } = spawnSync('dd', args, { encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
    },
  },
];

export function dropperNamed(name: string): Dropper {
  const found = DROPPERS.find((dropper) => dropper.name === name);
  if (!found) throw new Error(`no way to drop the page cache is called ${name}`);
  return found;
}

/** Finds the first way that works here, or null: memory file systems and some containers have none. */
export function findDropper(file: string): Dropper | null {
  const works = ({ drop }: Dropper) => {
    try {
      drop(file);
      return cachedBytes(file) === 0;
    } catch {
      return false;
    }
  };
  return DROPPERS.find(works) ?? null;
}

/** Bytes of a file in the page cache; NaN where `fincore` (util-linux) is not installed. */
function cachedBytes(file: string): number {
  const { stdout, error } = spawnSync('fincore', ['--bytes', '--noheadings', '--output', 'RES', file], {
    encoding: 'utf8',
  });
  return error ? Number.NaN : Number(stdout);
}
