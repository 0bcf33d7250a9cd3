import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/support/tree.ts';
import { SERVERS, setUpQueue } from './support/queue-servers.ts';
import { redisMissing, redisServer } from './support/redis.ts';

for (const { name, skip, start } of SERVERS)
  describe(`waiting for a queue on ${name}`, { skip }, () => {
    it('ends with ERR_ABORTED for a torrent that is cancelled and queued again at once, in every process', async (t) => {
      const { producer, work, plan } = await setUpQueue(t, start);
      const [queue, other] = [producer(), producer()];
      const place = { output: 'media/x.torrent', force: true };
      for (const hasWorkers of [false, true]) {
        if (hasWorkers) await work();
        for (let i = 0; i < 6; i += 1) {
          const queued = await queue.addTorrent(plan, place);
          const attached = await other.addTorrent(plan, place);
          const states = Promise.all(
            [queued, attached].map((one) => one.done().catch((error: unknown) => Object(error).code)),
          );
          // Workers may be faster.
          if (!attached.attached || !(await queued.cancel())) continue;
          const again = await queue.addTorrent(plan, { output: `media/${randomUUID()}.torrent` });
          assert.equal(again.attached, false);
          assert.deepEqual(await states, ['ERR_ABORTED', 'ERR_ABORTED'], `round ${i}`);
          assert.equal(await queued.cancel(), false, 'the second one is not cancelled');
          if (hasWorkers) await again.done();
          else assert.equal(await again.cancel(), true);
        }
      }
    });

    it('drops the other parts before a torrent fails, so that it can be queued again at once', async (t) => {
      const { folder, producer, work, plan, ended } = await setUpQueue(t, start);
      const [set, away] = ['set', 'away'].map((name) => path.join(folder, 'media', name)) as [string, string];
      const [queue, place] = [producer(), { output: 'media/x.torrent' }];
      await work();
      await rename(set, away);
      const failing = await queue.addTorrent(plan, place);
      await assert.rejects(failing.done(), { code: 'ERR_NOT_FOUND' });
      const begun = ended.filter(({ kind }) => kind === 'part');
      assert.ok(begun.length <= 1, 'another part was begun');
      const { waiting, delayed } = await queue.counts(['media']);
      assert.deepEqual({ waiting, delayed }, { waiting: 0, delayed: 0 });
      await rename(away, set);
      const again = await queue.addTorrent(plan, place);
      assert.equal((await again.done()).output, place.output);
    });

    it('ends when the queue is closed, and when its signal fires', async (t) => {
      const { producer, plan } = await setUpQueue(t, start);
      const queue = producer();
      const queued = await queue.addTorrent(plan, { output: 'media/x.torrent' });
      const batch = await queue.addBatch('validate', [{ torrent: 'media/x' }]);
      const closed = { code: 'ERR_QUEUE', message: /^The queue was closed/ };
      const next = (options: object) => batch.results(options)[Symbol.asyncIterator]().next();
      const slow = async function* () {
        yield { torrent: 'media/y' };
        await new Promise(() => {});
      };
      const stop = new AbortController();
      const stopped = { code: 'ERR_ABORTED' };
      const { signal } = stop;
      const cancelled = Promise.all([
        assert.rejects(queued.done({ signal }), stopped),
        assert.rejects(queued.done({ signal, onNoWorker: () => {} }), stopped),
        assert.rejects(next({ signal }), stopped),
        assert.rejects(next({ signal, order: 'completed', onNoWorker: () => {} }), stopped),
      ]);
      const ended = Promise.all([
        assert.rejects(queued.done(), closed),
        assert.rejects(queued.done({ onNoWorker: () => {} }), closed),
        assert.rejects(next({}), closed),
        assert.rejects(next({ order: 'completed' }), closed),
      ]);
      stop.abort();
      await cancelled;
      for (const wait of [
        queue.counts(['media'], { signal }),
        queued.progress({ signal }),
        queued.cancel({ signal }),
        queue.addTorrent(plan, { output: 'media/x.torrent', signal }),
        queue.addBatch('validate', [{ torrent: 'media/y' }], { signal }),
      ])
        await assert.rejects(wait, stopped);
      await queue.close();
      await ended;
      for (const wait of [
        queue.counts(['media']),
        queued.progress(),
        queued.done(),
        queued.cancel(),
        queue.addTorrent(plan, { output: 'media/x.torrent' }),
        queue.addBatch('validate', slow()),
      ])
        await assert.rejects(wait, closed);
    });
  });

describe('close() without a server', { skip: redisMissing() }, () => {
  it('lets the process end', async (t) => {
    const redis = await redisServer(t);
    const folder = await temporaryFolder(t);
    const from = (file: string) => new URL(`../../../${file}`, import.meta.url).href;
    const program = `
      const { TorrentQueue } = await import(${JSON.stringify(from('packages/metainfo-bullmq/src/index.ts'))});
      const { folderStore } = await import(${JSON.stringify(from('src/parts/store.ts'))});
      const queue = new TorrentQueue({ connection: ${JSON.stringify(redis.url)}, store: folderStore(${JSON.stringify(folder)}) });
      await queue.counts(['media']);
      console.log('connected');
      process.stdin.once('data', async () => {
        process.stdin.destroy();
        await queue.close();
      });`;
    const args = ['--import', from('scripts/ts.mjs'), '--input-type=module', '-e', program];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    await redis.kill();
    child.stdin.write('\n');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});
