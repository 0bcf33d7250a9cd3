import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearest } from '../../src/errors/guard.ts';
import { TORRENT } from '../../src/model/codec.ts';
import { decoded } from './decoded-fields.ts';

describe('decodeFields with unknown keys', () => {
  it('warns of a key that is one letter off a known key', () => {
    assert.deepEqual(decoded({ anounce: 'a', 'creation dat': 1 }, TORRENT).issues, [
      ['misspelled', 'anounce'],
      ['misspelled', 'creation dat'],
    ]);
  });

  it('does not warn if the known key is present too, or if the key is further off', () => {
    assert.deepEqual(decoded({ announce: 'a', anounce: 'a', commentary: 'a' }, TORRENT).issues, []);
  });
});

describe('nearest', () => {
  it('finds the name that differs by a letter changed, missing, added or swapped', () => {
    for (const key of ['pieves', 'piees', 'pieeces', 'ipeces', 'pieces2', 'ieces']) {
      assert.equal(nearest(key, ['length', 'pieces']), 'pieces', key);
    }
    for (const key of ['pieces', 'piecs2', 'pceies', 'piec', ''])
      assert.equal(nearest(key, ['pieces']), undefined, key);
  });
});
