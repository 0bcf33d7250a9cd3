import assert from 'node:assert/strict';
import os from 'node:os';
import { afterEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { shown } from '../../src/errors/errors.ts';
import {
  checkedResources,
  DEFAULT_MEMORY_PER_THREAD,
  layerCount,
  MAX_THREADS,
  processLimits,
} from '../../src/hash/hash-request.ts';

const KIB = 1024;
const MIB = 2 ** 20;
const CORES = 4;

describe('checkedResources', () => {
  it('defaults to one thread, reads of 1 MiB for v2 and 128 KiB otherwise, and 64 MiB a thread', () => {
    const absent = { threads: undefined, readSize: undefined, memoryLimit: undefined };
    for (const given of [{}, absent, { readSize: null, memoryLimit: null }]) {
      assert.deepEqual(checkedResources(given, 'v2', CORES), { threads: 1, readSize: MIB, memoryLimit: 64 * MIB });
      for (const version of ['v1', 'hybrid'] as const) {
        const expected = { threads: 1, readSize: 128 * KIB, memoryLimit: 64 * MIB };
        assert.deepEqual(checkedResources(given, version, CORES), expected);
      }
    }
    assert.equal(DEFAULT_MEMORY_PER_THREAD, 64 * MIB);
    assert.equal(checkedResources({ threads: 3 }, 'v1', CORES).memoryLimit, 192 * MIB);
  });

  it('uses every core for null', () => {
    assert.equal(checkedResources({ threads: null }, 'v2', CORES).threads, CORES);
    assert.equal(checkedResources({ threads: null }, 'v2', 1).threads, 1);
  });

  it('uses the given values', () => {
    const given = { threads: 3, readSize: 32 * KIB, memoryLimit: 100 * KIB };
    assert.deepEqual(checkedResources(given, 'v2', CORES), given);
  });

  const readSizes: [threads: number, memoryLimit: number, readSize: number][] = [
    [1, 16 * KIB, 16 * KIB],
    [1, 32 * KIB - 1, 16 * KIB],
    [1, 48 * KIB, 32 * KIB],
    [2, 48 * KIB, 16 * KIB],
    [4, 64 * KIB, 16 * KIB],
    [8, MIB, 128 * KIB],
    [64, 64 * MIB, MIB],
    [65, 64 * MIB, 512 * KIB],
    [MAX_THREADS, 16 * KIB, 16 * KIB],
    [1, 2 ** 48, MIB],
  ];
  for (const [threads, memoryLimit, readSize] of readSizes) {
    it(`lets ${threads} threads in ${memoryLimit} bytes read ${readSize} at once`, () => {
      assert.equal(checkedResources({ threads, memoryLimit }, 'v2', CORES).readSize, readSize);
      // Sixteen pieces are read side by side.
      const sliced = checkedResources({ threads, memoryLimit: memoryLimit * 16 }, 'hybrid', CORES).readSize;
      assert.equal(sliced, Math.min(readSize, 128 * KIB));
    });
  }

  it('chooses the largest read that gives every thread a buffer, or the least for fewer threads', () => {
    const resources = fc.record({
      threads: fc.integer({ min: 1, max: MAX_THREADS }),
      memoryLimit: fc.oneof(fc.integer({ min: 16 * KIB, max: 2 * MIB }), fc.integer({ min: 16 * KIB, max: 2 ** 31 })),
    });
    fc.assert(
      fc.property(resources, (given) => {
        const { threads, readSize, memoryLimit } = checkedResources(given, 'v2', CORES);
        assert.deepEqual([threads, memoryLimit], [given.threads, given.memoryLimit]);
        assert.ok(readSize <= memoryLimit && readSize >= 16 * KIB && readSize <= MIB);
        assert.ok(Number.isInteger(Math.log2(readSize)));
        if (readSize > 16 * KIB) assert.ok(readSize * threads <= memoryLimit);
        if (readSize < MIB) assert.ok(2 * readSize * threads > memoryLimit);
      }),
    );
  });

  const refused: [option: string, values: unknown[]][] = [
    ['threads', [0, -1, 1.5, MAX_THREADS + 1, Number.NaN, Number.POSITIVE_INFINITY, '2']],
    ['memoryLimit', [0, 16 * KIB - 1, -MIB, 1.5 * MIB + 0.5, Number.NaN, Number.POSITIVE_INFINITY, '16384']],
    ['readSize', [0, 1, 8 * KIB, 16 * KIB + 1, 48 * KIB, -16 * KIB, Number.NaN, '16384']],
  ];
  for (const [option, values] of refused) {
    it(`rejects an invalid ${option} and names it`, () => {
      for (const value of values) {
        const error = {
          code: 'ERR_INVALID_ARGUMENT',
          message: new RegExp(`^${option} must be .*, not ${shown(value)}`),
        };
        assert.throws(() => checkedResources({ [option]: value }, 'v2', CORES), error, String(value));
      }
    });
  }

  it('rejects a read that is larger than the memory limit', () => {
    const resources = { readSize: 64 * KIB, memoryLimit: 64 * KIB };
    assert.deepEqual(checkedResources(resources, 'v2', CORES), { threads: 1, ...resources });
    assert.throws(() => checkedResources({ readSize: 64 * KIB, memoryLimit: 64 * KIB - 1 }, 'v2', CORES), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /readSize .*memoryLimit/,
    });
    assert.throws(() => checkedResources({ readSize: 128 * MIB }, 'v2', CORES), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

describe('processLimits', () => {
  const before = processLimits();
  afterEach(() => processLimits(before));

  it('defaults to a thread a core and 64 MiB each', () => {
    const cores = os.availableParallelism();
    assert.deepEqual(before, { threads: cores, memory: cores * 64 * MIB });
  });

  it('changes the given limits, and returns those that hold', () => {
    assert.deepEqual(processLimits({ threads: 7 }), { ...before, threads: 7 });
    assert.deepEqual(processLimits({ memory: 2 ** 40 }), { threads: 7, memory: 2 ** 40 });
    assert.deepEqual(processLimits(), { threads: 7, memory: 2 ** 40 });
  });

  const refused: [limit: string, values: unknown[]][] = [
    ['threads', [0, -1, 1.5, MAX_THREADS + 1, Number.NaN, null, '2']],
    ['memory', [0, 16 * KIB - 1, -MIB, Number.POSITIVE_INFINITY, 2 ** 53, null, '16384']],
  ];
  for (const [limit, values] of refused) {
    it(`rejects an invalid ${limit}, names it and changes nothing`, () => {
      for (const value of values) {
        const error = {
          code: 'ERR_INVALID_ARGUMENT',
          message: new RegExp(`^${limit} must be .*, not ${shown(value)}`),
        };
        assert.throws(() => processLimits({ [limit]: value }), error, String(value));
      }
      assert.deepEqual(processLimits(), before);
    });
  }
});

describe('layerCount', () => {
  it('is the number of pieces of a file that is longer than a piece', () => {
    const counts: [length: number, count: number][] = [
      [0, 0],
      [1, 0],
      [16, 0],
      [17, 2],
      [32, 2],
      [33, 3],
    ];
    const path = Buffer.from('a');
    for (const [length, count] of counts) assert.equal(layerCount({ path, length }, 16), count, `${length} bytes`);
  });

  it('is 0 for a pad file', () => assert.equal(layerCount({ path: null, length: 100 }, 16), 0));
});
