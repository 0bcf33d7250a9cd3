import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { noise } from '../hash/reference.ts';
import { build } from './build.ts';

const { bytes } = build({ version: 'v1', content: noise(100), top: { comment: 'x'.repeat(100_000) } });
const torrent = Torrent.fromBytes(bytes);

describe('torrent.write', () => {
  let folder = '';
  let target = '';
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'metainfo-write-'));
    target = path.join(folder, 'x.torrent');
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Checks that the folder has the target alone, with these bytes, and no temporary file. */
  async function holdsOnly(content: string | Buffer): Promise<void> {
    assert.deepEqual(await readdir(folder), ['x.torrent']);
    assert.deepEqual(await readFile(target), Buffer.from(content));
  }

  it('writes a new file', async () => {
    await torrent.write(target);
    await holdsOnly(bytes);
  });

  it('keeps an existing file', async () => {
    await writeFile(target, 'mine');
    await assert.rejects(torrent.write(target), { code: 'ERR_OUTPUT_EXISTS', path: target, message: /force: true/ });
    await holdsOnly('mine');
  });

  it('replaces an existing file with force: true', async () => {
    await writeFile(target, 'mine');
    await torrent.write(target, { force: true });
    await holdsOnly(bytes);
  });

  it('keeps owner, group and mode of a file that root replaces', { skip: process.getuid?.() !== 0 }, async () => {
    await writeFile(target, 'mine');
    await chown(target, 1234, 1235);
    await chmod(target, 0o640);
    await torrent.write(target, { force: true });
    await holdsOnly(bytes);
    const { uid, gid, mode } = await stat(target);
    assert.deepEqual([uid, gid, mode & 0o7777], [1234, 1235, 0o640]);
  });

  it('flushes the file, then the folder after the rename', { skip: process.platform === 'win32' }, async (t) => {
    // Linux does both in native code: test/reliability/killed-while-writing-groups.test.ts cuts the power.
    const { platform } = process;
    t.after(() => Object.defineProperty(process, 'platform', { value: platform }));
    Object.defineProperty(process, 'platform', { value: 'freebsd' });
    const handle = await open(folder);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const flushed: string[] = [];
    const { sync } = prototype;
    t.mock.method(prototype, 'sync', async function (this: FileHandle) {
      const what = (await this.stat()).isDirectory() ? 'folder' : 'file';
      const names = await readdir(folder);
      flushed.push(`${what} with ${names.map((name) => path.extname(name)).sort()}`);
      return sync.call(this);
    });
    for (const force of [false, true]) await torrent.write(target, { force });
    assert.deepEqual(flushed, [
      'file with .tmp',
      'folder with .torrent',
      'file with .tmp,.torrent',
      'folder with .torrent',
    ]);
  });

  it('writes a new file with force: true', async () => {
    await torrent.write(target, { force: true });
    await holdsOnly(bytes);
  });

  it('keeps a path that is not a file, even with force: true', { skip: process.platform === 'win32' }, async () => {
    assert.equal(spawnSync('mkfifo', [target]).status, 0);
    await assert.rejects(torrent.write(target, { force: true }), { code: 'ERR_NOT_A_FILE', path: target });
    assert.deepEqual(await readdir(folder), ['x.torrent']);
    assert.ok((await stat(target)).isFIFO());
  });

  it('keeps a symbolic link, even a broken one', async () => {
    await symlink('nowhere', target);
    await assert.rejects(torrent.write(target), { code: 'ERR_OUTPUT_EXISTS' });
    assert.deepEqual(await readdir(folder), ['x.torrent']);
  });

  it('keeps a folder', async () => {
    await mkdir(target);
    const message = `${target} is a folder and cannot be replaced: choose another output.`;
    for (const force of [false, true])
      await assert.rejects(torrent.write(target, { force }), { code: 'ERR_NOT_A_FILE', path: target, message });
    assert.deepEqual(await readdir(folder), ['x.torrent']);
  });

  it('rejects a target whose folder is missing or is a file', async () => {
    await writeFile(path.join(folder, 'file'), '');
    for (const parent of ['absent', 'file']) {
      const output = path.join(folder, parent, 'x.torrent');
      await assert.rejects(torrent.write(output), { code: 'ERR_NOT_FOUND', path: output });
    }
    assert.deepEqual(await readdir(folder), ['file']);
  });

  it('takes a path that ends with a slash for a folder', async () => {
    const output = `${path.join(folder, 'absent')}/`;
    for (const force of [false, true])
      await assert.rejects(torrent.write(output, { force }), { code: 'ERR_NOT_FOUND', path: output });
    assert.deepEqual(await readdir(folder), []);
  });

  it('accepts a relative path, and a name of the maximum length', async () => {
    target = path.join(folder, 'n'.repeat(255));
    await torrent.write(path.relative(process.cwd(), target));
    assert.deepEqual(await readFile(target), bytes);
  });

  it('lets one of many concurrent writers win', async () => {
    const written = await Promise.allSettled(Array.from({ length: 8 }, () => torrent.write(target)));
    const codes = written.map((one) => (one.status === 'fulfilled' ? 'written' : one.reason.code));
    assert.deepEqual(codes.sort(), [...Array(7).fill('ERR_OUTPUT_EXISTS'), 'written']);
    await holdsOnly(bytes);
  });

  it('leaves no partial file on a full disk', async (t) => {
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', folder]);
    if (mount.status !== 0) {
      assert.ok(!process.env['CI'] || process.platform !== 'linux', 'a tmpfs must be mountable in CI');
      t.skip('a small tmpfs cannot be mounted (no Linux, not root)');
      return;
    }
    try {
      await assert.rejects(torrent.write(target), { code: 'ERR_NO_SPACE', path: target });
      assert.deepEqual(await readdir(folder), []);

      await writeFile(target, 'mine');
      await assert.rejects(torrent.write(target, { force: true }), { code: 'ERR_NO_SPACE', path: target });
      await holdsOnly('mine');
    } finally {
      spawnSync('umount', [folder]);
    }
  });
});
