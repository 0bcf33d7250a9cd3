import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  assertWhole,
  CLIENTS,
  done,
  Libtorrent,
  scopeOf,
  share,
  TEST_TIMEOUT,
  until,
  type Version,
} from '../support/clients.ts';
import { tried } from '../support/interop.ts';
import { startTracker } from '../support/tracker.ts';

describe('clients find each other through the tracker of a torrent', {
  skip: CLIENTS.libtorrent.skip,
  concurrency: 6,
}, () => {
  const cases: [name: keyof typeof CLIENTS, torrentVersion: Version, protocol: 'http' | 'udp'][] = [
    ['libtorrent', 'v1', 'udp'],
    ['libtorrent', 'v2', 'http'],
    ['libtorrent', 'hybrid', 'udp'],
    ['Transmission', 'v1', 'http'],
    ['Transmission', 'hybrid', 'http'],
    // aria2 supports UDP trackers only with its DHT enabled.
    ['aria2', 'v1', 'http'],
    ['aria2', 'hybrid', 'http'],
  ];
  for (const [name, torrentVersion, protocol] of cases) {
    const { skip, start } = CLIENTS[name];
    it(`${name} and the seed of a ${torrentVersion}, ${protocol}`, { skip, timeout: TEST_TIMEOUT }, async (t) => {
      const scope = scopeOf(t);
      const { url, peers } = await startTracker(scope, protocol);
      const shared = await share(scope, torrentVersion, ['--tracker', url]);
      const folder = await shared.newFolder();
      const peer = await start(scope, shared.file, folder);
      // The seed starts later and learns of the other client, because Transmission does not connect to peers on 127.0.0.1.
      await until('the first to announce itself', async () => peers.size > 0, peer.log.bind(peer));
      const seed = await Libtorrent.seed(scope, shared);
      await done([peer], [seed]);
      await assertWhole(shared, folder);
      const expected = [seed, peer].map(({ port }) => `127.0.0.1:${port}`).sort();
      assert.deepEqual([...peers].sort(), expected);
      tried({ client: peer.client, version: peer.version, torrentVersion, what: 'finds peers by a tracker' });
    });
  }
});
