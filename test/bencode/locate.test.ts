import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type BencodePath, locate } from '../../src/bencode/locate.ts';
import type { BencodeValue } from '../../src/bencode/value.ts';
import { runs } from '../support/runs.ts';
import { withinCpu } from '../support/timing.ts';
import { bencodeValue, latin1, reference } from './reference.ts';

type Place = [path: (string | number)[], offset: number];

/** Where every value of a canonical encoding begins, by the lengths of what stands before it. */
function placesOf(value: BencodeValue, path: Place[0] = [], start = 0): Place[] {
  const places: Place[] = [[path, start]];
  // Skip the `l` or `d`.
  let at = start + 1;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      places.push(...placesOf(item, [...path, index], at));
      at += reference(item).length;
    }
  } else if (value instanceof Map) {
    // Keys have one character per byte, so this sorts by bytes.
    for (const [key, item] of [...value].sort(([a], [b]) => (a < b ? -1 : 1))) {
      at += reference(latin1(key)).length;
      places.push(...placesOf(item, [...path, key], at));
      at += reference(item).length;
    }
  }
  return places;
}

const offsetOf = (text: string, ...path: BencodePath) => locate(latin1(text), [path])[0];

describe('locate', () => {
  it('returns the offset of every value, in the order of the paths', () => {
    fc.assert(
      fc.property(bencodeValue, (value) => {
        const places = placesOf(value).reverse();
        const offsets = locate(
          reference(value),
          places.map(([path]) => path),
        );
        assert.deepEqual(
          offsets,
          places.map(([, offset]) => offset),
        );
      }),
      { numRuns: runs(500) },
    );
  });

  it('returns the offset of the deepest existing value for a missing path', () => {
    fc.assert(
      fc.property(bencodeValue, (value) => {
        const places = placesOf(value);
        for (const step of ['no such key', 1000]) {
          for (const beyond of [[step], [step, 0, 'a']]) {
            const paths = places.map(([path]) => [...path, ...beyond]);
            assert.deepEqual(
              locate(reference(value), paths),
              places.map(([, offset]) => offset),
            );
          }
        }
      }),
    );
  });

  it('finds nested values, and the same value twice', () => {
    const bytes = latin1('d1:ad1:bli1ei2eee1:ci3ee');
    const paths = [['a', 'b', 1], ['c'], [], ['a'], ['a', 'b'], ['c'], ['a', 'b', 0]];
    assert.deepEqual(locate(bytes, paths), [12, 20, 0, 4, 8, 20, 9]);
    assert.deepEqual(locate(bytes, []), []);
  });

  it('distinguishes the index 0 from the key 0', () => {
    assert.equal(offsetOf('ld1:0i7eee', 0, '0'), 5);
    assert.equal(offsetOf('ld1:0i7eee', 0, 0), 1);
    assert.equal(offsetOf('li7ee', '0'), 0);
  });

  it('skips strings that look like bencode', () => {
    assert.equal(offsetOf('d1:a5:d1:be1:bi1ee', 'b'), 14);
  });

  it('uses the first of two equal keys, as decode does', () => {
    assert.equal(offsetOf('d1:ai1e1:ai2ee', 'a'), 4);
    assert.equal(offsetOf('d1:ad1:bi1ee1:ad1:bi2eee', 'a', 'b'), 8);
  });

  it('stops at the end of the value', () => {
    assert.equal(offsetOf('lei7e'), 0);
  });

  it('reads views of larger buffers', () => {
    const whole = latin1('xxxxd1:ai1eexxxx');
    assert.deepEqual(locate(whole.subarray(4, 12), [['a']]), [4]);
  });

  it('finds 1,000 paths in a list of 100,000 entries in one pass', () => {
    const bytes = reference(Array.from({ length: 100_000 }, () => ({ length: 1 })));
    const paths = Array.from({ length: 1000 }, (_, i) => [i * 100, 'length']);
    const offsets = withinCpu(2, () => locate(bytes, paths));
    // After the `l`, each entry has 13 bytes, with `d6:length` before the value.
    assert.deepEqual(offsets.slice(0, 2), [1 + 9, 1 + 100 * 13 + 9]);
  });
});
