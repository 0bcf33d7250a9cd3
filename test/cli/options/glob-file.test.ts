import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { InvalidArgumentError } from 'commander';
import { collectGlobFile, globsOfFiles } from '../../../src/cli/options/glob-file.ts';
import { MetainfoError } from '../../../src/errors/errors.ts';
import { isWindows } from '../../../src/platform/node.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-glob-file-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** Each file is read once. */
function globsIn(content: string | Uint8Array): string[] {
  files += 1;
  const file = path.join(folder, `globs${files}`);
  writeFileSync(file, content);
  return globsOfFiles([file]);
}

function problemsIn(content: string | Uint8Array): string {
  try {
    globsIn(content);
  } catch (error) {
    assert.ok(error instanceof MetainfoError && error.code === 'ERR_INVALID_ARGUMENT');
    return error.message.replaceAll(path.join(folder, `globs${files}`), 'globs');
  }
  throw new Error('no problem');
}

describe('globsOfFiles', () => {
  it('reads one glob per line, without comments and blank lines', () => {
    assert.deepEqual(globsIn('\uFEFF# comment\r\n*.nfo\r\n\r\n  \t\r\nsub/**\r\n\\#a\r\n\\!b'), [
      '*.nfo',
      'sub/**',
      '\\#a',
      '\\!b',
    ]);
    assert.deepEqual(globsIn('a b \n c\t\nd\\ \n'), ['a b', ' c', 'd\\ ']);
    assert.deepEqual(globsIn('a#b\n'), ['a#b']);
    for (const empty of ['', '\n\n', '\uFEFF', '# only']) assert.deepEqual(globsIn(empty), []);
  });

  it('reports every line that is no glob, with its number', () => {
    const text = problemsIn(`*.nfo\n!keep\n[z-a]\n/root\n${'x'.repeat(5000)}`);
    assert.match(
      text,
      /^--exclude-from: globs:2: A ! would .*; globs:3: The pattern has an invalid range: \[z-a\]; globs:4: A path begins without a slash; globs:5: Expected a pattern of at most 4096 characters\.?$/,
    );
    assert.equal(problemsIn(Buffer.from('a\n\xff\n', 'latin1')), '--exclude-from: globs:2: This line is not UTF-8.');
    assert.match(problemsIn('!x\n'.repeat(1000)), /globs:10: .*; and 990 more\.?$/);
  });

  it('refuses what it cannot read', () => {
    for (const text of ['', '-']) assert.throws(() => collectGlobFile(text), InvalidArgumentError);
    mkdirSync(path.join(folder, 'sub'));
    const names = ['missing', 'sub'].map((name) => path.join(folder, name));
    assert.throws(() => globsOfFiles(names), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /missing: no such file.*; .*sub: /,
    });
    assert.deepEqual(globsIn('#'.repeat(2 ** 20)), []);
  });

  it('reads a pipe', { skip: isWindows }, () => {
    const program = `import { globsOfFiles } from ${JSON.stringify(new URL('../../../src/cli/options/glob-file.ts', import.meta.url))};
      console.log(JSON.stringify(globsOfFiles(['/dev/stdin'])));`;
    const node = [process.execPath, '--import', './scripts/ts.mjs', '--input-type=module', '-e', program];
    const cwd = new URL('../../../', import.meta.url);
    const output = execFileSync('sh', ['-c', 'echo "*.nfo" | "$0" "$@"', ...node], { encoding: 'utf8', cwd });
    assert.equal(output, '["*.nfo"]\n');
  });
});
