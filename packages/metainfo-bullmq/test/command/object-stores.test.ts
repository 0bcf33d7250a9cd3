import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { bytesOf, metainfoProcess, start } from '../../../../test/cli/run.ts';
import { s3Server } from '../../../../test/support/s3.ts';
import { temporaryFolder, writeTree } from '../../../../test/support/tree.ts';
import { redisMissing, redisServer } from '../support/redis.ts';

const KIB = 1024;

describe('metainfo worker and create --queue with an object store', { skip: redisMissing() }, () => {
  it('make the same torrent as create', async (t) => {
    const [s3, cwd] = [await s3Server(t), await temporaryFolder(t)];
    await writeTree(cwd, { 'set/a': 150 * KIB, 'set/b c/d+é': 60 * KIB, 'set/empty': 0, 'aws/.keep': 0 });
    const env = { ...s3.env, HOME: path.join(cwd, 'aws') };
    const run = (...args: string[]) => metainfoProcess(args, { cwd, env });
    await run('create', 'set', '-l', '16KiB', '-o', 'created.torrent');
    const redis = await redisServer(t);
    const shared = ['--root', 'data=set', '--store', 's3://jobs/store'];
    for (let i = 0; i < 2; i += 1) {
      const worker = start(['worker', '--redis', redis.url, ...shared], { cwd, env });
      t.after(async () => void worker.kill('SIGKILL'));
    }
    const queue = ['--queue', redis.url, ...shared, '--part-size', '64KiB'];
    const created = await run('create', 'set', '-l', '16KiB', '-o', 'set/queued.torrent', ...queue);
    assert.deepEqual([created.code, created.stderr.replace(/\r.*/s, '')], [0, created.stderr.replace(/\r.*/s, '')]);
    assert.ok((await bytesOf(cwd, 'set/queued.torrent')).equals(await bytesOf(cwd, 'created.torrent')));
    const verified = await run('verify', 'created.torrent', 'set', ...queue);
    assert.match(verified.stdout, /set: complete/);
    assert.ok(s3.requests.some((line) => /^PUT \/jobs\/store\/[0-9a-f]{64}\/0\.part$/.test(line)));
  });
});
