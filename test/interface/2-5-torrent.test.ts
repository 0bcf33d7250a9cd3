// Section 2.5 of the interface: Torrent, its fields, validators and properties.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Torrent, ValidationError } from '../../src/index.ts';
import {
  A,
  B,
  type Bencode,
  bencode,
  both,
  type Dictionary,
  HASHES,
  hybrid,
  LAYER,
  layers,
  leaf,
  long,
  PAD_A,
  PIECE,
  ROOT,
  single,
  TREE,
  torrent,
  v2,
  withLayers,
} from '../support/build.ts';

const read = (top: Dictionary) => Torrent.fromBytes(torrent(single, top));

function codesOf(bytes: Uint8Array): string[] {
  return Torrent.inspect(bytes)
    .issues.filter(({ severity }) => severity === 'error')
    .map(({ code }) => code);
}

describe('2.5 Torrent: fields', () => {
  it('are null if absent, except info', () => {
    const { announce, announceList, comment, createdBy, creationDate, pieceLayers, urlList } = read({});
    for (const value of [announce, announceList, comment, createdBy, creationDate, pieceLayers, urlList])
      assert.equal(value, null);
  });

  it('store announce, comment and created by as bytes, and read them as strings', () => {
    const { announce, comment, createdBy } = read({ announce: 'http://a/é', comment: 'c', 'created by': 'd' });
    assert.deepEqual([announce, comment, createdBy], ['http://a/é', 'c', 'd']);
  });

  it('have a list of lists for announce-list', () => {
    const tiers = [['http://a/', 'http://b/'], ['http://c/']];
    assert.deepEqual(read({ 'announce-list': tiers }).announceList, tiers);
  });

  it('store the creation date as a timestamp', () => {
    const { creationDate } = read({ 'creation date': 86_400 });
    assert.equal(creationDate?.toISOString(), '1970-01-02T00:00:00.000Z');
    const written = Torrent.fromDecoded({ info: single, creationDate: new Date(86_400_000) }).bencode();
    assert.ok(Buffer.from(written).includes('13:creation datei86400e'));
  });

  it('require info', () => assert.throws(() => Torrent.fromBytes(bencode({})), ValidationError));

  it('have piece layers that map 32 bytes to 32-byte hashes', () => {
    const { pieceLayers } = Torrent.fromBytes(withLayers(long, layers([ROOT, LAYER])));
    assert.deepEqual([...(pieceLayers?.get(ROOT.toString('hex')) ?? [])], [...HASHES]);
    for (const [key, layer] of [
      [ROOT.subarray(1), LAYER],
      [ROOT, LAYER.subarray(1)],
    ] as const)
      assert.throws(() => Torrent.fromBytes(withLayers(long, layers([key, layer]))), ValidationError);
  });

  it('turn a url-list that is not a list into one', () => {
    assert.deepEqual(read({ 'url-list': 'http://a/' }).urlList, ['http://a/']);
    assert.deepEqual(read({ 'url-list': ['http://a/', 'http://b/'] }).urlList, ['http://a/', 'http://b/']);
  });

  it('keep extra fields, and round-trip', () => {
    const bytes = torrent(single, { x: { y: [1, 'z'] } });
    const kept = Torrent.fromBytes(bytes);
    assert.ok(kept.extra.has('x'));
    assert.deepEqual(Buffer.from(kept.bencode()), bytes);
  });
});

describe('2.5 Torrent: validators', () => {
  it('piece_layers_if_v2: requires piece layers of v2 and hybrid torrents', () => {
    for (const info of [v2({ a: leaf(5) }), both] as Bencode[])
      assert.deepEqual(codesOf(torrent(info)), ['piece_layers_if_v2']);
    assert.deepEqual(codesOf(torrent(single)), []);
  });

  it('pieces_layers_correct: requires a layer for each file longer than a piece, with the right number of hashes', () => {
    assert.deepEqual(codesOf(withLayers(long, layers([ROOT, LAYER]))), []);
    assert.deepEqual(codesOf(withLayers(long)), ['pieces_layers_correct']);
    for (const layer of [LAYER.subarray(32), Buffer.concat([LAYER, HASHES[0]])])
      assert.deepEqual(codesOf(withLayers(long, layers([ROOT, layer]))), ['pieces_layers_correct']);
    assert.deepEqual(codesOf(withLayers(v2({ a: leaf(PIECE) }))), []);
  });
});

describe('2.5 Torrent: properties', () => {
  const folder = Torrent.fromBytes(withLayers(hybrid([A, PAD_A, B], TREE)));

  it('files: is the same for v1 and v2, without pad files', () => {
    for (const one of [folder, Torrent.fromBytes(withLayers(v2(TREE)))])
      assert.deepEqual(
        one.files.map(({ path, length }) => [path, length]),
        [
          ['a', 5],
          ['b', 6],
        ],
      );
    assert.deepEqual(
      read({}).files.map(({ path, length }) => [path, length]),
      [['a', 5]],
    );
  });

  it('flat_files: maps paths to items; null in v1', () => {
    assert.deepEqual([...(folder.flatFiles ?? new Map()).keys()], ['a', 'b']);
    assert.equal(read({}).flatFiles, null);
  });

  it('torrent_version: is v1, v2 or hybrid', () => {
    const versions = [torrent(single), withLayers(v2(TREE)), withLayers(both)].map(
      (bytes) => Torrent.fromBytes(bytes).torrentVersion,
    );
    assert.deepEqual(versions, ['v1', 'v2', 'hybrid']);
  });

  it('infohash: hashes the raw bytes of info', () => {
    const info = bencode(single);
    assert.equal(read({ x: 1 }).infohashV1, createHash('sha1').update(info).digest('hex'));
    assert.equal(folder.infohashV2, createHash('sha256').update(folder.infoBytes).digest('hex'));
  });
});
