/** Mounts a small disk for tests of a full disk. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** The reason to skip a test that mounts a disk, or false. */
export function notMountable(): string | false {
  const works = process.platform === 'linux' && spawnSync('unshare', ['--mount', 'true']).status === 0;
  if (!works && process.env['CI']) throw new Error('a small disk cannot be mounted, and tests are not skipped in CI');
  return works ? false : 'only root can mount a small disk';
}

/** Mounts a disk of 64 KiB, and unmounts it after the test. */
export function smallDisk(t: TestContext): string {
  const disk = mkdtempSync(path.join(tmpdir(), 'metainfo-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
  t.after(() => {
    execFileSync('umount', [disk]);
    rmdirSync(disk);
  });
  return disk;
}
