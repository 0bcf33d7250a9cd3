import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, it } from 'node:test';
import { encode, Torrent, TorrentCreate, verify } from '../../src/index.ts';
import { libtorrentMissing, PYTHON } from '../support/external.ts';
import { cpuSeconds, slowness, withinCpu } from '../support/timing.ts';
import { temporaryFolder } from '../support/tree.ts';

const PIECE = 32_768;
/** Files with and without a pad file after them, an empty file, and a file of several pieces. */
const FILES = { a: 100, 'b/c': PIECE, 'b/d/x': 3 * PIECE + 5, 'b/empty': 0, e: PIECE - 1, last: 7 };

const made = (
  version: 'v1' | 'v2' | 'hybrid',
  files: Record<string, number> = FILES,
  name = 'root',
): Promise<Torrent> =>
  new TorrentCreate({
    info: { name },
    pieceLength: PIECE,
    sources: Object.entries(files).map(([file, size]) => ({ path: file, data: Buffer.alloc(size, 1) })),
  }).generate({ version });

describe('torrent.selectFiles', () => {
  it('counts pad files, joins consecutive indexes and accepts folders', async () => {
    const [v1, v2, hybrid] = await Promise.all([made('v1'), made('v2'), made('hybrid')]);
    // v1 has no pad files here, so the indexes are those of the list.
    assert.deepEqual(v1.selectFiles(['last', 'b']), [
      [1, 3],
      [5, 5],
    ]);
    for (const torrent of [v2, hybrid]) {
      // a, pad, b/c, b/d/x, pad, b/empty, e, pad, last
      assert.deepEqual(
        torrent.files.map(({ path: file }) => torrent.selectFiles([file])[0]),
        [
          [0, 0],
          [2, 2],
          [3, 3],
          [5, 5],
          [6, 6],
          [8, 8],
        ],
      );
      assert.deepEqual(torrent.selectFiles(['b']), [
        [2, 3],
        [5, 5],
      ]);
      assert.match(torrent.magnet({ selectOnly: torrent.selectFiles(['e', 'b/empty']) }), /&so=5-6$/);
    }
  });

  it('rejects a path that is not in the torrent, and a value that is not a list of paths', async () => {
    const torrent = await made('hybrid');
    for (const wrong of ['x', 'b/', '', 'b/d/x/y', '.pad', 'root/a'])
      assert.throws(() => torrent.selectFiles(['a', wrong]), { code: 'ERR_INVALID_ARGUMENT' }, wrong);
    for (const wrong of [undefined, 'a', [1]])
      assert.throws(() => torrent.selectFiles(wrong as never), { code: 'ERR_INVALID_ARGUMENT' });
    assert.deepEqual(torrent.selectFiles([]), []);
  });

  it('numbers files as libtorrent does, in every version', { skip: libtorrentMissing() }, async (t) => {
    const folder = await temporaryFolder(t);
    const script = `
import json, sys, libtorrent as lt
files = lt.torrent_info(sys.argv[1]).files()
print(json.dumps({files.file_path(i): i for i in range(files.num_files()) if not files.file_flags(i) & lt.file_flags_t.flag_pad_file}))`;
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      for (const [name, files] of [
        ['root', FILES],
        ['alone', { alone: PIECE + 1 }],
      ] as const) {
        const torrent = await made(version, { ...files }, name);
        const file = path.join(folder, `${version}-${name}.torrent`);
        await torrent.write(file);
        const { stdout, stderr } = spawnSync(PYTHON, ['-c', script, file], { encoding: 'utf8' });
        assert.equal(stderr, '');
        const theirs = JSON.parse(stdout) as Record<string, number>;
        const ours = torrent.files.map(({ path: one }) => {
          const [[first, last] = []] = torrent.selectFiles([one]);
          assert.equal(first, last);
          return [name === 'alone' ? one : `${name}/${one}`, first];
        });
        assert.deepEqual(Object.fromEntries(ours), theirs);
      }
    }
  });
});

describe('selecting files of deep paths', () => {
  /** A v1 torrent that only its file list matters of. */
  const torrentOf = (paths: readonly string[]) => {
    const files = paths.map((path) => ({ length: 5, path: path.split('/') }));
    const pieces = Buffer.alloc(20 * Math.ceil((files.length * 5) / PIECE));
    return Torrent.fromBytes(encode({ info: { name: 'n', 'piece length': PIECE, pieces, files } }));
  };
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

  /** Each selects all files. Looking up each folder above each file would take minutes. */
  const CASES: Record<string, { paths: string[]; selections: string[]; ranges: [number, number][] }> = {
    'one path of 500,000 components': {
      paths: ['a'.concat('/a'.repeat(499_999))],
      selections: ['a/a/a'],
      ranges: [[0, 0]],
    },
    '1,000 paths of 1,000 components that share all folders': {
      paths: numbers(1000).map((i) => `${'a/'.repeat(999)}${i}`),
      selections: numbers(1000).map((i) => 'a'.concat('/a'.repeat(i % 999))),
      ranges: [[0, 999]],
    },
    '1,000 files, each in a folder of the folder of the one before, that are all selected': {
      paths: numbers(1000).map((i) => `${'a/'.repeat(i)}x${i}`),
      selections: numbers(1000).map((i) => `${'a/'.repeat(i)}x${i}`),
      ranges: [[0, 999]],
    },
    '100,000 files by 100,000 selections': {
      paths: numbers(100_000).map((i) => `${i % 100}/f${i}`),
      selections: numbers(100_000).map((i) => `${i % 100}/f${i}`),
      ranges: [[0, 99_999]],
    },
  };

  for (const [name, { paths, selections, ranges }] of Object.entries(CASES)) {
    it(`takes time in proportion to the paths: ${name}`, async (t) => {
      const torrent = torrentOf(paths);
      void torrent.files;
      assert.deepEqual(
        withinCpu(2, () => torrent.selectFiles(selections)),
        ranges,
      );
      const folder = await temporaryFolder(t);
      const before = cpuSeconds();
      const report = await verify(torrent, folder, { files: selections });
      assert.ok(cpuSeconds() - before < 10 * slowness, `took ${cpuSeconds() - before} s of processor time`);
      assert.equal(report.files.length, paths.length);
    });
  }
});
