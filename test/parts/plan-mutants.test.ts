import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const CHILD = path.join(import.meta.dirname, 'plan-mutants-child.ts');

describe('hostile plans', () => {
  it('work or are refused with a code, in one process with a heap of 192 MB', async (t) => {
    const folder = await temporaryFolder(t);
    const content = path.join(folder, 'set');
    await writeTree(content, { a: 40 * 1024, 'b/c': 70 * 1024 });
    await symlink('a', path.join(content, 'link'));
    const options = ['--max-old-space-size=192', '--no-warnings', '--import', './scripts/ts.mjs', CHILD, content];
    const { stdout } = await promisify(execFile)(process.execPath, options, { maxBuffer: 2 ** 26 });
    const { valid, outcomes, problems, text, maxRss } = JSON.parse(stdout);
    t.diagnostic(JSON.stringify({ outcomes, maxRss }));
    assert.deepEqual(problems, []);
    assert.equal(valid.length, 12);
    assert.equal(text, 'ERR_PLAN');
    assert.ok(outcomes.ERR_PLAN > 5000);
    assert.ok(maxRss < 2 ** 20, `${maxRss} KiB`);
  });
});
