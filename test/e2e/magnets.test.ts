import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { assertWhole, done, Libtorrent, scopeOf, share, TEST_TIMEOUT, VERSIONS } from '../support/clients.ts';
import { libtorrentMissing } from '../support/external.ts';
import { tried } from '../support/interop.ts';

describe('magnet links of metainfo', { skip: libtorrentMissing(), concurrency: 3 }, () => {
  for (const torrentVersion of VERSIONS) {
    it(`${torrentVersion}: libtorrent downloads only the files that a link selects`, {
      timeout: TEST_TIMEOUT,
    }, async (t) => {
      const scope = scopeOf(t);
      const shared = await share(scope, torrentVersion);
      const { torrent } = shared;
      const seed = await Libtorrent.seed(scope, shared);
      const folder = await shared.newFolder();
      const selected = torrent.files.filter(({ path: file }) => file === 'one more' || file.startsWith('folder'));
      assert.equal(selected.length, 2);
      const selectOnly = torrent.selectFiles(['one more', 'folder of café']);
      const magnet = torrent.magnet({ peers: [{ host: '127.0.0.1', port: seed.port }], selectOnly });
      const peer = await Libtorrent.start(scope, magnet, folder);
      await done([peer], [seed]);
      for (const { path: file } of selected) {
        const [ours, theirs] = [shared.parent, folder].map((root) => readFileSync(path.join(root, 'content', file)));
        assert.ok(theirs?.equals(ours as Buffer), file);
      }
      assert.ok(!existsSync(path.join(folder, 'content', 'exact')));
    });

    it(`${torrentVersion}: libtorrent downloads the info dictionary and all files from the peer in the link`, {
      timeout: TEST_TIMEOUT,
    }, async (t) => {
      const scope = scopeOf(t);
      const shared = await share(scope, torrentVersion);
      const { torrent } = shared;
      const seed = await Libtorrent.seed(scope, shared);
      const folder = await shared.newFolder();
      const magnet = torrent.magnet({ peers: [{ host: '127.0.0.1', port: seed.port }] });
      const peer = await Libtorrent.start(scope, magnet, folder);
      await done([peer], [seed]);

      const { v1, v2, info } = await peer.status();
      assert.deepEqual([v1, v2], [torrent.infohashV1, torrent.infohashV2]);
      const bytes = Buffer.from(info as string, 'hex');
      assert.ok(Buffer.from(torrent.bencode()).includes(Buffer.concat([Buffer.from('4:info'), bytes])));
      const hash = (name: string) => createHash(name).update(bytes).digest('hex');
      if (v1) assert.equal(hash('sha1'), v1);
      if (v2) assert.equal(hash('sha256'), v2);
      await assertWhole(shared, folder);
      tried({ client: peer.client, version: peer.version, torrentVersion, what: 'downloads from a magnet link' });
    });
  }
});
