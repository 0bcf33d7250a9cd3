import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toHex } from '../../src/errors/errors.ts';
import { HashList, type HashSize } from '../../src/model/hash-list.ts';
import { noise } from '../hash/reference.ts';
import { runs } from '../support/runs.ts';

const hashes = (count: number, size: HashSize) =>
  Array.from({ length: count }, (_, i) => noise(count * size).subarray(i * size, (i + 1) * size));

const size = fc.constantFrom<HashSize>(20, 32);
const count = fc.nat(6);

describe('HashList', () => {
  it('is equal from packed bytes and from a list', () => {
    fc.assert(
      fc.property(size, count, (hashSize, length) => {
        const list = hashes(length, hashSize);
        const packed = Buffer.concat(list);
        for (const made of [new HashList(packed, hashSize), new HashList(list, hashSize)]) {
          assert.deepEqual(made.bytes, packed);
          assert.equal(made.length, length);
          assert.equal(made.hashSize, hashSize);
          assert.deepEqual([...made], list);
        }
      }),
    );
  });

  it('copies packed bytes and returns copies of them', () => {
    const packed = noise(64);
    const list = new HashList(packed, 32);
    for (const given of [packed, list.bytes, list.at(1), list.slice(1).bytes, ...list]) given?.fill(7);
    assert.deepEqual(list.bytes, noise(64));
    assert.notEqual(list.at(1)?.buffer, list.at(1)?.buffer);
  });

  it('rejects bytes that are not a whole number of hashes', () => {
    for (const [bytes, hashSize] of [
      [1, 20],
      [19, 20],
      [21, 20],
      [40, 32],
      [33, 32],
    ] as const) {
      assert.throws(() => new HashList(Buffer.alloc(bytes), hashSize), {
        code: 'ERR_INVALID_ARGUMENT',
        message: new RegExp(`^${bytes} bytes`),
      });
    }
  });

  it('rejects a hash of another size and names its index', () => {
    // Their total length is a whole number of hashes.
    const list = [Buffer.alloc(20), Buffer.alloc(19), Buffer.alloc(21)];
    assert.throws(() => new HashList(list, 20), { code: 'ERR_INVALID_ARGUMENT', message: /^Hash 1 has 19 bytes/ });
  });

  it('has at() like Array', () => {
    fc.assert(
      fc.property(size, count, fc.integer({ min: -9, max: 9 }), (hashSize, length, index) => {
        const list = hashes(length, hashSize);
        assert.deepEqual(new HashList(list, hashSize).at(index), list.at(index));
      }),
    );
  });

  const index = fc.oneof(
    fc.integer({ min: -9, max: 9 }),
    fc.constantFrom(undefined, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  );
  it('has slice() like Array', () => {
    fc.assert(
      fc.property(size, count, index, index, (hashSize, length, start, end) => {
        const list = hashes(length, hashSize);
        const slice = new HashList(list, hashSize).slice(start, end);
        assert.deepEqual([...slice], list.slice(start, end));
        assert.equal(slice.hashSize, hashSize);
      }),
      { numRuns: runs(500) },
    );
  });

  it('rounds an index toward zero like Array', () => {
    const list = hashes(3, 20);
    const made = new HashList(list, 20);
    for (const odd of [0.5, 1.9, -0.5, -1.5, Number.NaN]) {
      assert.deepEqual(made.at(odd), list.at(odd), `at(${odd})`);
      assert.deepEqual([...made.slice(odd)], list.slice(odd), `slice(${odd})`);
    }
  });

  it('gives hashes in hexadecimal', () => {
    const list = new HashList([Buffer.alloc(20, 0x0a), Buffer.alloc(20, 0xff)], 20);
    assert.equal(list.toHex(0), '0a'.repeat(20));
    assert.equal(list.toHex(-1), 'ff'.repeat(20));
    assert.equal(list.toHex(2), undefined);
    assert.equal(list.toHex(-3), undefined);
  });

  it('is empty for no bytes', () => {
    const list = new HashList([], 32);
    assert.deepEqual(
      [list.length, [...list], list.at(0), list.at(-1), list.slice().length],
      [0, [], undefined, undefined, 0],
    );
  });
});

describe('toHex', () => {
  it('converts only the bytes of a view, not of its whole buffer', () => {
    assert.equal(toHex(new Uint8Array([1, 2, 0xab, 4]).subarray(1, 3)), '02ab');
  });
});
