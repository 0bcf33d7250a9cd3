import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { is, type Struct } from 'superstruct';
import { shown } from '../../src/errors/errors.ts';
import { HashList } from '../../src/model/hash-list.ts';
import { ByteLength, hashList, Timestamp, V1PieceLength, V2PieceLength } from '../../src/model/primitives.ts';

function check<T>(struct: Struct<T, null>, accepted: unknown[], refused: unknown[]): void {
  for (const value of accepted) assert.ok(is(value, struct), `${value} was refused`);
  for (const value of refused) assert.ok(!is(value, struct), `${value} was accepted`);
}

describe('the structs of values', () => {
  it('accept byte lengths from 0', () => {
    check(ByteLength, [0, 1, Number.MAX_SAFE_INTEGER], [-1, 1.5, 2 ** 53, 1n, '1', null, undefined]);
  });

  it('accept a power of two as the piece length of v1', () => {
    check(V1PieceLength, [1, 1024, 16_384, 2 ** 24], [0, 3, 24_576, -16_384, null, '16384']);
  });

  it('accept a power of two from 16 KiB as the piece length of v2', () => {
    check(V2PieceLength, [16_384, 32_768, 2 ** 24], [0, 1, 8192, 24_576, null]);
  });

  it('accept a HashList of the right hash size', () => {
    const [v1, v2] = [new HashList([], 20), new HashList([], 32)];
    check(hashList(20), [v1], [v2, Buffer.alloc(20), null]);
    check(hashList(32), [v2], [v1, [Buffer.alloc(32)], undefined]);
  });

  it('accept a valid Date', () => {
    check(Timestamp, [new Date(0), new Date(-1)], [new Date(Number.NaN), 0, '2020-01-01', null]);
  });
});

describe('shown', () => {
  it('formats any value for a message', () => {
    const values: [value: unknown, text: string][] = [
      [undefined, 'nothing'],
      [null, 'null'],
      [7, '7'],
      [7n, '7'],
      [true, 'true'],
      ['a"\n', '"a\\"\\n"'],
      [Buffer.alloc(3), '3 bytes'],
      [new Map(), 'a dictionary'],
      [[1, 2], 'a list of 2'],
    ];
    for (const [value, text] of values) assert.equal(shown(value), text);
  });

  it('cuts the text at 80 characters', () => {
    assert.equal(shown('x'.repeat(78)).length, 80);
    assert.equal(shown('x'.repeat(1000)).length, 80);
    assert.match(shown('x'.repeat(1000)), /\.\.\.$/);
  });
});
