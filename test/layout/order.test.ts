import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { comparePathsV1, comparePathsV2, sortV1, sortV2 } from '../../src/layout/order.ts';
import { runs } from '../support/runs.ts';

// Names whose order depends on the comparison: by component or joined, by UTF-16 or UTF-8, with or without case.
const name = fc.constantFrom('a', 'A', 'a-b', 'a.txt', 'b', 'Z', 'aa', 'é', 'É', '\u{e000}', '\u{1f600}', '.x', '_');
const path = fc.array(name, { minLength: 1, maxLength: 4 });
const paths = fc.uniqueArray(path, { maxLength: 12, selector: (parts) => parts.join('/') });

const files = (...names: string[]) => names.map((one) => ({ path: one.split('/') }));
const joined = (list: { path: readonly string[] }[]) => list.map((file) => file.path.join('/'));

describe('comparePathsV2', () => {
  it('compares component by component, not the joined path', () => {
    assert.ok('a-b/x' < 'a/x');
    assert.deepEqual(joined(sortV2(files('a-b/x', 'a/x', 'a.txt', 'a/b/c'))), ['a/b/c', 'a/x', 'a-b/x', 'a.txt']);
  });

  it('compares UTF-8 bytes, upper case first', () => {
    const sorted = ['B', 'Z/a', 'a', 'é', '\u{e000}', '\u{1f600}'];
    assert.deepEqual(joined(sortV2(files(...sorted.toReversed()))), sorted);
  });

  it('orders paths by the bytes of their components', () => {
    // No component contains a NUL, so it sorts the end of a component before any byte.
    const bytes = (parts: readonly string[]) => Buffer.from(parts.map((part) => `${part}\0`).join(''));
    fc.assert(
      fc.property(path, path, (a, b) => {
        assert.equal(Math.sign(comparePathsV2(a, b)), Buffer.compare(bytes(a), bytes(b)));
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('comparePathsV1', () => {
  it('puts files at the top level first, then all others, both by lower-cased path', () => {
    const sorted = ['B', 'c', 'Z', 'a/b', 'A/c', 'a/D', 'b/a'];
    assert.deepEqual(joined(sortV1(files(...sorted.toReversed()))), sorted);
  });

  it('compares joined paths', () => {
    assert.deepEqual(joined(sortV1(files('a/x', 'a-b/x'))), ['a-b/x', 'a/x']);
  });

  it('orders paths that differ only in case by bytes', () => {
    const sorted = ['README', 'ReadMe', 'readme', 'DIR/a', 'dir/A', 'dir/a'];
    assert.deepEqual(joined(sortV1(files(...sorted.toReversed()))), sorted);
    assert.deepEqual(joined(sortV1(files('é', 'É'))), ['É', 'é']);
  });

  it('orders the lower-cased bytes within each group', () => {
    fc.assert(
      fc.property(paths, (given) => {
        const sorted = sortV1(given.map((one) => ({ path: one })));
        const top = sorted.filter((file) => file.path.length === 1);
        assert.deepEqual(sorted.slice(0, top.length), top);
        for (const group of [top, sorted.slice(top.length)]) {
          const lower = joined(group).map((one) => Buffer.from(one.toLowerCase()));
          assert.deepEqual(lower, lower.toSorted(Buffer.compare));
        }
      }),
    );
  });
});

for (const [version, sort, compare] of [
  ['v1', sortV1, comparePathsV1],
  ['v2', sortV2, comparePathsV2],
] as const) {
  describe(`the ${version} sort`, () => {
    it('does not depend on the order of its input, and does not change it', () => {
      fc.assert(
        fc.property(paths, fc.infiniteStream(fc.nat()), (given, random) => {
          const list = given.map((one, index) => ({ path: one, index }));
          const shuffled = list
            .map((file) => ({ file, key: random.next().value }))
            .sort((a, b) => a.key - b.key)
            .map(({ file }) => file);
          const before = [...shuffled];
          const sorted = sort(shuffled);
          assert.deepEqual(sorted, sort(list));
          assert.deepEqual(shuffled, before);
          assert.deepEqual(new Set(sorted), new Set(list));
        }),
      );
    });

    it('is a total order', () => {
      fc.assert(
        fc.property(path, path, (a, b) => {
          const order = compare(a, b);
          assert.equal(Math.sign(compare(b, a)), -Math.sign(order) || 0);
          assert.equal(order === 0, a.join('/') === b.join('/'));
        }),
      );
    });
  });
}
