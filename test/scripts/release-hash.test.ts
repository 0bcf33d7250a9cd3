import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { missing } from '../support/external.ts';
import { temporaryFolder } from '../support/tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const skip = process.platform === 'linux' ? missing('git', 'git', ['--version']) : '.ci/release runs on Linux only';

describe('.ci/release-hash', { skip }, () => {
  it('changes with every file that the release gate protects, and with no other', async (t) => {
    const folder = path.join(await temporaryFolder(t), 'a clone');
    execFileSync('git', ['clone', '--quiet', '--shared', ROOT, folder]);
    const run = () => spawnSync('bash', ['.ci/release-hash'], { cwd: folder, encoding: 'utf8' });
    const seen = new Set<string>();
    const hash = () => {
      const { status, stdout, stderr } = run();
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
      assert.match(stdout, /^[\da-f]{64}\n$/);
      return stdout;
    };
    seen.add(hash());
    for (const file of ['native/addon.cc', 'package.json', 'scripts/prebuild.mjs', 'fuzz/cli.ts', '.ci/musl']) {
      await appendFile(path.join(folder, file), '\n');
      assert.ok(!seen.has(hash()), file);
      seen.add(hash());
    }
    const last = hash();
    for (const file of ['src/index.ts', 'README.md', '.ci/run', 'test/prose.test.ts'])
      await appendFile(path.join(folder, file), '\n');
    assert.equal(hash(), last);

    execFileSync('git', ['rm', '-r', '--quiet', '--force', 'site'], { cwd: folder });
    const { status, stdout, stderr } = run();
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /'site' did not match/);
  });
});
