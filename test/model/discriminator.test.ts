import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { infodictDiscriminator } from '../../src/model/discriminator.ts';

describe('infodictDiscriminator', () => {
  const cases: [keys: string[], version: string | null][] = [
    [['pieces'], 'v1'],
    [['file tree'], 'v2'],
    [['pieces', 'file tree'], 'hybrid'],
    [['name', 'piece length', 'length', 'meta version'], null],
    [[], null],
  ];
  for (const [keys, version] of cases) {
    it(`returns ${version} for ${keys.join(' and ') || 'no key'} with values of any type`, () => {
      const entries = keys.map((key) => [key, 0] as const);
      assert.equal(infodictDiscriminator(new Map(entries)), version);
      assert.equal(infodictDiscriminator(Object.fromEntries(entries)), version);
    });
  }

  it('accepts property names', () => {
    assert.equal(infodictDiscriminator({ fileTree: 1 }), 'v2');
    assert.equal(infodictDiscriminator({ fileTree: 1, pieces: 1 }), 'hybrid');
  });

  it('ignores inherited keys', () => {
    assert.equal(infodictDiscriminator(Object.create({ pieces: 1 })), null);
  });

  it('returns null for a value that is not a dictionary', () => {
    for (const value of [null, undefined, 1, 'pieces', ['pieces'], Buffer.from('pieces')]) {
      assert.equal(infodictDiscriminator(value), null);
    }
  });

  it('accepts keys that are bytes, and reads null and undefined as absent', () => {
    const bytes = (...names: string[]) => new Map(names.map((name) => [Buffer.from(name), Buffer.from('x')]));
    assert.equal(infodictDiscriminator(bytes('pieces')), 'v1');
    assert.equal(infodictDiscriminator(bytes('file tree')), 'v2');
    assert.equal(infodictDiscriminator(bytes('file tree', 'name', 'pieces')), 'hybrid');
    assert.equal(infodictDiscriminator(bytes('name')), null);
    assert.equal(infodictDiscriminator({ pieces: undefined }), null);
    assert.equal(infodictDiscriminator({ pieces: 'x', fileTree: null }), 'v1');
    assert.equal(infodictDiscriminator(new Map([['pieces', undefined]])), null);
  });
});
