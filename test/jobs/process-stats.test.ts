import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { promisify } from 'node:util';
import { addonOrNull } from '../../src/hash/addon.ts';
import {
  AbortError,
  type Engine,
  MetainfoError,
  nodeEngine,
  type ProcessStats,
  processLimits,
  processStats,
  TorrentCreate,
} from '../../src/index.ts';
import { jobLimiter } from '../../src/jobs/job-limiter.ts';
import { ROOT } from '../support/pages.ts';
import { HUGE, sparseFile, temporaryFolder } from '../support/tree.ts';

const memory = (size: number) => new TorrentCreate({ sources: [{ path: 'a', data: Buffer.alloc(size, 1) }] });
const hasAddon = addonOrNull() !== null;

/** The change of the counters while something runs. */
async function change(run: () => Promise<unknown>): Promise<Pick<ProcessStats, 'ended' | 'failures' | 'bytes'>> {
  const before = processStats();
  await run();
  const after = processStats();
  const failures: ProcessStats['failures'] = {};
  for (const [code, count] of Object.entries(after.failures)) {
    const more = count - (before.failures[code as keyof typeof failures] ?? 0);
    if (more > 0) failures[code as keyof typeof failures] = more;
  }
  assert.deepEqual([after.running, after.waiting, after.threads, after.memory], [0, 0, 0, 0]);
  return { ended: after.ended - before.ended, bytes: after.bytes - before.bytes, failures };
}

/** Calls `processStats` in each round of the event loop until a promise settles or the stats are as wanted. */
async function until(promise: Promise<unknown>, isWanted: (stats: ProcessStats) => boolean): Promise<boolean> {
  let settled = false;
  promise.finally(() => {
    settled = true;
  });
  while (!settled) {
    if (isWanted(processStats())) return true;
    await nextRound();
  }
  return false;
}

describe('processStats', () => {
  it('counts jobs and the bytes that they hash, on all paths of a creation', async (test) => {
    const folder = await temporaryFolder(test);
    const file = path.join(folder, 'file');
    await writeFile(file, Buffer.alloc(50_000, 1));
    const large = path.join(folder, 'large');
    await writeFile(large, Buffer.alloc(300_000, 1));
    const jobs: readonly (readonly [number, () => Promise<unknown>])[] = [
      [100, () => memory(100).generate()],
      [100_000, () => memory(100_000).generate({ version: 'v2' })],
      [50_000, () => new TorrentCreate({ pathRoot: file }).generate()],
      [350_000, () => new TorrentCreate({ pathRoot: folder }).generate({ version: 'v1' })],
      [300_000, () => new TorrentCreate({ pathRoot: large }).generate({ engine: nodeEngine() })],
      // Several small files in memory are hashed at once.
      [
        6,
        () =>
          new TorrentCreate({
            name: 'x',
            sources: ['a', 'b'].map((name) => ({ path: `x/${name}`, data: Buffer.from('abc') })),
          }).generate(),
      ],
    ];
    for (const [bytes, run] of jobs) assert.deepEqual(await change(run), { ended: 1, bytes, failures: {} });
  });

  it('does not count the speed test of a plan', async () => {
    for (const engine of [undefined, nodeEngine()]) {
      const run = async () => assert.ok(((await memory(100).plan({ engine })).bytesPerSecond as number) > 0);
      assert.deepEqual(await change(run), { ended: 0, bytes: 0, failures: {} });
    }
  });

  it('counts failures by code', async () => {
    const missing = () =>
      assert.rejects(new TorrentCreate({ pathRoot: '/nowhere/at/all' }).generate(), { code: 'ERR_NOT_FOUND' });
    const cancelled = () => assert.rejects(memory(10).generate({ signal: AbortSignal.abort() }), AbortError);
    const other = () =>
      assert.rejects(
        memory(100_000).generate({
          onPlan: () => {
            throw new TypeError('on purpose');
          },
        }),
        TypeError,
      );
    const unknown = Object.assign(new MetainfoError('ERR_READ', 'x'), { code: '__proto__' });
    const engine = {
      ...nodeEngine(),
      start: () => ({
        done: Promise.reject(unknown),
        progress: () => ({ bytes: 0, fileIndex: 0, queued: 0 }),
        cancel() {},
      }),
    };
    const hostile = () => assert.rejects(memory(100_000).generate({ engine: engine as Engine }));
    const { ended, failures } = await change(async () => {
      for (const run of [missing, missing, cancelled, other, hostile]) await run();
    });
    assert.deepEqual({ ended, failures }, { ended: 5, failures: { ERR_NOT_FOUND: 2, ERR_ABORTED: 1, other: 2 } });
  });

  it('tells how many jobs run, and how many wait for their turn', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    async function* stream() {
      await held;
      yield Buffer.from('content');
    }
    const running = new TorrentCreate({ sources: [{ path: 'a', data: stream() }] }).generate();
    await nextRound();
    assert.deepEqual([processStats().running, processStats().waiting], [1, 0]);
    let taken = 0;
    while (jobLimiter.take(0)) taken += 1;
    const waiting = [memory(1).generate(), memory(2).generate()];
    assert.deepEqual([processStats().running, processStats().waiting], [1, 2]);
    for (; taken > 0; taken -= 1) jobLimiter.give();
    await Promise.all(waiting);
    assert.deepEqual([processStats().running, processStats().waiting], [1, 0]);
    release();
    await running;
    assert.deepEqual([processStats().running, processStats().waiting], [0, 0]);
  });

  it('tells the threads and memory in use, and counts jobs that wait for a thread', {
    skip: !hasAddon,
  }, async (test) => {
    const folder = await temporaryFolder(test);
    const file = await sparseFile(folder, 'file', HUGE);
    const limits = processLimits();
    processLimits({ threads: 1 });
    try {
      const stop = new AbortController();
      const jobs = [1, 2, 3].map(() => new TorrentCreate({ pathRoot: file }).generate({ signal: stop.signal }));
      const all = Promise.allSettled(jobs);
      assert.ok(
        await until(
          all,
          ({ running, waiting, threads, memory: bytes }) =>
            running === 1 && waiting === 2 && threads === 1 && bytes > 0 && bytes <= limits.memory,
        ),
      );
      // Bytes of jobs that run count too.
      const { bytes: before } = processStats();
      assert.ok(await until(all, ({ bytes }) => bytes > before));
      stop.abort();
      await all;
    } finally {
      processLimits(limits);
    }
  });

  it('loads neither the addon nor the module of the channel', async () => {
    const source = (name: string) => JSON.stringify(new URL(`../../src/${name}`, import.meta.url).href);
    const program = `
      import { processStats } from ${source('index.ts')};
      import { loadedAddon } from ${source('hash/addon.ts')};
      console.log(JSON.stringify([processStats(), loadedAddon() === undefined]));
    `;
    const args = ['--import', './scripts/ts.mjs', '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    const none = { running: 0, waiting: 0, ended: 0, failures: {}, bytes: 0, threads: 0, memory: 0 };
    assert.deepEqual(JSON.parse(stdout), [none, true]);
  });
});
