// Which clients accept hybrids whose pad files share a path, as libtorrent names them, and that all accept the names of the default.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertWhole, CLIENTS, feed, Libtorrent, scopeOf, share, TEST_TIMEOUT } from '../support/clients.ts';
import { clientMissing } from '../support/external.ts';
import { tried } from '../support/interop.ts';
import { Rtorrent, rtorrentMissing } from '../support/rtorrent.ts';

const timeout = TEST_TIMEOUT;
/** The first two need a pad file of the same length. */
const FILES = { 'one.bin': 100_001, 'two.bin': 100_001, 'three.bin': 7 };
/** rtorrent refuses a torrent without a tracker. Nothing listens on this port. */
const TRACKER = ['-t', 'http://127.0.0.1:1/announce'];

const STARTERS = {
  ...CLIENTS,
  rtorrent: { start: Rtorrent.start, skip: rtorrentMissing() },
};

describe('hybrids with pad files of equal length', { skip: CLIENTS.libtorrent.skip, concurrency: 4 }, () => {
  for (const [name, { start, skip }] of Object.entries(STARTERS)) {
    it(`are downloaded by ${name} with the default names`, { skip, timeout }, async (t) => {
      const scope = scopeOf(t);
      const shared = await share(scope, 'hybrid', TRACKER, FILES);
      const seed = await Libtorrent.seed(scope, shared);
      const folder = await shared.newFolder();
      const peer = await start(scope, shared.file, folder);
      await feed(seed, [peer]);
      await assertWhole(shared, folder);
      const what = 'downloads with the default pad names';
      tried({ client: peer.client, version: peer.version, torrentVersion: 'hybrid', what });
    });
  }

  // docs/interop.md states this. Transmission 4.1.1 was the first to check for duplicate paths.
  it('are refused by Transmission if pad files share a path', {
    skip: clientMissing('transmission-daemon', '4.1.1'),
    timeout,
  }, async (t) => {
    const scope = scopeOf(t);
    const { file, newFolder } = await share(scope, 'hybrid', [...TRACKER, '--pad-names', 'libtorrent'], FILES);
    await assert.rejects(CLIENTS.Transmission.start(scope, file, await newFolder()), /duplicate|unrecognized info/);
  });
});
