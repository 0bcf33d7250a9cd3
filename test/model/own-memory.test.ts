/** Nobody who gets bytes from a torrent, or has given bytes to one, can change it: by writing, transferring or streaming them. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isUint8Array } from 'node:util/types';
import {
  differences,
  edit,
  HashList,
  HybridHasher,
  hashPart,
  joinParts,
  MerkleTree,
  MerkleTreeShape,
  resumeData,
  Torrent,
  TorrentCreate,
  update,
  upgrade,
  V2Hasher,
  verify,
} from '../../src/index.ts';
import { planParts } from '../../src/parts/torrent-plan.ts';
import { noise, sha1, sha256 } from '../hash/reference.ts';

const PIECE = 2 ** 14;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

const WAYS: Record<string, (bytes: Uint8Array) => unknown> = {
  fill: (bytes) => bytes.fill(0x41),
  // A length of 0: what was given out together was transferred together.
  transfer: ({ buffer }) => buffer.byteLength > 0 && structuredClone(buffer, { transfer: [buffer as ArrayBuffer] }),
  stream: async (bytes) => {
    if (bytes.length === 0) return;
    const start = (controller: ReadableByteStreamController) => {
      controller.enqueue(bytes as Uint8Array<ArrayBuffer>);
      controller.close();
    };
    await new Response(new ReadableStream({ type: 'bytes', start })).arrayBuffer();
  },
};

/** All bytes that can be reached from a value: its properties, getters, entries and items. */
function bytesIn(value: unknown, seen = new Set<unknown>()): Uint8Array[] {
  if (isUint8Array(value)) return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const getters = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(value) ?? {}))
    .filter(([name, { get }]) => get && name !== '__proto__')
    .map(([name]) => (value as Record<string, unknown>)[name]);
  const items = Symbol.iterator in value ? [...(value as Iterable<unknown>)] : [];
  const hashes = value instanceof HashList ? [value.at(0), value.slice(0, 1).bytes] : [];
  return [...Object.values(value), ...getters, ...items, ...hashes].flatMap((inner) => bytesIn(inner, seen));
}

function allBytes(torrent: Torrent): Uint8Array[] {
  const [first] = torrent.files;
  const ranges = [
    ...(torrent.torrentVersion === 'v2' ? [] : [torrent.v1PieceRange(0)]),
    ...(torrent.torrentVersion === 'v1' ? [] : [torrent.v2PieceRange(first?.path as string)]),
  ];
  const dumps = [torrent.modelDumpTorrent(), torrent.modelDumpTorrent({ mode: 'binary' })];
  return bytesIn([torrent, torrent.bencode(), dumps, ranges]);
}

describe('the memory of a torrent', () => {
  let folder: string;
  let content: string;
  const torrents = new Map<string, () => Promise<Torrent>>();

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'own-memory-'));
    content = path.join(folder, 'content');
    await mkdir(content);
    await writeFile(path.join(content, 'a'), noise(3 * PIECE + 5));
    await writeFile(path.join(content, 'b'), noise(PIECE - 1, 2));
  });
  after(() => rm(folder, { recursive: true }));

  const draft = () =>
    new TorrentCreate({
      pathRoot: content,
      pieceLength: PIECE,
      similar: ['01'.repeat(20)],
      extra: new Map<string, never>([['x', [Buffer.from('extra'), noise(99)] as never]]),
      info: { extra: new Map([['y', noise(99, 3)]]) },
    });
  const read = async (torrent: Torrent) => {
    const file = path.join(folder, 'read.torrent');
    await torrent.write(file, { force: true });
    return Torrent.read(file);
  };
  for (const version of VERSIONS) {
    const created = () => draft().generate({ version }) as Promise<Torrent>;
    torrents.set(`created ${version}`, created);
    torrents.set(`read ${version}`, async () => read(await created()));
    torrents.set(`edited ${version}`, async () => edit(await created(), { comment: 'edited' }));
    torrents.set(`renamed ${version}`, async () => edit(await created(), { name: 'other' }));
    if (version !== 'v1')
      torrents.set(`updated ${version}`, async () => (await update(await created(), content)).torrent as Torrent);
    torrents.set(`joined ${version}`, async () => {
      const plan = await planParts(draft(), { version });
      return joinParts(plan, (index) => hashPart(plan, index));
    });
  }
  torrents.set('upgraded', async () => (await upgrade(await draft().generate({ version: 'v1' }), content)).torrent);
  torrents.set('decoded', async () => Torrent.fromDecoded(await draft().generate()));

  for (const [title, make] of torrents) {
    for (const [way, give] of Object.entries(WAYS)) {
      it(`of a torrent that was ${title} survives ${way} of all bytes that it gives out`, async () => {
        const torrent = await make();
        const bytes = Uint8Array.from(torrent.bencode());
        const info = Uint8Array.from(torrent.infoBytes);
        const json = JSON.stringify(torrent);
        const given = allBytes(torrent);
        assert.ok(given.length > 10 && given.some(({ length }) => length === info.length));
        for (const one of given) await give(one);

        assert.equal(torrent.infohashV1, torrent.torrentVersion === 'v2' ? null : sha1(info).toString('hex'));
        assert.equal(torrent.infohashV2, torrent.torrentVersion === 'v1' ? null : sha256(info).toString('hex'));
        assert.deepEqual(Uint8Array.from(torrent.bencode()), bytes);
        assert.deepEqual(Uint8Array.from(torrent.infoBytes), info);
        const file = path.join(folder, 'again.torrent');
        await torrent.write(file, { force: true });
        assert.deepEqual(Uint8Array.from(await readFile(file)), bytes);
        assert.ok((await verify(torrent, content)).ok);
        const edited = edit(torrent, { source: null, comment: 'x' });
        assert.equal(edited.infohashV2, torrent.infohashV2);
        assert.equal(JSON.stringify(Torrent.fromBytes(torrent.bencode())), json);
      });
    }
  }

  it('is not what differences and resume data give out', async () => {
    const torrent = await read(await draft().generate());
    const bytes = Uint8Array.from(torrent.bencode());
    const other = edit(torrent, { source: 'x' });
    const report = await verify(torrent, content);
    const files = await resumeData(torrent, report, { client: 'qbittorrent', path: content });
    for (const one of bytesIn([differences(torrent, edit(torrent, { extra: { x: null } })), files])) one.fill(0x41);
    assert.deepEqual(Uint8Array.from(torrent.bencode()), bytes);
    assert.notEqual(other.infohashV2, torrent.infohashV2);
  });

  it('has a buffer of its own for every hash, so that transferring one leaves the others', async () => {
    const config = { paths: ['a', 'b'], pathRoot: content, pieceLength: PIECE };
    const torrent = await draft().generate();
    const given = [
      ...bytesIn([torrent.files, torrent.info.pieces, torrent.pieceLayers]),
      ...bytesIn(await new HybridHasher(config).process()),
      ...bytesIn(await new V2Hasher(config).process()),
    ];
    assert.equal(new Set(given.map(({ buffer }) => buffer)).size, given.length);
    assert.ok(given.every(({ buffer, byteLength }) => buffer.byteLength === byteLength));
  });

  it('is not what a draft, a list of hashes and a Merkle tree were made from', async () => {
    const [pieces, leaves, similar, extra] = [noise(40), noise(64, 2), noise(20, 3), noise(70, 4)];
    const root = Uint8Array.from(noise(32, 5));
    const list = new HashList(pieces, 20);
    const tree = new MerkleTree('a', leaves, new MerkleTreeShape({ fileSize: 2 ** 15, pieceLength: PIECE }));
    const input = () => ({
      pathRoot: content,
      similar: [similar],
      extra: new Map<string, never>([['x', [[extra], extra] as never]]),
      info: { pieces, fileTree: new Map([['a', new Map([['', { length: 1, piecesRoot: root }]])]]) },
    });
    const made = [list, tree, new TorrentCreate(input())];
    const expected = bytesIn(made).map((bytes) => Buffer.from(bytes).toString('hex'));
    for (const bytes of [pieces, leaves, similar, extra, root]) WAYS['transfer']?.(Uint8Array.from(bytes.fill(1)));
    for (const bytes of bytesIn([list, tree])) bytes.fill(2);
    assert.deepEqual(
      bytesIn(made).map((bytes) => Buffer.from(bytes).toString('hex')),
      expected,
    );
    assert.ok(expected.length >= 10);
  });
});
