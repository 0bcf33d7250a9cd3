import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { saysFolder } from '../../src/cli/target.ts';

describe('target of an output', () => {
  it('says by its end that it is a folder', () => {
    for (const [output, posix, win32] of [
      ['a/', true, true],
      ['a\\', false, true],
      ['a', false, false],
      ['', false, false],
    ] as const) {
      assert.equal(saysFolder(output, path.posix), posix);
      assert.equal(saysFolder(output, path.win32), win32);
    }
  });
});
