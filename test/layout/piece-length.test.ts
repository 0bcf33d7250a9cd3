import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  checkPieceLength,
  choosePieceLength,
  isPowerOfTwo,
  MAX_AUTO_PIECE_LENGTH,
  MAX_PIECE_LENGTH,
  MIN_AUTO_PIECE_LENGTH,
} from '../../src/layout/piece-length.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const GIB = KIB * MIB;

describe('choosePieceLength', () => {
  // The most content that 2,000 pieces of each length hold; one byte more needs the next length.
  const borders: [atMost: number, pieceLength: number][] = [
    [31.25 * MIB, 16 * KIB],
    [62.5 * MIB, 32 * KIB],
    [125 * MIB, 64 * KIB],
    [250 * MIB, 128 * KIB],
    [500 * MIB, 256 * KIB],
    [1000 * MIB, 512 * KIB],
    [2000 * MIB, MIB],
    [4000 * MIB, 2 * MIB],
    [8000 * MIB, 4 * MIB],
    [16_000 * MIB, 8 * MIB],
    [32_000 * MIB, 16 * MIB],
  ];
  it('chooses the smallest length with at most 2,000 pieces', () => {
    for (const [index, [atMost, pieceLength]] of borders.entries()) {
      assert.equal(choosePieceLength(atMost), pieceLength, `${atMost}`);
      assert.equal(choosePieceLength(atMost + 1), borders[index + 1]?.[1] ?? 16 * MIB, `${atMost} + 1`);
    }
  });

  it('stays between 16 KiB and 16 MiB', () => {
    for (const size of [0, 1, 16 * KIB, MIB]) assert.equal(choosePieceLength(size), 16 * KIB);
    for (const size of [100 * GIB, 10 ** 15, Number.MAX_SAFE_INTEGER]) assert.equal(choosePieceLength(size), 16 * MIB);
    assert.deepEqual([MIN_AUTO_PIECE_LENGTH, MAX_AUTO_PIECE_LENGTH], [16 * KIB, 16 * MIB]);
  });

  it('gives 1,000 to 2,000 pieces from 16 MiB to 31 GiB, always a power of two', () => {
    fc.assert(
      fc.property(fc.integer({ min: 16 * MIB, max: 31 * GIB }), (size) => {
        const pieceLength = choosePieceLength(size);
        const pieces = Math.ceil(size / pieceLength);
        assert.ok(pieces >= 1000 && pieces <= 2000, `${pieces} pieces`);
        assert.equal(BigInt(pieceLength) & (BigInt(pieceLength) - 1n), 0n);
      }),
    );
  });

  it('never shrinks as the size grows', () => {
    const size = fc.oneof(fc.maxSafeNat(), fc.nat(64 * GIB));
    fc.assert(
      fc.property(size, size, (a, b) => {
        assert.ok(choosePieceLength(Math.min(a, b)) <= choosePieceLength(Math.max(a, b)));
      }),
    );
  });
});

describe('checkPieceLength', () => {
  it('returns a valid piece length', () => {
    for (const length of [1, 2, 1024, 16 * KIB, MIB, MAX_PIECE_LENGTH])
      assert.equal(checkPieceLength(length, 'v1'), length);
    for (const version of ['v2', 'hybrid'] as const) {
      for (const length of [16 * KIB, 32 * KIB, MAX_PIECE_LENGTH])
        assert.equal(checkPieceLength(length, version), length);
    }
  });

  it('rejects a length that is not a power of two', () => {
    const values = [0, -1, -16384, 3, 16383, 16385, 40_000, 0.5, 2 ** 30 + 1, Number.NaN, Number.POSITIVE_INFINITY];
    for (const value of [...values, '16384', 16384n, null, undefined, {}]) {
      for (const version of ['v1', 'v2', 'hybrid'] as const) {
        assert.throws(
          () => checkPieceLength(value, version),
          { code: 'ERR_PIECE_LENGTH', message: /power of two/ },
          String(value),
        );
      }
    }
  });

  it('rejects less than a block in v2 and hybrid, and names the value', () => {
    for (const version of ['v2', 'hybrid'] as const) {
      for (const length of [1, 8 * KIB]) {
        const error = { code: 'ERR_PIECE_LENGTH', message: new RegExp(`${version}.*16384.*not ${length}\\b`) };
        assert.throws(() => checkPieceLength(length, version), error);
      }
    }
  });

  it('rejects more than 2 GiB', () => {
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      for (const length of [2 ** 32, 2 ** 52]) {
        assert.throws(() => checkPieceLength(length, version), { code: 'ERR_PIECE_LENGTH', message: /2 GiB/ });
      }
    }
  });
});

describe('isPowerOfTwo', () => {
  it('accepts every power of two that is a safe integer', () => {
    for (let exponent = 0; exponent < 53; exponent += 1) assert.ok(isPowerOfTwo(2 ** exponent), `2^${exponent}`);
  });

  it('rejects their neighbours', () => {
    for (let exponent = 2; exponent < 53; exponent += 1) {
      assert.ok(!isPowerOfTwo(2 ** exponent - 1), `2^${exponent} - 1`);
      assert.ok(!isPowerOfTwo(2 ** exponent + 1), `2^${exponent} + 1`);
    }
  });

  it('rejects anything but safe integers above 0', () => {
    for (const value of [0, -1, -2, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, 4n, '4', null, undefined]) {
      assert.ok(!isPowerOfTwo(value), String(value));
    }
  });
});
