import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

/** Why no disk can be mounted here. */
export function notMountable(): string | false {
  const works = process.platform === 'linux' && spawnSync('unshare', ['--mount', 'true']).status === 0;
  if (!works && process.env['CI']) throw new Error('a small disk cannot be mounted, and tests are not skipped in CI');
  return works ? false : 'only root can mount a small disk';
}

/** A disk of 64 KiB, gone after the test. */
export function smallDisk(t: TestContext): string {
  const disk = mkdtempSync(path.join(tmpdir(), 'metainfo-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
  t.after(() => {
    execFileSync('umount', [disk]);
    rmdirSync(disk);
  });
  return disk;
}
