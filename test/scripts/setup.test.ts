import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const setup = fileURLToPath(new URL('../../scripts/setup.mjs', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-setup-'));

/** Runs the toolchain check with only these programs in PATH, and returns its standard error. */
function check(programs: Record<string, string>, env: Record<string, string> = {}) {
  const bin = mkdtempSync(path.join(folder, 'bin-'));
  for (const [name, target] of Object.entries(programs)) symlinkSync(target, path.join(bin, name));
  const code = `import(${JSON.stringify(setup)}).then((s) => s.requireToolchain())`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', code], {
    env: { PATH: bin, ...env },
    encoding: 'utf8',
  });
  return { status, stderr };
}

const which = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
const all = { 'c++': which('c++'), make: which('make'), python3: '/usr/bin/python3', as: which('as') };

const skip =
  (process.platform !== 'linux' && 'names packages of Debian') ||
  (process.env['PREBUILDS_ONLY'] ? 'there may be no toolchain' : false);

describe('the check of the toolchain', { skip }, () => {
  after(() => rmSync(folder, { recursive: true }));

  it('passes if all programs are installed', () => {
    assert.deepEqual(check(all, { npm_config_nodedir: process.env['npm_config_nodedir'] ?? '' }), {
      status: 0,
      stderr: '',
    });
  });

  for (const [name, command] of Object.entries({
    'c++': 'apt-get install g++',
    make: 'apt-get install make',
    python3: 'apt-get install python3',
  })) {
    it(`prints the command that installs a missing ${name}, on one line`, () => {
      const { [name as 'make']: _, ...rest } = all;
      const { status, stderr } = check(rest);
      assert.equal(status, 1);
      assert.match(stderr, /^metainfo: [^\n]+\n$/);
      assert.ok(stderr.trimEnd().endsWith(command), stderr);
    });
  }

  it('prints the command that installs missing OpenSSL headers, on one line', () => {
    // This compiler works, but finds no header.
    const blind = path.join(folder, 'blind');
    writeFileSync(blind, '#!/bin/sh\ncase "$1" in --version) exit 0 ;; esac\nexit 1\n', { mode: 0o755 });
    const { status, stderr } = check({ ...all, sh: which('sh') }, { CXX: blind, npm_config_nodedir: '/nonexistent' });
    assert.equal(status, 1);
    assert.match(stderr, /^metainfo: [^\n]+: apt-get install libssl-dev\n$/);
  });
});
