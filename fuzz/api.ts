// Fuzzes the API: any value in every argument and option of every export. A call succeeds, fails with a documented error, or
// passes on the error that a caller's getter, trap or callback threw. It never ends in a raw TypeError and never hangs.
// An input is a bencoded list of the index of a call and its arguments: see toValue.

import assert from 'node:assert/strict';
import path from 'node:path';
import vm from 'node:vm';
import { decode as decodeInput } from '../src/bencode/decode.ts';
import { NO_LIMITS } from '../src/bencode/limits.ts';
import type { BencodeValue } from '../src/bencode/value.ts';
import * as api from '../src/index.ts';
import hybrids from '../test/fixtures/hybrid.ts';
import fixtures from '../test/fixtures/v1.ts';
import { bencode } from '../test/support/build.ts';
import type { Target } from './engine/target.ts';

/** The error that hostile values throw; a call may pass it on unchanged. */
class Hostile extends Error {}
const hostile = (): never => {
  throw new Hostile('hostile');
};

const v1 = fixtures['v1-single'].bytes;
const V1 = api.Torrent.fromBytes(v1);
const HYBRID = api.Torrent.fromBytes(hybrids['hybrid-folder'].bytes);
const NOWHERE = path.resolve('/nowhere/at/all');
const CONFIG = { paths: ['x'], pathRoot: NOWHERE, pieceLength: 16384 };
const draft = () => new api.TorrentCreate({ sources: [{ path: 'x', data: Buffer.from('content') }] });

function detached(): Uint8Array {
  const bytes = new Uint8Array(8);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

function cyclic(): unknown {
  const map = new Map<unknown, unknown>();
  return map.set('a', map).set('info', map).set('', map);
}

const trap = {
  get: hostile,
  has: hostile,
  ownKeys: hostile,
  getPrototypeOf: hostile,
  getOwnPropertyDescriptor: hostile,
};
const list: unknown[] = [];
list.push(list);

/** Values that no type allows, and some valid ones; created for each call. */
const VALUES: (() => unknown)[] = [
  () => undefined,
  () => null,
  () => true,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => -1,
  () => 0.5,
  () => 2 ** 53,
  () => 16384,
  () => 7n,
  () => Symbol('s'),
  () => () => hostile(),
  () => async () => hostile(),
  () => 'v1',
  () => '\0',
  () => NOWHERE,
  () => 'native',
  () => [],
  () => list,
  () => [null, undefined, Symbol('s')],
  () => Object.create(null),
  () => Object.create(Uint8Array.prototype),
  () => Object.create(api.HashList.prototype),
  () => Object.create(V1),
  () => new Proxy({}, trap),
  () => new Proxy([], trap),
  () => new Proxy(new Uint8Array(20), {}),
  () => new Proxy(new Map([['a', 1]]), {}),
  () => new Proxy(V1, {}),
  () => Object.defineProperty({}, 'threads', { enumerable: true, get: hostile }),
  () => ({ toString: hostile, [Symbol.toPrimitive]: hostile, length: { valueOf: hostile } }),
  // biome-ignore lint/suspicious/noThenProperty: a hostile value
  () => ({ then: hostile }),
  () => ({ length: 2 ** 32, [Symbol.iterator]: hostile }),
  () => ({ aborted: false, addEventListener: () => {}, removeEventListener: () => {} }),
  () =>
    new Map<unknown, unknown>([
      [null, 1],
      [{}, 2],
    ]),
  cyclic,
  () => new Date(Number.NaN),
  () => new Uint8Array(20),
  () => new Uint8Array(new SharedArrayBuffer(32)),
  detached,
  () => new Uint8Array(64),
  () => Buffer.from(v1),
  () => vm.runInNewContext('new Uint8Array(16384)'),
  () => vm.runInNewContext('new Map([["info", new Map()]])'),
  () => AbortSignal.abort(),
  () => V1,
  () => HYBRID,
  () => new api.MerkleTreeShape({ fileSize: 100_000, pieceLength: 16384 }),
  () => new api.HashPool(),
  () => api.nodeEngine(),
  () => Object.assign(new Array(3), { 2: 'x' }),
  () => Object.assign(Object.create(null), { path: 'x', data: Buffer.from('x'), announceList: [['udp://a.example']] }),
  () => 'http://127.0.0.1:1/\ud800',
  () => ['http://\udfff.example/', new Array(2)],
  () => new URL('file:///nowhere/%ff'),
  () => [new URL('file:///nowhere%2fat'), new URL('http://a.example/%ff')],
];

/** An input's value: an index of VALUES as an integer, text, a list, or a dictionary as an object with such values. */
function toValue(value: BencodeValue | undefined): unknown {
  if (value === undefined) return undefined;
  if (typeof value === 'number') return Math.abs(value) < VALUES.length ? VALUES[Math.abs(value)]?.() : value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.map(toValue);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, toValue(item)]));
  return value;
}

type Call = (...given: never[]) => unknown;
/** Valid options, to which the input adds one. */
const withOne = (whole: object, given: unknown): never =>
  (Object.prototype.toString.call(given) === '[object Object]' && Object.getPrototypeOf(given) === Object.prototype
    ? { ...whole, ...(given as object) }
    : given) as never;

const onDisk = (...given: unknown[]): boolean =>
  // No call may read or write files.
  given.every((one) => typeof one !== 'string' || one === NOWHERE || one.includes('\0'));

const S3 = 's3://bucket/x';
/** fetch refuses port 1 without a connection. */
const S3_OPTIONS = {
  endpoint: 'http://127.0.0.1:1',
  retries: 0,
  credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
};

/** Every exported function, method and constructor. */
const CALLS: Readonly<Record<string, Call>> = {
  decode: api.decode,
  encode: api.encode,
  RawBencode: (a) => new api.RawBencode(a),
  HashList: (a, b) => new api.HashList(a, b),
  infodictDiscriminator: api.infodictDiscriminator,
  flatten: api.FileTree.flatten,
  unflatten: api.FileTree.unflatten,
  fromBytes: api.Torrent.fromBytes,
  fromBytesWith: (a) => api.Torrent.fromBytes(v1, a),
  fromDecoded: api.Torrent.fromDecoded,
  fromDecodedWith: (a) => api.Torrent.fromDecoded(V1.modelDumpTorrent(), a),
  inspect: api.Torrent.inspect,
  read: (a, b) => onDisk(a) && api.Torrent.read(a, b),
  write: (a, b) => V1.write(onDisk(a) ? a : (NOWHERE as never), b),
  modelDumpTorrent: (a) => V1.modelDumpTorrent(a),
  magnet: (a) => V1.magnet(a),
  v1PieceRange: (a) => V1.v1PieceRange(a),
  v2PieceRange: (a, b) => HYBRID.v2PieceRange(a, b),
  validateV1: (a) => V1.v1PieceRange(0).validateData(a),
  webseedUrl: (a) => V1.v1PieceRange(0).ranges[0]?.webseedUrl(a),
  TorrentCreate: (a) => new api.TorrentCreate(withOne({ pathRoot: NOWHERE }, a)),
  generate: (a) => draft().generate(a),
  // Without sources the call would hash the current folder.
  generateWith: (a) => {
    const made = new api.TorrentCreate(withOne({ sources: [{ path: 'x', data: Buffer.from('x') }] }, a));
    return made.fields.sources && !made.fields.paths && made.generate();
  },
  getPaths: (a) => draft().getPaths(a),
  edit: (a, b) => api.edit(V1, a, b),
  editWhat: (a, b) => api.edit(a, b),
  differences: api.differences,
  verify: (a, b) => onDisk(a) && api.verify(V1, a, b),
  verifyWhat: (a) => api.verify(a, NOWHERE),
  update: (a, b) => api.update(HYBRID, onDisk(a) ? a : (NOWHERE as never), b),
  upgrade: (a, b) => api.upgrade(V1, onDisk(a) ? a : (NOWHERE as never), b),
  // Only calls that it refuses, because its output would be in the way.
  pprint: (a, b) => a !== (V1 as never) && a !== (HYBRID as never) && api.pprint(a, b),
  pprintWith: (a) => a !== undefined && Object.keys(Object(a)).length > 0 && api.pprint(V1, withOne({ verbose: 9 }, a)),
  parseMagnet: api.parseMagnet,
  formatMagnet: (a) => api.formatMagnet(a),
  formatMagnetWith: (a) => api.formatMagnet(withOne({ infohashV1: '0'.repeat(40) }, a)),
  sortV1: api.sortV1,
  sortV2: api.sortV2,
  isPadFile: api.isPadFile,
  addPadfiles: api.addPadfiles,
  choosePieceLength: api.choosePieceLength,
  // fetch refuses port 1 without a connection.
  webFile: (a, b) => api.webFile(typeof a === 'string' ? 'http://127.0.0.1:1/x' : a, b),
  s3File: (a, b) => api.s3File(typeof a === 'string' ? S3 : a, typeof a === 'string' ? withOne(S3_OPTIONS, b) : b),
  s3Store: api.s3Store,
  webStore: api.webStore,
  findMoved: (a, b, c) => onDisk(a, ...(Array.isArray(b) ? (b as unknown[]) : [])) && api.findMoved(V1, a, b, c),
  processLimits: (a) => (Object(a) === a ? undefined : api.processLimits(a)),
  HashPool: (a) => new api.HashPool(a),
  V1Hasher: (a) => new api.V1Hasher(withOne(CONFIG, a)),
  V2Hasher: (a) => new api.V2Hasher(withOne(CONFIG, a)),
  HybridHasher: (a) => new api.HybridHasher(withOne(CONFIG, a)),
  hasherUpdate: (a, b) =>
    new api.V2Hasher(CONFIG).update(withOne({ path: 'x', chunk: new Uint8Array(5), idx: 0 }, a), b),
  complete: (a) => new api.V1Hasher(CONFIG).complete(a),
  process: (a) => new api.V1Hasher(CONFIG).process(a),
  finishTrees: (a) => new api.V2Hasher(CONFIG).finishTrees(a),
  splitV1V2: (a) => new api.HybridHasher(CONFIG).splitV1V2(a),
  hashRoot: api.V2Hasher.hashRoot,
  getRootHash: api.V2Hasher.getRootHash,
  hashPieces: api.V2Hasher.hashPieces,
  MerkleTree: (a, b, c) => new api.MerkleTree(a, b, c),
  MerkleTreeShape: (a) => new api.MerkleTreeShape(a),
  iterBlocks: (a, b) => onDisk(a) && api.iterBlocks(a, b).next(),
};

const NAMES = Object.keys(CALLS);

function isDocumented(error: unknown): boolean {
  if (error instanceof Hostile) return true;
  return (
    error instanceof api.MetainfoError && Object.hasOwn(api.ERROR_CODES, error.code) && error.code !== 'ERR_INTERNAL'
  );
}

export const check: Target['check'] = async (input) => {
  let value: BencodeValue;
  try {
    ({ value } = decodeInput(input, { tolerant: true, limits: { ...NO_LIMITS, depth: 20 } }));
  } catch {
    return;
  }
  if (!Array.isArray(value)) return;
  const [which, ...given] = value;
  const name = which instanceof Uint8Array ? Buffer.from(which).toString('latin1') : '';
  const call = Object.hasOwn(CALLS, name) ? CALLS[name] : undefined;
  if (!call) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} hangs`)), 20_000);
  });
  try {
    await Promise.race([(async () => call(...(given.map(toValue) as never[])))(), late]);
  } catch (error) {
    if (!isDocumented(error)) assert.fail(`${name}: ${(error as Error)?.stack ?? String(error)}`);
  } finally {
    clearTimeout(timer);
  }
};

/** Every call with every value as its first argument, and as its options. */
const OPTIONS = ['threads', 'signal', 'onProgress', 'version', 'engine', 'context', 'limits', 'paths', 'info', 'files'];

export const seeds: Target['seeds'] = async () =>
  NAMES.flatMap((name, i) => [
    bencode([name, ...[0, 1, 2].map((at) => (i * 7 + at * 11) % VALUES.length)] as never),
    bencode([name, 15, { [OPTIONS[i % OPTIONS.length] as string]: (i * 5) % VALUES.length }] as never),
    bencode([name, { [OPTIONS[(i + 3) % OPTIONS.length] as string]: (i * 3) % VALUES.length }] as never),
  ]);

/** One input for every call and value, for the replay test. */
export function* every(): Generator<Buffer> {
  for (const name of NAMES) for (const i of VALUES.keys()) yield bencode([name, i, i, i] as never);
}

export const words = [
  ...NAMES,
  ...OPTIONS,
  ...['pathRoot', 'pieceLength', 'readSize', 'memoryLimit', 'trackers', 'announceList', 'sources', 'similar', 'extra'],
  ...['pieceLayers', 'urlList', 'nodes', 'httpseeds', 'collections', 'creationDate', 'include', 'exclude', 'padding'],
  ...['onMissing', 'path', 'data', 'offset', 'length', 'size', 'mtimeMs', 'mode', 'verbose', 'force', 'mtime'],
  ...['chunk', 'idx', 'type', 'hash', 'fileSize', 'name', 'private', 'source', 'comment', 'fileTree', 'pieces', 'attr'],
];
