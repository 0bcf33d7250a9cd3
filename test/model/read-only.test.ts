/** A torrent cannot be changed from outside: by writing to anything that it gives out, or to what that gives out in turn. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { isDate, isMap, isUint8Array } from 'node:util/types';
import { edit, Torrent, TorrentCreate } from '../../src/index.ts';
import {
  A,
  B,
  file,
  folder,
  hybrid,
  LAYER,
  layers,
  leaf,
  PAD_A,
  ROOT,
  sha1,
  sha256,
  single,
  torrent,
  v2,
  withLayers,
} from '../support/build.ts';
import { withinCpu } from '../support/timing.ts';

const LINK = { ...file(0, 'l'), attr: 'l', 'symlink path': ['a'] };
const TOP = {
  announce: 'http://a.example/',
  'announce-list': [['http://a.example/'], ['udp://b.example:1/x']],
  collections: ['c'],
  'creation date': 9,
  httpseeds: ['http://h.example/'],
  nodes: [['a.example', 6881]],
  similar: [Buffer.alloc(32, 4)],
  'url-list': ['http://w.example/', ''],
  'x-unknown': { list: [Buffer.from('x'), { y: Buffer.from('z') }] },
};
const INFO = { collections: ['d'], similar: [Buffer.alloc(20, 3)], 'x-info': [Buffer.from('x')], source: 's' };
const TREE = {
  a: leaf(5, { 'x-leaf': Buffer.from('l') }),
  b: leaf(20_000, { 'pieces root': ROOT }),
  l: { '': { attr: 'l', 'symlink path': ['a'] } },
};

const READ: Record<string, Buffer> = {
  v1: torrent(folder([{ ...A, md5sum: 'x', 'path.utf-8': ['a'] }, LINK, B], INFO), TOP),
  v2: withLayers({ ...v2(TREE), ...INFO }, layers([ROOT, LAYER]), TOP),
  hybrid: withLayers(hybrid([A, PAD_A, B], { a: leaf(5), b: leaf(6) }, INFO), {}, TOP),
};

/** All objects that can be reached from a value: by its properties of any kind, its getters, entries and items. */
function reachable(value: unknown, seen = new Set<object>()): Set<object> {
  if (typeof value !== 'object' || value === null || seen.has(value)) return seen;
  seen.add(value);
  if (isUint8Array(value) || isDate(value)) return seen;
  for (const key of Reflect.ownKeys(value)) reachable((value as Record<string | symbol, unknown>)[key], seen);
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== null && prototype !== Object.prototype && !Array.isArray(value) && !isMap(value)) {
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (get) reachable((value as Record<string, unknown>)[name], seen);
  }
  if (isMap(value)) for (const entry of value) reachable(entry, seen);
  return seen;
}

/** Changes an object in every way that its class has. Read-only objects throw, copies change. */
function vandalize(value: object): void {
  const tries: (() => unknown)[] = isUint8Array(value)
    ? [() => value.fill(0x41), () => structuredClone(value.buffer, { transfer: [value.buffer as ArrayBuffer] })]
    : isDate(value)
      ? [() => value.setTime(0)]
      : [
          ...Reflect.ownKeys(value).flatMap((key) => [
            () => Object.assign(value, { [key]: 'changed' }),
            () => Reflect.deleteProperty(value, key),
            () => Object.defineProperty(value, key, { value: 'changed' }),
          ]),
          () => Object.assign(value, { added: 1 }),
          () => Object.setPrototypeOf(value, null) as unknown,
          ...(Array.isArray(value) ? [() => value.push(1), () => value.splice(0), () => value.reverse()] : []),
          ...(isMap(value)
            ? [() => value.set('added', 1), () => value.delete([...value.keys()][0]), () => value.clear()]
            : []),
        ];
  for (const attempt of tries) {
    try {
      attempt();
    } catch (error) {
      assert.ok(['TypeError', 'RangeError', 'DataCloneError'].includes((error as Error).name), String(error));
    }
  }
}

/** Everything that can be seen of a torrent. */
function snapshot(one: Torrent): string {
  const getters = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(one) as object));
  const values = getters.filter(([, { get }]) => get).map(([name]) => [name, one[name as keyof Torrent]]);
  return inspect([one, values, one.magnet(), one.toJSON(), one.bencode()], {
    depth: null,
    maxArrayLength: null,
    maxStringLength: null,
    getters: true,
  });
}

describe('what a torrent gives out', () => {
  const torrents: [name: string, make: () => Torrent | Promise<Torrent>][] = Object.entries(READ).flatMap(
    ([name, bytes]): [string, () => Torrent | Promise<Torrent>][] => [
      [`read ${name}`, () => Torrent.fromBytes(bytes)],
      [`inspected ${name}`, () => Torrent.inspect(bytes).torrent as Torrent],
      [`edited ${name}`, () => edit(Torrent.fromBytes(bytes), { comment: 'c' })],
      [`decoded ${name}`, () => Torrent.fromDecoded(Torrent.fromBytes(bytes).modelDumpTorrent())],
    ],
  );
  const sources = [
    { path: 'a', data: Buffer.alloc(40_000, 1) },
    { path: 'd/b', data: Buffer.alloc(5) },
  ];
  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    const fields = {
      sources,
      name: 'n',
      similar: ['01'.repeat(20)],
      extra: { x: [Buffer.from('x')] },
      pieceLength: 16_384,
    };
    torrents.push([`created ${version}`, () => new TorrentCreate(fields).generate({ version, onWarning() {} })]);
  }

  for (const [name, make] of torrents) {
    it(`does not change a torrent that was ${name}`, async () => {
      const one = await make();
      const before = snapshot(await make());
      assert.equal(snapshot(one), before);
      const objects = reachable(one);
      assert.ok(objects.size > 20 && objects.has(one.files) && objects.has(one.warnings));
      for (const object of objects) vandalize(object);
      assert.equal(snapshot(one), before);
      const info = Buffer.from(one.infoBytes);
      assert.equal(one.infohashV1, one.torrentVersion === 'v2' ? null : sha1(info).toString('hex'));
      assert.equal(one.infohashV2, one.torrentVersion === 'v1' ? null : sha256(info).toString('hex'));
    });
  }

  it('can be changed in copies, which compare and clone as plain objects', () => {
    const one = Torrent.fromBytes(READ['v2'] as Buffer);
    assert.deepEqual(one.files[0], { path: 'a', length: 5, attr: null, piecesRoot: Buffer.alloc(32, 2) });
    assert.deepEqual(
      structuredClone(one.files),
      one.files.map((entry) => ({ ...entry, piecesRoot: entry.piecesRoot && new Uint8Array(entry.piecesRoot) })),
    );
    const copy = { ...one.info, name: 'other' };
    copy.extra?.set('x', 1);
    assert.equal(Torrent.fromDecoded({ info: copy, pieceLayers: one.pieceLayers }).name, 'other');
    const issues = Torrent.inspect(READ['v1'] as Buffer).issues;
    assert.doesNotThrow(() => issues.sort());
  });

  it('has infohashes that are computed once, also for the torrents that it is edited to', () => {
    const pieces = Buffer.alloc(20 * 2 ** 19, 1);
    const one = Torrent.fromBytes(torrent({ ...single, length: 2 ** 33, pieces }));
    const read = () => {
      for (let i = 0; i < 300; i += 1) assert.equal(one.infohashV1?.length, 40);
      assert.equal(edit(one, { comment: 'c' }).infohashV1, one.infohashV1);
      return true;
    };
    // Hashing 10 MB 300 times takes several seconds.
    assert.ok(withinCpu(1.5, read));
    assert.equal(one.infohashV1, sha1(one.infoBytes).toString('hex'));
  });
});
