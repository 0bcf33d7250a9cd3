import assert from 'node:assert/strict';
import { basename, dirname, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { depthOf, NearestFiles } from '../../../src/verify/moved/choose-moved.ts';
import { runs } from '../../support/runs.ts';

/** Steps from the folder of one path to that of another. */
function stepsBetween(from: string, to: string): number {
  const way = relative(dirname(from), dirname(to));
  return way === '' ? 0 : depthOf(way);
}

describe('NearestFiles', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 })
    .map((names) => resolve('/', ...names));

  it('takes the path with the fewest steps among those that are left', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(path, { maxLength: 12 }),
        fc.array(fc.record({ to: path, isNamed: fc.boolean() }), { maxLength: 16 }),
        (paths, wanted) => {
          const targets = wanted.map(({ to }) => to);
          const files = new NearestFiles(
            [...paths].sort((a, b) => depthOf(a) - depthOf(b)),
            targets,
          );
          const left = new Set(paths);
          for (const { to, isNamed } of wanted) {
            const name = isNamed ? basename(to) : null;
            const possible = [...left].filter((one) => name === null || basename(one) === name);
            const chosen = files.nearest(to, name, (one) => left.has(one));
            if (chosen === null) assert.deepEqual(possible, []);
            else {
              assert.ok(possible.includes(chosen));
              assert.equal(stepsBetween(to, chosen), Math.min(...possible.map((one) => stepsBetween(to, one))));
              left.delete(chosen);
            }
          }
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
