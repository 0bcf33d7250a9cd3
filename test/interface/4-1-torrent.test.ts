// Section 4.1 of the interface: the operations of Torrent.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { before, describe, it, mock } from 'node:test';
import bencodePackage from 'bencode';
import { decode, encode, pprint, Torrent, TorrentCreate } from '../../src/index.ts';
import { content } from '../support/generated.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const PIECE = 16_384;
const LARGE = content(2 * PIECE + 5, 1);
const SMALL = content(100, 2);
const sha1 = (...parts: Uint8Array[]) => createHash('sha1').update(Buffer.concat(parts)).digest();

let made: Torrent;
before(async () => {
  const root = path.join(await temporaryFolder({ after: () => {} }), 'album');
  await writeTree(root, { large: LARGE, small: SMALL });
  made = await new TorrentCreate({ pathRoot: root, pieceLength: PIECE }).generate({ version: 'hybrid' });
});

function printed(verbose?: 0 | 1 | 2 | 3): string[] {
  const write = mock.method(process.stdout, 'write', () => true);
  try {
    pprint(made, verbose === undefined ? {} : { verbose });
    return write.mock.calls.map(({ arguments: [text] }) => String(text));
  } finally {
    write.mock.restore();
  }
}

describe('4.1 from_decoded', () => {
  it('accepts string keys and byte keys', () => {
    const expected = made.infohashV2;
    assert.equal(Torrent.fromDecoded(decode(made.bencode()).value).infohashV2, expected);
    const top = decode(made.bencode()).value as Map<string, unknown>;
    const bytesKeys = new Map([...top].map(([key, value]) => [Buffer.from(key, 'latin1'), value]));
    assert.equal(Torrent.fromDecoded(bytesKeys).infohashV2, expected);
  });

  it('accepts a context, and additional data', () => {
    const value = decode(made.bencode()).value;
    assert.equal(Torrent.fromDecoded(value, { data: { comment: 'x' } }).comment, 'x');
    assert.throws(() => Torrent.fromDecoded(value, { context: { padding: 'forbid' } }), { code: 'ERR_VALIDATION' });
  });
});

describe('4.1 model_dump_torrent', () => {
  it('str: has string keys and is the default', () => {
    const dumped = made.modelDumpTorrent() as Record<string, unknown>;
    assert.deepEqual(dumped, made.modelDumpTorrent({ mode: 'str' }));
    assert.ok(Object.keys(dumped).includes('info'));
  });

  it('str of a v1 torrent: gives the same bytes with another encoder', () => {
    const v1 = Torrent.fromDecoded({ info: { name: 'a', length: 1, 'piece length': PIECE, pieces: Buffer.alloc(20) } });
    assert.deepEqual(Buffer.from(bencodePackage.encode(v1.modelDumpTorrent())), Buffer.from(v1.bencode()));
  });

  it('binary: round-trips through bencode', () => {
    assert.deepEqual(Buffer.from(encode(made.modelDumpTorrent({ mode: 'binary' }))), Buffer.from(made.bencode()));
  });
});

describe('4.1 v1_piece_range and v2_piece_range', () => {
  it('v1: return the ranges of the piece across files and pad files', () => {
    const range = made.v1PieceRange(2);
    assert.deepEqual(
      range.ranges.map(({ path: file, rangeStart, rangeEnd }) => [file, rangeStart, rangeEnd]),
      [
        ['large', 2 * PIECE, 2 * PIECE + 5],
        [`.pad/${PIECE - 5}`, 0, PIECE - 5],
      ],
    );
    const tail = LARGE.subarray(2 * PIECE);
    assert.deepEqual(Buffer.from(range.pieceHash), sha1(tail, Buffer.alloc(PIECE - 5)));
    assert.ok(range.validateData([tail]));
  });

  it('v2: return piece 0 of a larger file by default', () => {
    const range = made.v2PieceRange('large');
    assert.deepEqual([range.pieceIdx, range.rangeStart, range.rangeEnd], [0, 0, PIECE]);
    assert.ok(range.validateData([LARGE.subarray(0, PIECE)]));
    assert.ok(made.v2PieceRange('large', 2).validateData([LARGE.subarray(2 * PIECE)]));
  });

  it('v2: return the whole file and its root for a smaller file, ignoring the index', () => {
    for (const index of [undefined, 0, 7]) {
      const range = made.v2PieceRange('small', index);
      assert.deepEqual([range.rangeStart, range.rangeEnd], [0, SMALL.length]);
      assert.deepEqual(range.pieceHash, range.rootHash);
      assert.ok(range.validateData([SMALL]));
    }
  });
});

describe('4.1 pprint', () => {
  it('prints the top level in less than one screen by default', () => {
    const lines = printed();
    assert.ok(lines.length > 2 && lines.length < 24, lines.join(''));
    assert.ok(!lines.join('').includes('small'));
  });

  it('prints more with more verbosity', () => {
    const [top, withFiles, cutHashes, all] = ([0, 1, 2, 3] as const).map((verbose) => printed(verbose).join(''));
    assert.ok(!top?.includes('small') && withFiles?.includes('small'));
    assert.ok((withFiles?.length ?? 0) < (cutHashes?.length ?? 0) && (cutHashes?.length ?? 0) <= (all?.length ?? 0));
  });

  it('prints the hash of each piece in hexadecimal, and does not change the torrent', () => {
    const before = Buffer.from(made.bencode());
    const text = printed(3).join('');
    for (const index of [0, 1, 2]) {
      const hash = Buffer.from(made.v1PieceRange(index).pieceHash).toString('hex');
      assert.ok(text.includes(hash), hash);
    }
    assert.deepEqual(Buffer.from(made.bencode()), before);
  });
});
