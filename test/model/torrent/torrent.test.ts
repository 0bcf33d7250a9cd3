import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Torrent } from '../../../src/model/torrent/torrent.ts';
import { latin1, type Plain, reference } from '../../bencode/reference.ts';
import { noise, sha1, sha256, v2Hashes } from '../../hash/reference.ts';
import { build, type Content, NAME, PIECE } from '../build.ts';

const SINGLE = noise(2 * PIECE + 5);
/** In the order of a file tree: `a/x` before `a-b`. */
const FOLDER = { 'a/x': noise(PIECE + 1, 2), 'a-b': noise(PIECE, 3), empty: Buffer.alloc(0), é: noise(9, 4) };

interface Case {
  version: 'v1' | 'v2' | 'hybrid';
  content: Content;
  nPieces: number;
}

const CASES: Record<string, Case> = {
  'v1 of a file': { version: 'v1', content: SINGLE, nPieces: 3 },
  'v1 of a folder': { version: 'v1', content: FOLDER, nPieces: 3 },
  'v1 of a folder of one file': { version: 'v1', content: { x: SINGLE }, nPieces: 3 },
  'v2 of a file': { version: 'v2', content: SINGLE, nPieces: 3 },
  'v2 of a folder': { version: 'v2', content: FOLDER, nPieces: 4 },
  'hybrid of a file': { version: 'hybrid', content: SINGLE, nPieces: 3 },
  'hybrid of a folder': { version: 'hybrid', content: FOLDER, nPieces: 4 },
};

for (const [title, { version, content, nPieces }] of Object.entries(CASES)) {
  describe(`Torrent.fromBytes of ${title}`, () => {
    const { bytes, info } = build({ version, content });
    const torrent = Torrent.fromBytes(bytes);
    const single = content instanceof Buffer;
    const files = Object.entries(single ? { [NAME]: content } : content);

    it('has the version', () => assert.equal(torrent.torrentVersion, version));

    it('has the infohashes of the bytes of info', () => {
      assert.deepEqual(Buffer.from(torrent.infoBytes), info);
      assert.equal(torrent.infohashV1, version === 'v2' ? null : sha1(info).toString('hex'));
      assert.equal(torrent.infohashV2, version === 'v1' ? null : sha256(info).toString('hex'));
    });

    it('keeps the bytes', () => assert.deepEqual(torrent.bencode(), bytes));

    it('lists the files without pad files', () => {
      assert.deepEqual(
        torrent.files,
        files.map(([name, bytesOf]) => ({
          path: name,
          length: bytesOf.length,
          attr: null,
          piecesRoot: version === 'v1' || bytesOf.length === 0 ? null : v2Hashes(bytesOf, PIECE).root,
        })),
      );
      assert.equal(torrent.nFiles, files.length);
      assert.equal(torrent.totalSize, Buffer.concat(files.map(([, bytesOf]) => bytesOf)).length);
    });

    it('counts the pieces', () => assert.equal(torrent.nPieces, nPieces));

    it('flattens the v2 file tree', () => {
      const flat = torrent.flatFiles;
      if (version === 'v1') assert.equal(flat, null);
      else {
        const expected = files.map(([name, bytesOf]): [string, object] => {
          const root = bytesOf.length > 0 && { piecesRoot: v2Hashes(bytesOf, PIECE).root };
          return [name, { length: bytesOf.length, ...root }];
        });
        assert.deepEqual([...(flat ?? [])], expected);
      }
    });
  });
}

describe('Torrent.fromBytes', () => {
  const read = (top: Record<string, Plain | undefined>) =>
    Torrent.fromBytes(build({ version: 'v1', content: SINGLE, top }).bytes);

  it('has null for absent fields', () => {
    const { announce, announceList, comment, createdBy, creationDate, pieceLayers, urlList, extra } = read({});
    const fields = [announce, announceList, comment, createdBy, creationDate, pieceLayers, urlList];
    assert.deepEqual(
      fields,
      fields.map(() => null),
    );
    assert.deepEqual(extra, new Map());
  });

  it('reads the fields beside info', () => {
    const torrent = read({
      announce: 'http://t/',
      'announce-list': [['http://a/'], []],
      comment: 'é',
      'created by': 'x',
      'creation date': 86_400,
      'url-list': 'http://w/',
      unknown: 5,
    });
    const { announce, announceList, comment, createdBy, creationDate, urlList, extra } = torrent;
    assert.deepEqual(
      { announce, announceList, comment, createdBy, creationDate, urlList, extra },
      {
        announce: 'http://t/',
        announceList: [['http://a/'], []],
        comment: 'é',
        createdBy: 'x',
        creationDate: new Date('1970-01-02'),
        urlList: ['http://w/'],
        extra: new Map([['unknown', 5]]),
      },
    );
  });

  it('has packed layers of v2 by pieces root', () => {
    const { pieceLayers } = Torrent.fromBytes(build({ version: 'v2', content: FOLDER }).bytes);
    const { root, layer } = v2Hashes(FOLDER['a/x'], PIECE);
    assert.deepEqual([...(pieceLayers?.keys() ?? [])], [root.toString('hex')]);
    assert.deepEqual([...(pieceLayers?.get(root.toString('hex')) ?? [])], layer);
  });

  it('keeps the infohash of an info with keys and values beyond objects, text and numbers', () => {
    const odd: Record<string, Plain> = {
      // A computed key, because a plain one would set the prototype.
      ['__proto__']: 1,
      '\u{e000}': 2,
      '\u{1f600}': 3,
      big: 2n ** 64n,
      raw: new Map([['\xff\xfe', latin1('\xff')]]),
    };
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      const { bytes, info } = build({ version, content: FOLDER, info: odd, top: { zz: 2n ** 65n } });
      const torrent = Torrent.fromBytes(bytes);
      assert.deepEqual(torrent.bencode(), bytes);
      assert.equal(torrent.infohashV1 ?? sha1(info).toString('hex'), sha1(info).toString('hex'));
      assert.equal(torrent.infohashV2 ?? sha256(info).toString('hex'), sha256(info).toString('hex'));
      assert.deepEqual([torrent.info.extra?.get('__proto__'), torrent.info.extra?.get('big')], [1, 2n ** 64n]);
    }
  });

  it('finds info among other keys that contain a key info', () => {
    const decoy = { info: { name: 'decoy' } };
    const { bytes, info } = build({ version: 'v1', content: SINGLE, info: decoy, top: { a: decoy, z: decoy } });
    assert.equal(Torrent.fromBytes(bytes).infohashV1, sha1(info).toString('hex'));
  });

  it('copies the bytes of any buffer, so that they can be transferred or changed afterwards', () => {
    const { bytes, info } = build({ version: 'v2', content: FOLDER });
    for (const lose of [
      (whole: Uint8Array) => structuredClone(whole.buffer, { transfer: [whole.buffer as ArrayBuffer] }),
      (whole: Uint8Array) => whole.fill(0),
    ]) {
      const whole = new Uint8Array(bytes.length + 20);
      whole.set(bytes, 7);
      const torrent = Torrent.fromBytes(whole.subarray(7, 7 + bytes.length));
      const { torrent: inspected } = Torrent.inspect(whole.subarray(7, 7 + bytes.length));
      lose(whole);
      for (const one of [torrent, inspected]) {
        assert.equal(one?.infohashV2, sha256(info).toString('hex'));
        assert.deepEqual(Buffer.from(one?.bencode() ?? []), Buffer.from(bytes));
      }
    }
  });

  it('leaves pad files out of files, and keeps other flags', () => {
    const files = [
      { length: 5, path: ['a'], attr: 'x' },
      { length: PIECE - 5, path: ['.pad', 'y'], attr: 'px' },
      { length: 6, path: ['b'] },
    ];
    const pieces = Buffer.alloc(40);
    const { bytes } = build({ version: 'v1', content: SINGLE, info: { length: undefined, files, pieces } });
    const torrent = Torrent.fromBytes(bytes);
    assert.deepEqual(
      torrent.files.map(({ path: name, attr }) => [name, attr]),
      [
        ['a', 'x'],
        ['b', null],
      ],
    );
    assert.deepEqual([torrent.nFiles, torrent.totalSize, torrent.nPieces], [2, 11, 2]);
  });

  it('has the flags of files in v2 and hybrid too', () => {
    const { root } = v2Hashes(noise(5), PIECE);
    const tree = { a: { '': { attr: 'x', length: 5, 'pieces root': root } } };
    const { bytes } = build({
      version: 'v2',
      content: SINGLE,
      info: { 'file tree': tree },
      top: { 'piece layers': {} },
    });
    assert.deepEqual(
      Torrent.fromBytes(bytes).files.map((file) => file.attr),
      ['x'],
    );
  });

  it('reads an absent meta version as 2', () => {
    const { bytes } = build({ version: 'v2', content: SINGLE, info: { 'meta version': undefined } });
    assert.equal(Torrent.fromBytes(bytes).torrentVersion, 'v2');
  });

  describe('trackerTiers', () => {
    const tiers = (announce: Plain | undefined, list: Plain | undefined) =>
      read({ announce, 'announce-list': list }).trackerTiers;

    it('puts announce first if the list does not have it', () => {
      assert.deepEqual(tiers('http://c/', [['http://a/', 'http://b/'], ['http://d/']]), [
        ['http://c/'],
        ['http://a/', 'http://b/'],
        ['http://d/'],
      ]);
      assert.deepEqual(tiers(' http://b/ ', [['http://a/'], ['http://b/']]), [['http://a/'], ['http://b/']]);
    });

    it('has announce alone without a list, and nothing without either', () => {
      for (const list of [undefined, [], [[]], [['', ' ']]])
        assert.deepEqual(tiers('http://b/', list), [['http://b/']]);
      for (const announce of [undefined, '', ' ']) assert.deepEqual(tiers(announce, [[]]), []);
    });

    it('trims, and leaves out duplicates and empty tiers', () => {
      assert.deepEqual(tiers(undefined, [[' http://a/', 'http://a/'], ['http://a/ '], ['', 'http://b/']]), [
        ['http://a/'],
        ['http://b/'],
      ]);
    });
  });

  describe('flatTrackers', () => {
    const trackers = (announce: Plain | undefined, list: Plain | undefined) =>
      read({ announce, 'announce-list': list }).flatTrackers;

    it('prefers announce-list to announce, without duplicates, in order', () => {
      assert.deepEqual(
        trackers('http://c/', [
          ['http://b/', 'http://a/'],
          ['http://b/', 'http://d/'],
        ]),
        ['http://b/', 'http://a/', 'http://d/'],
      );
    });

    it('uses announce if the list is empty', () => {
      for (const list of [undefined, [], [[]], [['', ' ']]])
        assert.deepEqual(trackers('http://c/', list), ['http://c/']);
    });

    it('is empty without either', () => assert.deepEqual(trackers(undefined, undefined), []));
  });

  it('throws a BencodeError for invalid bencode', () => {
    const { bytes } = build({ version: 'v1', content: SINGLE });
    for (const wrong of [Buffer.alloc(0), bytes.subarray(0, -1), latin1('d4:info')]) {
      assert.throws(() => Torrent.fromBytes(wrong), { code: 'ERR_BENCODE' });
    }
  });

  it('warns of data after the end, keeps it, and keeps the infohash', () => {
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      const { bytes } = build({ version, content: SINGLE });
      const longer = Buffer.concat([bytes, latin1('\n')]);
      const [read, asIs] = [Torrent.fromBytes(longer), Torrent.fromBytes(bytes)];
      assert.deepEqual([read.infohashV1, read.infohashV2], [asIs.infohashV1, asIs.infohashV2]);
      assert.deepEqual(
        read.warnings.map(({ code, offset }) => [code, offset]),
        [['trailing_data', bytes.length]],
      );
      assert.ok(longer.equals(read.bencode()));
      assert.throws(() => Torrent.fromBytes(longer, { context: { profile: 'strict' } }), { code: 'ERR_BENCODE' });
    }
  });

  it('replaces names that are not UTF-8 by name.utf-8 and path.utf-8', () => {
    const files = [{ length: 5, path: [latin1('\xe9')], 'path.utf-8': ['\u00e9'] }];
    const info = { name: latin1('\xe8'), 'name.utf-8': '\u00e8', length: undefined, files };
    const read = Torrent.fromBytes(build({ version: 'v1', content: Buffer.from('12345'), info }).bytes);
    assert.deepEqual(
      [read.name, read.info.name, read.files.map((file) => file.path)],
      ['\u00e8', '\u00e8', ['\u00e9']],
    );
    assert.deepEqual(
      read.warnings.map(({ code, path }) => [code, ...path]),
      [
        ['not_utf8', 'info', 'name'],
        ['not_utf8', 'info', 'files', 0, 'path'],
      ],
    );
  });

  it('leaves out invalid entries of lists that clients ignore', () => {
    const top = {
      nodes: [
        ['a', 0],
        ['b', 1],
      ],
      'url-list': [''],
      'announce-list': ['http://a/'],
      announce: 'http://b/',
    };
    const read = Torrent.fromBytes(build({ version: 'v1', content: SINGLE, top }).bytes);
    assert.deepEqual([read.nodes, read.webseeds, read.flatTrackers], [[['b', 1]], [], ['http://b/']]);
    assert.deepEqual(read.warnings.map(({ code }) => code).sort(), ['node', 'type', 'url']);
  });

  it('treats a v2 torrent of one file as a single file, with any name', () => {
    const { bytes } = build({ version: 'v2', content: SINGLE, info: { name: 'other' } });
    const read = Torrent.fromBytes(bytes);
    assert.deepEqual([read.name, read.v2PieceRange(NAME).fullPath], ['other', NAME]);
    assert.equal(read.v2PieceRange(NAME).webseedUrl('http://a/b'), 'http://a/b');
  });

  it('reads a v2 symbolic link without content in compat', () => {
    const link = { '': { length: 7, attr: 'l', 'symlink path': [NAME] } };
    const tree = { a: { '': { length: 5, 'pieces root': Buffer.alloc(32, 1) } }, b: link } as unknown as Plain;
    const { bytes } = build({
      version: 'v2',
      content: SINGLE,
      info: { 'file tree': tree },
      top: { 'piece layers': {} },
    });
    const read = Torrent.fromBytes(bytes, { context: { profile: 'compat' } });
    assert.deepEqual([read.totalSize, read.files.map(({ length }) => length)], [5, [5, 0]]);
    assert.throws(() => Torrent.fromBytes(bytes), { code: 'ERR_VALIDATION' });
  });

  it('has no pieces root for an empty file, even if the torrent has one of zeros', () => {
    const leaf = (length: number, fill: number) => ({ '': { length, 'pieces root': Buffer.alloc(32, fill) } });
    const info = { 'file tree': { a: leaf(5, 1), b: leaf(0, 0) } as unknown as Plain };
    const { bytes } = build({ version: 'v2', content: SINGLE, info, top: { 'piece layers': {} } });
    const read = Torrent.fromBytes(bytes);
    assert.equal(read.files[1]?.piecesRoot, null);
    assert.throws(() => read.v2PieceRange('b'), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('mentions in an error whether compat accepts it', () => {
    const messageOf = (info: object) => {
      const { issues } = Torrent.inspect(build({ version: 'v1', content: SINGLE, info: info as never }).bytes);
      return issues.map(({ message }) => message);
    };
    const accepted = /\(profile compat, --compat, accepts it\)$/;
    assert.match(messageOf({ name: '..x/' })[0] ?? '', accepted);
    assert.match(messageOf({ source: 5 })[0] ?? '', accepted);
    assert.doesNotMatch(messageOf({ name: 5 })[0] ?? '', accepted);
    const [pieceLength] = messageOf({ 'piece length': 3 * 2 ** 14 });
    assert.match(pieceLength ?? '', /power of two/);
    assert.match(pieceLength ?? '', accepted);
  });
});

describe('Torrent.read', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'metainfo-read-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('reads a file', async () => {
    const { bytes, info } = build({ version: 'hybrid', content: FOLDER });
    const file = path.join(folder, 'x.torrent');
    await writeFile(file, bytes);
    const torrent = await Torrent.read(file);
    assert.equal(torrent.infohashV2, sha256(info).toString('hex'));
    assert.deepEqual(torrent.bencode(), bytes);
  });

  it('rejects with the path of a file that it cannot read', async () => {
    const absent = path.join(folder, 'absent.torrent');
    await assert.rejects(Torrent.read(absent), { code: 'ERR_NOT_FOUND', path: absent });
    await assert.rejects(Torrent.read(folder), { code: 'ERR_NOT_A_FILE', path: folder });
  });

  it('rejects a file that is not a torrent', async () => {
    const file = path.join(folder, 'list.torrent');
    await writeFile(file, reference([]));
    await assert.rejects(Torrent.read(file), { code: 'ERR_VALIDATION' });
  });
});
