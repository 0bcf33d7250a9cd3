import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import type { MetainfoError } from '../../src/errors/errors.ts';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import { cpuSeconds, slowness } from '../support/timing.ts';
import { HUGE, sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';

const MOST_SECONDS = 0.2 * slowness;
const REASON = new Error('the user had enough');

/** Asserts that a running generation ends with an AbortError after the signal fires, and hashes little after that. */
async function assertAborts(t: TestContext, generation: Promise<unknown>, controller: AbortController): Promise<void> {
  const before = cpuSeconds();
  controller.abort(REASON);
  await assert.rejects(generation, (error: MetainfoError) => {
    assert.deepEqual([error.name, error.code, error.cause], ['AbortError', 'ERR_ABORTED', REASON]);
    return true;
  });
  const seconds = cpuSeconds() - before;
  assert.ok(seconds < MOST_SECONDS, `took ${seconds} s of processor time`);
  assert.deepEqual(getEventListeners(controller.signal, 'abort'), []);
  t.diagnostic(`${seconds.toFixed(3)} s`);
}

/** Starts a job that hashes for minutes on every core. */
async function hugeJob(t: TestContext, options: GenerateOptions) {
  const draft = new TorrentCreate({ pathRoot: await sparseFile(await temporaryFolder(t), 'huge', HUGE) });
  let generation: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve) => {
    const onProgress = ({ bytes }: { bytes: number }) => bytes > 0 && resolve();
    generation = draft.generate({ threads: availableParallelism(), ...options, onProgress });
    generation.catch(() => {});
  });
  return { draft, generation };
}

describe('an abort signal', () => {
  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    it(`cancels a ${version} job that hashes`, async (t) => {
      const controller = new AbortController();
      const { generation } = await hugeJob(t, { version, signal: controller.signal });
      await assertAborts(t, generation, controller);
    });
  }

  it('cancels only its own jobs in the queue', async (t) => {
    const first = new AbortController();
    const { draft, generation } = await hugeJob(t, { signal: first.signal });
    const waiting = new AbortController();
    const jobs = Array.from({ length: 8 }, () => draft.generate({ signal: waiting.signal }));
    for (const job of jobs) job.catch(() => {});
    await sleep(200);
    await assertAborts(
      t,
      Promise.any(jobs).catch(({ errors }) => Promise.reject(errors[7])),
      waiting,
    );
    await assertAborts(t, generation, first);
  });

  it('cancels a job before it hashes', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: 1 });
    const controller = new AbortController();
    const engine = { ...defaultEngine(), start: () => assert.fail('hashing was started') };
    const generation = new TorrentCreate({ pathRoot: folder }).generate({ signal: controller.signal, engine });
    await assertAborts(t, generation, controller);
  });

  it('starts no job if it has fired already', async () => {
    const signal = AbortSignal.abort(REASON);
    const draft = new TorrentCreate({ pathRoot: '/nowhere' });
    await assert.rejects(draft.generate({ signal }), { code: 'ERR_ABORTED', cause: REASON });
  });

  it('cancels a job while it starts', async (t) => {
    const controller = new AbortController();
    const real = defaultEngine();
    const engine: typeof real = {
      ...real,
      start(plan) {
        controller.abort(REASON);
        return real.start(plan);
      },
    };
    const file = await sparseFile(await temporaryFolder(t), 'file', 2 ** 30);
    const generation = new TorrentCreate({ pathRoot: file }).generate({ engine, signal: controller.signal });
    await assert.rejects(generation, { code: 'ERR_ABORTED', cause: REASON });
  });

  it('cancels a job that hashes padding', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: 1, b: 1, c: 1, d: 1 });
    const controller = new AbortController();
    const draft = new TorrentCreate({ pathRoot: folder, pieceLength: 2 ** 31 });
    const generation = draft.generate({ signal: controller.signal });
    generation.catch(() => {});
    await sleep(200);
    await assertAborts(t, generation, controller);
  });

  it('has no effect after the end of a job, which removes its listener', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: 1 });
    const controller = new AbortController();
    const torrent = await new TorrentCreate({ pathRoot: folder }).generate({ signal: controller.signal });
    assert.deepEqual(getEventListeners(controller.signal, 'abort'), []);
    const infohash = torrent.infohashV2;
    controller.abort(REASON);
    await sleep(10);
    assert.equal(torrent.infohashV2, infohash);
  });

  it('keeps no listener of a job that failed', async (t) => {
    const { signal } = new AbortController();
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: 1 });
    const engine = {
      ...defaultEngine(),
      start: () => ({
        done: Promise.reject(REASON),
        progress: () => ({ bytes: 0, fileIndex: 0, queued: 0 }),
        cancel: () => {},
      }),
    };
    await assert.rejects(new TorrentCreate({ pathRoot: folder }).generate({ signal, engine }), REASON);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
});
