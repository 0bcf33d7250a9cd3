// Checks the prose of documents and comments: no sentence is too long, begins with a noun clause or repeats a word. `npm run check` calls it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { commandPages } from './docs-commands.ts';

const root = path.resolve(import.meta.dirname, '..');

/** Starts of sentences that use a noun clause as a subject or begin with a fragment. */
const CLAUSES = [
  ...['What', 'Whatever', 'Who', 'Whoever', 'All that', 'Of an?', 'Of the', 'Where there (?:is|are)'],
  ...['Those (?:who|that|of)', 'Things'],
];
const STARTS = new RegExp(`(?:^|[.!?:;|] +)(?:[-*] )?(?:${CLAUSES.join('|')}) .*[^?]$`);

const MOST_WORDS = 45;

/** The sentences that are too long. Cells of tables, items of lists and headings are sentences of their own. */
function longSentences(text: string): string[] {
  const sentences = text.split(/(?<=[.!?:;])\s+|\n\s*\n|\n(?=\s*[-*|#>\d])|\|/);
  return sentences
    .filter((sentence) => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length > MOST_WORDS)
    .map((sentence) => `more than ${MOST_WORDS} words: ${sentence.replace(/\s+/g, ' ').trim()}`);
}

/** The problems of a text without code. */
function problemsOf(text: string): string[] {
  const clauses = text.split('\n').filter((line) => STARTS.test(line));
  const repeated = text.matchAll(/\b([a-z]+) \1\b/g);
  return [
    ...clauses.map((line) => `begins with a noun clause: ${line.trim()}`),
    ...Array.from(repeated, ([, word]) => `repeats "${word}"`),
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

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
/** The help of the commands, as pages. */
const pages = new Map(Array.from(commandPages(), ([name, text]) => [`docs/commands/${name}`, text]));
for (const name of [...files, ...pages.keys()]) {
  const isDocument = name.endsWith('.md') && !name.startsWith('.changeset');
  const isSource = /^(src|packages|native|scripts|site|bench|fuzz|test|examples)\/.*\.(ts|cts|mjs|cc|h)$/.test(name);
  if (!(isDocument || isSource)) continue;
  const text = pages.get(name) ?? readFileSync(path.join(root, name), 'utf8');
  for (const problem of problemsOf(isDocument ? documentProse(text) : comments(text))) {
    process.stdout.write(`${name}: ${problem}\n`);
    process.exitCode = 1;
  }
}
