// Hybrids with pad files of equal length: which clients take libtorrent's names of them, and that all take unique ones.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertWhole, CLIENTS, feed, Libtorrent, scopeOf, share, TEST_TIMEOUT } from '../support/clients.ts';
import { tried } from '../support/interop.ts';
import { Rtorrent, rtorrentMissing } from '../support/rtorrent.ts';

const timeout = TEST_TIMEOUT;
/** Both need a pad of the same length. */
const FILES = { 'one.bin': 100_001, 'two.bin': 100_001, 'three.bin': 7 };
/** rtorrent takes no torrent without one. Nobody listens there. */
const TRACKER = ['-t', 'http://127.0.0.1:1/announce'];

const STARTERS = {
  ...CLIENTS,
  rtorrent: { start: Rtorrent.start, skip: rtorrentMissing() },
};

describe('hybrids with pad files of equal length', { skip: CLIENTS.libtorrent.skip, concurrency: 4 }, () => {
  for (const [name, { start, skip }] of Object.entries(STARTERS)) {
    it(`${name} downloads one with unique pad names`, { skip, timeout }, async (t) => {
      const scope = scopeOf(t);
      const shared = await share(scope, 'hybrid', [...TRACKER, '--pad-names', 'unique'], FILES);
      const seed = await Libtorrent.seed(scope, shared);
      const folder = await shared.newFolder();
      const peer = await start(scope, shared.file, folder);
      await feed(seed, [peer]);
      await assertWhole(shared, folder);
      const what = 'downloads with unique pad names';
      tried({ client: peer.client, version: peer.version, torrentVersion: 'hybrid', what });
    });
  }

  // docs/interop.md says so.
  it('Transmission refuses one with the names of libtorrent', {
    skip: CLIENTS.Transmission.skip,
    timeout,
  }, async (t) => {
    const scope = scopeOf(t);
    const { file, newFolder } = await share(scope, 'hybrid', TRACKER, FILES);
    await assert.rejects(CLIENTS.Transmission.start(scope, file, await newFolder()), /duplicate|unrecognized info/);
  });
});
