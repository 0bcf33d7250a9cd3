import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Torrent } from '../../../src/index.ts';
import { noise } from '../../hash/reference.ts';
import { build, PIECE } from '../build.ts';

const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const content = { a: noise(PIECE + 1), 'd/b': noise(7) };

describe('torrent.toJSON', () => {
  for (const version of VERSIONS) {
    it(`describes a ${version} torrent`, () => {
      const { bytes } = build({ version, content, top: { announce: 'http://t/', 'creation date': 86400 } });
      const torrent = Torrent.fromBytes(bytes);
      const json = JSON.parse(JSON.stringify({ torrent })).torrent;
      assert.deepEqual(json.infohash, { v1: torrent.infohashV1, v2: torrent.infohashV2 });
      assert.equal(typeof (json.infohash.v1 ?? json.infohash.v2), 'string');
      assert.deepEqual(json.files, [
        { path: 'a', length: PIECE + 1 },
        { path: 'd/b', length: 7 },
      ]);
      const { totalSize, trackers, creationDate, pieceLength, pieces, name, comment } = json;
      assert.deepEqual(
        [json.version, totalSize, trackers, creationDate, pieceLength, pieces, name, comment],
        [version, PIECE + 8, ['http://t/'], '1970-01-02T00:00:00.000Z', PIECE, torrent.nPieces, torrent.name, null],
      );
    });

    it(`is equal after a ${version} torrent was sent to another thread as bytes`, () => {
      const torrent = Torrent.fromBytes(build({ version, content }).bytes);
      const there = Torrent.fromBytes(structuredClone(torrent.bencode()));
      assert.deepEqual([there.infohashV1, there.infohashV2], [torrent.infohashV1, torrent.infohashV2]);
    });
  }
});

describe('modelDumpTorrent', () => {
  it('has text keys as properties, also beside keys that are not text', () => {
    const bytes = Buffer.from(
      'd4:infod6:lengthi1e4:name1:n12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae1:\xffi7ee',
      'latin1',
    );
    const dumped = Torrent.fromBytes(bytes).modelDumpTorrent();
    assert.ok(dumped instanceof Map);
    assert.deepEqual(Object.keys(dumped['info'] as object), ['length', 'name', 'piece length', 'pieces']);
  });
});

describe('torrent.pieceLayers', () => {
  it('is null in v1, also if the torrent has the key', () => {
    const { bytes } = build({ version: 'v1', content, top: { 'piece layers': {} } });
    const torrent = Torrent.fromBytes(bytes);
    assert.equal(torrent.pieceLayers, null);
    assert.deepEqual(Buffer.from(torrent.bencode()), bytes);
  });
});
