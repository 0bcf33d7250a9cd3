import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { sortV1, sortV2 } from '../../../src/layout/order.ts';
import { Torrent } from '../../../src/model/torrent/torrent.ts';
import { noise } from '../../hash/reference.ts';
import { build } from '../build.ts';

type Listed = { length: number; path: string[] };
const ORDERS: Record<string, (files: Listed[]) => Listed[]> = { any: (files) => files, v1: sortV1, v2: sortV2 };

describe('the rule of duplicate paths', () => {
  const component = fc.constantFrom('a', 'b', 'ab', 'A', 'a/b', 'a-b', '/');
  const paths = fc.array(fc.array(component, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 });
  // The rule has a shortcut for sorted lists, so it is checked in several orders.
  for (const [order, arrange] of Object.entries(ORDERS)) {
    it(`rejects equal paths and paths through a file: in ${order} order`, () => {
      const seen = { good: 0, bad: 0 };
      fc.assert(
        fc.property(paths, (randomPaths) => {
          const files = arrange(randomPaths.map((path) => ({ length: 1, path })));
          const joined = files.map(({ path }) => path.join('/'));
          const clash = joined.some((a, i) => joined.some((b, j) => i !== j && (a === b || b.startsWith(`${a}/`))));
          const content = Object.fromEntries(files.map((_, i) => [`file ${i}`, noise(1)]));
          const { bytes } = build({ version: 'v1', content, info: { files } });
          const { issues } = Torrent.inspect(bytes, { context: { profile: 'compat' } });
          assert.equal(
            issues.some(({ code }) => code === 'duplicate_path'),
            clash,
            joined.join(' '),
          );
          seen[clash ? 'bad' : 'good'] += 1;
        }),
        { numRuns: 500 },
      );
      assert.ok(seen.good > 50 && seen.bad > 50, JSON.stringify(seen));
    });
  }
});
