import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { countingFilter } from '../../../src/cli/options/content.ts';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'metainfo-globs-')));
const root = path.join(folder, 'root');
mkdirSync(path.join(root, 'sub'), { recursive: true });
after(() => rmSync(folder, { recursive: true, force: true }));

const globFilter = async (...given: Parameters<typeof countingFilter>) => (await countingFilter(...given)).filter;

describe('countingFilter', () => {
  it('is empty without globs if every skipped file is outside the root', async () => {
    for (const skipped of [[], [path.join(folder, 'root.torrent')], [path.join(folder, 'root-b', 'x'), folder]])
      assert.deepEqual(await globFilter({}, root, skipped), {});
  });

  it('excludes the skipped files inside the root', async () => {
    const { exclude, include } = await globFilter({}, root, [
      path.join(root, 'sub', 'x.torrent'),
      path.join(root, '..y'),
      path.join(folder, 'z'),
    ]);
    assert.deepEqual(
      ['sub/x.torrent', '..y', 'z', 'sub', ''].map((file) => exclude?.(file)),
      [true, true, false, false, false],
    );
    assert.equal(include, undefined);
  });

  it('resolves links in the folder of a skipped file', async () => {
    const link = path.join(folder, 'link');
    symlinkSync(root, link, 'junction');
    const { exclude } = await globFilter({}, root, [path.join(link, 'x.torrent')]);
    assert.equal(exclude?.('x.torrent'), true);
  });

  it('takes a glob with a slash at the end as a folder and everything in it', async () => {
    mkdirSync(path.join(root, 'a/sub'), { recursive: true });
    writeFileSync(path.join(root, 'a/sub/x'), '');
    mkdirSync(path.join(root, 'b'), { recursive: true });
    writeFileSync(path.join(root, 'b/sub'), '');
    const excludes = async (glob: string) => {
      const { exclude } = await globFilter({ exclude: [glob] }, root, []);
      return ['sub', 'a/sub', 'a/sub/x', 'b/sub', 'a'].filter((file) => exclude?.(file));
    };
    // b/sub is a file.
    assert.deepEqual(await excludes('sub/'), ['sub', 'a/sub', 'a/sub/x']);
    assert.deepEqual(await excludes('s*/'), ['sub', 'a/sub', 'a/sub/x']);
    assert.deepEqual(await excludes('a/sub/'), ['a/sub', 'a/sub/x']);
    assert.deepEqual(await excludes('sub'), ['sub', 'a/sub', 'b/sub']);
    const { include } = await globFilter({ include: ['sub/'] }, root, []);
    assert.deepEqual(
      ['a/sub/x', 'b/sub', 'x'].map((file) => include?.(file)),
      [true, false, false],
    );
  });

  it('applies globs with and without skipped files', async () => {
    for (const skipped of [[], [path.join(root, 'x')]]) {
      const { exclude, include } = await globFilter({ exclude: ['*.nfo'], include: ['sub/**'] }, root, skipped);
      assert.deepEqual([exclude?.('a.nfo'), exclude?.('sub/x'), exclude?.('x')], [true, false, skipped.length === 1]);
      assert.deepEqual([include?.('sub/x'), include?.('x')], [true, false]);
    }
  });
});
