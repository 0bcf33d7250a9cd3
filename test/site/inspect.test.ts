import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  issueRows,
  overviewOf,
  piecesOf,
  placedFiles,
  rowsOf,
  runsOf,
  sizesOf,
  stateOf,
  tiersIn,
  tiersText,
  treeOf,
  unknownLines,
} from '../../site/inspect/model.ts';
import { encode, Torrent, TorrentCreate, type TorrentVersion } from '../../src/index.ts';
import { withinCpu } from '../support/timing.ts';

const KIB = 2 ** 10;
const SOURCES = [
  { path: 'a', data: new Uint8Array(40 * KIB) },
  { path: 'notes/b', data: new Uint8Array(10) },
  { path: 'notes/empty', data: new Uint8Array(0) },
];
const make = (version: TorrentVersion) =>
  new TorrentCreate({ sources: SOURCES, info: { name: 'x', pieceLength: 16 * KIB } }).generate({ version });

const withoutReport = { first: 0, shown: 8, report: null };

test('a hybrid is drawn with its pad files, v1 pieces, piece layers and pieces roots', async () => {
  const torrent = await make('hybrid');
  const files = placedFiles(torrent);
  assert.deepEqual(
    files.map(({ from, to, kind }) => [from, to, kind]),
    [
      [0, 40 * KIB, 'file'],
      [40 * KIB, 48 * KIB, 'pad'],
      [48 * KIB, 48 * KIB + 10, 'file'],
      [48 * KIB + 10, 64 * KIB, 'pad'],
      [64 * KIB, 64 * KIB, 'file'],
    ],
  );
  const { width, rows } = piecesOf(torrent, files, withoutReport);
  assert.equal(width, 64 * KIB);
  assert.deepEqual(
    rows.map(({ name, boxes }) => [name, ...boxes.map(({ from, to }) => [from / KIB, Math.round(to / KIB)])]),
    [
      ['files', [0, 40], [40, 48], [48, 48], [48 + 10 / KIB, 64]],
      ['v1 pieces', [0, 16], [16, 32], [32, 48], [48, 64]],
      ['piece layers', [0, 16], [16, 32], [32, 40]],
      ['pieces roots', [0, 40], [48, 48]],
    ],
  );
  const [, pieces, layers, roots] = rows;
  assert.equal(pieces?.boxes[1]?.detail, hexOf(torrent.v1PieceRange(1).pieceHash));
  assert.equal(layers?.boxes[2]?.detail, hexOf(torrent.v2PieceRange('a', 2).pieceHash));
  assert.equal(roots?.boxes[0]?.detail, hexOf(torrent.v2PieceRange('a').rootHash));
});

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash.subarray(0, 8)).toString('hex');
}

test('v1 files follow each other, and v2 files start a piece', async () => {
  assert.deepEqual(
    placedFiles(await make('v1')).map(({ from }) => from),
    [0, 40 * KIB, 40 * KIB + 10],
  );
  assert.deepEqual(
    placedFiles(await make('v2')).map(({ from }) => from),
    [0, 48 * KIB, 64 * KIB],
  );
  const later = piecesOf(await make('v2'), placedFiles(await make('v2')), { ...withoutReport, first: 1, shown: 1 });
  assert.deepEqual(
    later.rows.map(({ boxes }) => boxes.map(({ from, to }) => [from, to])),
    [[[0, 16 * KIB]], [[0, 16 * KIB]], [[0, 16 * KIB]]],
  );
  assert.equal(later.rows[1]?.boxes[0]?.label, 'hash 1');
});

test('narrow neighbours share a box', async () => {
  const sources = Array.from({ length: 5000 }, (_, i) => ({ path: `f${i}`, data: new Uint8Array(1) }));
  const torrent = await new TorrentCreate({ sources, info: { name: 'x' } }).generate({ version: 'v1' });
  const files = placedFiles(torrent);
  for (const { rows } of [overviewOf(files), piecesOf(torrent, files, withoutReport)])
    assert.deepEqual(
      rows[0]?.boxes.map(({ kind, from, to }) => [kind, from, to]),
      [['many', 0, 5000]],
    );
});

test('the tree sums the sizes of folders, keeps any name, and lists the rows of open folders', () => {
  const file = (path: string, length: number) => ({ path, length, attr: null, piecesRoot: null });
  const root = treeOf([file('d/__proto__/a\u202e', 1), file('d/b', 2), file('c', 4), file('d/../c', 8)]);
  assert.equal(root.length, 15);
  assert.equal(root.files, 4);
  assert.deepEqual(
    rowsOf(root, () => false).map(({ name, length, files }) => [name, length, files]),
    [
      ['d', 11, 3],
      ['c', 4, 1],
    ],
  );
  assert.deepEqual(
    rowsOf(root, () => true).map(({ path, name, position }) => [path, name, position]),
    [
      ['d', 'd', 1],
      ['d/__proto__', '__proto__', 1],
      ['d/__proto__/a\u202e', 'a\u202e', 1],
      ['d/b', 'b', 2],
      ['d/..', '..', 3],
      ['d/../c', 'c', 1],
      ['c', 'c', 2],
    ],
  );
  assert.deepEqual(
    sizesOf(treeOf([file('x/\u202e', 300), file('x/y/z', 1000), file('x/0', 0)])).rows[0]?.boxes.map((box) => [
      box.label,
      box.from,
      box.to,
    ]),
    [
      ['y/', 0, 1000],
      ['\\u202e', 1000, 1300],
    ],
  );
});

test('a single bad piece among many is seen', () => {
  const bitfield = new Uint8Array(1250).fill(0xff);
  bitfield[500] = 0xfe;
  assert.equal(stateOf({ bitfield }, 4007), 'bad');
  assert.equal(stateOf({ bitfield }, 4006), 'good');
  const { rows } = runsOf({ bitfield }, 10_000);
  assert.deepEqual(
    rows[0]?.boxes.map(({ kind }) => kind),
    ['good', 'bad', 'good'],
  );
});

test('each issue has the severity of every profile', () => {
  const files = [{ length: 1, path: ['..', 'a'] }];
  const info = { files, name: 'x', 'piece length': 2 ** 14, pieces: new Uint8Array(20) };
  const bytes = encode({ info, 'creation date': 'x' });
  const inspect = (profile: 'default' | 'strict' | 'compat') => Torrent.inspect(bytes, { context: { profile } });
  const reports = { default: inspect('default'), strict: inspect('strict'), compat: inspect('compat') };
  const rows = issueRows(reports).map(({ code, severities }) => [code, severities]);
  assert.deepEqual(rows, [
    ['unsafe_path', { default: 'error', strict: 'error', compat: 'warning' }],
    ['type', { default: 'warning', strict: 'error', compat: 'warning' }],
  ]);
});

test('tiers of trackers round-trip through text', () => {
  const tiers = [['udp://a', 'udp://b'], ['udp://c']];
  assert.deepEqual(tiersIn(tiersText(tiers)), tiers);
  assert.deepEqual(tiersIn(' \n\n udp://a \n\n\n\nudp://b\n'), [['udp://a'], ['udp://b']]);
  assert.deepEqual(tiersIn(''), []);
});

test('unknown keys are lines of bounded length', async () => {
  const infoExtra = new Map([['x_long', Buffer.from('x'.repeat(10_000))]]);
  const draft = new TorrentCreate({
    sources: SOURCES,
    info: { name: 'x', extra: infoExtra },
    extra: new Map([['me', 1]]),
  });
  const [own, long] = unknownLines(await draft.generate({ version: 'v1' }));
  assert.equal(own, 'me: 1');
  assert.equal(long, `info.x_long: "${'x'.repeat(186)}`);
});

test('the tree and its rows are made in time that grows with the length of the paths', () => {
  const file = (path: string) => ({ path, length: 1, attr: null, piecesRoot: null });
  const deep = treeOf([file(`${'a/'.repeat(300_000)}b`)]);
  assert.equal(withinCpu(5, () => rowsOf(deep, () => true)).length, 300_001);
  const shared = withinCpu(5, () => treeOf(Array.from({ length: 200 }, (_, i) => file(`${'a/'.repeat(2000)}${i}`))));
  const rows = withinCpu(5, () => rowsOf(shared, () => true));
  assert.equal(rows.length, 2200);
  assert.deepEqual([rows[1999]?.files, rows[1999]?.length, rows.at(-1)?.name], [200, 200, '199']);
  assert.deepEqual([rows[2]?.path, rows[2]?.parent, rows.at(-1)?.position], ['a/a/a', rows[1], 200]);
});
