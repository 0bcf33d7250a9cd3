import assert from 'node:assert/strict';
import { appendFile, rename, stat, truncate, unlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';

const SIZE = 2 * 2 ** 30;

const CHANGES: Record<string, (file: string) => Promise<unknown>> = {
  grows: (file) => appendFile(file, 'x'),
  shrinks: (file) => truncate(file, SIZE / 2),
  'is deleted': (file) => unlink(file),
  async 'is replaced by one of the same size and date'(file) {
    const { atime, mtime } = await stat(file);
    const other = await sparseFile(path.dirname(file), 'other', SIZE);
    await utimes(other, atime, mtime);
    await rename(other, file);
  },
  'is touched': (file) => utimes(file, new Date(0), new Date(0)),
};

/** Hashes the files below `pathRoot`, and makes the change while they are hashed. */
function hashWhile(pathRoot: string, change: () => Promise<unknown>): Promise<unknown> {
  let changed: Promise<unknown> | undefined;
  const onProgress = ({ bytes, totalBytes }: { bytes: number; totalBytes: number }) => {
    assert.ok(changed || bytes < totalBytes, 'hashing was too quick to change anything');
    changed ??= change();
  };
  return new TorrentCreate({ pathRoot }).generate({ threads: 2, onProgress });
}

describe('a file that changes while it is hashed', () => {
  for (const [name, change] of Object.entries(CHANGES)) {
    it(`fails the job when it ${name}`, async (t) => {
      const file = await sparseFile(await temporaryFolder(t), 'file', SIZE);
      await assert.rejects(
        hashWhile(file, () => change(file)),
        { code: 'ERR_FILE_CHANGED', path: file, message: new RegExp(`^${file} changed while it was hashed: `) },
      );
    });
  }

  it('fails the job when it grows before it is read', async (t) => {
    const folder = await temporaryFolder(t);
    await sparseFile(folder, 'a', SIZE);
    await writeTree(folder, { b: 1 });
    const file = path.join(folder, 'b');
    await assert.rejects(
      hashWhile(folder, () => appendFile(file, 'x')),
      { code: 'ERR_FILE_CHANGED', path: file },
    );
  });

  it('fails the job when it is deleted before it is read', async (t) => {
    const folder = await temporaryFolder(t);
    await sparseFile(folder, 'a', SIZE);
    await writeTree(folder, { b: 1 });
    const file = path.join(folder, 'b');
    await assert.rejects(
      hashWhile(folder, () => unlink(file)),
      { code: 'ERR_FILE_CHANGED', path: file },
    );
  });

  it('fails the job when it was empty', async (t) => {
    const folder = await temporaryFolder(t);
    await sparseFile(folder, 'a', SIZE);
    await writeTree(folder, { b: 0 });
    const file = path.join(folder, 'b');
    await assert.rejects(
      hashWhile(folder, () => appendFile(file, 'x')),
      { code: 'ERR_FILE_CHANGED', path: file },
    );
  });
});
