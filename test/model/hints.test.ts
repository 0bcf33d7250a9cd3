/** Tests the fields of BEP 5 (nodes), 17 (HTTP seeds), 38 (similar torrents, collections) and 39 (update URL). */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import bencode from 'bencode';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import { toHex, ValidationError } from '../../src/errors/errors.ts';
import type { Profile } from '../../src/model/profile.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { formatTorrent } from '../../src/print/print-torrent.ts';
import { noise } from '../hash/reference.ts';
import { type Dictionary, H20, H32, PIECE, single, torrent } from '../support/build.ts';
import { libtorrentMissing } from '../support/external.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/tree.ts';
import { text as anyText } from './arbitraries.ts';

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

const read = (top: Dictionary, info: Dictionary = {}, profile: Profile = 'default') =>
  Torrent.fromBytes(torrent({ ...single, ...info }, top), { context: { profile } });

/** The fields of these BEPs, beside `info` and in it. */
function hintsOf({ nodes, httpseeds, similar, collections, info, urlList }: Torrent) {
  return {
    ...{ nodes, httpseeds, urlList, collections, similar: similar.map(toHex) },
    ...{
      ofInfo: { similar: info.similar?.map(toHex) ?? null, collections: info.collections, updateUrl: info.updateUrl },
    },
  };
}

const NONE = { ...{ nodes: null, httpseeds: null, urlList: null, collections: [], similar: [] } };

describe('reading nodes, HTTP seeds, similar torrents, collections and update URLs', () => {
  it('gives null for absent fields and empty lists for empty ones', () => {
    const ofInfo = { similar: null, collections: null, updateUrl: null };
    assert.deepEqual(hintsOf(read({})), { ...NONE, ofInfo });
    const empty = { similar: [], collections: [] };
    assert.deepEqual(hintsOf(read({ nodes: [], httpseeds: [], ...empty }, empty)), {
      ...{ ...NONE, nodes: [], httpseeds: [] },
      ofInfo: { ...empty, updateUrl: null },
    });
  });

  it('does not count them as unknown keys', () => {
    const both = { similar: [H20], collections: ['a'] };
    const found = read(
      { nodes: [['a', 1]], httpseeds: ['http://a/'], ...both },
      { 'update-url': 'http://f/', ...both },
    );
    assert.deepEqual([found.extra.size, found.info.extra.size, found.warnings], [0, 0, []]);
  });

  it('joins the lists of info and beside it, without duplicates (BEP 38)', () => {
    const other = Buffer.alloc(20, 9);
    const found = read(
      { similar: [other, H20, H32], collections: ['c', 'a', 'b'] },
      { similar: [H20, H20], collections: ['a', 'b'] },
    );
    assert.deepEqual(found.similar.map(toHex), [H20, other, H32].map(toHex));
    assert.deepEqual(found.collections, ['a', 'b', 'c']);
    assert.deepEqual(found.info.similar?.map(toHex), [H20, H20].map(toHex));
    assert.deepEqual(found.info.collections, ['a', 'b']);
  });

  it('leaves out invalid entries in compat and keeps the bytes', () => {
    const top: Dictionary = {
      nodes: [['a', 1], ['b', 0], ['c', 65_535], ['d', 65_536], 5, ['::1', 6881]],
      httpseeds: ['http://a/', '', 5],
      similar: [H20.subarray(1), H20, Buffer.alloc(21), H32],
      collections: [5, 'x'],
    };
    const info = { 'update-url': 5, similar: 'x', collections: { a: 1 } };
    const found = read(top, info, 'compat');
    assert.deepEqual(found.nodes, [
      ['a', 1],
      ['c', 65_535],
      ['::1', 6881],
    ]);
    assert.deepEqual(found.httpseeds, ['http://a/']);
    assert.deepEqual(found.similar.map(toHex), [H20, H32].map(toHex));
    assert.deepEqual(found.collections, ['x']);
    assert.deepEqual([found.info.updateUrl, found.info.similar, found.info.collections], Array(3).fill(null));
    assert.equal(found.warnings.length, 11);
    assert.deepEqual(Buffer.from(found.bencode()), torrent({ ...single, ...info }, top));
    for (const profile of ['default', 'strict'] as const)
      assert.throws(
        () => read(top, info, profile),
        (error) => error instanceof ValidationError && error.issues.length === 11,
      );
  });

  it('accepts many entries, valid or not', () => {
    const count = 200_000;
    const many = <T>(item: (i: number) => T) => Array.from({ length: count }, (_, i) => item(i));
    const hash = (i: number) => {
      const bytes = Buffer.alloc(20);
      bytes.writeUInt32BE(i);
      return bytes;
    };
    const found = read({ nodes: many((i) => [`${i}`, 1]), similar: many(hash), collections: many(String) });
    assert.deepEqual([found.nodes?.length, found.similar.length, found.collections.length], Array(3).fill(count));
    assert.ok([...formatTorrent(found, { verbose: 1 })].length > 3 * count);
    const wrong = torrent(single, { nodes: many((i) => [`${i}`, 0]) });
    const { torrent: none, issues } = Torrent.inspect(wrong, { context: { profile: 'strict' } });
    assert.equal(none, null);
    assert.deepEqual(issues.at(-1)?.code, 'too_many_issues');
    assert.ok(issues.length <= 1001);
  });
});

const url = fc.constantFrom('http://a.example/x?y=z', 'https://[::1]/', 'ftp://ü.example');
const hashes = fc
  .array(fc.tuple(fc.nat(255), fc.constantFrom(20, 32)), { maxLength: 4 })
  .map((list) => list.map(([byte, size]) => Buffer.alloc(size, byte).toString('hex')));
/** fromDecoded rejects U+FFFD, because a decoder writes it for lost bytes. */
const text = anyText.filter((one) => !one.includes('\ufffd'));
const host = fc.oneof(
  fc.constantFrom('::1', '127.0.0.1', 'router.example', 'ü'),
  text.filter((one) => /^[^\s[\]/]+$/.test(one)),
);
const HINTS = {
  nodes: fc.array(fc.tuple(host, fc.oneof(fc.constantFrom(1, 65_535), fc.integer({ min: 1, max: 65_535 }))), {
    maxLength: 4,
  }),
  httpseeds: fc.array(url, { maxLength: 3 }),
  urlList: fc.array(url, { maxLength: 3 }),
  similar: hashes,
  collections: fc.array(text, { maxLength: 3 }),
};
const ofInfo = { similar: hashes, collections: HINTS.collections, updateUrl: url };
const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [], noNullPrototype: true });
const bytesOf = (list: readonly string[] | undefined) => list?.map((hash) => Buffer.from(hash, 'hex'));

describe('creating nodes, HTTP seeds, similar torrents, collections and update URLs', () => {
  it('round-trips them through fromDecoded and dumps', () => {
    fc.assert(
      fc.property(some(HINTS), some(ofInfo), (top, info) => {
        const fields = {
          ...{ ...top, ...(top.similar && { similar: bytesOf(top.similar) }) },
          info: { ...single, ...info, ...(info.similar && { similar: bytesOf(info.similar) }) },
        };
        const made = Torrent.fromDecoded(fields);
        assert.deepEqual(hintsOf(made), {
          ...{ nodes: top.nodes ?? null, httpseeds: top.httpseeds ?? null, urlList: top.urlList ?? null },
          similar: [...new Set([...(info.similar ?? []), ...(top.similar ?? [])])],
          collections: [...new Set([...(info.collections ?? []), ...(top.collections ?? [])])],
          ofInfo: {
            similar: info.similar ?? null,
            collections: info.collections ?? null,
            updateUrl: info.updateUrl ?? null,
          },
        });
        const bytes = Buffer.from(made.bencode());
        for (const decoded of [
          made.modelDumpTorrent(),
          made.modelDumpTorrent({ mode: 'binary' }),
          bencode.decode(bytes),
        ])
          assert.deepEqual(Buffer.from(Torrent.fromDecoded(decoded).bencode()), bytes);
        assert.deepEqual(Buffer.from(bencode.encode(made.modelDumpTorrent())), bytes);
      }),
    );
  });

  it('writes them as libtorrent reads them', { skip: libtorrentMissing() }, async (t) => {
    const oracle = new LibtorrentOracle();
    const file = path.join(await temporaryFolder(t), 'a.torrent');
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...VERSIONS),
          some(HINTS),
          fc.boolean(),
          url,
          async (version, hints, own, feed) => {
            const { similar, collections: given, ...rest } = hints;
            // Empty names are left out, and a list of nothing else.
            const named = given?.filter((name) => name !== '');
            const collections = named?.length || !given?.length ? named : undefined;
            const sources = [{ path: 'a', data: noise(5) }];
            const lists = { similar, collections: given };
            // As convenience fields, or as fields of the torrent.
            const fields = own
              ? { ...rest, ...lists, info: { updateUrl: feed } }
              : { ...rest, info: { updateUrl: feed, private: true, ...lists } };
            const made = await new TorrentCreate({ ...fields, pieceLength: PIECE, sources }).generate({ version });
            const each = <T>(list: readonly T[] | undefined) => [...new Set(list ?? [])];
            assert.deepEqual(hintsOf(made), {
              nodes: rest.nodes?.length ? rest.nodes : null,
              httpseeds: rest.httpseeds?.length ? rest.httpseeds : null,
              urlList: rest.urlList?.length ? rest.urlList : null,
              similar: each(similar),
              collections: each(collections),
              ofInfo: {
                similar: own && !similar?.length ? null : (similar ?? null),
                collections: own && !collections?.length ? null : (collections ?? null),
                updateUrl: feed,
              },
            });
            await writeFile(file, made.bencode());
            assert.deepEqual(await oracle.hints(file), {
              nodes: rest.nodes ?? [],
              similar: (similar ?? []).filter((hash) => hash.length === 40),
              collections: collections ?? [],
              httpseeds: each(rest.httpseeds),
              private: !own,
            });
          },
        ),
        { numRuns: runs(60) },
      );
    } finally {
      await oracle.close();
    }
  });
});
