import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { AbortError } from '../../src/errors/cancel.ts';
import { forEachConcurrently } from '../../src/hash/for-each-concurrently.ts';

/** Rejects when the signal fires. */
function untilStopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
}

describe('forEachConcurrently', () => {
  for (const [kind, iterable] of [
    ['an array', ['a', 'b', 'c', 'd', 'e']],
    [
      'an async generator',
      (async function* () {
        yield* ['a', 'b', 'c', 'd', 'e'];
      })(),
    ],
  ] as const)
    it(`visits the items of ${kind} in order, a bounded number at once`, async () => {
      const visited: [string, number][] = [];
      let [running, most] = [0, 0];
      await forEachConcurrently(iterable, { concurrency: 2 }, async (item, index) => {
        visited.push([item, index]);
        running += 1;
        most = Math.max(most, running);
        await nextRound();
        running -= 1;
      });
      assert.deepEqual(visited, [
        ['a', 0],
        ['b', 1],
        ['c', 2],
        ['d', 3],
        ['e', 4],
      ]);
      assert.equal(most, 2);
      assert.equal(running, 0);
    });

  it('stops the other visits at the first failure, waits for them and takes no further item', async () => {
    const started: number[] = [];
    const ended: number[] = [];
    const done = forEachConcurrently([0, 1, 2, 3], { concurrency: 2 }, async (item, _index, signal) => {
      started.push(item);
      if (item === 1) throw new Error('on purpose');
      await untilStopped(signal).catch(async (error: unknown) => {
        await nextRound();
        ended.push(item);
        throw error;
      });
    });
    await assert.rejects(done, /on purpose/);
    assert.deepEqual([started, ended], [[0, 1], [0]]);
  });

  it('rejects with an AbortError when its signal fires, and waits for what is running', async () => {
    const stop = new AbortController();
    const ended: number[] = [];
    const done = forEachConcurrently([0, 1, 2], { concurrency: 2, signal: stop.signal }, async (item) => {
      await nextRound();
      await nextRound();
      ended.push(item);
    });
    await nextRound();
    stop.abort('enough');
    await assert.rejects(done, (error) => error instanceof AbortError && error.cause === 'enough');
    assert.deepEqual(ended, [0, 1]);
    await assert.rejects(
      forEachConcurrently([0], { concurrency: 1, signal: stop.signal }, async () => assert.fail('visited')),
      AbortError,
    );
  });

  it('does not wait for an iterator that gives nothing after the signal has fired, and ends it', async () => {
    const stop = new AbortController();
    let hasEnded = false;
    const iterator: AsyncIterableIterator<number> = {
      [Symbol.asyncIterator]: () => iterator,
      next: () => new Promise(() => {}),
      return: async () => {
        hasEnded = true;
        return { done: true, value: undefined };
      },
    };
    const done = forEachConcurrently(iterator, { concurrency: 2, signal: stop.signal }, async () => {});
    stop.abort();
    await assert.rejects(done, AbortError);
    assert.ok(hasEnded);
  });

  it('fails with the error of an iterator', async () => {
    const items = (function* () {
      yield 1;
      throw new Error('no more');
    })();
    await assert.rejects(
      forEachConcurrently(items, { concurrency: 3 }, (_item, _index, signal) => untilStopped(signal)),
      /no more/,
    );
  });

  it('visits many items in the same round of the event loop, and holds only those that it visits', async () => {
    let rounds = 0;
    const count = setImmediate(() => (rounds += 1));
    let [made, ended, most] = [0, 0, 0];
    const items = (function* () {
      for (; made < 100_000; made += 1) {
        most = Math.max(most, made - ended);
        yield made;
      }
    })();
    await forEachConcurrently(items, { concurrency: 4 }, async () => {
      await null;
      ended += 1;
    });
    clearImmediate(count);
    assert.deepEqual([ended, rounds], [100_000, 0]);
    assert.ok(most <= 4, `${most} at once`);
  });
});
