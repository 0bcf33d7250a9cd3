import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { verify } from '../../src/verify/verify.ts';
import { noise } from '../hash/reference.ts';
import { libtorrentMissing } from '../support/external.ts';
import { LibtorrentOracle } from '../support/libtorrent.ts';
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

describe('verify of files whose names look the same', {
  skip: process.platform !== 'linux' && 'names are text here',
}, () => {
  const CYRILLIC: Files = [
    [[latin1('\xc0\xc1.vob')], noise(5)],
    [[latin1('\xc2\xc3.vob')], noise(6, 2)],
  ];

  it('finds each under its own bytes', async (t) => {
    const root = await temporaryFolder(t);
    await put(root, CYRILLIC);
    const report = await verify(v1Torrent(CYRILLIC), root);
    assert.deepEqual([report.ok, report.extraFiles], [true, []]);
    // One of them alone is not both.
    await rm(raw(root, '/', latin1('\xc0\xc1.vob')));
    const half = await verify(v1Torrent(CYRILLIC), root);
    assert.equal(half.files[0]?.status, 'missing');
    assert.equal(half.files[1]?.foundAs !== undefined, true);
  });

  it('finds what libtorrent makes of bytes that are not UTF-8, also with a number', async (t) => {
    for (const [first, second] of [
      ['_.vob', '_.1.vob'],
      ['__.vob', '__.1.vob'],
    ] as const) {
      const root = await temporaryFolder(t);
      await writeFile(path.join(root, first), noise(5));
      await writeFile(path.join(root, second), noise(6, 2));
      const report = await verify(v1Torrent(CYRILLIC), root);
      assert.deepEqual([report.ok, report.extraFiles], [true, []], first);
    }
  });

  it('finds files that libtorrent numbers: another letter case, and the same path twice', async (t) => {
    const cases: [names: [string, string], onDisk: [string, string]][] = [
      [
        ['Readme', 'README'],
        ['Readme', 'README.1'],
      ],
      [
        ['a', 'a'],
        ['a', 'a.1'],
      ],
    ];
    for (const [names, onDisk] of cases) {
      const files: Files = names.map((name, i) => [[latin1(name)], noise(5 + i, i + 1)]);
      const root = await temporaryFolder(t);
      for (const [i, name] of onDisk.entries()) await writeFile(path.join(root, name), noise(5 + i, i + 1));
      const report = await verify(v1Torrent(files), root);
      assert.deepEqual([report.ok, report.extraFiles], [true, []], names.join());
      await rm(path.join(root, onDisk[1]));
      const half = await verify(v1Torrent(files), root);
      assert.equal(half.files[1]?.status, 'missing');
    }
  });
});

describe('verify of paths that no file can have', {
  skip: process.platform !== 'linux' && 'the names are those of libtorrent on Linux',
}, () => {
  const CASES: [paths: string[][], onDisk: string[]][] = [
    [
      [['..', 'x'], ['a']],
      ['x', 'a'],
    ],
    [
      [['.', 'x'], ['..']],
      ['x', '_'],
    ],
    [
      [
        ['', 'x'],
        ['d', '', 'y'],
      ],
      ['_/x', 'd/_/y'],
    ],
    [
      [
        ['d', '..'],
        ['e', '.', 'y'],
      ],
      ['d', 'e/y'],
    ],
    [
      [['d', 'sub', ''], ['a']],
      ['d/sub/_', 'a'],
    ],
    [
      [['..', 'a'], ['a']],
      ['a', 'a.1'],
    ],
    [
      [['..'], ['.']],
      ['_', '_.1'],
    ],
    [
      [
        ['d', '\u202e', 'y'],
        ['e', '\u202e..'],
      ],
      ['d/y', 'e'],
    ],
    [
      [['a/b', 'x'], ['../../c']],
      ['ab/x', '....c'],
    ],
    [
      [['d\0', 'y'], ['/']],
      ['d/y', '_'],
    ],
    [[['...', 'x']], ['.../x']],
  ];
  const filesOf = (paths: string[][]): Files =>
    paths.map((parts, i) => [
      parts.map((part) => Buffer.from(part)),
      parts.at(-1) === '' ? noise(0) : noise(5 + i, i + 1),
    ]);

  for (const [paths, onDisk] of CASES)
    it(`finds them where libtorrent stores them: ${JSON.stringify(paths)}`, async (t) => {
      const files = filesOf(paths);
      const top = await temporaryFolder(t);
      const root = path.join(top, 'root');
      await writeTree(root, Object.fromEntries(onDisk.map((name, i) => [name, Buffer.from(files[i]?.[1] ?? [])])));
      // Never outside of the folder, even if the file is there.
      for (const name of ['x', 'c', 'b']) await writeFile(path.join(top, name), noise(5, 1));
      const torrent = v1Torrent(files);
      const report = await verify(torrent, root);
      assert.deepEqual([report.ok, report.extraFiles], [true, []]);
      await rm(path.join(root, onDisk[0] as string));
      const half = await verify(torrent, root);
      const isFolder = paths[0]?.at(-1) === '';
      assert.deepEqual([half.ok, half.files[0]?.status], [isFolder, isFolder ? 'complete' : 'missing']);
    });

  it('are those of libtorrent', { skip: libtorrentMissing() }, async () => {
    const oracle = new LibtorrentOracle();
    for (const [paths, onDisk] of CASES) {
      const names = await oracle.names(v1Torrent(filesOf(paths)).bencode());
      assert.deepEqual(
        names,
        onDisk.map((name) => `root/${name}`),
      );
    }
    await oracle.close();
  });

  it('finds files under the safe paths of the torrent, too', async (t) => {
    const root = await temporaryFolder(t);
    const torrent = v1Torrent(filesOf([['..', 'x'], ['a']]));
    assert.deepEqual(torrent.safePaths, ['_/x', 'a']);
    await writeTree(root, { '_/x': noise(5, 1), a: noise(6, 2) });
    assert.deepEqual(statuses(await verify(torrent, root))[0], ['../x', 'complete', '_/x']);
  });

  it('takes an empty folder for what BitComet writes for one, but no link that leads out', async (t) => {
    const top = await temporaryFolder(t);
    const root = path.join(top, 'root');
    const torrent = v1Torrent(filesOf([['d', 'sub', ''], ['a']]));
    await writeTree(root, { a: noise(6, 2) });
    assert.equal((await verify(torrent, root)).files[0]?.status, 'missing');
    await mkdir(path.join(root, 'd'));
    await mkdir(path.join(top, 'sub'));
    await symlink(path.join(top, 'sub'), path.join(root, 'd/sub'));
    assert.notEqual((await verify(torrent, root)).files[0]?.status, 'complete');
    await rm(path.join(root, 'd/sub'));
    await mkdir(path.join(root, 'd/sub'));
    assert.equal((await verify(torrent, root)).ok, true);
    // An empty file in place of the folder is that of Torrent.safePaths. A file with content is never a folder.
    await rm(path.join(root, 'd/sub'), { recursive: true });
    await writeFile(path.join(root, 'd/sub'), '');
    assert.equal((await verify(torrent, root)).files[0]?.foundAs, 'd/sub');
    await rm(path.join(root, 'd/sub'));
    await mkdir(path.join(root, 'd/sub'));
    const full = v1Torrent([[[latin1('d'), latin1('sub'), latin1('')], noise(5)]]);
    assert.equal((await verify(full, root)).files[0]?.status, 'missing');
  });

  it('finds an empty folder whose name is not UTF-8', async (t) => {
    const root = await temporaryFolder(t);
    const files: Files = [
      [[latin1('d\xe9'), latin1('')], noise(0)],
      [[latin1('a')], noise(5)],
    ];
    await put(root, [[[latin1('d\xe9'), latin1('_')], noise(0)], files[1] as Files[number]]);
    assert.deepEqual(statuses(await verify(v1Torrent(files), root))[0], ['d\ufffd/', 'complete', 'd\udce9/_']);
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
