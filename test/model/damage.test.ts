import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { BencodeError } from '../../src/bencode/bencode-error.ts';
import { LimitError } from '../../src/bencode/limits.ts';
import { ISSUE_CODES } from '../../src/errors/codes.ts';
import { ValidationError } from '../../src/errors/errors.ts';
import { safePaths } from '../../src/layout/safe-path.ts';
import type { Profile } from '../../src/model/profile.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import {
  A,
  B,
  type Bencode,
  bencode,
  type Dictionary,
  EMPTY,
  file,
  folder,
  H32,
  hex,
  hybrid,
  LAYER,
  latin1,
  layers,
  leaf,
  long,
  PAD_A,
  PIECE,
  ROOT,
  sha1,
  sha256,
  single,
  TREE,
  torrent,
  v2,
  withLayers,
} from '../support/build.ts';
import { infoOf } from '../support/scan.ts';

const PROFILES = ['default', 'strict', 'compat'] as const;

const TOP = { announce: 'http://a/', 'announce-list': [['http://a/']], 'creation date': 9, 'url-list': 'http://w/' };
const SMALL: Readonly<Record<string, Buffer>> = {
  'v1 of a file': torrent(single, TOP),
  'v1 of a folder': torrent(folder([file(PIECE, 'x', 'y'), { ...file(5, 'z'), attr: 'x' }])),
  'v2 of a file': withLayers(long, layers([ROOT, LAYER]), { comment: 'é' }),
  'v2 of a folder': withLayers(v2({ a: { b: leaf(5), c: leaf(0) }, d: leaf(PIECE, { attr: 'x' }) }, { private: 1 })),
  'hybrid of a file': withLayers({ ...long, length: 20_000, pieces: Buffer.alloc(40, 1) }, layers([ROOT, LAYER])),
  'hybrid of a folder': withLayers(hybrid([A, PAD_A, B, EMPTY], { ...TREE, c: leaf(0) }, { source: 's' })),
};

/**
 * Reads bytes and returns the code of the error, or null for a torrent. Fails for an error without a type, and for a torrent
 * that does not round-trip.
 */
function readOrCode(bytes: Buffer, profile: Profile): string | null {
  let read: Torrent;
  try {
    read = Torrent.fromBytes(bytes, { context: { profile } });
  } catch (error) {
    if (error instanceof LimitError) return error.limit;
    if (error instanceof BencodeError) {
      assert.equal(error.code, 'ERR_BENCODE');
      assert.ok(error.offset >= 0 && error.offset <= bytes.length);
      return error.bencodeCode;
    }
    assert.ok(error instanceof ValidationError, error instanceof Error ? error.stack : String(error));
    assert.equal(error.code, 'ERR_VALIDATION');
    const [first] = error.issues;
    assert.ok(first && first.severity === 'error');
    assert.ok(error.issues.every(({ code }) => Object.hasOwn(ISSUE_CODES, code)));
    return first.code;
  }
  assert.ok(bytes.equals(read.bencode()));
  const info = infoOf(bytes) as Uint8Array;
  assert.equal(read.infohashV1, read.torrentVersion === 'v2' ? null : hex(sha1(info)));
  assert.equal(read.infohashV2, read.torrentVersion === 'v1' ? null : hex(sha256(info)));
  checkProperties(read);
  return null;
}

/** Checks that every property of an accepted torrent is usable. */
function checkProperties(read: Torrent): void {
  assert.equal(read.files.length, read.nFiles);
  assert.equal(read.safePaths.length, read.nFiles);
  assert.equal(new Set(read.safePaths).size, read.nFiles);
  for (const safe of read.safePaths) assert.doesNotMatch(`/${safe}/`, /\/(\.{0,2})\/|\0/);
  assert.ok(Number.isSafeInteger(read.totalSize) && read.totalSize >= 0);
  assert.ok(!Number.isNaN(read.creationDate?.getTime() ?? 0));
  assert.equal(typeof read.name, 'string');
  if (read.torrentVersion !== 'v2') assert.ok(read.v1PieceRange(0).ranges.length > 0);
  const [first] = read.flatFiles ?? [];
  // Compat accepts torrents without layers, which have no ranges, and roots of empty files, which have none either.
  const hasLayers = read.warnings.every((warning) => warning.path[0] !== 'piece layers');
  if (first?.[1].piecesRoot && first[1].length > 0 && hasLayers)
    assert.equal(read.v2PieceRange(first[0]).fileSize, first[1].length);
  assert.ok(read.flatTrackers.length >= 0 && read.webseeds.length >= 0);
}

describe('reading a damaged torrent', () => {
  for (const [what, bytes] of Object.entries(SMALL)) {
    it(`accepts the undamaged torrent: ${what}`, () => {
      for (const profile of PROFILES) assert.equal(readOrCode(bytes, profile), null);
    });

    it(`rejects it cut at any length: ${what}`, () => {
      for (const profile of PROFILES) {
        for (let length = 0; length < bytes.length; length += 1) {
          assert.equal(readOrCode(bytes.subarray(0, length), profile), length === 0 ? 'empty' : 'truncated');
        }
      }
    });

    for (const profile of PROFILES) {
      it(`rejects it with a code or round-trips it with any byte changed: ${what}, ${profile}`, () => {
        const values = [...latin1('0129deil:-./\\p \0\x7f\x80\xff'), -1, -2];
        const copy = Buffer.from(bytes);
        for (let at = 0; at < bytes.length; at += 1) {
          const was = bytes[at] as number;
          for (const value of values) {
            // The next value, and one bit flipped.
            copy[at] = value === -1 ? was + 1 : value === -2 ? was ^ 0x20 : value;
            readOrCode(copy, profile);
          }
          copy[at] = was;
        }
      });
    }

    it(`rejects it with a code or round-trips it with any byte removed or doubled: ${what}`, () => {
      for (let at = 0; at < bytes.length; at += 1) {
        const [start, end] = [bytes.subarray(0, at), bytes.subarray(at + 1)];
        for (const profile of PROFILES) {
          readOrCode(Buffer.concat([start, end]), profile);
          readOrCode(Buffer.concat([start, bytes.subarray(at, at + 1), bytes.subarray(at)]), profile);
        }
      }
    });
  }
});

describe('reading hostile values', () => {
  it('reads __proto__ as an ordinary key at every level', () => {
    const evil: [string, Bencode] = ['__proto__', { polluted: 1 }];
    // A computed key, because a plain one would set the prototype.
    const own = (value: Bencode): Dictionary => ({ ['__proto__']: value });
    const bytes = bencode(
      new Map<string, Bencode>([
        evil,
        ['constructor', { prototype: { polluted: 1 } }],
        ['piece layers', {}],
        [
          'info',
          new Map<string, Bencode>([
            ...(Object.entries(hybrid([], {})) as [string, Bencode][]),
            ['pieces', Buffer.alloc(20)],
            ['files', [{ ...file(5, '__proto__', 'constructor'), ...own({ polluted: 1 }) }]],
            ['file tree', own({ constructor: { '': { length: 5, 'pieces root': H32, ...own({ polluted: 1 }) } } })],
            evil,
          ]),
        ],
      ]),
    );
    for (const profile of PROFILES) {
      const read = Torrent.fromBytes(bytes, { context: { profile } });
      assert.ok(bytes.equals(read.bencode()));
      assert.deepEqual(read.extra.get('__proto__'), new Map([['polluted', 1]]));
      assert.deepEqual(read.info.extra?.get('__proto__'), new Map([['polluted', 1]]));
      assert.deepEqual(
        read.files.map((item) => item.path),
        ['__proto__/constructor'],
      );
      assert.deepEqual([...(read.flatFiles?.keys() ?? [])], ['__proto__/constructor']);
      const dumped = read.modelDumpTorrent() as Record<string, unknown>;
      assert.ok(Object.hasOwn(dumped, '__proto__') || dumped instanceof Map);
      assert.ok(bytes.equals(Torrent.fromDecoded(dumped, { context: { profile } }).bencode()));
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    assert.equal(Object.getPrototypeOf({}), Object.prototype);
  });

  it('gives names that are not UTF-8 different safe paths in compat and keeps their bytes', () => {
    const names = ['\x80', '\x81', '\xff', '\xfe\xff'];
    const tree = withLayers(v2(new Map(names.map((name) => [name, leaf(5)]))));
    const read = Torrent.fromBytes(tree, { context: { profile: 'compat' } });
    assert.equal(read.flatFiles?.size, names.length);
    assert.equal(new Set(read.safePaths).size, names.length);
    assert.ok(tree.equals(read.bencode()));
    const list = torrent(folder(names.map((name) => file(1, latin1(name)))));
    assert.equal(new Set(Torrent.fromBytes(list, { context: { profile: 'compat' } }).safePaths).size, names.length);
  });

  const HOSTILE = [
    '..',
    '.',
    '',
    'a/../../b',
    '/etc/passwd',
    'C:',
    'C:\\x',
    '\\\\host\\x',
    'a\0b',
    '..\\..\\x',
    '\u202egpj.exe',
  ];

  for (const name of HOSTILE) {
    it(`keeps safe paths inside the folder: ${JSON.stringify(name)}`, () => {
      const unsafe = name !== '\u202egpj.exe' && name !== '..\\..\\x';
      const torrents = {
        v1: torrent(folder([file(5, name, 'x'), file(5, 'y', name), file(5, name)], { pieces: Buffer.alloc(20) })),
        v2: withLayers(v2({ [name === '' ? '\0' : name]: { x: leaf(5) }, y: { z: leaf(5) } })),
        name: torrent(folder([file(5, 'x')], { name })),
      };
      for (const [what, bytes] of Object.entries(torrents)) {
        for (const profile of ['default', 'strict'] as const) {
          const code = readOrCode(bytes, profile);
          if (unsafe) assert.equal(code, 'unsafe_path', `${what} ${profile}`);
        }
        assert.equal(readOrCode(bytes, 'compat'), null, what);
        const read = Torrent.fromBytes(bytes, { context: { profile: 'compat' } });
        const root = '/srv/torrents/0';
        for (const safe of read.safePaths) assert.ok(path.posix.resolve(root, safe).startsWith(`${root}/`), safe);
        const paths = read.files.map((item) => item.path.split('/'));
        for (const parts of safePaths(paths, true)) {
          const safe = parts.join('/');
          assert.ok(path.win32.resolve('D:\\t', safe).startsWith('D:\\t\\'), safe);
        }
      }
    });
  }

  it('accepts any power of two as the piece length or rejects it with a code', () => {
    for (let power = 0; power <= 70; power += 1) {
      const length = 2n ** BigInt(power);
      for (const profile of PROFILES) {
        readOrCode(torrent({ ...single, 'piece length': length }), profile);
        readOrCode(torrent({ ...single, 'piece length': length - 1n, length: length + 1n }), profile);
        readOrCode(withLayers(v2({ a: leaf(5) }, { 'piece length': length })), profile);
        // A layer of two hashes that hash to the root.
        const info = v2({ a: leaf(length + 1n, { 'pieces root': ROOT }) }, { 'piece length': length });
        readOrCode(withLayers(info, layers([ROOT, LAYER])), profile);
        readOrCode(
          withLayers({ ...info, length: length + 1n, pieces: Buffer.alloc(40) }, layers([ROOT, LAYER])),
          profile,
        );
      }
    }
  });

  it('accepts sizes around every power of two or rejects them with a code', () => {
    for (let power = 0; power <= 70; power += 1) {
      for (const size of [2n ** BigInt(power) - 1n, 2n ** BigInt(power), -(2n ** BigInt(power))]) {
        for (const profile of PROFILES) {
          readOrCode(torrent({ ...single, length: size }), profile);
          readOrCode(torrent(folder([file(size, 'x'), file(size, 'y')], { pieces: Buffer.alloc(20) })), profile);
          readOrCode(withLayers(v2({ a: leaf(size), b: leaf(size) })), profile);
          readOrCode(withLayers(hybrid([file(size, 'a')], { a: leaf(size) }, { pieces: Buffer.alloc(20) })), profile);
          readOrCode(torrent(single, { 'creation date': size }), profile);
          readOrCode(withLayers(v2({ a: leaf(5) }, { 'meta version': size })), profile);
        }
      }
    }
  });
});
