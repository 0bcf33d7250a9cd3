import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { VERSION } from '../../src/text/version.ts';
import { MAIN, metainfo, metainfoProcess, workFolder } from './run.ts';

const QUEUE = ['--queue', 'redis://127.0.0.1:1', '--root', 'a=.', '--store', 'store'];
const COMMANDS: readonly (readonly string[])[] = [
  ['worker', ...QUEUE, '--metrics', '127.0.0.1:0'],
  ['create', 'album', '-o', 'queued.torrent', ...QUEUE],
  ['verify', 'album.torrent', 'album', ...QUEUE],
];

/** Runs a command with other code in place of the package metainfo-bullmq. */
async function runWith(t: TestContext, args: readonly string[], code: string) {
  const cwd = await workFolder(t);
  await metainfo(['create', 'album'], { cwd });
  const hook = `const { Module } = require('node:module');
    const load = Module._load;
    Module._load = (name, ...rest) => {
      if (!name.startsWith('metainfo-bullmq')) return load(name, ...rest);
      ${code}
    };`;
  await writeFile(path.join(cwd, 'hook.cjs'), hook);
  return metainfoProcess(args, { cwd, env: { NODE_OPTIONS: `--require=${path.join(cwd, 'hook.cjs')}` } });
}

describe('the package metainfo-bullmq', () => {
  for (const args of COMMANDS) {
    it(`is named by ${args[0]} if it is missing`, async (t) => {
      const { code, stdout, stderr } = await runWith(
        t,
        args,
        "return load('metainfo-bullmq-which-is-missing/command');",
      );
      assert.deepEqual([code, stdout], [1, '']);
      const expected = 'Queues need a package that is not installed: npm install metainfo-bullmq, beside metainfo.';
      assert.equal(stderr, `error: ${expected} [ERR_QUEUE]\n`);
    });
  }

  it('has the version of metainfo', async (t) => {
    const { code, stderr } = await runWith(t, COMMANDS[0] as string[], "return { VERSION: '9.8.7' };");
    const advice = `npm install metainfo-bullmq@${VERSION}`;
    assert.deepEqual(
      [code, stderr],
      [1, `error: metainfo-bullmq has version 9.8.7, and metainfo ${VERSION}: ${advice}. [ERR_QUEUE]\n`],
    );
  });

  it('is loaded only when it is asked for', async () => {
    const bundle = await readFile(path.join(path.dirname(MAIN), 'command.cjs'), 'utf8');
    // The bundle shortens the name of require.
    const [before = '', ...others] = bundle.split('("metainfo-bullmq/command")');
    assert.equal(others.length, 1);
    assert.doesNotMatch(before.slice(-60), /^(var|const) /m);
  });
});
