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

  it('ignores the letter case on demand, and otherwise tells what would match', async () => {
    const globs = { exclude: ['*.NFO', 'Sub/'], include: ['*.MKV'] };
    const { filter, unmatched } = await countingFilter(globs, root, []);
    for (const file of ['a.nfo', 'b.nfo', 'sub', 'c.mkv'])
      assert.deepEqual([filter.exclude?.(file), filter.include?.(file)], [false, false], file);
    assert.deepEqual(unmatched(), [
      { option: '--exclude', glob: '*.NFO', otherCase: 'a.nfo' },
      { option: '--exclude', glob: 'Sub/', otherCase: 'sub' },
      { option: '--include', glob: '*.MKV', otherCase: 'c.mkv' },
    ]);
    writeFileSync(path.join(folder, 'texts'), '*.Txt');
    const excludeFrom = [path.join(folder, 'texts')];
    const ignoring = await countingFilter({ ...globs, excludeFrom, ignoreCase: true }, root, []);
    const { exclude, include } = ignoring.filter;
    assert.deepEqual(
      [exclude?.('a.nfo'), exclude?.('sub/x'), exclude?.('x.tXT'), include?.('C.mkV')],
      [true, true, true, true],
    );
    assert.deepEqual(ignoring.unmatched(), []);
  });

  it('leaves out what the globs of files match, and never says that one of them is unmatched', async () => {
    writeFileSync(path.join(folder, 'shared'), '*.nfo\nnever\n');
    const { filter, unmatched } = await countingFilter({ excludeFrom: [path.join(folder, 'shared')] }, root, []);
    assert.deepEqual([filter.exclude?.('a.nfo'), filter.exclude?.('a.mkv'), filter.include], [true, false, undefined]);
    assert.deepEqual(unmatched(), []);
  });
});
