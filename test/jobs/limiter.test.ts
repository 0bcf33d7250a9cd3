import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { MetainfoError } from '../../src/errors/errors.ts';
import { Limiter, type Slot } from '../../src/jobs/limiter.ts';

/** Work that ends when it is told to; `log` has what was started, in order. */
function stage() {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => (turn: Slot) => {
    log.push(name);
    return new Promise<Slot>((resolve) => ends.set(name, () => resolve(turn)));
  };
  const end = (name: string) => ends.get(name)?.();
  return { log, work, end };
}

describe('turns', () => {
  it('are had by so many at once, and then in the order of asking', async () => {
    const { log, work, end } = stage();
    const turns = new Limiter(2);
    const all = ['a', 'b', 'c', 'd'].map((name) => turns.run(undefined, work(name)));
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

  it('end with an error too, one in a round of the event loop', async () => {
    const turns = new Limiter(1);
    let failed = 0;
    const fail = async () => {
      failed += 1;
      throw new Error('on purpose');
    };
    const all = Array.from({ length: 5 }, () => assert.rejects(turns.run(undefined, fail), /on purpose/));
    for (let round = 1; round <= 5; round += 1) {
      assert.ok(failed <= round, `${failed} in round ${round}`);
      await nextRound();
    }
    await Promise.all(all);
    assert.equal(failed, 5);
  });

  it('are not waited for by those who are aborted, and not lost by that', async () => {
    const { log, work, end } = stage();
    const turns = new Limiter(1);
    const first = turns.run(undefined, work('first'));
    const stop = new AbortController();
    const stopped = Array.from({ length: 100 }, (_, i) => turns.run(stop.signal, work(`stopped ${i}`)));
    const last = turns.run(new AbortController().signal, work('last'));
    stop.abort('enough');
    for (const one of stopped)
      await assert.rejects(one, (error) => error instanceof MetainfoError && error.cause === 'enough');
    await assert.rejects(turns.run(stop.signal, work('late')), { code: 'ERR_ABORTED' });
    assert.deepEqual(log, ['first']);
    end('first');
    await first;
    while (log.length < 2) await nextRound();
    end('last');
    await last;
    assert.deepEqual(log, ['first', 'last']);
  });

  it('go on in order after all were had, and past those who left', async () => {
    const turns = new Limiter(2);
    for (let round = 0; round < 3; round += 1) {
      const had: number[] = [];
      const stop = new AbortController();
      const asked = Array.from({ length: 9 }, (_, i) =>
        turns.run(i % 3 === 2 ? stop.signal : undefined, async () => had.push(i)),
      );
      stop.abort();
      await Promise.allSettled(asked);
      assert.deepEqual(had, [0, 1, 3, 4, 6, 7]);
      assert.equal(turns.isCrowded, false);
    }
  });

  it('hold nothing of those who are aborted as they wait', async () => {
    const { work, end } = stage();
    const turns = new Limiter(1);
    const first = turns.run(undefined, work('first'));
    const stop = new AbortController();
    const stopped = turns.run(stop.signal, work('stopped'));
    assert.ok(turns.isCrowded);
    stop.abort();
    assert.ok(!turns.isCrowded);
    await assert.rejects(stopped, { code: 'ERR_ABORTED' });
    end('first');
    await first;
  });

  it('are given up early, once', async () => {
    const { log, work, end } = stage();
    const turns = new Limiter(1);
    const large = turns.run(undefined, async (turn) => {
      turn.end();
      await work('large')(turn);
    });
    const all = ['a', 'b'].map((name) => turns.run(undefined, work(name)));
    while (log.length < 2) await nextRound();
    end('large');
    await large;
    await nextRound();
    assert.deepEqual(log, ['large', 'a'], 'the large one had no turn any more to give');
    end('a');
    while (log.length < 3) await nextRound();
    end('b');
    await Promise.all(all);
  });

  it('are offered to others by what takes long, and come back', async () => {
    const turns = new Limiter(1);
    const log: string[] = [];
    const long = turns.run(undefined, async (turn) => {
      for (let step = 0; step < 20; step += 1) {
        await turn.offer();
        log.push('long');
      }
    });
    const others = ['a', 'b'].map((name) => turns.run(undefined, async () => log.push(name)));
    await Promise.all([long, ...others]);
    assert.deepEqual(log, [...Array(16).fill('long'), 'a', 'b', ...Array(4).fill('long')]);
  });

  it('that were offered are not had again after an abort', async () => {
    const turns = new Limiter(1);
    const stop = new AbortController();
    const { log, work, end } = stage();
    const long = turns.run(stop.signal, async (turn) => {
      for (let step = 0; step < 17; step += 1) await turn.offer();
      log.push('never');
    });
    const other = turns.run(undefined, work('other'));
    while (log.length < 1) await nextRound();
    stop.abort();
    await assert.rejects(long, { code: 'ERR_ABORTED' });
    end('other');
    await other;
    await turns.run(undefined, async () => log.push('free'));
    assert.deepEqual(log, ['other', 'free']);
  });
});
