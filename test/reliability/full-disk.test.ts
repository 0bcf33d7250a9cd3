// Full disks and read-only disks: small ones in memory, which only root may mount.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { metainfoProcess } from '../cli/run.ts';
import { noise } from '../hash/reference.ts';
import { sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;
const skip = mountMissing();

/** Why no disk can be mounted; false if one can. */
function mountMissing(): string | false {
  if (process.platform !== 'linux') return 'tmpfs is of Linux';
  const { status } = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
  return status === 0 ? false : 'only root may mount';
}

function disk(t: TestContext, size: number): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  t.after(() => {
    execFileSync('umount', [folder]);
    rmdirSync(folder);
  });
  return folder;
}

/** Content with a torrent of at least 100 KiB. */
async function contentOf(t: TestContext): Promise<string> {
  const cwd = await temporaryFolder(t);
  await sparseFile(cwd, 'data', 5120 * 16 * KIB);
  return cwd;
}

const create = (cwd: string, output: string, ...more: string[]) =>
  metainfoProcess(
    ['create', 'data', '--piece-length', '16KiB', '--torrent-version', 'v1', '-q', '-o', output, ...more],
    {
      cwd,
    },
  );

describe('a full disk', { skip }, () => {
  it('leaves the old output and no other file', async (t) => {
    const cwd = await contentOf(t);
    const out = disk(t, 64 * KIB);
    const target = path.join(out, 'a.torrent');
    for (const old of [null, 'old']) {
      if (old) writeFileSync(target, old);
      const { code, stderr } = await create(cwd, target, ...(old ? ['--force'] : []));
      assert.deepEqual([code, stderr], [1, `error: ${target}: the disk is full. [ERR_NO_SPACE]\n`]);
      assert.deepEqual(readdirSync(out), old ? ['a.torrent'] : []);
    }
    assert.equal(readFileSync(target, 'utf8'), 'old');
  });

  it('loses the cache, but not the torrent', async (t) => {
    const cwd = await contentOf(t);
    assert.equal((await create(cwd, 'right.torrent')).code, 0);
    // The disk has no room for the first file of the cache, or not for all of it.
    for (const kib of [4, 8, 64]) {
      const cache = disk(t, kib * KIB);
      for (let round = 0; round < 2; round += 1) {
        const { code, stderr } = await create(cwd, 'a.torrent', '--force', '--cache-dir', cache);
        assert.equal(code, 0, `${kib} KiB: ${stderr}`);
        assert.match(stderr, /^warning: The cache in .* (cannot be written|cannot be opened).*\[ERR_CACHE\]$/m);
        assert.deepEqual(readFileSync(path.join(cwd, 'a.torrent')), readFileSync(path.join(cwd, 'right.torrent')));
      }
    }
  });
});

describe('a read-only disk', { skip }, () => {
  it('is reported, and a cache on it is not used', async (t) => {
    const cwd = await temporaryFolder(t);
    const other = disk(t, 4096 * KIB);
    await writeTree(cwd, { data: noise(1024 * KIB, 1) });
    await writeTree(other, { 'a.torrent': 'old' });
    const cache = path.join(other, 'cache');
    // A cache does not keep files that were written just now.
    await sleep(50);
    assert.equal((await create(cwd, 'b.torrent', '--cache-dir', cache)).stderr, '');
    execFileSync('mount', ['-o', 'remount,ro', other]);
    const target = path.join(other, 'a.torrent');
    const { code, stderr } = await create(cwd, target, '--force');
    assert.deepEqual([code, stderr], [1, `error: ${target}: its file system is read-only (EROFS). [ERR_WRITE]\n`]);
    assert.deepEqual(readdirSync(other).sort(), ['a.torrent', 'cache']);
    // The cache is read, but new digests cannot be stored.
    const again = await create(cwd, 'b.torrent', '--force', '--cache-dir', cache);
    assert.deepEqual([again.code, again.stderr], [0, '']);
    await writeTree(cwd, { data: noise(1024 * KIB, 2) });
    await sleep(50);
    const changed = await create(cwd, 'b.torrent', '--force', '--cache-dir', cache);
    assert.equal(changed.code, 0);
    assert.match(changed.stderr, /^warning: The cache in .* cannot be written.*\[ERR_CACHE\]$/m);
    assert.ok(statSync(path.join(cwd, 'b.torrent')).size > 0);
  });
});
