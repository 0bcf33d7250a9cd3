import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertWithin, slowness } from '../support/timing.ts';
import { HUGE, sparseFile, temporaryFolder } from '../support/tree.ts';
import { runChild, runScript } from './run-child.ts';

const MOST_SECONDS = 0.2 * slowness;

describe('worker.terminate() during a job', () => {
  // The main thread loads the addon only after the workers have ended.
  for (const workers of [1, 2]) {
    it(`ends ${workers} at once, and the process can still hash`, async (t) => {
      const folder = await temporaryFolder(t);
      const file = await sparseFile(folder, 'huge', HUGE);
      const small = await sparseFile(folder, 'small', 5 * 16384);
      await assertWithin(t, MOST_SECONDS, async () => {
        const { code, signal, told } = await runChild('terminate', file, workers, small);
        assert.deepEqual({ code, signal }, { code: 0, signal: null });
        assert.deepEqual(told.at(-1), { pieces: 5 });
        assert.equal(told.length, workers + 1);
        return Math.max(...told.slice(0, -1).map((message) => message['seconds'] as number));
      });
    });
  }

  it('does not touch content in memory that ended with the worker', async () => {
    const { code, signal, told } = await runChild('terminateRounds', 'memory', 10);
    assert.deepEqual({ code, signal, rounds: told.length }, { code: 0, signal: null, rounds: 10 });
  });

  it('never crashes in 30 rounds', async (t) => {
    const file = await sparseFile(await temporaryFolder(t), 'huge', HUGE);
    const { code, signal, told } = await runChild('terminateRounds', file, 30);
    assert.deepEqual({ code, signal, rounds: told.length }, { code: 0, signal: null, rounds: 30 });
  });
});

describe('a worker that ends while native threads run its jobs', () => {
  const ROUNDS = 15;
  for (const kind of ['sort', 'measure', 'list', 'tree', 'scan', 'hash v1', 'hash v2', 'hash memory']) {
    it(`does not end the process: ${kind}`, async (t) => {
      // glibc then returns freed columns to the system, so reading one ends the process.
      const env = { MALLOC_MMAP_THRESHOLD_: '65536' };
      const args = ['endJobs', kind, await temporaryFolder(t), ROUNDS];
      const { code, signal, told } = await runScript('child.ts', args, env);
      const ended = { terminate: ROUNDS, uncaught: ROUNDS, exit: ROUNDS };
      assert.deepEqual({ code, signal, told }, { code: 0, signal: null, told: [ended] });
    });
  }
});
