import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { rootAndPaths } from '../../src/cli/roots.ts';

describe('roots of a creation', () => {
  it('one path is the root itself', () => {
    assert.deepEqual(rootAndPaths(['/a/b'], path.posix), { pathRoot: '/a/b' });
    assert.deepEqual(rootAndPaths(['C:\\a\\b'], path.win32), { pathRoot: 'C:\\a\\b' });
  });

  for (const [paths, pathRoot] of [
    [['/a/b', '/a/c'], '/a'],
    [['/a/b', '/ab'], '/'],
    [['/a/b', '/a/..b'], '/a'],
    [['/a/b', '/a/b/c'], '/a'],
  ] as const) {
    it(`of ${paths.join(' and ')}: the folder that they share`, () => {
      assert.deepEqual(rootAndPaths(paths, path.posix), { pathRoot, paths });
    });
  }

  for (const [paths, pathRoot] of [
    [['C:\\a\\b', 'C:\\a\\c\\d'], 'C:\\a'],
    // Any case of letters is the same folder.
    [['C:\\Data\\a', 'c:\\data\\b'], 'C:\\Data'],
    [['C:\\a', 'C:\\b'], 'C:\\'],
    [['\\\\server\\share\\a', '\\\\server\\share\\b'], '\\\\server\\share\\'],
  ] as const) {
    it(`on Windows, of ${paths.join(' and ')}`, () => {
      assert.deepEqual(rootAndPaths(paths, path.win32), { pathRoot, paths });
    });
  }

  it('on Windows, different drives share none', () => {
    assert.throws(() => rootAndPaths(['C:\\a', 'C:\\b', 'D:\\b'], path.win32), {
      code: 'ERR_PATH_OUTSIDE',
      path: 'D:\\b',
    });
  });
});
