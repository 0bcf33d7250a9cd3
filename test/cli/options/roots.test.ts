import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { rootAndPaths } from '../../../src/cli/options/roots.ts';

describe('rootAndPaths', () => {
  it('takes a single path as the root', () => {
    assert.deepEqual(rootAndPaths(['/a/b'], path.posix), { pathRoot: '/a/b' });
    assert.deepEqual(rootAndPaths(['C:\\a\\b'], path.win32), { pathRoot: 'C:\\a\\b' });
  });

  for (const [paths, pathRoot] of [
    [['/a/b', '/a/c'], '/a'],
    [['/a/b', '/ab'], '/'],
    [['/a/b', '/a/..b'], '/a'],
    [['/a/b', '/a/b/c'], '/a'],
  ] as const) {
    it(`finds the common folder of ${paths.join(' and ')}`, () => {
      assert.deepEqual(rootAndPaths(paths, path.posix), { pathRoot, paths });
    });
  }

  for (const [paths, pathRoot] of [
    [['C:\\a\\b', 'C:\\a\\c\\d'], 'C:\\a'],
    // Windows paths ignore case.
    [['C:\\Data\\a', 'c:\\data\\b'], 'C:\\Data'],
    [['C:\\a', 'C:\\b'], 'C:\\'],
    [['\\\\server\\share\\a', '\\\\server\\share\\b'], '\\\\server\\share\\'],
  ] as const) {
    it(`finds the common folder of ${paths.join(' and ')} on Windows`, () => {
      assert.deepEqual(rootAndPaths(paths, path.win32), { pathRoot, paths });
    });
  }

  it('rejects paths on different Windows drives', () => {
    assert.throws(() => rootAndPaths(['C:\\a', 'C:\\b', 'D:\\b'], path.win32), {
      code: 'ERR_PATH_OUTSIDE',
      path: 'D:\\b',
    });
  });
});
