import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { PathPrefixes } from '../../src/layout/path-prefixes.ts';
import { runs } from '../support/runs.ts';

it('finds what a look at each folder above a path finds', () => {
  const path = fc.array(fc.constantFrom('a', 'b', 'a-b', 'a.', '\u00e9', ' '), { minLength: 1, maxLength: 5 });
  const paths = fc.array(
    path.map((parts) => parts.join('/')),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(paths, paths, (prefixes, others) => {
      const found = new PathPrefixes(prefixes);
      for (const one of [...others, ...prefixes]) {
        const parts = one.split('/');
        const above = parts.map((_, i) => parts.slice(0, parts.length - i).join('/'));
        assert.deepEqual(
          [...found.of(one)],
          above.filter((folder) => prefixes.includes(folder)),
        );
      }
    }),
    { numRuns: runs(2000) },
  );
});

it('does not take the start of a name for a folder', () => {
  const found = new PathPrefixes(['ab', 'a', 'ab/c', '']);
  assert.deepEqual([...found.of('abc')], []);
  assert.deepEqual([...found.of('ab/cd')], ['ab']);
  assert.deepEqual([...found.of('ab/c/d')], ['ab/c', 'ab']);
  assert.deepEqual([...found.of('')], ['']);
});
