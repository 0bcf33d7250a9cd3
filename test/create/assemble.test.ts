import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { TorrentCreateInput } from '../../src/create/draft-input.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { READERS } from '../model/readers.ts';
import { chooseEngine } from '../support/choose-engine.ts';
import { content, manyFiles, tree, writeGenerated } from '../support/generated.ts';
import { runs } from '../support/runs.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
const url = fc.constantFrom('http://t/', 'udp://tracker.example/announce', 'http://é.example/');
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

/** Fields of drafts that describe no files, usual ones and odd ones. */
const fields: fc.Arbitrary<TorrentCreateInput> = fc.record({
  trackers: optional(
    fc.oneof(fc.array(url, { maxLength: 3 }), fc.array(fc.array(url, { maxLength: 2 }), { maxLength: 2 })),
  ),
  comment: optional(fc.oneof(text, fc.constant('half a pair: \ud800'))),
  createdBy: fc.option(text, { freq: 2 }),
  creationDate: optional(fc.nat(2 ** 31)),
  urlList: optional(fc.oneof(url, fc.array(url, { maxLength: 2 }))),
  nodes: optional(fc.array(fc.tuple(fc.constant('host'), fc.integer({ min: 1, max: 65_535 })), { maxLength: 2 })),
  similar: optional(fc.array(fc.uint8Array({ minLength: 20, maxLength: 20 }), { maxLength: 2 })),
  collections: optional(fc.array(text, { maxLength: 2 })),
  extra: optional(fc.dictionary(fc.constantFrom('x', 'coment', 'encoding'), fc.oneof(text, fc.integer()))),
}) as never;

const info = fc.record({
  private: optional(fc.boolean()),
  source: optional(text),
  nameUtf8: fc.option(fc.constant('name'), { nil: undefined, freq: 5 }),
  extra: optional(fc.dictionary(fc.constantFrom('x', 'sourc', 'profiles'), fc.integer())),
});

const options: fc.Arbitrary<GenerateOptions> = fc.record({
  version: fc.constantFrom('v1', 'v2', 'hybrid'),
  padding: fc.boolean(),
  tailPad: fc.boolean(),
  padNames: fc.constantFrom('auto', 'libtorrent', 'unique'),
  onWarning: fc.constant(() => {}),
});

describe('a torrent that was just created', () => {
  it('reads as the same torrent after a round-trip through its bytes', async () => {
    await fc.assert(
      fc.asyncProperty(tree, fields, info, options, async ({ files, pieceLength }, given, infoFields, generate) => {
        const name = files.length === 1 ? (files[0]?.path.split('/')[0] as string) : 'name';
        const sources = files.map(({ path, size, seed }) => ({ path, data: content(size, seed) }));
        const draft = new TorrentCreate({ ...given, pieceLength, sources, info: { ...infoFields, name } });
        const made = () => draft.generate(generate);
        // The name for old clients must equal that of the only file of a hybrid.
        if (infoFields.nameUtf8 !== undefined && generate.version === 'hybrid' && files.length === 1) return;
        const torrent = await made();
        const expected = Torrent.fromBytes(torrent.bencode());
        for (const [part, read] of Object.entries(READERS)) {
          assert.deepEqual(read(torrent), read(expected), part);
          assert.deepEqual(read(await made()), read(expected), `${part}, read first`);
        }
      }),
      { numRuns: runs(60) },
    );
  });

  it('of many files on disk reads so too, and equals that without the addon', async () => {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'metainfo-assemble-')));
    const property = fc.asyncProperty(manyFiles, options, async (given, generate) => {
      const pathRoot = await mkdtemp(path.join(folder, 'tree-'));
      await writeGenerated(pathRoot, given);
      const draft = new TorrentCreate({ pathRoot, pieceLength: given.pieceLength, creationDate: 0 });
      const torrent = await draft.generate(generate);
      const expected = Torrent.fromBytes(torrent.bencode());
      for (const [part, read] of Object.entries(READERS)) assert.deepEqual(read(torrent), read(expected), part);
      const restore = chooseEngine('node');
      const ofNode = await draft.generate(generate).finally(restore);
      assert.deepEqual(ofNode.bencode(), torrent.bencode());
      await rm(pathRoot, { recursive: true });
    });
    await fc.assert(property, { numRuns: runs(15) }).finally(() => rm(folder, { recursive: true }));
  });
});
