import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { autoPartSize, rangesOf, splitIntoParts, wholePartSize } from '../../src/parts/split-into-parts.ts';
import { runs } from '../support/runs.ts';

const KIB = 1024;
const shape = fc
  .record({
    version: fc.constantFrom('v1' as const, 'v2' as const, 'hybrid' as const),
    pieceLength: fc.constantFrom(16 * KIB, 64 * KIB, 256 * KIB),
    lengths: fc.array(fc.oneof(fc.constantFrom(0, 1, 16 * KIB, 64 * KIB), fc.nat(900 * KIB)), {
      minLength: 1,
      maxLength: 30,
    }),
    padded: fc.nat(30),
    size: fc.integer({ min: 1, max: 2 ** 20 }),
  })
  .map(({ padded, size, ...rest }) => ({
    ...rest,
    // A hybrid has all files padded, perhaps apart from the last one.
    paddedFiles: rest.version === 'v1' ? Math.min(padded, rest.lengths.length) : rest.lengths.length - (padded % 2),
    partSize: wholePartSize(size, rest.pieceLength),
  }));

describe('splitIntoParts', () => {
  it('covers every byte once and in order, in parts that begin with a piece', () => {
    const property = fc.property(shape, (given) => {
      const { version, pieceLength, lengths, paddedFiles, partSize } = given;
      const table = splitIntoParts(given);
      const next = lengths.map(() => 0);
      let file = 0;
      /** Where each file begins among the pieces. */
      const starts = [0];
      for (const [i, length] of lengths.entries()) {
        const end = (starts[i] as number) + length;
        const isPadded = version === 'v2' || i < paddedFiles;
        starts.push(isPadded ? Math.ceil(end / pieceLength) * pieceLength : end);
      }
      for (let part = 0; part < table.count; part += 1) {
        const ranges = [...rangesOf({ parts: table, lengths }, part)];
        const [first] = ranges;
        assert.ok(first, 'a part is not empty');
        const position = (starts[first.file] as number) + first.offset;
        assert.equal(position % pieceLength, 0);
        if (table.pieces) assert.equal(table.pieces[part], position / pieceLength);
        if (version !== 'v1') assert.equal(first.offset % pieceLength, 0);
        const bytes = ranges.reduce((sum, { length }) => sum + length, 0);
        assert.ok(bytes < partSize + pieceLength, `${bytes} bytes`);
        for (const { file: index, offset, length } of ranges) {
          assert.ok(index >= file && length >= 0);
          file = index;
          assert.equal(offset, next[index]);
          next[index] = offset + length;
        }
      }
      assert.deepEqual(next, lengths);
      assert.equal(table.files.length, table.count + 1);
      if (table.pieces) assert.equal(table.pieces.at(-1), Math.ceil((starts.at(-1) as number) / pieceLength));
    });
    fc.assert(property, { numRuns: runs(2000) });
  });

  it('splits a single file into equal parts', () => {
    const base = { version: 'v2' as const, pieceLength: 2 ** 20, paddedFiles: 0, partSize: 2 ** 29 };
    for (const [gib, count] of [
      [6, 12],
      [6.25, 13],
      [0.1, 1],
    ] as const)
      assert.equal(splitIntoParts({ ...base, lengths: [gib * 2 ** 30] }).count, count);
  });

  it('refuses more parts than a plan says, and more parts or pieces than a plan may have', () => {
    const base = { version: 'v2' as const, pieceLength: 16 * KIB, paddedFiles: 0, partSize: 16 * KIB };
    const lengths = [2 ** 32];
    for (const most of [2 ** 18, 2 ** 18 + 1]) assert.equal(splitIntoParts({ ...base, lengths }, most).count, 2 ** 18);
    for (const most of [1, 2 ** 18 - 1])
      assert.throws(() => splitIntoParts({ ...base, lengths }, most), { code: 'ERR_TOO_LARGE', message: /parts/ });
    assert.equal(splitIntoParts({ ...base, lengths: [2 ** 34] }).count, 2 ** 20);
    for (const length of [2 ** 34 + 1, 2 ** 40, 2 ** 41, 2 ** 53 - 1])
      assert.throws(() => splitIntoParts({ ...base, lengths: [length] }), { code: 'ERR_TOO_LARGE' });
  });

  it('counts short files as 16 KiB, so that no part has millions of them', () => {
    const lengths = new Float64Array(100_000);
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      const given = { version, pieceLength: 16 * KIB, lengths, paddedFiles: 0, partSize: 2 ** 20 };
      const table = splitIntoParts(given);
      assert.equal(table.count, Math.ceil(100_000 / 64));
    }
  });
});

describe('wholePartSize', () => {
  it('rounds up to whole pieces', () => {
    assert.deepEqual(
      [1, 16 * KIB, 16 * KIB + 1, 100 * KIB].map((size) => wholePartSize(size, 16 * KIB) / KIB),
      [16, 16, 32, 112],
    );
  });
});

describe('the part size auto', () => {
  const [MIB, GIB, TIB] = [2 ** 20, 2 ** 30, 2 ** 40];
  /** The parts of one file. */
  const partsOf = (length: number, workers?: number, pieceLength = 16 * MIB) => {
    const partSize = autoPartSize({ pieceLength, lengths: [length], workers });
    return splitIntoParts({ version: 'v2', pieceLength, lengths: [length], paddedFiles: 0, partSize }).count;
  };

  it('makes parts of about equal size: at least 512 MiB, and at most 4,096', () => {
    for (const [bytes, parts] of [
      [1, 1],
      [700 * MIB, 1],
      [800 * MIB, 2],
      [GIB, 2],
      [4 * GIB, 8],
      [100 * GIB, 200],
      [TIB, 2048],
      [4 * TIB, 4096],
      [50 * TIB, 4096],
    ] as const)
      assert.equal(partsOf(bytes), parts, `${bytes} bytes`);
  });

  it('makes fewer parts for few workers, and more for many', () => {
    assert.deepEqual(
      [1, 16, 64, 4000].map((workers) => partsOf(TIB, workers)),
      [128, 512, 1024, 2048],
    );
    assert.equal(partsOf(TIB), partsOf(TIB, 256), 'the default');
  });

  it('always gives parts that a plan may have, none of them small but the last', () => {
    const property = fc.property(
      fc.record({
        pieceLength: fc.constantFrom(16 * KIB, MIB, 16 * MIB, 64 * MIB),
        lengths: fc.array(fc.oneof(fc.constantFrom(0, 1, GIB), fc.nat(40 * GIB)), { minLength: 1, maxLength: 30 }),
        workers: fc.constantFrom(undefined, 1, 7, 1000, 2 ** 40),
      }),
      ({ pieceLength, lengths, workers }) => {
        const partSize = autoPartSize({ pieceLength, lengths, workers });
        assert.ok(Number.isSafeInteger(partSize) && partSize % pieceLength === 0 && partSize >= pieceLength);
        const total = lengths.reduce((sum, length) => sum + length, 0);
        if (total >= 512 * MIB) assert.ok(partSize >= 340 * MIB, String(partSize));
      },
    );
    fc.assert(property, { numRuns: runs(300) });
  });

  it('counts the files that are shorter than a block', () => {
    const lengths = new Float64Array(2 ** 20).fill(1);
    const partSize = autoPartSize({ pieceLength: 16 * KIB, lengths });
    const { count } = splitIntoParts({ version: 'v2', pieceLength: 16 * KIB, lengths, paddedFiles: 0, partSize });
    assert.equal(count, 32);
  });
});
