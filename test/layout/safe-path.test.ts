import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unsafeComponent } from '../../src/layout/safe-path.ts';

describe('unsafeComponent', () => {
  it('tells why a name is no component', () => {
    const reasons: [name: string, reason: RegExp][] = [
      ['', /empty/],
      ['.', /\./],
      ['..', /\.\./],
      ['a/b', /slash/],
      ['/', /slash/],
      ['../x', /slash/],
      ['a\0b', /NUL/],
    ];
    for (const [name, reason] of reasons)
      assert.match(unsafeComponent(name) ?? 'accepted', reason, JSON.stringify(name));
  });

  it('accepts any other', () => {
    for (const name of ['a', '...', '.a', 'a.', ' ', 'a\\b', 'C:', 'é', '😀', '\n']) {
      assert.equal(unsafeComponent(name), null, JSON.stringify(name));
    }
  });
});
