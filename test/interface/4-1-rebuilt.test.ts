// Section 4.1 of the interface: a torrent that is rebuilt from what it gave out keeps its infohash.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Torrent as AnyTorrent, type BencodeMap, decode, encode, Torrent } from '../../src/index.ts';
import { A, B, folder, H20, latin1, PIECE, pad, raw, sha1, single, torrent, unsorted } from '../support/build.ts';

const INFOS = {
  'unsorted keys': unsorted(['pieces', H20], ['name', 'a'], ['piece length', PIECE], ['length', 5]),
  'a key twice': unsorted(['length', 5], ['name', 'a'], ['name', 'b'], ['piece length', PIECE], ['pieces', H20]),
  'leading zeros': unsorted(['length', raw('i05e')], ['name', 'a'], ['piece length', PIECE], ['pieces', H20]),
  'an odd private flag': { ...single, private: 2 },
  'a pad file without a path': folder([A, { ...pad(PIECE - 5), path: undefined }, B]),
  'unsorted unknown keys': { ...single, 'x-y': unsorted(['b', 1], ['a', 2]) },
};

describe('4.1 from_decoded keeps the infohash', () => {
  for (const [name, info] of Object.entries(INFOS)) {
    const bytes = torrent(info, { comment: 'c' });
    const read = Torrent.fromBytes(bytes);
    const infohash = sha1(read.infoBytes).toString('hex');
    const same = (rebuilt: AnyTorrent) => {
      assert.deepEqual([rebuilt.infohashV1, rebuilt.comment], [infohash, 'c']);
      assert.ok(!rebuilt.warnings.some(({ message }) => /bytes that were decoded/.test(message)));
    };

    it(`of ${name}, from the torrent, its dumps and its info`, () => {
      same(Torrent.fromDecoded(read));
      same(Torrent.fromDecoded(read.modelDumpTorrent()));
      same(Torrent.fromDecoded(read.modelDumpTorrent({ mode: 'binary' })));
      same(Torrent.fromDecoded({ info: read.info, comment: 'c' }));
      same(Torrent.fromDecoded({}, { data: { info: read.info, comment: 'c' } }));
      same(Torrent.fromDecoded(new Map(Object.entries(read.modelDumpTorrent()))));
    });

    it(`of ${name}, but not of a dump that was changed`, () => {
      const dump = read.modelDumpTorrent();
      const { info: inside } = dump;
      // A dump whose keys are out of order is a Map.
      if (inside instanceof Map) inside.set(Buffer.from('source'), Buffer.from('s'));
      else Object.assign(inside as object, { source: Buffer.from('s') });
      const changed = Torrent.fromDecoded(dump);
      assert.deepEqual([changed.info.source, changed.infohashV1 === infohash], ['s', false]);
      const binary = read.modelDumpTorrent({ mode: 'binary' });
      (binary.get('info') as BencodeMap).set('name', latin1('other'));
      assert.equal(Torrent.fromDecoded(binary).name, 'other');
    });
  }

  it('or warns where only another order of keys is left', () => {
    const bytes = torrent(INFOS['unsorted keys']);
    const { value } = decode(bytes, { tolerant: true });
    const rebuilt = Torrent.fromDecoded(value);
    assert.deepEqual(
      rebuilt.warnings.map(({ code, path, severity }) => [code, path, severity]),
      [['not_canonical', ['info'], 'warning']],
    );
    assert.deepEqual(Torrent.fromDecoded(decode(torrent(single)).value).warnings, []);
  });

  it('and a copy of the info of a pad file without a path', () => {
    const read = Torrent.fromBytes(torrent(INFOS['a pad file without a path']));
    assert.equal(Torrent.fromDecoded({ info: { ...read.info } }).infohashV1, read.infohashV1);
  });

  it('removes fields that are null in data', () => {
    const fields = { comment: 'c', 'created by': 'me', 'x-unknown': 1, 'creation date': 9, nodes: [['a', 1]] };
    const read = Torrent.fromBytes(torrent(single, fields));
    const data = { comment: null, createdBy: null, 'x-unknown': null, nodes: null, announce: null };
    for (const decoded of [read, read.modelDumpTorrent(), { info: single, ...fields }]) {
      const { comment, createdBy, extra, creationDate, nodes } = Torrent.fromDecoded(decoded, { data });
      assert.deepEqual([comment, createdBy, extra.size, creationDate?.getTime(), nodes], [null, null, 0, 9000, null]);
    }
  });

  it('takes a mode of either kind', () => {
    const read = Torrent.fromBytes(torrent(single));
    for (const mode of ['str', 'binary', undefined] as ('str' | 'binary' | undefined)[])
      assert.deepEqual(Buffer.from(encode(read.modelDumpTorrent({ mode }))), torrent(single));
  });
});
