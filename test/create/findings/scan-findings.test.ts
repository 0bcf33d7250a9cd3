import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkFindings } from '../../../src/create/findings/scan-findings.ts';
import type { LaidOutFile } from '../../../src/create/torrent-layout.ts';
import { FileTable } from '../../../src/layout/file-table.ts';

/** The paths of the links that lead to nothing, among files and links (`path > target`). */
function lost(...names: string[]): (string | null)[] {
  const files = names.map((name): LaidOutFile => {
    const [path = '', target] = name.split(' > ');
    return {
      path: path.split('/'),
      length: 0,
      data: new Uint8Array(0),
      ...(target !== undefined && { symlinkPath: target.split('/'), attr: 'l' }),
    };
  });
  return linkFindings(new FileTable(files)).map(({ path }) => path);
}

describe('linkFindings', () => {
  it('finds links whose target the torrent lacks', () => {
    assert.deepEqual(lost('a', 'l > a', 'm > b', 'd/n > a', 'd/o > d/b'), ['m', 'd/o']);
    assert.deepEqual(lost('a', 'b/c'), []);
  });

  it('accepts folders, and follows links to links and links in the path of a target', () => {
    assert.deepEqual(lost('d/e/a', 'l > d', 'm > d/e', 'n > l/e/a', 'o > n', 'p > m/a'), []);
    assert.deepEqual(lost('d/a', 'l > d', 'm > l/b', 'n > m'), ['m', 'n']);
    assert.deepEqual(lost('ab/c', 'l > a'), ['l']);
  });

  it('ends for links in a circle, and lists at most 100', () => {
    assert.deepEqual(lost('a > b', 'b > a').length <= 2, true);
    const many = lost(...Array.from({ length: 150 }, (_, i) => `l${i} > missing`));
    assert.deepEqual([many.length, many[0], many.at(-1)], [101, 'l0', null]);
  });
});
