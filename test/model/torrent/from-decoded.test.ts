import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import bencode from 'bencode';
import fc from 'fast-check';
import { decode } from '../../../src/bencode/decode.ts';
import type { BencodeMap } from '../../../src/bencode/value.ts';
import { ValidationError } from '../../../src/errors/errors.ts';
import { unflattenTree } from '../../../src/model/file-tree.ts';
import { HashList } from '../../../src/model/hash-list.ts';
import { Torrent } from '../../../src/model/torrent/torrent.ts';
import { latin1, type Plain } from '../../bencode/reference.ts';
import { noise, v1Pieces, v2Hashes } from '../../hash/reference.ts';
import { runs } from '../../support/runs.ts';
import { build, type Content, NAME, PIECE } from '../build.ts';

const FOLDER: Content = {
  a: noise(PIECE + 1),
  'd/é': noise(7),
  'd/\u{e000}': noise(2 * PIECE, 5),
  'd/\u{1f600}': noise(8),
};
const TOP = {
  announce: 'http://t/',
  'announce-list': [['http://t/'], ['http://ü/']],
  comment: 'é',
  'creation date': 1_700_000_000,
  'url-list': ['http://w/'],
  'x-unknown': { a: [1, -2, 'x'] },
};
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

/** Canonical torrents of every version. */
const SAMPLES = VERSIONS.flatMap((version) =>
  [noise(2 * PIECE + 5), FOLDER].map((content) => build({ version, content, top: TOP }).bytes),
);

/** The code and path of each issue, as text. */
function issuesOf(decoded: unknown): string[] {
  try {
    Torrent.fromDecoded(decoded);
  } catch (error) {
    assert.ok(error instanceof ValidationError, String(error));
    return error.issues.map(({ code, path }) => `${code} ${path.join('.')}`);
  }
  return [];
}

/** The output of the npm package `bencode`, with some fields changed. */
function decodedOf(version: (typeof VERSIONS)[number], content: Content = noise(2 * PIECE + 5)) {
  const torrent = bencode.decode(build({ version, content, top: TOP }).bytes) as Record<string, unknown>;
  return { torrent, info: torrent['info'] as Record<string, unknown> };
}

describe('Torrent.fromDecoded', () => {
  const roundTrips = (from: (bytes: Buffer) => unknown) => () => {
    for (const bytes of SAMPLES) {
      const torrent = Torrent.fromDecoded(from(bytes));
      assert.deepEqual(Buffer.from(torrent.bencode()), bytes);
    }
  };

  it(
    'restores the bytes from the output of decode',
    roundTrips((bytes) => decode(bytes).value),
  );
  it(
    'restores the bytes from the output of the npm package bencode',
    roundTrips((bytes) => bencode.decode(bytes)),
  );
  it(
    'restores the bytes from modelDumpTorrent in mode str',
    roundTrips((bytes) => Torrent.fromBytes(bytes).modelDumpTorrent()),
  );
  it(
    'restores the bytes from modelDumpTorrent in mode binary',
    roundTrips((bytes) => Torrent.fromBytes(bytes).modelDumpTorrent({ mode: 'binary' })),
  );

  it(
    'restores the bytes from Maps whose keys are bytes',
    roundTrips((bytes) => withByteKeys(decode(bytes).value)),
  );

  function withByteKeys(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(withByteKeys);
    if (!(value instanceof Map)) return value;
    return new Map([...(value as BencodeMap)].map(([key, item]) => [latin1(key), withByteKeys(item)]));
  }

  it('accepts keys in any order', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SAMPLES), fc.infiniteStream(fc.nat()), (bytes, random) => {
        const shuffled = (value: unknown): unknown => {
          if (!(value instanceof Map)) return value;
          const entries = [...(value as BencodeMap)].map(([key, item]) => ({ key, item, at: random.next().value }));
          return new Map(entries.sort((a, b) => a.at - b.at).map(({ key, item }) => [key, shuffled(item)]));
        };
        assert.deepEqual(Buffer.from(Torrent.fromDecoded(shuffled(decode(bytes).value)).bencode()), bytes);
      }),
      { numRuns: runs(50) },
    );
  });

  it('keeps keys in info that are not text, and __proto__, if they were decoded here', () => {
    const odd = new Map<string, Plain>([
      ['\xff', 1],
      ['\x80', latin1('\xfe')],
    ]);
    const { bytes } = build({
      version: 'v1',
      content: noise(5),
      info: { odd, ['__proto__']: 1 },
      top: { odd, big: 2n ** 66n },
    });
    assert.deepEqual(Buffer.from(Torrent.fromDecoded(decode(bytes).value).bencode()), bytes);
  });
});

describe('Torrent.fromDecoded with property names', () => {
  const FILE = noise(2 * PIECE + 5);
  const { root, layer } = v2Hashes(FILE, PIECE);

  it('accepts the values of the models', () => {
    const fields = {
      announceList: [['http://a/']],
      createdBy: 'me',
      creationDate: new Date(86_400_000),
      urlList: ['http://w/'],
      comment: undefined,
      announce: null,
      info: {
        name: NAME,
        private: true,
        pieceLength: PIECE,
        pieces: new HashList(v1Pieces(FILE, PIECE), 20),
        length: FILE.length,
        metaVersion: 2,
        fileTree: unflattenTree([{ path: [NAME], length: FILE.length, piecesRoot: root }]),
      },
      pieceLayers: { [root.toString('hex')]: layer },
    };
    const top = {
      'announce-list': [['http://a/']],
      'created by': 'me',
      'creation date': 86_400,
      'url-list': ['http://w/'],
    };
    const { bytes } = build({ version: 'hybrid', content: FILE, info: { private: 1 }, top });
    assert.deepEqual(Buffer.from(Torrent.fromDecoded(fields).bencode()), bytes);
  });

  it('accepts them in files and leaves', () => {
    const link = { length: 0, path: ['l'], attr: 'l' };
    const files = (name: string) => [
      { length: 5, path: ['a'] },
      { ...link, [name]: ['a'] },
    ];
    const { bytes } = build({
      version: 'v1',
      content: noise(5),
      info: { length: undefined, files: files('symlink path') },
    });
    const { info } = bencode.decode(bytes) as { info: object };
    const given = { info: { ...info, files: files('symlinkPath') } };
    assert.deepEqual(Buffer.from(Torrent.fromDecoded(given).bencode()), bytes);
  });

  it('accepts lists of hashes in place of packed hashes', () => {
    const { torrent, info } = decodedOf('v1', FILE);
    const given = { ...torrent, info: { ...info, pieces: v1Pieces(FILE, PIECE) } };
    assert.deepEqual(Torrent.fromDecoded(given).bencode(), Torrent.fromDecoded(torrent).bencode());
  });

  it('rejects a field that is also given under its on-disk key', () => {
    const { torrent, info } = decodedOf('hybrid');
    assert.deepEqual(issuesOf({ ...torrent, createdBy: 'x', 'created by': 'x' }), ['alias created by']);
    assert.deepEqual(issuesOf({ ...torrent, info: { ...info, pieceLength: PIECE } }), ['alias info.piece length']);
    const leaf = { length: 1, 'pieces root': noise(32), piecesRoot: noise(32) };
    const tree = { a: { '': leaf } };
    assert.deepEqual(issuesOf({ ...torrent, info: { ...info, 'file tree': tree } }), [
      'alias info.file tree.a..pieces root',
    ]);
  });
});

describe('Torrent.fromDecoded with lost information', () => {
  it('rejects text in place of bytes', () => {
    const { torrent, info } = decodedOf('hybrid');
    const layers = torrent['piece layers'] as Record<string, Uint8Array>;
    const [key] = Object.keys(layers) as [string];
    assert.deepEqual(issuesOf({ ...torrent, info: { ...info, pieces: 'text' } }), ['lost info.pieces']);
    assert.deepEqual(issuesOf({ ...torrent, 'piece layers': { [key]: 'text' } }), [`lost piece layers.${key}`]);
    assert.match(issuesOf({ ...torrent, 'piece layers': { 'a\ufffd': layers[key] } })[0] ?? '', /^lost piece layers/);
    const tree = (root: string) => ({ [NAME]: { '': { length: 2 * PIECE + 5, 'pieces root': root } } });
    const issues = issuesOf({ ...torrent, info: { ...info, 'file tree': tree('\ufffd'.repeat(32)) } });
    assert.deepEqual(issues, [`lost info.file tree.${NAME}..pieces root`]);
  });

  it('rejects text in every place, as decoders with an encoding give it', () => {
    const asText = (value: unknown): unknown => {
      if (value instanceof Uint8Array) return Buffer.from(value).toString();
      if (Array.isArray(value)) return value.map(asText);
      if (!(value instanceof Map)) return value;
      return Object.fromEntries(
        [...(value as BencodeMap)].map(([key, item]) => [latin1(key).toString(), asText(item)]),
      );
    };
    for (const bytes of SAMPLES) {
      const issues = issuesOf(asText(decode(bytes).value));
      assert.ok(issues.length > 0 && issues.every((issue) => issue.startsWith('lost ')), issues.join());
    }
  });

  it('rejects replacement characters in any text', () => {
    const { torrent } = decodedOf('v1');
    assert.deepEqual(issuesOf({ ...torrent, comment: 'a\ufffd' }), ['lost comment']);
    // Bytes that encode the replacement character have lost nothing.
    assert.deepEqual(issuesOf({ ...torrent, comment: Buffer.from('a\ufffd') }), []);
  });

  it('rejects numbers that may be rounded, but not bigints', () => {
    const { torrent, info } = decodedOf('v1');
    for (const number of [2 ** 53, -(2 ** 53), 1e300]) {
      assert.deepEqual(issuesOf({ ...torrent, x: number }), ['lost x']);
      assert.deepEqual(issuesOf({ ...torrent, info: { ...info, x: [number] } }), ['lost info.x.0']);
    }
    assert.deepEqual(issuesOf({ ...torrent, x: 2n ** 60n }), []);
    const { bytes } = build({ version: 'v1', content: noise(5), info: { x: 2n ** 60n } });
    assert.deepEqual(issuesOf(bencode.decode(bytes)), ['lost info.x']);
  });

  it('rejects an object with a prototype, which the npm package bencode makes of a key __proto__', () => {
    const { bytes } = build({ version: 'v1', content: noise(5), info: { ['__proto__']: { a: 1 } } });
    assert.deepEqual(issuesOf(bencode.decode(bytes)), ['lost info']);
  });
});

describe('Torrent.fromDecoded with invalid input', () => {
  it('rejects a value that is not a dictionary', () => {
    for (const value of [null, undefined, 5, 'd4:infodee', [], Buffer.from('de'), new Date(), () => 1]) {
      assert.deepEqual(issuesOf(value), ['type ']);
    }
  });

  it('rejects values that bencode cannot represent', () => {
    const { torrent } = decodedOf('v1');
    for (const value of [1.5, Number.NaN, Symbol('x'), () => 1])
      assert.deepEqual(issuesOf({ ...torrent, x: value }), ['type x']);
  });

  it('rejects objects that contain themselves', () => {
    const { torrent, info } = decodedOf('v2');
    const ring: Record<string, unknown> = {};
    ring['ring'] = ring;
    const list: unknown[] = [];
    list.push(list);
    for (const endless of [
      { ...torrent, ring },
      { ...torrent, list },
      { ...torrent, info: { ...info, ring } },
    ]) {
      assert.match(issuesOf(endless)[0] ?? '', /^type /);
    }
    // The file tree is converted by a function of its own.
    assert.match(issuesOf({ ...torrent, info: { ...info, 'file tree': ring } })[0] ?? '', /^type /);
  });

  it('counts a buffer that occurs many times against the limit of bytes', () => {
    const { torrent, info } = decodedOf('v1');
    const limits = { bytes: 2 ** 20 };
    // 8 GiB if they were written.
    const many = (one: unknown) => new Array(2 ** 13).fill(one);
    for (const bomb of [
      { ...torrent, x: many(Buffer.alloc(2 ** 20)) },
      { ...torrent, x: many(new ArrayBuffer(2 ** 20)) },
      { ...torrent, x: many('x'.repeat(2 ** 20)) },
      { ...torrent, info: { ...info, pieces: many(Buffer.alloc(2 ** 20)) } },
      { ...torrent, 'piece layers': { ['00'.repeat(32)]: many(Buffer.alloc(2 ** 20)) } },
    ]) {
      assert.throws(() => Torrent.fromDecoded(bomb, { limits }), { code: 'ERR_LIMIT', limit: 'bytes' });
      assert.throws(() => Torrent.fromDecoded(bomb), { code: 'ERR_LIMIT', limit: 'bytes' });
    }
  });

  const noBuffers = process.env['METAINFO_PLATFORM'] === 'web' && 'it counts what Buffer.concat joins';
  it('rejects layers that are lists of one buffer before it joins them', { skip: noBuffers }, (t) => {
    const { torrent } = decodedOf('v2');
    const bytes = 2 ** 20;
    const list = [Buffer.alloc(bytes / 4)];
    const layers = Array.from({ length: 64 }, (_, i) => [i.toString(16).padStart(64, '0'), list]);
    const bomb = { ...torrent, 'piece layers': Object.fromEntries(layers) };
    const concat = t.mock.method(Buffer, 'concat');
    assert.throws(() => Torrent.fromDecoded(bomb, { limits: { bytes } }), { code: 'ERR_LIMIT', limit: 'bytes' });
    const joined = concat.mock.calls.reduce((sum, { result }) => sum + (result?.length ?? 0), 0);
    assert.ok(joined > 0 && joined <= bytes, `${joined} bytes`);
  });

  it('rejects an invalid Date', () => {
    const { torrent } = decodedOf('v1');
    assert.deepEqual(issuesOf({ ...torrent, 'creation date': new Date(Number.NaN) }), ['type creation date']);
  });

  it('reports the codes of the rules', () => {
    const { torrent, info } = decodedOf('v1');
    assert.deepEqual(issuesOf({ ...torrent, info: { ...info, length: -1 } }), ['negative info.length']);
    assert.deepEqual(issuesOf({}), ['required info']);
  });

  it('does not change its input', () => {
    const { torrent } = decodedOf('hybrid', FOLDER);
    const before = structuredClone(torrent);
    Torrent.fromDecoded(torrent);
    assert.deepEqual(torrent, before);
  });
});

describe('Torrent.fromDecoded with parts of torrents', () => {
  const samples = SAMPLES.map((bytes) => Torrent.fromBytes(bytes));

  it('restores the bytes from a torrent', () => {
    for (const torrent of samples)
      assert.deepEqual(Buffer.from(Torrent.fromDecoded(torrent).bencode()), Buffer.from(torrent.bencode()));
  });

  it('restores the infohash and the keys from the info and extra of a torrent', () => {
    for (const { info, extra, pieceLayers, infohashV1, infohashV2 } of samples) {
      const made = Torrent.fromDecoded({ info, extra, pieceLayers });
      assert.deepEqual([made.infohashV1, made.infohashV2, made.extra], [infohashV1, infohashV2, extra]);
    }
  });

  it('keeps the unknown keys of info, files and leaves', () => {
    const bytes = Buffer.from(
      'd4:infod5:filesld6:lengthi1e4:pathl1:ae6:x-filei7eee4:name1:n12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaa6:x-infoi8eee',
    );
    const { info, infohashV1 } = Torrent.fromBytes(bytes);
    assert.equal(Torrent.fromDecoded({ info }).infohashV1, infohashV1);
    assert.equal(Torrent.fromDecoded({ info: { ...info } }).infohashV1, infohashV1);
  });

  it('keeps an on-disk key that is called extra', () => {
    const bytes = Buffer.from(
      'd5:extrad1:xi1ee4:infod6:lengthi1e4:name1:n12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee',
    );
    for (const from of [bencode.decode, (given: Buffer) => decode(given).value])
      assert.deepEqual(Buffer.from(Torrent.fromDecoded(from(bytes)).bencode()), bytes);
  });

  it('rejects a copy of the properties of a torrent', () => {
    for (const torrent of samples) assert.deepEqual(issuesOf({ ...torrent }), ['type ']);
  });

  it('rejects a key that is also given in extra', () => {
    const { info } = samples[0] as Torrent;
    assert.deepEqual(issuesOf({ info, comment: 'a', extra: new Map([['comment', Buffer.from('b')]]) }), [
      'alias comment',
    ]);
  });

  it('rejects hashes of wrong sizes that add up to the right number of bytes', () => {
    const { info } = decodedOf('v1', noise(2 * PIECE)).torrent as { info: { pieces: Buffer } };
    const split = (bytes: Buffer, at: number) => [bytes.subarray(0, at), bytes.subarray(at)];
    assert.deepEqual(issuesOf({ info: { ...info, pieces: split(info.pieces, 19) } }), ['hash_length info.pieces.0']);
    assert.deepEqual(issuesOf({ info: { ...info, pieces: split(info.pieces, 20) } }), []);
    const { torrent } = decodedOf('v2', noise(2 * PIECE));
    const layers = torrent['piece layers'] as Record<string, Buffer>;
    const [[root, layer] = []] = Object.entries(layers);
    const given = (at: number) => ({ ...torrent, 'piece layers': { [root as string]: split(layer as Buffer, at) } });
    assert.deepEqual(issuesOf(given(31)), [`hash_length piece layers.${root}.0`]);
    assert.deepEqual(issuesOf(given(32)), []);
  });
});
