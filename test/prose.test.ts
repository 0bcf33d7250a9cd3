import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { problemsOf } from '../scripts/check-prose.ts';

describe('the check of the prose', () => {
  for (const [text, problem] of [
    ['What is read is written back.', 'begins with a noun clause'],
    ['A key. Of a link, what it says', 'begins with a noun clause'],
    ['- Whatever comes', 'begins with a noun clause'],
    ['The scan skips the the hidden files.', '"the" is repeated'],
    ['There are three versions.', 'verbiage'],
    ['It is very fast.', 'weasel'],
    ['In order to hash, read.', 'wordy'],
    [`The scan ${'reads and '.repeat(22)}ends.`, 'more than 45 words'],
  ] as const) {
    it(`reports ${problem}: ${text.slice(0, 40)}`, () => {
      const problems = problemsOf(text);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.ok(problems[0]?.includes(problem), problems[0]);
    });
  }

  it('accepts plain sentences, questions and repeated words of two paragraphs', () => {
    for (const text of [
      'Torrents round-trip byte for byte.',
      'What is a hybrid?',
      '# Create\n\nCreate a torrent.',
      'A file is written completely or not at all.',
    ])
      assert.deepEqual(problemsOf(text), []);
  });
});
