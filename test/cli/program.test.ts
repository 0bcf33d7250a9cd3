// Runs of the command in one process share nothing but its disk and its current folder.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sparseFile, temporaryFolder } from '../support/tree.ts';
import { bytesOf, entries, metainfo, read, workFolder } from './run.ts';

describe('main', () => {
  it('keeps the output, environment, exit code and warnings of runs apart that go on at once', async (t) => {
    const cwd = await workFolder(t);
    await writeFile(path.join(cwd, 'file'), '');
    // Smaller files are not cached.
    await sparseFile(cwd, 'large', 2 ** 20);
    const runs = Array.from({ length: 12 }, async (_, i) => {
      const create = ['create', 'album', '-o', `${i}.torrent`];
      const [quiet, warned, missing, json] = await Promise.all([
        metainfo([...create, '-q'], { cwd, env: { SOURCE_DATE_EPOCH: String(i + 1) } }),
        metainfo(['create', 'large', '-o', `w${i}.torrent`, '-q', '--cache-dir', 'file'], { cwd }),
        metainfo(['show', `missing-${i}`], { cwd }),
        metainfo(['create', 'album', '--json', '--no-such'], { cwd }),
      ]);
      assert.deepEqual([quiet.code, quiet.stdout, quiet.stderr], [0, '', '']);
      assert.equal((await read(cwd, `${i}.torrent`)).creationDate?.getTime(), 1000 * (i + 1));
      assert.deepEqual([warned.code, warned.stdout], [0, '']);
      assert.match(warned.stderr, /^warning: The cache in [^\n]* cannot be opened: [^\n]*\[ERR_CACHE\]\n$/);
      assert.equal((await read(cwd, `w${i}.torrent`)).creationDate, null);
      assert.deepEqual([missing.code, missing.stdout], [1, '']);
      assert.match(missing.stderr, new RegExp(`^error: missing-${i}: no such file[^\\n]*\\n$`));
      assert.deepEqual([json.code, json.stderr], [2, '']);
      assert.match(JSON.parse(json.stdout).error.message, /unknown option '--no-such'/);
    });
    await Promise.all(runs);
  });

  it('reads standard input from the stream that it gets', async (t) => {
    const cwd = await workFolder(t);
    await metainfo(['create', 'album'], { cwd });
    const input = await bytesOf(cwd, 'album.torrent');
    const [shown, empty] = await Promise.all([
      metainfo(['show', '-', '--json'], { cwd, input }),
      metainfo(['show', '-'], { cwd }),
    ]);
    assert.deepEqual([shown.code, JSON.parse(shown.stdout).name], [0, 'album']);
    assert.match(empty.stderr, /^error: standard input: it is empty/);
  });

  it('is cancelled by the signal of its caller, before it starts or later', async (t) => {
    const cwd = await temporaryFolder(t);
    await sparseFile(cwd, 'big', 2 ** 43);
    const later = new AbortController();
    const running = metainfo(['create', 'big', '--threads', '1'], { cwd, signal: later.signal });
    const early = await metainfo(['create', 'big'], { cwd, signal: AbortSignal.abort() });
    await sleep(100);
    later.abort('SIGTERM');
    const { code, stdout, stderr } = await running;
    assert.deepEqual([early.code, early.stderr], [130, 'cancelled: nothing was written\n']);
    assert.deepEqual([code, stdout], [143, '']);
    assert.match(stderr, /cancelled: nothing was written\n$/);
    assert.deepEqual(await entries(cwd), ['big']);
  });
});
