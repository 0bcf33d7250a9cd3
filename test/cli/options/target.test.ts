import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { endsWithSlash } from '../../../src/cli/options/target.ts';

describe('endsWithSlash', () => {
  it('recognizes the path of a folder by its separator', () => {
    for (const [output, posix, win32] of [
      ['a/', true, true],
      ['a\\', false, true],
      ['a', false, false],
      ['', false, false],
    ] as const) {
      assert.equal(endsWithSlash(output, path.posix), posix);
      assert.equal(endsWithSlash(output, path.win32), win32);
    }
  });
});
