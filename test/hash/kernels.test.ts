// Every row of the kernels' table that this CPU can run makes the same torrents.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { loadAddon } from '../../src/hash/addon.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { TorrentVersion } from '../../src/model/discriminator.ts';
import { sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;
/** Bytes whose period, 251, is prime: blocks and pieces that change places cannot hide. */
const content = (size: number, seed: number) =>
  Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i + seed) % 251));
/** Enough pieces for every width from sixteen down, and sizes around every border. */
const SIZES = [
  0,
  1,
  55,
  56,
  63,
  64,
  65,
  16383,
  16384,
  16385,
  32768,
  40000,
  65535,
  65537,
  131072,
  262145,
  700001,
  2 ** 20 + 1,
];

describe('METAINFO_KERNEL', () => {
  const before = process.env['METAINFO_KERNEL'];
  afterEach(() => {
    if (before === undefined) delete process.env['METAINFO_KERNEL'];
    else process.env['METAINFO_KERNEL'] = before;
  });

  for (const kernel of loadAddon().kernels) {
    it(`${kernel} makes byte-identical torrents`, async (t) => {
      const root = await temporaryFolder(t);
      await writeTree(root, Object.fromEntries(SIZES.map((size, i) => [`f${i}`, content(size, i * 37)])));
      process.env['METAINFO_KERNEL'] = kernel;
      for (const version of Object.values(TorrentVersion)) {
        for (const pieceLength of [16 * KIB, 128 * KIB, 2048 * KIB]) {
          const draft = () => new TorrentCreate({ pathRoot: root, pieceLength });
          const expected = await draft().generate({ version, engine: nodeEngine() });
          for (const resources of [{ threads: 1 }, { threads: 2 }, { memoryLimit: 64 * KIB, readSize: 16 * KIB }]) {
            const made = await draft().generate({ version, ...resources });
            assert.deepEqual(made.bencode(), expected.bencode(), `${version}, ${pieceLength}`);
          }
        }
      }
    });
  }

  it('excludes the race for SHA-256, which otherwise chooses a kernel for all jobs', async (t) => {
    const addon = loadAddon();
    const table = addon.active;
    process.env['METAINFO_KERNEL'] = 'openssl';
    addon.raceKernels();
    assert.deepEqual(addon.active, { sha1: 'openssl', sha256: 'openssl' });
    process.env['METAINFO_KERNEL'] = '';
    assert.deepEqual(addon.active, table);
    // This one races.
    const pathRoot = await sparseFile(await temporaryFolder(t), 'large', 512 * KIB * KIB);
    const make = () => new TorrentCreate({ pathRoot }).generate({ version: 'v2', threads: 2 });
    const torrent = await make();
    const { sha1, sha256 } = addon.active;
    assert.ok(sha1 === table.sha1 && addon.kernels.includes(sha256));
    assert.equal(nativeEngine().kernel, sha1 === sha256 ? sha1 : `${sha1}, ${sha256}`);
    addon.raceKernels();
    assert.deepEqual(addon.active, { sha1, sha256 });
    process.env['METAINFO_KERNEL'] = 'openssl';
    assert.deepEqual((await make()).bencode(), torrent.bencode());
  });

  it('rejects an unknown name when a job starts, and lists the known names', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 1 });
    process.env['METAINFO_KERNEL'] = 'abacus';
    await assert.rejects(new TorrentCreate({ pathRoot: root }).generate(), {
      code: 'ERR_KERNEL',
      message: new RegExp(`METAINFO_KERNEL=abacus .*: ${loadAddon().kernels.join(', ')}\\.`),
    });
  });
});
