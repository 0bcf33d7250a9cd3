// A process with jobs that use a cache ends when asked to.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { noise } from '../hash/reference.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const child = fileURLToPath(new URL('cache-child.ts', import.meta.url));
/** The same folders as in cache-child.ts. */
const LANES = 8;
/** Long enough for a busy machine, because a process that hangs never ends. */
const MOST_MS = 180_000;

describe('a process with jobs that use a cache', { concurrency: 2 }, () => {
  for (const [how, processes] of [
    ['exit', 12],
    ['uncaught', 6],
    ['terminate', 2],
  ] as const) {
    it(`never hangs: ${how}, ${processes} processes`, async (t) => {
      const root = await temporaryFolder(t);
      const files = Array.from({ length: LANES }, (_, lane) => [`${lane}/file`, noise(2 ** 20, lane + 1)]);
      await writeTree(root, Object.fromEntries(files));
      for (let i = 0; i < processes; i += 1) {
        const run = spawn(process.execPath, ['--import', './scripts/ts.mjs', child, how, root], { stdio: 'inherit' });
        const timer = setTimeout(() => run.kill('SIGKILL'), MOST_MS);
        const [code, signal] = await once(run, 'exit');
        clearTimeout(timer);
        assert.deepEqual({ code, signal }, { code: 7, signal: null }, `process ${i + 1}`);
      }
    });
  }
});
