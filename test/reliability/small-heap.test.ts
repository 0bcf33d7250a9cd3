// Torrents of more values than a small heap holds. V8 would end the process, which no code can catch.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { finish, MAIN, startProgram } from '../cli/run.ts';
import { temporaryFolder } from '../support/tree.ts';

describe('a torrent of more values than a small heap holds', () => {
  const values = (part: string, count: number) => `l${part.repeat(count)}e`;
  const keys = (count: number) =>
    `d${Array.from({ length: count }, (_, i) => `7:${String(i).padStart(7, '0')}de`).join('')}e`;
  const INFO = `d6:lengthi5e4:name1:a12:piece lengthi16384e6:pieces20:${'x'.repeat(20)}`;
  const unusual = (count: number) => {
    const pieces = 20 * Math.ceil((count * 5) / 16_384);
    const list = Array.from({ length: count }, (_, i) => `d6:lengthi5e4:pathl7:${String(i).padStart(7, '0')}e1:xdee`);
    return `d4:infod5:filesl${list.join('')}e4:name1:a12:piece lengthi16384e6:pieces${pieces}:${'x'.repeat(pieces)}ee`;
  };
  const TORRENTS: Record<string, string> = {
    'empty dictionaries': `d4:info${INFO}e1:x${values('de', 2_900_000)}e`,
    'empty dictionaries in info': `d4:info${INFO}1:x${values('de', 2_900_000)}ee`,
    'empty strings': `d4:info${INFO}e1:x${values('0:', 2_900_000)}e`,
    'keys of dictionaries': `d4:info${INFO}e1:x${keys(1_400_000)}e`,
    'files with unknown keys': unusual(290_000),
  };

  for (const [name, bytes] of Object.entries(TORRENTS)) {
    it(`gives an error that names the heap, and does not end the process: ${name}`, async (t) => {
      const cwd = await temporaryFolder(t);
      await writeFile(path.join(cwd, 'x.torrent'), bytes);
      for (const megabytes of [64, 256]) {
        const node: [string, ...string[]] = [process.execPath, `--max-old-space-size=${megabytes}`, MAIN];
        const { code, signal, stdout } = await finish(
          startProgram([...node, 'validate', '--json', '--no-config', 'x.torrent'], { cwd }),
        );
        assert.deepEqual({ code, signal }, { code: 1, signal: null });
        const { issues, error } = JSON.parse(stdout);
        const { code: issue, message } = error ?? issues[0];
        assert.equal(issue, 'ERR_LIMIT');
        const most = Math.floor((megabytes * 2 ** 20) / 700);
        assert.match(message, new RegExp(`^limit of ${most} values exceeded.*--max-old-space-size`));
      }
    });
  }

  it('is as large as the heap allows, and then every command works', async (t) => {
    const cwd = await temporaryFolder(t);
    const most = Math.floor((64 * 2 ** 20) / 700) - 20;
    await writeFile(path.join(cwd, 'x.torrent'), `d4:info${INFO}e1:x${values('de', most)}e`);
    for (const args of [['validate'], ['show'], ['edit', '--comment', 'x', '--dry-run']]) {
      const node: [string, ...string[]] = [process.execPath, '--max-old-space-size=64', MAIN];
      const { code, stderr } = await finish(startProgram([...node, ...args, '--no-config', 'x.torrent'], { cwd }));
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    }
  });
});
