import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { pageText, ROOT } from './support/pages.ts';

/** Starts of sentences that use a noun clause as a subject or begin with a fragment. */
const CLAUSES = [
  'What',
  'Whatever',
  'Who',
  'Whoever',
  'All that',
  'Of an?',
  'Of the',
  'Where there (?:is|are)',
  'Those (?:who|that|of)',
  'Things',
];
const STARTS = new RegExp(`(?:^|[.!?:;|] +)(?:[-*] )?(?:${CLAUSES.join('|')}) .*[^?]$`);

const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
const documents = files.filter((name) => name.endsWith('.md') && !name.startsWith('.changeset'));
const sources = files.filter((name) =>
  /^(src|native|scripts|bench|fuzz|test|examples)\/.*\.(ts|cts|mjs|cc|h)$/.test(name),
);

/** The lines of a document outside code, or the lines of a source's comments. */
function prose(name: string): string[] {
  const text = pageText(name);
  if (name.endsWith('.md')) return text.replace(/^```[\s\S]*?^```$/gm, '').split('\n');
  const comments = text.match(/\/\*\*?[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm) ?? [];
  return comments.flatMap((comment) =>
    comment.split('\n').map((line) => line.replace(/^\s*(?:\/\*\*?|\*\/?|\/\/)\s?/, '')),
  );
}

describe('the prose', () => {
  for (const [what, names] of [
    ['documents', documents],
    ['comments', sources],
  ] as const) {
    it(`of ${what} starts no sentence with a noun clause`, () => {
      const found = names.flatMap((name) =>
        prose(name)
          .filter((line) => STARTS.test(line))
          .map((line) => `${name}: ${line.trim()}`),
      );
      assert.deepEqual(found, [], found.join('\n'));
    });
  }

  it('is checked by a rule that can fail', () => {
    for (const line of ['What is read is written back', 'A key. Of a link, what it says', '- Whatever comes'])
      assert.match(line, STARTS);
    for (const line of ['Torrents round-trip byte for byte', 'What is a hybrid?']) assert.doesNotMatch(line, STARTS);
  });
});
