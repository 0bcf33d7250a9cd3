import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { comparePathsV1, comparePathsV2 } from '../../src/layout/order.ts';
import { client, clientMissing, libtorrentMissing } from '../support/external.ts';
import { manyFiles, type Tree, tree, writeGenerated } from '../support/generated.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';
import { runs } from '../support/runs.ts';

const KIB = 1024;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const TREES = runs(200);

/** The files for libtorrent: in our order, beneath the torrent's name. */
function inOrder({ files, single }: Tree, version: string, folder: string): [string, number][] {
  const compare = version === 'v1' ? comparePathsV1 : comparePathsV2;
  const sorted = files.toSorted((a, b) => compare(a.path.split('/'), b.path.split('/')));
  return sorted.map((one) => [single ? one.path : `${folder}/${one.path}`, one.size]);
}

describe('generate', () => {
  let base = '';
  let drafts = 0;
  let oracle: LibtorrentOracle | undefined;
  const skipLibtorrent = libtorrentMissing();

  before(async () => {
    base = await mkdtemp(path.join(tmpdir(), 'metainfo-generate-'));
    if (!skipLibtorrent) oracle = new LibtorrentOracle();
  });
  after(async () => {
    await oracle?.close();
    await rm(base, { recursive: true, force: true });
  });

  /** Writes a tree of files and makes a draft of it. */
  async function draftOf(given: Tree): Promise<{ draft: TorrentCreate; parent: string; folder: string }> {
    drafts += 1;
    const parent = path.join(base, String(drafts));
    const folder = 'content';
    const root = given.single ? parent : path.join(parent, folder);
    await writeGenerated(root, given);
    const pathRoot = given.single ? path.join(root, given.files[0]?.path ?? '') : root;
    return { draft: new TorrentCreate({ pathRoot, pieceLength: given.pieceLength, createdBy: null }), parent, folder };
  }

  for (const [title, trees, count] of [
    ['generated trees', tree, TREES],
    ['generated trees of many files', manyFiles, runs(20)],
  ] as const) {
    it(`gives libtorrent's infohashes for ${count} ${title}`, { skip: skipLibtorrent }, async () => {
      await fc.assert(
        fc.asyncProperty(trees, async (given) => {
          const { draft, parent, folder } = await draftOf(given);
          for (const version of VERSIONS) {
            const torrent = await draft.generate({ version, threads: 2, padNames: 'libtorrent' });
            const files = inOrder(given, version, folder);
            const expected = await (oracle as LibtorrentOracle).create({
              root: parent,
              files,
              pieceLength: given.pieceLength,
              version,
            });
            assert.equal(torrent.infohashV1, expected.v1, `${version} v1`);
            assert.equal(torrent.infohashV2, expected.v2, `${version} v2`);

            const output = path.join(parent, `${version}.torrent`);
            await torrent.write(output);
            const loaded = await (oracle as LibtorrentOracle).load(output);
            assert.deepEqual([loaded.v1, loaded.v2], [expected.v1, expected.v2], `${version} as libtorrent reads it`);
          }
          await rm(parent, { recursive: true });
        }),
        { numRuns: count },
      );
    });
  }

  it('makes the same torrent with every engine and number of threads', async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.constantFrom(...VERSIONS), async (given, version) => {
        const { draft, parent } = await draftOf(given);
        const expected = (await draft.generate({ version, engine: nodeEngine() })).bencode();
        for (const threads of [1, 2, 8]) {
          const torrent = await draft.generate({ version, threads, engine: defaultEngine(), readSize: 16 * KIB });
          assert.deepEqual(torrent.bencode(), expected, `${threads} threads`);
        }
        await rm(parent, { recursive: true });
      }),
      { numRuns: runs(60) },
    );
  });

  it('gives the same infohash in whatever order the files were created', async () => {
    const files = ['b', 'a/x', 'a-b/x', 'B', 'a/Y'].map((one, i) => ({ path: one, size: 20_000 + i, seed: i }));
    const hashes = [];
    for (const order of [files, files.toReversed()]) {
      const { draft } = await draftOf({ single: false, files: order, pieceLength: 16 * KIB });
      for (const version of VERSIONS) hashes.push((await draft.generate({ version })).bencode());
    }
    assert.deepEqual(hashes.slice(0, 3), hashes.slice(3));
  });

  describe('makes torrents that other clients read', () => {
    const transmission = client('transmission-show');
    // Older versions cannot parse any hybrid torrent (transmission issue 1339).
    const transmissionMissing = (oldest: string) => clientMissing('transmission-show', oldest);
    // 1.36 hashes what it re-encodes, without the empty keys of a file tree: its infohash of any hybrid torrent is wrong,
    // libtorrent's own too.
    const aria2Missing = (oldest: string) => clientMissing('aria2c', oldest);
    const given: Tree = {
      single: false,
      pieceLength: 32 * KIB,
      files: ['a/x', 'a-b/x', 'a.txt', 'empty', '\u{1f600}', 'é'].map((one, i) => ({
        path: one,
        size: one === 'empty' ? 0 : 30_000 * i + 1,
        seed: i,
      })),
    };

    async function written(version: 'v1' | 'hybrid') {
      const { draft, parent } = await draftOf(given);
      const torrent = await draft.generate({ version });
      const output = path.join(parent, 'x.torrent');
      await torrent.write(output);
      return { output, infohash: torrent.infohashV1 as string, names: torrent.files.map((one) => one.path) };
    }

    for (const version of ['v1', 'hybrid'] as const) {
      it(`transmission-show reads ${version}`, {
        skip: transmissionMissing(version === 'hybrid' ? '4.0' : '2.0'),
      }, async () => {
        const { output, infohash, names } = await written(version);
        const text = execFileSync(transmission, [output], { encoding: 'utf8' });
        assert.match(text, new RegExp(`Hash( v1)?: ${infohash}`));
        for (const one of names) assert.ok(text.includes(`content/${one} (`), one);
      });

      it(`aria2c -S reads ${version}`, { skip: aria2Missing(version === 'hybrid' ? '1.37' : '1.0') }, async () => {
        const { output, infohash, names } = await written(version);
        const text = execFileSync(client('aria2c'), ['-S', output], { encoding: 'utf8' });
        assert.ok(text.includes(`Info Hash: ${infohash}`), text);
        for (const one of names) assert.ok(text.includes(`content/${one}\n`), one);
      });
    }
  });

  it('writes the bytes that it reads back', async () => {
    const { draft, parent } = await draftOf({
      single: false,
      files: [{ path: 'a', size: 5, seed: 0 }],
      pieceLength: 16 * KIB,
    });
    const torrent = await draft.generate();
    await torrent.write(path.join(parent, 'x.torrent'));
    assert.deepEqual(await readFile(path.join(parent, 'x.torrent')), Buffer.from(torrent.bencode()));
  });
});
