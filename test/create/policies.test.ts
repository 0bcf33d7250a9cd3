import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { chmod, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { verify } from '../../src/verify/verify.ts';
import { libtorrentMissing } from '../support/external.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const PIECE = 16384;

describe('stored links and attributes', { skip: libtorrentMissing() }, () => {
  it('give the infohashes of libtorrent', async (t) => {
    const oracle = new LibtorrentOracle();
    t.after(() => oracle.close());
    const cwd = await temporaryFolder(t);
    const cases = VERSIONS.map((version) => [2, version] as const);
    // In v1, libtorrent keeps the order of the disk.
    for (const [count, version] of [...cases, [300, 'v2'] as const, [300, 'hybrid'] as const]) {
      const pathRoot = path.join(cwd, `${version}-${count}`);
      const many = Object.fromEntries(Array.from({ length: count }, (_, i) => [`many/${i}`, i]));
      await writeTree(pathRoot, { 'a.bin': 50_000, 'sub/b.txt': 3, ...many });
      await chmod(path.join(pathRoot, 'a.bin'), 0o755);
      // libtorrent writes the target as it is in the link, where BEP 47 wants it from the root; and it leaves out links
      // to folders.
      await symlink('sub/b.txt', path.join(pathRoot, 'link'));
      const draft = new TorrentCreate({ pathRoot, pieceLength: PIECE, symlinks: 'store', attributes: true });
      const torrent = await draft.generate({ version, padNames: 'libtorrent' });
      const output = `${pathRoot}.torrent`;
      const theirs = await oracle.make({ make: pathRoot, output, pieceLength: PIECE, version, flags: ['symlinks'] });
      const their = await Torrent.read(output);
      assert.deepEqual(torrent.files, their.files, version);
      assert.deepEqual([torrent.infohashV1, torrent.infohashV2], [theirs.v1, theirs.v2], version);
      assert.ok((await verify(torrent, pathRoot)).ok);
      assert.equal((await draft.plan({ version, padNames: 'libtorrent' })).torrentSize, torrent.bencode().length);
    }
  });
});

describe('policies of a draft', () => {
  it('are checked', () => {
    for (const policy of [{ symlinks: 'x' }, { followOutside: 1 }, { hidden: 'no' }, { attributes: 0 }])
      assert.throws(() => new TorrentCreate({ pathRoot: '/x', ...policy } as never), { code: 'ERR_VALIDATION' });
  });

  it('hash content outside the root with followOutside: few files and many', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const count of [3, 300]) {
      const many = Object.fromEntries(Array.from({ length: count }, (_, i) => [`${count}/x/${i}`, i + 1]));
      await writeTree(cwd, { ...many, [`root${count}/a`]: 5 });
      const pathRoot = path.join(cwd, `root${count}`);
      await symlink(`../${count}/x`, path.join(pathRoot, 'out'));
      for (const version of VERSIONS) {
        await assert.rejects(new TorrentCreate({ pathRoot }).generate({ version }), { code: 'ERR_LINK_OUTSIDE' });
        const torrent = await new TorrentCreate({ pathRoot, followOutside: true }).generate({ version });
        assert.equal(torrent.nFiles, count + 1);
        // The same content without links.
        const sources = torrent.files.map((file) => ({
          path: file.path,
          data: readFileSync(path.join(pathRoot, file.path)),
        }));
        const expected = await new TorrentCreate({
          sources,
          pieceLength: torrent.info.pieceLength,
          info: { name: torrent.name },
        }).generate({ version });
        assert.deepEqual([torrent.infohashV1, torrent.infohashV2], [expected.infohashV1, expected.infohashV2]);
      }
    }
  });
});
