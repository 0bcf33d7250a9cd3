import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { MetainfoError } from '../../src/errors/errors.ts';
import { Limiter, Slot } from '../../src/hash/limiter.ts';

/** Jobs that end when the test says so. `log` holds their names in the order in which they started. */
function manualJobs() {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const job = (name: string) => (slot: Slot) => {
    log.push(name);
    return new Promise<Slot>((resolve) => ends.set(name, () => resolve(slot)));
  };
  const end = (name: string) => ends.get(name)?.();
  return { log, job, end };
}

describe('Limiter', () => {
  it('runs as many jobs at once as it has slots, then the others in order', async () => {
    const { log, job, end } = manualJobs();
    const limiter = new Limiter(2);
    const all = ['a', 'b', 'c', 'd'].map((name) => limiter.run(undefined, job(name)));
    await nextRound();
    assert.deepEqual(log, ['a', 'b']);
    end('b');
    await all[1];
    await nextRound();
    assert.deepEqual(log, ['a', 'b', 'c']);
    for (const name of ['a', 'c']) end(name);
    await all[2];
    await nextRound();
    end('d');
    await Promise.all(all);
    assert.deepEqual(log, ['a', 'b', 'c', 'd']);
  });

  it('starts the next job when one fails, in a later turn of the event loop', async () => {
    const limiter = new Limiter(1);
    let failed = 0;
    const fail = async () => {
      failed += 1;
      throw new Error('on purpose');
    };
    const all = Array.from({ length: 5 }, () => assert.rejects(limiter.run(undefined, fail), /on purpose/));
    for (let round = 1; round <= 5; round += 1) {
      assert.ok(failed <= round, `${failed} in round ${round}`);
      await nextRound();
    }
    await Promise.all(all);
    assert.equal(failed, 5);
  });

  it('rejects waiting jobs at once when their signal fires, and loses no slot', async () => {
    const { log, job, end } = manualJobs();
    const limiter = new Limiter(1);
    const first = limiter.run(undefined, job('first'));
    const stop = new AbortController();
    const stopped = Array.from({ length: 100 }, (_, i) => limiter.run(stop.signal, job(`stopped ${i}`)));
    const last = limiter.run(new AbortController().signal, job('last'));
    stop.abort('enough');
    for (const rejected of stopped)
      await assert.rejects(rejected, (error) => error instanceof MetainfoError && error.cause === 'enough');
    await assert.rejects(limiter.run(stop.signal, job('late')), { code: 'ERR_ABORTED' });
    assert.deepEqual(log, ['first']);
    end('first');
    await first;
    while (log.length < 2) await nextRound();
    end('last');
    await last;
    assert.deepEqual(log, ['first', 'last']);
  });

  it('keeps the order when the queue was empty before, or when jobs leave it', async () => {
    const limiter = new Limiter(2);
    for (let round = 0; round < 3; round += 1) {
      const ran: number[] = [];
      const stop = new AbortController();
      const all = Array.from({ length: 9 }, (_, i) =>
        limiter.run(i % 3 === 2 ? stop.signal : undefined, async () => ran.push(i)),
      );
      stop.abort();
      await Promise.allSettled(all);
      assert.deepEqual(ran, [0, 1, 3, 4, 6, 7]);
      assert.equal(limiter.waiting, 0);
    }
  });

  it('keeps no reference to a waiting job whose signal fires', async () => {
    const { job, end } = manualJobs();
    const limiter = new Limiter(1);
    const first = limiter.run(undefined, job('first'));
    const stop = new AbortController();
    const stopped = limiter.run(stop.signal, job('stopped'));
    assert.equal(limiter.waiting, 1);
    stop.abort();
    assert.equal(limiter.waiting, 0);
    await assert.rejects(stopped, { code: 'ERR_ABORTED' });
    end('first');
    await first;
  });

  it('lets a job release its slot early, once', async () => {
    const { log, job, end } = manualJobs();
    const limiter = new Limiter(1);
    const large = limiter.run(undefined, async (slot) => {
      slot.release();
      await job('large')(slot);
    });
    const all = ['a', 'b'].map((name) => limiter.run(undefined, job(name)));
    while (log.length < 2) await nextRound();
    end('large');
    await large;
    await nextRound();
    assert.deepEqual(log, ['large', 'a'], 'the large job has no slot left to release');
    end('a');
    while (log.length < 3) await nextRound();
    end('b');
    await Promise.all(all);
  });

  it('lets waiting jobs go first after some steps of a long job', async () => {
    const limiter = new Limiter(1);
    const log: string[] = [];
    const long = limiter.run(undefined, async (slot) => {
      for (let step = 0; step < 20; step += 1) {
        await slot.offer();
        log.push('long');
      }
    });
    const others = ['a', 'b'].map((name) => limiter.run(undefined, async () => log.push(name)));
    await Promise.all([long, ...others]);
    assert.deepEqual(log, [...Array(16).fill('long'), 'a', 'b', ...Array(4).fill('long')]);
  });

  it('does not give a slot back to a long job whose signal fires while it waits', async () => {
    const limiter = new Limiter(1);
    const stop = new AbortController();
    const { log, job, end } = manualJobs();
    const long = limiter.run(stop.signal, async (slot) => {
      for (let step = 0; step < 17; step += 1) await slot.offer();
      log.push('never');
    });
    const other = limiter.run(undefined, job('other'));
    while (log.length < 1) await nextRound();
    stop.abort();
    await assert.rejects(long, { code: 'ERR_ABORTED' });
    end('other');
    await other;
    await limiter.run(undefined, async () => log.push('free'));
    assert.deepEqual(log, ['other', 'free']);
  });

  it('tells how many waiting jobs go first', async () => {
    const { job, end } = manualJobs();
    const limiter = new Limiter(1);
    const first = limiter.run(undefined, job('first'));
    await nextRound();
    const slots = Array.from({ length: 3 }, () => new Slot(limiter));
    const acquired = slots.map((slot) => slot.acquire());
    assert.deepEqual(
      slots.map(({ queueIndex }) => queueIndex),
      [0, 1, 2],
    );
    end('first');
    await first;
    await acquired[0];
    assert.deepEqual(
      slots.map(({ queueIndex }) => queueIndex),
      [-1, 0, 1],
    );
    for (const [i, slot] of slots.entries()) {
      await acquired[i];
      slot.release();
    }
  });

  it('lets the event loop run when a job requeues, also if no other job waits', async () => {
    let rounds = 0;
    await new Limiter(1).run(undefined, async (slot) => {
      setImmediate(() => {
        rounds += 1;
      });
      await slot.requeue();
      assert.equal(rounds, 1);
    });
  });

  it('lets the event loop run between many jobs that wait for nothing', async () => {
    const limiter = new Limiter(8);
    let rounds = 0;
    const count = () => {
      rounds += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    for (let job = 0; job < 1000; job += 1) await limiter.run(undefined, async () => {});
    clearImmediate(timer);
    assert.ok(rounds >= 50, `the event loop ran ${rounds} times`);
  });

  it('starts the jobs that wait in the order of their requests, before any later one', async () => {
    const limiter = new Limiter(2);
    const log: number[] = [];
    const all = Array.from({ length: 100 }, (_, i) => limiter.run(undefined, async () => log.push(i)));
    await nextRound();
    all.push(...Array.from({ length: 100 }, (_, i) => limiter.run(undefined, async () => log.push(100 + i))));
    await Promise.all(all);
    assert.deepEqual(
      log,
      Array.from({ length: 200 }, (_, i) => i),
    );
  });

  it('queues fifty thousand jobs that share a signal in linear time', { timeout: 60_000 }, async () => {
    const limiter = new Limiter(8);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 50_000 }, () => limiter.run(signal, async () => {})));
    assert.equal(limiter.waiting, 0);
  });

  it('keeps nothing of cancelled jobs, even if their signal lives on', async () => {
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc') as () => void;
    const limiter = new Limiter(1);
    const stop = new AbortController();
    const slot = new Slot(limiter);
    await slot.acquire();
    const job = async (): Promise<WeakRef<Error> | null> => null;
    const cancelled = Array.from({ length: 100 }, () =>
      limiter.run(stop.signal, job).catch((error: Error) => new WeakRef(error)),
    );
    stop.abort();
    const errors = await Promise.all(cancelled);
    slot.release();
    await nextRound();
    collect();
    const kept = errors.filter((error) => error?.deref() !== undefined);
    assert.ok(kept.length < 10, `${kept.length} errors are kept`);
    assert.ok(stop.signal.aborted);
  });
});
