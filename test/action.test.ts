import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from './support/tree.ts';

const ACTION = path.join(import.meta.dirname, '../action.yml');

/** Runs the script of the action with stand-ins for gh and npx, and returns the words after the webseed. */
async function optionsOf(t: TestContext, options: string) {
  const folder = await temporaryFolder(t);
  const said = path.join(folder, 'said');
  const programs = {
    gh: `[ "$2" = download ] || exit 0\nwhile [ "$1" != --dir ]; do shift; done\necho >"$2/a.bin"`,
    npx: `shift 6\nprintf '<%s>' "$@" >'${said}'\ntouch a.torrent`,
  };
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(path.join(folder, name), `#!/bin/bash\n${script}\n`);
    await chmod(path.join(folder, name), 0o755);
  }
  const text = await readFile(ACTION, 'utf8');
  const script = text.slice(text.indexOf('run: |\n') + 7).replace(/^ {8}/gm, '');
  const { status } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    env: { PATH: `${folder}:${process.env['PATH']}`, TMPDIR: folder, TAG: 'v1', VERSION: '1', OPTIONS: options },
  });
  return status === 0 ? await readFile(said, 'utf8') : null;
}

describe('action.yml', { skip: process.platform === 'win32' }, () => {
  const CASES: [what: string, options: string, words: string | null][] = [
    ['none', '', '<>'],
    ['blanks', ' \n\n', '<>'],
    ['several on a line', '-k v2  --private', '<-k><v2><--private>'],
    ['double quotes', '--comment "two words"', '<--comment><two words>'],
    ['single quotes', '--comment=\'two "words"\'', '<--comment=two "words">'],
    ['an empty value', '--source ""', '<--source><>'],
    ['a backslash', '--comment two\\ words', '<--comment><two words>'],
    ['a backslash in quotes', "--comment 'a\\b'", '<--comment><a\\b>'],
    ['several lines', '--tracker a\n\n--tracker b', '<--tracker><a><--tracker><b>'],
    ['lines of Windows', '--tracker a\r\n--tracker b\r\n', '<--tracker><a><--tracker><b>'],
    ['a #, _ and *', '--comment "# 1" # _ *', '<--comment><# 1><#><_><*>'],
    ['a $', '--comment $HOME`id`', '<--comment><$HOME`id`>'],
    ['an unclosed quote', '--comment "two words', null],
    ['an apostrophe', "--comment it's\n-k v2", null],
  ];
  for (const [what, options, words] of CASES)
    it(`takes options as xargs does: ${what}`, async (t) => assert.equal(await optionsOf(t, options), words));
});
