import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

// A script in plain JavaScript, which has no types.
const { problemOf } = (await import('../../scripts/check-commits.mjs' as string)) as {
  problemOf: (subject: string) => string | null;
};

describe('the check of commit subjects', () => {
  const CASES: [subject: string, problem: RegExp | null][] = [
    ['Reject a hybrid whose tail pad has the wrong length', null],
    ['Pass the signal to the scan', null],
    ['Re-read the cache', null],
    ['Added a test', /not imperative: "Added"/],
    ['Adds a test', /not imperative: "Adds"/],
    ['Fixing the build', /not imperative: "Fixing"/],
    ['fix the build', /does not begin with a capitalised verb/],
    ['docs/x.md: new figures', /does not begin with a capitalised verb/],
    ['Fix the build.', /ends with a period/],
    [`Fix ${'x'.repeat(70)}`, /has 74 characters, more than 72/],
  ];
  for (const [subject, problem] of CASES) {
    it(`${problem ? 'rejects' : 'accepts'} "${subject}"`, () => {
      const found = problemOf(subject);
      if (problem) assert.match(found ?? '', problem);
      else assert.equal(found, null);
    });
  }
});
