import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { libtorrentName, withoutBytes } from '../../src/layout/libtorrent-names.ts';
import { nameText } from '../../src/text/name-bytes.ts';
import { libtorrentMissing } from '../support/external.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';

const NAMES = [
  ...[
    'plain.txt',
    'é.mkv',
    'a\\b',
    'a\x01b\x1f',
    'a\x7fb',
    'a\x85b',
    'a\u200eb\u200f',
    '\u202aa\u202b\u202c\u202db\u202e',
  ],
  ...[239, 240, 241, 245].map((length) => 'n'.repeat(length)),
  ...[236, 237, 245].map((length) => `${'n'.repeat(length)}.txt`),
  ...['.abcdefgh', '.abcdefghi', '.abcdefghij'].map((end) => 'n'.repeat(239) + end),
  ...['.abcdefgh', '.abcdefghi'].map((end) => 'n'.repeat(240) + end),
  ...['é', '日', '😀'].flatMap((char) => [`${char.repeat(130)}.mkv`, `x${char.repeat(130)}.mkv`]),
  ...[`${'n'.repeat(245)}.ab.txt`, `${'n'.repeat(230)}.${'y'.repeat(20)}`, `${'n'.repeat(239)}é.ab`],
];

describe('libtorrentName', { skip: libtorrentMissing() || process.platform === 'win32' }, () => {
  let oracle: LibtorrentOracle;
  before(() => {
    oracle = new LibtorrentOracle();
  });
  after(() => oracle.close());

  it('is the name that libtorrent gives', async () => {
    for (const name of NAMES) {
      const bytes = Buffer.from(name);
      const head = `d4:infod6:lengthi1e4:name${bytes.length}:`;
      const torrent = [head, bytes, `12:piece lengthi16384e6:pieces20:${'x'.repeat(20)}ee`].map((part) =>
        Buffer.from(part),
      );
      assert.equal((await oracle.names(Buffer.concat(torrent)))[0], libtorrentName(name), JSON.stringify(name));
    }
  });

  it('has `_` for what is not UTF-8', async () => {
    const names = [
      ...[
        'K\xf6.sna',
        'Beyonc\xe9lac',
        'a\xe9\xa0x',
        'a\xe9\xa0',
        'a\xe9',
        'a\xc3',
        'a\xf6\x80\x80\x80b',
        'a\xed\xa0\x80b',
      ],
      ...[
        '\xc0\xc1.vob',
        'a\xff\xfeb',
        'a\x80\x80b',
        'a\xc0\x80b',
        'a\xf0\x9f',
        'a\xe2\x82x\xacy',
        'a\xf8bcdefg',
        'a\xfcbcdefg',
      ],
    ];
    for (const name of names) {
      const bytes = Buffer.from(name, 'latin1');
      const head = `d4:infod5:filesld6:lengthi1e4:pathl${bytes.length}:`;
      const tail = `eed6:lengthi1e4:pathl2:zzeee4:name1:n12:piece lengthi16384e6:pieces20:${'x'.repeat(20)}ee`;
      const [expected] = await oracle.names(Buffer.concat([Buffer.from(head), bytes, Buffer.from(tail)]));
      assert.equal(`n/${withoutBytes(nameText(bytes), 'sequences')}`, expected, JSON.stringify(name));
    }
    assert.equal(withoutBytes(nameText(Buffer.from('Beyonc\xe9lac', 'latin1')), 'bytes'), 'Beyonc_lac');
  });

  it('removes marks that only newer releases remove', () => {
    assert.equal(libtorrentName('a\u2066b\u2069\u061c'), 'ab');
  });
});
