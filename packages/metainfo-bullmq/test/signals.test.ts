import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { waitingExports } from '../../../test/support/waiting-exports.ts';

/** Functions that take no signal, and why. */
const WITHOUT_SIGNAL: Record<string, string> = {
  'QueueEngine.discard': 'each question to the server has a limit; `close` of the queue ends it',
  'TorrentQueue.close': 'it has a limit of its own',
  'Workers.check': 'the server has two seconds to answer',
  'Workers.close': 'its option `grace` limits it',
  'Workers.ready': 'it waits for a server that may come later; `close` ends it',
};

describe('signals', () => {
  it('are taken by every function of queues that waits', () => {
    const index = fileURLToPath(new URL('../src/index.ts', import.meta.url));
    const all = waitingExports(index, { interfaces: true });
    assert.ok(all.some(({ name, takesSignal }) => name === 'TorrentQueue.addTorrent' && takesSignal));
    const without = all.filter(({ takesSignal }) => !takesSignal).map(({ name }) => name);
    assert.deepEqual(without.sort(), Object.keys(WITHOUT_SIGNAL));
  });
});
