import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import {
  assertWhole,
  CLIENTS,
  done,
  feed,
  Libtorrent,
  scopeOf,
  share,
  TEST_TIMEOUT,
  type Version,
} from '../support/clients.ts';
import { tried } from '../support/interop.ts';

const timeout = TEST_TIMEOUT;

// Transmission announces its interest only every ten seconds, so the tests run in parallel.
describe('torrents of metainfo can be downloaded from a libtorrent seed', {
  skip: CLIENTS.libtorrent.skip,
  concurrency: 8,
}, () => {
  const cases: [name: keyof typeof CLIENTS, torrentVersion: Version][] = [
    ['Transmission', 'v1'],
    ['Transmission', 'hybrid'],
    ['aria2', 'v1'],
    ['aria2', 'hybrid'],
    ['libtorrent', 'v1'],
    ['libtorrent', 'v2'],
    ['libtorrent', 'hybrid'],
  ];
  for (const [name, torrentVersion] of cases) {
    const { skip, start } = CLIENTS[name];
    it(`${torrentVersion} by ${name}`, { skip, timeout }, async (t) => {
      const scope = scopeOf(t);
      const shared = await share(scope, torrentVersion);
      const seed = await Libtorrent.seed(scope, shared);
      const folder = await shared.newFolder();
      const peer = await start(scope, shared.file, folder);
      await feed(seed, [peer]);
      await assertWhole(shared, folder);
      assert.equal(existsSync(path.join(folder, 'content/.pad')), torrentVersion === 'hybrid' && name !== 'libtorrent');
      tried({ client: seed.client, version: seed.version, torrentVersion, what: 'checks the files and seeds them' });
      tried({ client: peer.client, version: peer.version, torrentVersion, what: 'downloads from libtorrent' });
    });
  }

  it('a hybrid by a v1 client and a v2 client in one swarm', {
    skip: CLIENTS.Transmission.skip,
    timeout,
  }, async (t) => {
    const scope = scopeOf(t);
    const shared = await share(scope, 'hybrid');
    const seed = await Libtorrent.seed(scope, shared);
    const folders = [await shared.newFolder(), await shared.newFolder()] as const;
    const peers = [
      await CLIENTS.Transmission.start(scope, shared.file, folders[0]),
      await CLIENTS.libtorrent.start(scope, shared.file, folders[1]),
    ];
    await feed(seed, peers);
    for (const folder of folders) await assertWhole(shared, folder);
    for (const { client, version } of peers) {
      tried({ client, version, torrentVersion: 'hybrid', what: 'downloads in one swarm of v1 and v2 peers' });
    }
  });
});

// docs/interop.md states this.
describe('v2 torrents are refused by v1 clients', () => {
  it('Transmission', { skip: CLIENTS.Transmission.skip, timeout }, async (t) => {
    const scope = scopeOf(t);
    const { file, newFolder } = await share(scope, 'v2');
    await assert.rejects(CLIENTS.Transmission.start(scope, file, await newFolder()), /unrecognized info/);
  });

  it('aria2', { skip: CLIENTS.aria2.skip, timeout }, async (t) => {
    const scope = scopeOf(t);
    const { file, newFolder } = await share(scope, 'v2');
    const aria2 = await CLIENTS.aria2.start(scope, file, await newFolder());
    await assert.rejects(done([aria2]), /Missing pieces in torrent metainfo/);
  });
});
