import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { verify } from '../../src/verify/verify.ts';
import { noise } from '../hash/reference.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const PIECE = 16 * 1024;
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const string = (bytes: Uint8Array) => Buffer.concat([latin1(`${bytes.length}:`), bytes]);
const text = (value: string) => string(latin1(value));
const raw = (...parts: (string | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? latin1(part) : part)));

type Files = [path: Buffer[], content: Uint8Array][];

/** A v1 torrent, byte by byte. */
function v1Torrent(files: Files, { before = '', name = latin1('root') } = {}): Torrent {
  const list = files.map(([parts, content]) =>
    raw('d6:lengthi', `${content.length}`, 'e4:pathl', ...parts.map(string), 'ee'),
  );
  const all = Buffer.concat(files.map(([, content]) => content));
  const pieces = Array.from({ length: Math.ceil(all.length / PIECE) }, (_, i) =>
    createHash('sha1')
      .update(all.subarray(i * PIECE, (i + 1) * PIECE))
      .digest(),
  );
  const info = raw(
    'd5:filesl',
    ...list,
    'e4:name',
    string(name),
    `12:piece lengthi${PIECE}e6:pieces`,
    string(raw(...pieces)),
    'e',
  );
  return Torrent.fromBytes(raw('d', before, '4:info', info, 'e'), { context: { profile: 'compat' } });
}

/** A v2 torrent of small files in one folder, byte by byte. */
function v2Torrent(files: [name: Buffer, content: Uint8Array][], name = 'root'): Torrent {
  const leaves = files.map(([key, content]) => {
    const hash = createHash('sha256').update(content).digest();
    return raw(string(key), `d0:d6:lengthi${content.length}e11:pieces root`, string(hash), 'ee');
  });
  const info = raw('d9:file treed', ...leaves, 'e12:meta versioni2e4:name', text(name), `12:piece lengthi${PIECE}ee`);
  return Torrent.fromBytes(raw('d4:info', info, '12:piece layersdee'), { context: { profile: 'compat' } });
}

/** Writes files whose names are bytes. */
async function put(root: string, files: Files): Promise<void> {
  for (const [parts, content] of files) {
    const at = (count: number) => raw(root, ...parts.slice(0, count).flatMap((part) => ['/', part]));
    for (let depth = 1; depth < parts.length; depth += 1) await mkdir(at(depth), { recursive: true });
    await writeFile(at(parts.length), content);
  }
}

const statuses = (report: Awaited<ReturnType<typeof verify>>) =>
  report.files.map(({ path: name, status, foundAs }) => [name, status, foundAs]);

describe('verify of names that are not UTF-8', { skip: process.platform !== 'linux' && 'names are text here' }, () => {
  const FILES: Files = [
    [[latin1('caf\xe9.txt')], noise(20_000)],
    [[latin1('\xe9t\xe9'), latin1('1'), latin1('\xff')], noise(50_000, 2)],
    [[latin1('\xe9t\xe9'), latin1('2')], noise(5, 3)],
    [[latin1('plain')], noise(5, 4)],
  ];

  for (const engine of [undefined, nodeEngine()])
    it(`finds files under the bytes of the torrent: ${engine ? 'node' : 'native'}`, async (t) => {
      const root = await temporaryFolder(t);
      await put(root, FILES);
      await put(root, [[[latin1('\xe9t\xe9'), latin1('extra\xe8')], noise(1)]]);
      const report = await verify(v1Torrent(FILES), root, { ...(engine && { engine }) });
      assert.deepEqual(statuses(report), [
        ['caf\ufffd.txt', 'complete', 'caf\udce9.txt'],
        ['\ufffdt\ufffd/1/\ufffd', 'complete', '\udce9t\udce9/1/\udcff'],
        ['\ufffdt\ufffd/2', 'complete', '\udce9t\udce9/2'],
        ['plain', 'complete', undefined],
      ]);
      assert.deepEqual([report.ok, report.extraFiles], [true, ['\udce9t\udce9/extra\udce8']]);
    });

  it('shows names in the encoding of the torrent or of the caller, and finds both forms', async (t) => {
    const gbk = Buffer.from('d6d0cec4', 'hex');
    const files: Files = [[[gbk], noise(9)]];
    const before = raw('8:encoding', text('GBK')).toString('latin1');
    const torrent = v1Torrent(files, { before });
    assert.equal(torrent.files[0]?.path, '中文');
    const plain = v1Torrent(files);
    assert.equal(plain.files[0]?.path, '\ufffd\ufffd\ufffd\ufffd');
    const chosen = Torrent.fromBytes(plain.bencode(), { context: { profile: 'compat', encoding: 'gbk' } });
    assert.equal(chosen.files[0]?.path, '中文');
    assert.equal(chosen.infohashV1, plain.infohashV1);
    const root = await temporaryFolder(t);
    await put(root, files);
    assert.deepEqual(statuses(await verify(torrent, root)), [['中文', 'complete', '\udcd6\udcd0\udcce\udcc4']]);
    await rm(raw(root, '/', gbk));
    await put(root, [[[Buffer.from('中文')], noise(9)]]);
    assert.deepEqual(statuses(await verify(torrent, root)), [['中文', 'complete', undefined]]);
    assert.throws(() => Torrent.fromBytes(plain.bencode(), { context: { encoding: 'klingon' } }), {
      code: 'ERR_INVALID_ARGUMENT',
    });
  });

  it('finds the files of a v2 tree and a single file', async (t) => {
    const root = await temporaryFolder(t);
    const files: [Buffer, Uint8Array][] = [
      [latin1('a\xe8'), noise(7)],
      [latin1('a\xe9'), noise(8)],
    ];
    await put(
      root,
      files.map(([name, content]) => [[name], content]),
    );
    assert.deepEqual(statuses(await verify(v2Torrent(files), root)), [
      ['a\ufffd', 'complete', 'a\udce8'],
      ['a\ufffd.1', 'complete', 'a\udce9'],
    ]);
  });

  it('reports a damaged and an unreadable file by its bytes', async (t) => {
    const root = await temporaryFolder(t);
    await put(root, FILES);
    await writeFile(raw(root, '/caf\xe9.txt'), noise(20_000, 9));
    const report = await verify(v1Torrent(FILES), root);
    assert.deepEqual(statuses(report)[0], ['caf\ufffd.txt', 'partial', 'caf\udce9.txt']);
  });
});

describe('verify of files under other names', () => {
  async function made(t: TestContext, files: Record<string, Buffer>) {
    const root = path.join(await temporaryFolder(t), 'root');
    await writeTree(root, files);
    const torrent = await new TorrentCreate({ pathRoot: root, pieceLength: PIECE }).generate();
    const move = (from: string, to: string) => rename(path.join(root, from), path.join(root, to));
    return { root, torrent, move };
  }

  it('finds names that differ only in their Unicode form', async (t) => {
    const { root, torrent, move } = await made(t, { 'caf\u00e9/\u00fc': noise(40_000), b: noise(9) });
    await move('caf\u00e9', 'cafe\u0301');
    await move('cafe\u0301/\u00fc', 'cafe\u0301/u\u0308');
    const report = await verify(torrent, root);
    assert.deepEqual(statuses(report), [
      ['b', 'complete', undefined],
      ['caf\u00e9/\u00fc', 'complete', 'cafe\u0301/u\u0308'],
    ]);
    assert.deepEqual(report.extraFiles, []);
  });

  it('looks at unfinished files and at the names that libtorrent gives', async (t) => {
    const names = ['a.mkv', 'b.mkv', 'c.mkv', 'd\u200e.mkv'];
    const { root, torrent, move } = await made(t, Object.fromEntries(names.map((name, i) => [name, noise(40_000, i)])));
    await move('a.mkv', 'a.mkv.!qB');
    await move('b.mkv', 'b.mkv.part');
    await writeFile(path.join(root, 'b.mkv.part'), noise(40_000, 1).fill(0, 20_000));
    await move('c.mkv', 'c.mkv.part');
    await writeFile(path.join(root, 'c.mkv.part'), noise(40_000, 2).subarray(0, 20_000));
    await move('d\u200e.mkv', 'd.mkv');
    const report = await verify(torrent, root);
    assert.deepEqual(statuses(report), [
      ['a.mkv', 'complete', 'a.mkv.!qB'],
      ['b.mkv', 'partial', 'b.mkv.part'],
      ['c.mkv', 'wrong-size', 'c.mkv.part'],
      ['d\u200e.mkv', 'complete', 'd.mkv'],
    ]);
    assert.deepEqual([report.files[1]?.goodBytes, report.files[2]?.goodBytes], [PIECE, PIECE]);
    assert.deepEqual(report.extraFiles, []);
  });

  it('never takes another file of the torrent for an unfinished one', async (t) => {
    const { root, torrent } = await made(t, { a: noise(9), 'a.part': noise(9, 2) });
    await rm(path.join(root, 'a'));
    assert.deepEqual(statuses(await verify(torrent, root)), [
      ['a', 'missing', undefined],
      ['a.part', 'complete', undefined],
    ]);
  });

  it('finds the single file of a v2 torrent under the name of the torrent and of its tree', async (t) => {
    const content = noise(9);
    const torrent = v2Torrent([[latin1('tree.mkv'), content]], 'name.mkv');
    for (const [name, foundAs] of [
      ['tree.mkv', undefined],
      ['name.mkv', 'name.mkv'],
    ] as const) {
      const root = await temporaryFolder(t);
      await writeFile(path.join(root, name), content);
      assert.deepEqual(statuses(await verify(torrent, root)), [['tree.mkv', 'complete', foundAs]]);
    }
  });
});
