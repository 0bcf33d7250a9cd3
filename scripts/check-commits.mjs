// Checks the subject of every commit since BASE: imperative, at most 72 characters, no period at the end. Merges do not count.
import { spawnSync } from 'node:child_process';
import { root } from './setup.mjs';

/** The last commit that the rule does not apply to. */
const BASE = '7350e4d';
const MOST_CHARACTERS = 72;
/** Words that end like another form of a verb, but are imperatives. */
const IMPERATIVE =
  /^(Bring|Embed|Exceed|Feed|Need|Proceed|Seed|Shed|Speed|String|Swing|Bless|Bypass|Compress|Cross|Discuss|Dismiss|Express|Focus|Guess|Miss|Pass|Press|Process|Stress)$/;

/** Describes the problem of a subject; null if there is none. */
function problemOf(subject) {
  const [word] = subject.split(/[\s:,]/, 1);
  if (subject.length > MOST_CHARACTERS) return `has ${subject.length} characters, more than ${MOST_CHARACTERS}`;
  if (subject.endsWith('.')) return 'ends with a period';
  if (!/^[A-Z][a-z]+(-[a-z]+)*$/.test(word)) return 'does not begin with a capitalised verb';
  if (/(ed|ing|s)$/.test(word) && !IMPERATIVE.test(word)) return `is not imperative: "${word}"`;
  return null;
}

function main() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (git('merge-base', '--is-ancestor', BASE, 'HEAD').status !== 0) {
    process.stdout.write(`skipped: commit subjects (there is no git history back to ${BASE})\n`);
    return;
  }
  const lines = git('log', '--no-merges', '--format=%h %s', `${BASE}..HEAD`).stdout.split('\n').filter(Boolean);
  for (const line of lines) {
    const [, hash, subject] = /^(\S+) (.*)$/.exec(line);
    const problem = problemOf(subject);
    if (!problem) continue;
    process.stdout.write(`${hash} ${problem}: ${subject}\n`);
    process.exitCode = 1;
  }
}

main();
