// Which clients can seed a torrent from its content, although its pad files do not exist on disk.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Aria2,
  aria2Version,
  assertWhole,
  CLIENTS,
  feed,
  Libtorrent,
  type Peer,
  type Scope,
  type Shared,
  scopeOf,
  share,
  TEST_TIMEOUT,
  Transmission,
  until,
  type Version,
} from '../support/clients.ts';
import { tried } from '../support/interop.ts';
import { Rtorrent, rtorrentMissing } from '../support/rtorrent.ts';

const timeout = TEST_TIMEOUT;
/** rtorrent refuses a torrent without a tracker. Nothing listens on this port. */
const TRACKER = ['-t', 'http://127.0.0.1:1/announce'];

const SEEDERS = {
  rtorrent: { seed: Rtorrent.start, skip: rtorrentMissing() },
  Transmission: { seed: Transmission.start, skip: CLIENTS.Transmission.skip },
};

/** Asserts that libtorrent can download the torrent from the client. */
async function assertSeeds(scope: Scope, shared: Shared, seed: Peer): Promise<void> {
  const folder = await shared.newFolder();
  const leech = await Libtorrent.start(scope, shared.file, folder);
  await until(
    'the download from the seed',
    async () => {
      await leech.connect(seed.port);
      return leech.isDone();
    },
    async () => `${await seed.log()}\n${await leech.log()}`,
  );
  await assertWhole(shared, folder);
  tried({
    client: seed.client,
    version: seed.version,
    torrentVersion: shared.torrentVersion,
    what: 'seeds from the content',
  });
}

describe('clients without support of pad files can seed a v1 torrent from its content', {
  skip: CLIENTS.libtorrent.skip,
  concurrency: 4,
}, () => {
  for (const [name, { seed, skip }] of Object.entries(SEEDERS)) {
    it(name, { skip, timeout }, async (t) => {
      const scope = scopeOf(t);
      const shared = await share(scope, 'v1', TRACKER);
      await assertSeeds(scope, shared, await seed(scope, shared.file, shared.parent));
    });
  }
});

describe('rtorrent downloads from libtorrent', { skip: CLIENTS.libtorrent.skip || rtorrentMissing() }, () => {
  for (const torrentVersion of ['v1', 'hybrid'] satisfies Version[]) {
    it(torrentVersion, { timeout }, async (t) => {
      const scope = scopeOf(t);
      const shared = await share(scope, torrentVersion, TRACKER);
      const folder = await shared.newFolder();
      const peer = await Rtorrent.start(scope, shared.file, folder);
      await feed(await Libtorrent.seed(scope, shared), [peer]);
      await assertWhole(shared, folder);
      tried({ client: peer.client, version: peer.version, torrentVersion, what: 'downloads from libtorrent' });
    });
  }
});

// docs/interop.md states this.
describe('clients without support of pad files cannot seed a hybrid folder from its content', {
  concurrency: 4,
}, () => {
  for (const client of [Rtorrent, Transmission]) {
    const skip = client === Rtorrent ? rtorrentMissing() : CLIENTS.Transmission.skip;
    it(client.name, { skip, timeout }, async (t) => {
      const scope = scopeOf(t);
      const shared = await share(scope, 'hybrid', TRACKER);
      const seed = await client.start(scope, shared.file, shared.parent);
      let progress: number | null = null;
      const checked = async () => {
        progress = await seed.progress();
        return progress !== null;
      };
      await until('the check of the files', checked, () => seed.log());
      assert.ok(progress !== null && progress > 0.3 && progress < 1, `${progress}`);
    });
  }

  it('aria2', { skip: CLIENTS.aria2.skip, timeout }, async (t) => {
    const scope = scopeOf(t);
    const { file, parent } = await share(scope, 'hybrid');
    assert.equal(await Aria2.check(scope, file, parent), false);
  });

  it('aria2 finds all files of a v1 torrent with the same check', { skip: CLIENTS.aria2.skip, timeout }, async (t) => {
    const scope = scopeOf(t);
    const { file, parent } = await share(scope, 'v1');
    assert.equal(await Aria2.check(scope, file, parent), true);
    tried({ client: 'aria2', version: aria2Version(), torrentVersion: 'v1', what: 'checks the files' });
  });
});
