import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { componentsWithin, isWithin } from '../../src/disk/path-within.ts';

describe('componentsWithin', () => {
  const cases: [folder: string, target: string, components: string[] | null][] = [
    ['/a', '/a', []],
    ['/a/', '/a/b/c', ['b', 'c']],
    ['/', '/a', ['a']],
    ['/a', '/a/..b', ['..b']],
    ['/a', '/ab', null],
    ['/a/b', '/a', null],
    ['/a/b', '/a/c', null],
  ];
  for (const [folder, target, components] of cases) {
    it(`${components ? `gives [${components.join(', ')}]` : 'gives null'} for ${target} in ${folder}`, () => {
      assert.deepEqual(componentsWithin(folder, target, path.posix), components);
      assert.equal(isWithin(folder, target, path.posix), components !== null);
    });
  }

  it('gives null for a path on another drive', () => {
    assert.equal(componentsWithin('C:\\a', 'D:\\a\\b', path.win32), null);
    assert.deepEqual(componentsWithin('C:\\a', 'C:\\a\\b', path.win32), ['b']);
  });
});
