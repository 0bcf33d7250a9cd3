import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BencodeError } from '../../src/bencode/bencode-error.ts';
import { LimitError } from '../../src/bencode/limits.ts';
import { ISSUE_CODES } from '../../src/errors/codes.ts';
import { ValidationError } from '../../src/errors/errors.ts';
import { safePaths } from '../../src/layout/safe-path.ts';
import type { Profile } from '../../src/model/issues.ts';
import { Torrent } from '../../src/model/torrent.ts';
import { procMissing } from '../reliability/run-child.ts';
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
  raw,
  sha1,
  sha256,
  single,
  TREE,
  torrent,
  v2,
  withLayers,
} from '../support/build.ts';
import type { HostileAnswer } from '../support/hostile.ts';
import { infoOf } from '../support/scan.ts';
import { temporaryFolder } from '../support/tree.ts';

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

/** Either a typed error, or a torrent that is those very bytes. The error's code, or null. */
function judge(bytes: Buffer, profile: Profile): string | null {
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
  lookAt(read);
  return null;
}

/** All that a user would look at holds for what was taken. */
function lookAt(read: Torrent): void {
  assert.equal(read.files.length, read.nFiles);
  assert.equal(read.safePaths.length, read.nFiles);
  assert.equal(new Set(read.safePaths).size, read.nFiles);
  for (const safe of read.safePaths) assert.doesNotMatch(`/${safe}/`, /\/(\.{0,2})\/|\0/);
  assert.ok(Number.isSafeInteger(read.totalSize) && read.totalSize >= 0);
  assert.ok(!Number.isNaN(read.creationDate?.getTime() ?? 0));
  assert.equal(typeof read.name, 'string');
  if (read.torrentVersion !== 'v2') assert.ok(read.v1PieceRange(0).ranges.length > 0);
  const [first] = read.flatFiles ?? [];
  // Compat takes torrents without layers: those have no ranges, nor have empty files, which may have a root there.
  const layered = read.warnings.every((warning) => warning.path[0] !== 'piece layers');
  if (first?.[1].piecesRoot && first[1].length > 0 && layered)
    assert.equal(read.v2PieceRange(first[0]).fileSize, first[1].length);
  assert.ok(read.flatTrackers.length >= 0 && read.webseeds.length >= 0);
}

describe('small torrents', () => {
  for (const [what, bytes] of Object.entries(SMALL)) {
    it(`are valid: ${what}`, () => {
      for (const profile of PROFILES) assert.equal(judge(bytes, profile), null);
    });

    it(`are refused when they are cut anywhere: ${what}`, () => {
      for (const profile of PROFILES) {
        for (let length = 0; length < bytes.length; length += 1) {
          assert.equal(judge(bytes.subarray(0, length), profile), length === 0 ? 'empty' : 'truncated');
        }
      }
    });

    for (const profile of PROFILES) {
      it(`are refused with a code, or read as they are, with any one byte changed: ${what}, ${profile}`, () => {
        const values = [...latin1('0129deil:-./\\p \0\x7f\x80\xff'), -1, -2];
        const copy = Buffer.from(bytes);
        for (let at = 0; at < bytes.length; at += 1) {
          const was = bytes[at] as number;
          for (const value of values) {
            // A neighbour, and one bit.
            copy[at] = value === -1 ? was + 1 : value === -2 ? was ^ 0x20 : value;
            judge(copy, profile);
          }
          copy[at] = was;
        }
      });
    }

    it(`are refused with a code, or read as they are, with any byte left out or twice: ${what}`, () => {
      for (let at = 0; at < bytes.length; at += 1) {
        const [start, end] = [bytes.subarray(0, at), bytes.subarray(at + 1)];
        for (const profile of PROFILES) {
          judge(Buffer.concat([start, end]), profile);
          judge(Buffer.concat([start, bytes.subarray(at, at + 1), bytes.subarray(at)]), profile);
        }
      }
    });
  }
});

describe('hostile values', () => {
  it('__proto__ is a key like any other, at every level', () => {
    const evil: [string, Bencode] = ['__proto__', { polluted: 1 }];
    // Computed, or it would be the prototype.
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

  it('names that are not UTF-8 differ for compat, and their bytes stay', () => {
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
    it(`paths never leave their folder: ${JSON.stringify(name)}`, () => {
      const unsafe = name !== '\u202egpj.exe' && name !== '..\\..\\x';
      const torrents = {
        v1: torrent(folder([file(5, name, 'x'), file(5, 'y', name), file(5, name)], { pieces: Buffer.alloc(20) })),
        v2: withLayers(v2({ [name === '' ? '\0' : name]: { x: leaf(5) }, y: { z: leaf(5) } })),
        name: torrent(folder([file(5, 'x')], { name })),
      };
      for (const [what, bytes] of Object.entries(torrents)) {
        for (const profile of ['default', 'strict'] as const) {
          const code = judge(bytes, profile);
          if (unsafe) assert.equal(code, 'unsafe_path', `${what} ${profile}`);
        }
        assert.equal(judge(bytes, 'compat'), null, what);
        const read = Torrent.fromBytes(bytes, { context: { profile: 'compat' } });
        const root = '/srv/torrents/0';
        for (const safe of read.safePaths) assert.ok(path.posix.resolve(root, safe).startsWith(`${root}/`), safe);
        const paths = read.files.map((item) => item.path.split('/'));
        for (const safe of safePaths(paths, true).map((parts) => parts.join('/'))) {
          assert.ok(path.win32.resolve('D:\\t', safe).startsWith('D:\\t\\'), safe);
        }
      }
    });
  }

  it('a piece length of any power of two is taken or refused with a code', () => {
    for (let power = 0; power <= 70; power += 1) {
      const length = 2n ** BigInt(power);
      for (const profile of PROFILES) {
        judge(torrent({ ...single, 'piece length': length }), profile);
        judge(torrent({ ...single, 'piece length': length - 1n, length: length + 1n }), profile);
        judge(withLayers(v2({ a: leaf(5) }, { 'piece length': length })), profile);
        // A layer of two hashes that do hash to their root.
        const info = v2({ a: leaf(length + 1n, { 'pieces root': ROOT }) }, { 'piece length': length });
        judge(withLayers(info, layers([ROOT, LAYER])), profile);
        judge(withLayers({ ...info, length: length + 1n, pieces: Buffer.alloc(40) }, layers([ROOT, LAYER])), profile);
      }
    }
  });

  it('sizes around every power of two are taken or refused with a code', () => {
    for (let power = 0; power <= 70; power += 1) {
      for (const size of [2n ** BigInt(power) - 1n, 2n ** BigInt(power), -(2n ** BigInt(power))]) {
        for (const profile of PROFILES) {
          judge(torrent({ ...single, length: size }), profile);
          judge(torrent(folder([file(size, 'x'), file(size, 'y')], { pieces: Buffer.alloc(20) })), profile);
          judge(withLayers(v2({ a: leaf(size), b: leaf(size) })), profile);
          judge(withLayers(hybrid([file(size, 'a')], { a: leaf(size) }, { pieces: Buffer.alloc(20) })), profile);
          judge(torrent(single, { 'creation date': size }), profile);
          judge(withLayers(v2({ a: leaf(5) }, { 'meta version': size })), profile);
        }
      }
    }
  });
});

/** What the decoder documents of memory: about 200 bytes for each value and key. */
const BYTES_AN_ITEM = 200;
/** And for each folder above each file, whose path is whole. */
const BYTES_A_LEVEL = 24;
/** Of the input, beside that. */
const MULTIPLE = 10;
/** What the collector has not come to yet, and what nobody can tell apart from noise. */
const SLACK = 96 * 2 ** 20;

interface Hostile {
  bytes: () => Buffer;
  /** Values and keys that are read, at most. */
  items: number;
  /** Folders above files, counted for each file. */
  levels?: number;
  outcome: string | null;
  profile?: Profile;
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const many = (part: string, count: number) => raw(`l${part.repeat(count)}e`);
const nested = (open: string, close: string, depth: number) => raw(open.repeat(depth) + close.repeat(depth));
const ofFiles = (files: Bencode) => torrent({ ...single, length: undefined, files });
const named = (count: number) => numbers(count).map((i) => `e${String(i).padStart(7, '0')}`);
const NODES = 40_000;

const HUGE: Readonly<Record<string, Hostile>> = {
  '100,000 lists within each other': {
    bytes: () => nested('l', 'e', 100_000).bytes,
    items: 0,
    outcome: 'limit: depth',
  },
  '100,000 lists that never end': { bytes: () => nested('l', '', 100_000).bytes, items: 0, outcome: 'limit: depth' },
  '100,000 dictionaries within each other': {
    bytes: () => torrent({ ...single, x: nested('d1:a', 'e', 100_000) }),
    items: 0,
    outcome: 'limit: depth',
  },
  'a tree of 100,000 folders within each other': {
    bytes: () => withLayers(v2(nested('d1:a', 'e', 100_000))),
    items: 0,
    outcome: 'limit: depth',
  },
  'files of 100,000 lists within each other': {
    bytes: () => ofFiles(nested('l', 'e', 100_000)),
    items: 0,
    outcome: 'limit: depth',
  },
  'a string of 4 GiB': {
    bytes: () => torrent({ ...single, name: raw('4294967296:a') }),
    items: 0,
    outcome: 'truncated',
  },
  'a string of 10^300 bytes': {
    bytes: () => torrent({ ...single, name: raw(`1${'0'.repeat(300)}:a`) }),
    items: 0,
    outcome: 'truncated',
  },
  'an integer of a million digits': {
    bytes: () => torrent({ ...single, length: raw(`i${'9'.repeat(1_000_000)}e`) }),
    items: 0,
    outcome: 'limit: digits',
  },
  '10 million files': { bytes: () => ofFiles(many('de', 10_000_000)), items: 0, outcome: 'limit: items' },
  '10 million entries at the top': {
    bytes: () => many('de', 10_000_000).bytes,
    items: 3_000_000,
    outcome: 'limit: items',
  },
  '3 million integers': {
    bytes: () => torrent({ ...single, x: many('i0e', 3_000_000) }),
    items: 3_000_000,
    outcome: 'limit: items',
  },
  '2.9 million integers': {
    bytes: () => torrent({ ...single, x: many('i0e', 2_900_000) }),
    items: 2_900_000,
    outcome: null,
  },
  '2.9 million files that are none': { bytes: () => ofFiles(many('de', 2_900_000)), items: 0, outcome: 'limit: files' },
  'a million files that are none': { bytes: () => ofFiles(many('de', 1_000_000)), items: 0, outcome: 'required' },
  'a million files that are integers': { bytes: () => ofFiles(many('i0e', 1_000_000)), items: 0, outcome: 'type' },
  '2.9 million empty dictionaries': {
    bytes: () => torrent({ ...single, x: many('de', 2_900_000) }),
    items: 2_900_000,
    outcome: null,
  },
  '2.9 million empty tiers': {
    bytes: () => torrent(single, { 'announce-list': many('le', 2_900_000) }),
    items: 2_900_000,
    outcome: null,
  },
  'a path of a million components': {
    bytes: () => ofFiles([{ length: 5, path: many('1:a', 1_000_000) }]),
    items: 1_000_000,
    outcome: null,
  },
  '100,000 entries beneath 90 folders': {
    bytes: () => {
      const entries: Dictionary = Object.fromEntries([
        ...named(100_000).map((name) => [name, leaf(0)]),
        ['f', leaf(5)],
      ]);
      return withLayers(v2(numbers(90).reduce((tree: Dictionary) => ({ a: tree }), entries)));
    },
    items: 700_000,
    levels: 9_000_000,
    outcome: null,
  },
  '400,000 layers of nothing': {
    bytes: () => {
      const keys = numbers(400_000).map((i) => {
        const key = Buffer.alloc(32);
        key.writeUInt32BE(i + 1);
        return [key.toString('latin1'), H32] as const;
      });
      return withLayers(long, new Map(keys));
    },
    items: 800_000,
    outcome: 'pieces_layers_correct',
  },
  'a layer for 8 PiB': {
    bytes: () => withLayers(v2({ a: leaf(2 ** 53 - 1, { 'pieces root': ROOT }) }), layers([ROOT, LAYER])),
    items: 0,
    outcome: 'pieces_layers_correct',
  },
  'pieces for 8 PiB by 1 byte': {
    bytes: () => torrent({ ...single, length: 2 ** 53 - 1, 'piece length': 1 }),
    items: 0,
    outcome: 'expected_n_pieces',
  },
  // What costs the square of the input if it is done without thought.
  '40,000 empty files in both descriptions': {
    bytes: () => {
      const names = named(NODES);
      const tree: Dictionary = Object.fromEntries(names.map((name) => [name, leaf(0)]));
      return withLayers(hybrid([A, ...names.map((name) => file(0, name))], { a: leaf(5), ...tree }));
    },
    items: 12 * NODES,
    outcome: null,
  },
  '200,000 files without a root': {
    bytes: () => withLayers(v2(Object.fromEntries(named(200_000).map((name) => [name, { '': { length: 5 } }])))),
    items: 6 * 200_000,
    outcome: 'pieces_root',
  },
  ...Object.fromEntries(
    [['1 MB', 'k'.repeat(1_000_000)] as const, ['1 MB beyond ASCII', 'é'.repeat(500_000)] as const].flatMap(
      ([size, name]) =>
        // Within the limit of paths, and beyond it.
        [[100, 'pieces_root'] as const, [1000, 'limit: paths'] as const].map(([count, outcome]): [string, Hostile] => [
          `${count} files without a root in a folder with a name of ${size}`,
          {
            bytes: () => {
              const files: Dictionary = Object.fromEntries(named(count).map((file) => [file, { '': { length: 5 } }]));
              return withLayers(v2({ [name]: files }));
            },
            items: 6 * count,
            outcome,
          },
        ]),
    ),
  ),
  '40,000 names that look alike': {
    bytes: () => {
      const name = (i: number) => String.fromCharCode(0x80 + (i & 63), 0x80 + ((i >> 6) & 63), 0x80 + (i >> 12));
      return withLayers(v2(new Map(numbers(NODES).map((i) => [name(i), leaf(5)]))));
    },
    items: 7 * NODES,
    outcome: null,
    profile: 'compat',
  },
  '40,000 files of one name': {
    bytes: () => torrent(folder(numbers(NODES).map(() => file(1, 'x')))),
    items: 6 * NODES,
    outcome: 'duplicate_path',
    profile: 'compat',
  },
};

describe('hostile torrents end soon, in bounded memory, with a typed error', { skip: procMissing }, () => {
  for (const [what, { bytes: make, items, levels = 0, outcome, profile = 'default' }] of Object.entries(HUGE)) {
    it(what, { timeout: 60_000 }, async (t) => {
      const bytes = make();
      const target = path.join(await temporaryFolder(t), 'hostile.torrent');
      await writeFile(target, bytes);
      const answer = await runHostile(target, profile);
      t.diagnostic(
        `${(bytes.length / 2 ** 20).toFixed(1)} MiB: ${answer.seconds.toFixed(2)} s, ${(answer.memory / 2 ** 20).toFixed(0)} MiB`,
      );
      assert.equal(answer.outcome, outcome);
      assert.ok(answer.seconds < 10, `took ${answer.seconds} s`);
      const bound = BYTES_AN_ITEM * items + BYTES_A_LEVEL * levels + MULTIPLE * bytes.length + SLACK;
      assert.ok(answer.memory < bound, `took ${answer.memory} bytes, more than ${bound}`);
    });
  }
});

async function runHostile(target: string, profile: Profile): Promise<HostileAnswer> {
  const script = fileURLToPath(new URL('../support/hostile.ts', import.meta.url));
  const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', script, target, profile], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 30_000,
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, 'it did not end by itself within 30 s');
  return JSON.parse(text) as HostileAnswer;
}
