/** Hostile torrents: small files that claim huge content, and large ones that take much time or memory in a naive reader. */

import type { Profile } from '../../src/model/profile.ts';
import {
  A,
  type Bencode,
  bencode,
  type Dictionary,
  file,
  folder,
  H20,
  H32,
  hybrid,
  LAYER,
  latin1,
  layers,
  leaf,
  long,
  pad,
  ROOT,
  raw,
  single,
  torrent,
  v2,
  withLayers,
} from './build.ts';

export interface Bomb {
  bytes: () => Buffer;
  /** The expected results, by a part of the entry point's name; null for success. */
  ends: Record<string, string | null>;
}

/** A torrent that is only read, and whose memory has a bound of its own. */
export interface LargeTorrent {
  bytes: () => Buffer;
  /** The number of values and keys that are read at most. */
  items: number;
  /** The number of folders above files, counted for each file. */
  levels?: number;
  /** The expected result of reading; null for success. */
  outcome: string | null;
  profile?: Profile;
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const many = (part: string, count: number) => raw(`l${part.repeat(count)}e`);
const nested = (open: string, close: string, depth: number) => raw(open.repeat(depth) + close.repeat(depth));
const ofFiles = (files: readonly Bencode[], changes: Dictionary = {}) => torrent(folder(files, changes));
const ofList = (files: Bencode) => torrent({ ...single, length: undefined, files });
const named = (count: number) => numbers(count).map((i) => `e${String(i).padStart(7, '0')}`);
/** A list of many URLs, each in a list of its own or not. */
const urls = (count: number, [open, close]: readonly [string, string]) =>
  raw(
    `l${numbers(count)
      .map((i) => `${open}13:http://${String(i).padStart(6, '0')}${close}`)
      .join('')}e`,
  );
const NODES = 40_000;

/** For every entry point. */
const all = (code: string) => ({ '': code });
const limit = (name: string) => all(`limit: ${name}`);
/** For every way of reading. */
const read = (code: string | null) => ({ inspect: null, read: code, decode: null });

export const BOMBS: Readonly<Record<string, Bomb>> = {
  'a million nested lists': { bytes: () => latin1('l'.repeat(1e6)), ends: limit('depth') },
  'a million nested dictionaries': { bytes: () => latin1('d1:a'.repeat(1e6)), ends: limit('depth') },
  'a tree of a million nested folders': {
    bytes: () => withLayers(v2(raw('d1:a'.repeat(1e6) + 'e'.repeat(1e6)))),
    ends: limit('depth'),
  },
  'a folder of 2 MB above 2,000 files': {
    bytes: () =>
      withLayers(v2({ ['a'.repeat(2_000_000)]: Object.fromEntries(numbers(2000).map((i) => [`${i}`, leaf(5)])) })),
    ends: { ...limit('paths'), decode: null },
  },
  'a key of 17 MB': { bytes: () => torrent(single, { ['a'.repeat(17_000_000)]: 1 }), ends: limit('text') },
  'a comment of 17 MB': {
    bytes: () => torrent(single, { comment: Buffer.alloc(17_000_000) }),
    ends: { ...limit('text'), decode: null },
  },
  'a comment and a source of 16 MB that are all escapes': {
    bytes: () => torrent({ ...single, source: Buffer.alloc(2 ** 24) }, { comment: Buffer.alloc(2 ** 24) }),
    ends: { read: null, show: null, magnet: null, edit: null },
  },
  '100 MB of i0e': { bytes: () => bencode(many('i0e', 33_333_333)), ends: limit('items') },
  '10 million empty lists': { bytes: () => torrent(single, { x: many('le', 10_000_000) }), ends: limit('items') },
  '1.6 million keys': {
    bytes: () =>
      latin1(
        `d${numbers(1_600_000)
          .map((i) => `7:${String(i).padStart(7, '0')}le`)
          .join('')}e`,
      ),
    ends: limit('items'),
  },
  'a string of 10^20 bytes': { bytes: () => latin1('d4:info99999999999999999999:'), ends: all('truncated') },
  'a string of all that there is and one byte': { bytes: () => latin1('7:abcdef'), ends: all('truncated') },
  'a string whose length has 30 MB of zeros before it': {
    bytes: () => latin1(`d4:info${'0'.repeat(30_000_000)}1:ae`),
    ends: { ...all('leading_zero'), fromDecoded: 'type' },
  },
  'files of 2^62 bytes': {
    bytes: () => ofFiles([file(2n ** 62n, 'a'), file(2n ** 62n, 'b'), file(2n ** 62n, 'c')]),
    ends: read('too_large'),
  },
  'files that together are more than 2^53 bytes': {
    bytes: () => ofFiles(numbers(1000).map((i) => file(2 ** 53 - 1, `${i}`))),
    ends: read('too_large'),
  },
  '100,000 files of less than no bytes': {
    bytes: () => ofList(many('d6:lengthi-1e4:pathl1:aee', 100_000)),
    ends: read('negative'),
  },
  '100,000 files of one name': {
    bytes: () => ofFiles(numbers(100_000).map(() => file(1, 'x'))),
    ends: {
      'read default': 'duplicate_path',
      'read strict': 'duplicate_path',
      'read compat': 'duplicate_path',
    },
  },
  '100,000 files of names that file systems take for one': {
    bytes: () =>
      ofFiles(numbers(100_000).map((i) => file(1, `${['\u00e9', 'e\u0301', '\u00c9', 'E\u0301'][i % 4]}${i >> 2}`))),
    ends: { read: null, show: null, look: null, verify: null },
  },
  'a path of 100,000 folders': {
    bytes: () => ofFiles([file(5, ...numbers(100_000).map(() => 'a'))]),
    ends: {
      'read default': null,
      'read strict': 'deep_path',
      'read compat': null,
      show: null,
      look: null,
      verify: null,
      magnet: null,
      edit: null,
    },
  },
  'a million files of short paths': {
    bytes: () => ofFiles([file(5, 'a')], { files: many('d6:lengthi1e4:pathl1:aee', 1_000_000) }),
    ends: limit('items'),
  },
  'pieces of 1 byte': {
    bytes: () => torrent({ ...single, 'piece length': 1, length: 1_000_000, pieces: Buffer.alloc(20_000_000) }),
    ends: { read: null, show: null, verify: null, upgrade: 'ERR_PIECE_LENGTH' },
  },
  'a piece of 2^52 bytes': {
    bytes: () => torrent({ ...single, 'piece length': 2 ** 52 }),
    ends: {
      'read default': null,
      'read strict': 'piece_length',
      'read compat': 'piece_length',
      verify: null,
      upgrade: 'ERR_PIECE_LENGTH',
    },
  },
  'a piece of 2^29 bytes': {
    bytes: () => torrent({ ...single, 'piece length': 2 ** 29 }),
    ends: {
      'read default': null,
      'read strict': 'piece_length',
      'read compat': 'piece_length',
      verify: null,
      upgrade: 'ERR_HASH_MISMATCH',
    },
  },
  'a piece of 2^60 bytes': { bytes: () => torrent({ ...single, 'piece length': 2n ** 60n }), ends: read('too_large') },
  '5 million pieces for 5 bytes': {
    bytes: () => torrent({ ...single, pieces: Buffer.alloc(100_000_000) }),
    ends: { ...read('expected_n_pieces'), 'read compat': 'too_large' },
  },
  'two hashes for 2^50 bytes': {
    bytes: () => withLayers(v2({ a: leaf(2 ** 50, { 'pieces root': ROOT }) }), layers([ROOT, LAYER])),
    ends: {
      inspect: null,
      'read default': 'pieces_layers_correct',
      'read strict': 'pieces_layers_correct',
      'read compat': 'too_large',
    },
  },
  'no hashes for 2^43 bytes': {
    bytes: () => torrent(v2({ a: leaf(2 ** 43) }, { 'piece length': 2 ** 25 })),
    ends: { 'read default': 'piece_layers_if_v2', compat: null, 'upgrade compat': 'ERR_INVALID_ARGUMENT' },
  },
  'a pad of 2^50 bytes': {
    bytes: () => ofFiles([file(5, 'a'), pad(2 ** 50 - 5)], { 'piece length': 2 ** 50, pieces: H20 }),
    ends: { decode: null, inspect: 'limit: padding', read: 'limit: padding', fromDecoded: 'limit: padding' },
  },
  'a million empty tiers': {
    bytes: () => torrent(single, { 'announce-list': many('le', 1_000_000) }),
    ends: { read: null, show: null, magnet: null, edit: null },
  },
  '200,000 tiers of one tracker': {
    bytes: () => torrent(single, { 'announce-list': urls(200_000, ['l', 'e']) }),
    ends: { read: null, show: null, magnet: null, edit: null },
  },
  '200,000 webseeds': {
    bytes: () => torrent(single, { 'url-list': urls(200_000, ['', '']) }),
    ends: { read: null, show: null, magnet: null, edit: null },
  },
  'symbolic links in a circle': {
    bytes: () => {
      const link = (from: string, to: string) => ({ attr: 'l', length: 0, path: [from], 'symlink path': [to] });
      return ofFiles([file(5, 'a'), link('b', 'c'), link('c', 'b'), link('d', 'd')]);
    },
    ends: { 'read default': null, 'read compat': null, show: null, look: null, verify: null },
  },
};

export const LARGE: Readonly<Record<string, LargeTorrent>> = {
  'a file list of 100,000 nested lists': {
    bytes: () => ofList(nested('l', 'e', 100_000)),
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
  '10 million empty file entries': { bytes: () => ofList(many('de', 10_000_000)), items: 0, outcome: 'limit: items' },
  '10 million entries in place of a torrent': {
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
  '2.9 million empty file entries': { bytes: () => ofList(many('de', 2_900_000)), items: 0, outcome: 'limit: files' },
  'a million empty file entries': { bytes: () => ofList(many('de', 1_000_000)), items: 0, outcome: 'required' },
  'a million integers in place of files': { bytes: () => ofList(many('i0e', 1_000_000)), items: 0, outcome: 'type' },
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
    bytes: () => ofList([{ length: 5, path: many('1:a', 1_000_000) }]),
    items: 1_000_000,
    outcome: null,
  },
  '100,000 files below 90 folders': {
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
  '400,000 piece layers without files': {
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
  'a piece layer for 8 PiB': {
    bytes: () => withLayers(v2({ a: leaf(2 ** 53 - 1, { 'pieces root': ROOT }) }), layers([ROOT, LAYER])),
    items: 0,
    outcome: 'pieces_layers_correct',
  },
  'a file of 8 PiB in pieces of 1 byte': {
    bytes: () => torrent({ ...single, length: 2 ** 53 - 1, 'piece length': 1 }),
    items: 0,
    outcome: 'expected_n_pieces',
  },
  // Inputs that take quadratic time in a naive implementation.
  '40,000 empty files in a hybrid': {
    bytes: () => {
      const names = named(NODES);
      const tree: Dictionary = Object.fromEntries(names.map((name) => [name, leaf(0)]));
      return withLayers(hybrid([A, ...names.map((name) => file(0, name))], { a: leaf(5), ...tree }));
    },
    items: 12 * NODES,
    outcome: null,
  },
  '200,000 files without a pieces root': {
    bytes: () => withLayers(v2(Object.fromEntries(named(200_000).map((name) => [name, { '': { length: 5 } }])))),
    items: 6 * 200_000,
    outcome: 'pieces_root',
  },
  ...Object.fromEntries(
    [['1 MB', 'k'.repeat(1_000_000)] as const, ['1 MB beyond ASCII', 'é'.repeat(500_000)] as const].flatMap(
      ([size, name]) =>
        // Within the limit of paths and beyond it.
        [[100, 'pieces_root'] as const, [1000, 'limit: paths'] as const].map(
          ([count, outcome]): [string, LargeTorrent] => [
            `${count} files without a pieces root in a folder with a name of ${size}`,
            {
              bytes: () => {
                const files: Dictionary = Object.fromEntries(named(count).map((file) => [file, { '': { length: 5 } }]));
                return withLayers(v2({ [name]: files }));
              },
              items: 6 * count,
              outcome,
            },
          ],
        ),
    ),
  ),
  '40,000 names that read alike': {
    bytes: () => {
      const name = (i: number) => String.fromCharCode(0x80 + (i & 63), 0x80 + ((i >> 6) & 63), 0x80 + (i >> 12));
      return withLayers(v2(new Map(numbers(NODES).map((i) => [name(i), leaf(5)]))));
    },
    items: 7 * NODES,
    outcome: null,
    profile: 'compat',
  },
  '40,000 files with the same name': {
    bytes: () => torrent(folder(numbers(NODES).map(() => file(1, 'x')))),
    items: 6 * NODES,
    outcome: 'duplicate_path',
    profile: 'compat',
  },
};
