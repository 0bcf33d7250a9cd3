// Checks the prose of documents and comments: write-good's rules that fit technical English, sentences that are too long, and sentences that
// begin with a noun clause. `npm run check` calls it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
// @ts-expect-error: write-good has no types.
import untyped from 'write-good';

interface Suggestion {
  index: number;
  offset: number;
  reason: string;
}
const root = path.resolve(import.meta.dirname, '..');
const writeGood: (text: string, options: object) => Suggestion[] = untyped;

/** Starts of sentences that use a noun clause as a subject or begin with a fragment. */
const CLAUSES = [
  ...['What', 'Whatever', 'Who', 'Whoever', 'All that', 'Of an?', 'Of the', 'Where there (?:is|are)'],
  ...['Those (?:who|that|of)', 'Things'],
];
const STARTS = new RegExp(`(?:^|[.!?:;|] +)(?:[-*] )?(?:${CLAUSES.join('|')}) .*[^?]$`);

/** Words that write-good finds vague or wordy, and that are exact here: "written completely or not at all", "equally likely". */
const EXACT = new Set([
  ...[
    'only',
    'exactly',
    'several',
    'few',
    'tiny',
    'many',
    'early',
    'immediately',
    'repeatedly',
    'completely',
    'equally',
    'likely',
  ],
  ...[
    'validate',
    'minimum',
    'multiple',
    'requirement',
    'terminate',
    'it is',
    'it was',
    'type of',
    'a number of',
    'in the case of',
  ],
  ...[
    'all of',
    'therefore',
    'however',
    'rarely',
    'usually',
    'just',
    'huge',
    'fairly',
    'safely',
    'slowly',
    'quickly',
    'in between',
  ],
  ...['maximum', 'additional', 'allocate', 'as to', 'is a number'],
]);
// A sentence about a file that is hashed need not say by whom, and "So" joins two sentences.
const OPTIONS = { passive: false, so: false };
const MOST_WORDS = 45;

/** The sentences that are too long. Cells of tables, items of lists and headings are sentences of their own. */
function longSentences(text: string): string[] {
  const sentences = text.split(/(?<=[.!?:;])\s+|\n\s*\n|\n(?=\s*[-*|#>\d])|\|/);
  return sentences
    .filter((sentence) => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length > MOST_WORDS)
    .map((sentence) => `more than ${MOST_WORDS} words: ${sentence.replace(/\s+/g, ' ').trim()}`);
}

/** The problems of a text without code. */
export function problemsOf(text: string): string[] {
  const clauses = text.split('\n').filter((line) => STARTS.test(line));
  // A heading whose word begins the next paragraph is no repetition.
  const paragraphs = text.replace(/\n\s*\n/g, '\n\n§\n\n');
  const suggestions = writeGood(paragraphs, OPTIONS)
    .filter(
      ({ index, offset }) =>
        !EXACT.has(
          paragraphs
            .slice(index, index + offset)
            .toLowerCase()
            .replace(/\s+/g, ' '),
        ),
    )
    .map(({ index, offset, reason }) => {
      const from = paragraphs.lastIndexOf('\n', index) + 1;
      return `${reason}: ${paragraphs.slice(from, index + offset + 40).split('\n', 1)[0]}`;
    });
  return [
    ...clauses.map((line) => `begins with a noun clause: ${line.trim()}`),
    ...suggestions,
    ...longSentences(text),
  ];
}

/** A document without its code, links and front matter. */
function documentProse(text: string): string {
  let spans = 0;
  return text
    .replace(/^---$[\s\S]*?^---$/m, '')
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/`[^`]*`/g, () => `x${spans++}`);
}

/** The comments of a source, each as a paragraph. */
function comments(text: string): string {
  let spans = 0;
  const found = text.match(/\/\*\*?[\s\S]*?\*\/|(?:(?<=^|\s)\/\/ .*\n\s*)+/gm) ?? [];
  return found
    .map((comment) =>
      comment
        .replace(/^\s*(?:\/\*\*?|\*\/?|\/\/) ?/gm, '')
        .replace(/\*\/$/, '')
        .trim(),
    )
    .filter((comment) => !comment.startsWith('namespace'))
    .join('\n\n')
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/@(?:param \w+|\w+(?: \{\w+\})?)|\{@link [^}]*\}|`[^`]*`/g, () => `x${spans++}`);
}

/** The problems of all documents and sources of the repository. */
function check(): string[] {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const problems: string[] = [];
  for (const name of files) {
    const isDocument = name.endsWith('.md') && !name.startsWith('.changeset');
    const isSource = /^(src|native|scripts|site|bench|fuzz|test|examples)\/.*\.(ts|cts|mjs|cc|h)$/.test(name);
    if (!(isDocument || isSource)) continue;
    const text = readFileSync(path.join(root, name), 'utf8');
    problems.push(
      ...problemsOf(isDocument ? documentProse(text) : comments(text)).map((problem) => `${name}: ${problem}`),
    );
  }
  return problems;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const problems = check();
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
