// All jobs of a process share its threads and memory.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { afterEach, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import { processLimits } from '../../src/hash/hash-request.ts';
import type { Progress } from '../../src/jobs/watch.ts';
import { HUGE, sparseFile, temporaryFolder } from '../support/tree.ts';

const MIB = 2 ** 20;
const limits = processLimits();
afterEach(() => processLimits(limits));

const countThreads = () => (process.platform === 'linux' ? readdirSync('/proc/self/task').length : 0);
let threadsAtFirst = 0;
before(async () => {
  // Node starts threads of its own for the file system.
  await stat('.');
  threadsAtFirst = countThreads();
});

/** A job of 64 GiB that hashes already; how it ends is not looked at. */
async function huge(t: TestContext, options: GenerateOptions = {}) {
  const file = await sparseFile(await temporaryFolder(t), 'huge', HUGE);
  const stop = new AbortController();
  t.after(() => stop.abort());
  const last: { progress?: Progress } = {};
  await new Promise<void>((resolve, reject) => {
    const onProgress = (progress: Progress) => {
      last.progress = progress;
      if (progress.bytes > 0) resolve();
    };
    const draft = new TorrentCreate({ pathRoot: file, pieceLength: MIB });
    draft.generate({ signal: stop.signal, onProgress, ...options }).catch(reject);
  });
  return { last, stop: () => stop.abort() };
}

async function small(t: TestContext, options: GenerateOptions = {}) {
  const file = await sparseFile(await temporaryFolder(t), 'small', 3 * MIB + 1);
  return new TorrentCreate({ pathRoot: file, pieceLength: MIB }).generate(options);
}

describe('jobs of one process', () => {
  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    it(`a small one does not wait for a huge ${version} one, not even for the only thread`, async (t) => {
      processLimits({ threads: 1 });
      const { last } = await huge(t, { version });
      for (let i = 0; i < 20; i += 1) assert.equal((await small(t, { version })).totalSize, 3 * MIB + 1);
      const { bytes, totalBytes } = last.progress as Progress;
      assert.ok(bytes < totalBytes / 2, `the huge one is at ${bytes}`);
      // It goes on after them.
      for (let i = 0; (last.progress as Progress).bytes <= bytes; i += 1) {
        assert.ok(i < 100, 'the huge one stopped');
        await sleep(50);
      }
    });
  }

  it('report their place in the queue', async (t) => {
    processLimits({ threads: 1 });
    const file = await sparseFile(await temporaryFolder(t), 'file', HUGE);
    const stop = new AbortController();
    const seen = [0, 0, 0].map(() => new Set<number>());
    const jobs = seen.map((queued) => {
      const onProgress = (progress: Progress) => queued.add(progress.queued);
      return new TorrentCreate({ pathRoot: file }).generate({ onProgress, signal: stop.signal });
    });
    const ended = Promise.allSettled(jobs);
    // Each is told at moments of its own, so it takes some until every place was seen.
    const places = () => new Set(seen.flatMap((queued) => [...queued]));
    for (let i = 0; ![0, 1, 2].every((place) => places().has(place)); i += 1) {
      assert.ok(i < 200, `of the places 0, 1, 2 only ${[...places()]} were told`);
      await sleep(20);
    }
    stop.abort();
    await ended;
    assert.deepEqual([...places()].sort(), [0, 1, 2]);
  });

  const noThreads =
    process.env['METAINFO_ENGINE'] === 'node' ? 'node:crypto hashes without threads' : process.platform !== 'linux';
  it('stay within the threads of the process', { skip: noThreads }, async (t) => {
    // The threads of the tests before this one are parked for some seconds.
    for (let i = 0; countThreads() > threadsAtFirst && i < 600; i += 1) await sleep(100);
    processLimits({ threads: 2 });
    const jobs = [await huge(t, { threads: 8 }), await huge(t, { threads: 8 })];
    let most = 0;
    for (let i = 0; i < 20; i += 1) {
      most = Math.max(most, countThreads());
      await sleep(10);
    }
    assert.ok(most > threadsAtFirst, 'no thread was seen');
    // One that gives its place to another job may not be gone yet.
    assert.ok(most <= threadsAtFirst + 2 + 2, `${most} threads, ${threadsAtFirst} of them before`);
    for (const { stop } of jobs) stop();
  });

  it('run one after the other if the memory is enough for one only', async (t) => {
    processLimits({ threads: 4, memory: 16 * 1024 });
    const all = await Promise.all(Array.from({ length: 20 }, () => small(t, { threads: 2 })));
    assert.equal(new Set(all.map((torrent) => torrent.infohashV1)).size, 1);
  });
});
