import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  issueRows,
  linksOf,
  overviewOf,
  piecesOf,
  placedContent,
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
import { magnetText, peerText, visible, withoutOptions } from '../../site/inspect/text.ts';
import { filesFrom } from '../../src/browser/folders.ts';
import { optionText } from '../../src/errors/errors.ts';
import { encode, parseMagnet, Torrent, TorrentCreate, type TorrentVersion } from '../../src/index.ts';
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

/** Files of a user with their paths, as a browser lists those of a chosen folder. */
async function given(...paths: string[]) {
  const files = paths.map((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return Object.assign(new File(['x'.repeat(path.length)], name), {
      webkitRelativePath: path.includes('/') ? path : '',
    });
  });
  return filesFrom(files as never, { everything: true });
}

test('content is found below a folder, and files that are given by themselves by their names', async () => {
  const sources = ['1.wav', 'notes/readme', 'text/readme'].map((path) => ({ path, data: new Blob(['x'.repeat(9)]) }));
  const album = await new TorrentCreate({ name: 'album', sources }).generate();
  const placed = async (...paths: string[]) => {
    const { folder, sources } = placedContent(album, await given(...paths));
    return [folder, ...sources.map(({ path }) => path).sort()];
  };
  // The folder itself, under any name, with files that the torrent does not have.
  assert.deepEqual(await placed('copy/1.wav', 'copy/other'), ['', '1.wav', 'other']);
  // A folder above it.
  assert.deepEqual(await placed('all/album/1.wav', 'all/x'), ['album/', '1.wav']);
  assert.deepEqual(await placed('all/a/copy/notes/readme', 'all/x'), ['a/copy/', 'notes/readme']);
  // The folder above has a file of the torrent, so it is the folder, as for the command.
  assert.deepEqual(await placed('all/1.wav', 'all/album/1.wav', 'all/album/notes/readme'), [
    '',
    '1.wav',
    'album/1.wav',
    'album/notes/readme',
  ]);
  // Of several folders, that with most files; without any file, that with the name.
  assert.deepEqual(await placed('all/a/1.wav', 'all/b/1.wav', 'all/b/text/readme'), ['b/', '1.wav', 'text/readme']);
  assert.deepEqual(await placed('all/x/y', 'all/album/1.wav.part'), ['album/', '1.wav.part']);
  assert.deepEqual(await placed('all/x/y', 'all/z'), ['', 'x/y', 'z']);
  // Files by themselves: those of one name are told apart by their size, or taken in their order.
  assert.deepEqual(await placed('readme'), ['', 'notes/readme']);
  assert.deepEqual(await placed('1.wav', 'readme', 'other'), ['', '1.wav', 'notes/readme', 'other']);
  // A file of a folder is not.
  assert.deepEqual(await placed('copy/1.wav', 'copy/readme'), ['', '1.wav', 'readme']);
});

test('the file by itself is the one of its size, and that of a single-file torrent may have any name', async () => {
  const sources = ['a/readme', 'b/readme'].map((path, i) => ({ path, data: new Blob(['x'.repeat(5 + i)]) }));
  const two = await new TorrentCreate({ name: 'two', sources }).generate();
  assert.deepEqual(
    placedContent(two, await given('readme')).sources.map(({ path }) => path),
    ['b/readme'],
  );
  const film = await new TorrentCreate({ sources: [{ path: 'film.mkv', data: new Blob(['xxx']) }] }).generate();
  const renamed = await given('renamed.mkv');
  // `verify` knows it by its identity.
  assert.equal(placedContent(film, renamed).sources[0], renamed.sources[0]);
  assert.deepEqual(
    placedContent(film, await given('all/other', 'all/films/film.mkv')).sources.map(({ path }) => path),
    ['film.mkv'],
  );
});

test('content is found in time that grows with the number of files', async () => {
  const sources = Array.from({ length: 20_000 }, (_, i) => ({ path: `${i}/readme`, data: new Blob(['x']) }));
  const files = sources.map(({ path }) => ({ path, length: 1, attr: null, piecesRoot: null }));
  const torrent = { name: 'x', files } as unknown as Torrent;
  const found = { name: 'all', sources: sources.map(({ path, data }) => ({ path: `x/${path}`, data })) };
  assert.equal(withinCpu(5, () => placedContent(torrent, found as never)).folder, 'x/');
});

test('symlinks and other flags of files are shown, in each version', async () => {
  const files = [
    { attr: 'l', length: 0, path: ['s'], 'symlink path': ['a', 'b\u202e'] },
    { attr: 'xq', length: 1, path: ['b'] },
    { attr: 'l', length: 0, path: ['c'] },
  ];
  const info = { files, name: 'x', 'piece length': 2 ** 14, pieces: new Uint8Array(20) };
  const v1 = Torrent.fromBytes(encode({ info }), { context: { profile: 'compat' } });
  assert.deepEqual(
    rowsOf(treeOf(v1.files, linksOf(v1)), () => true).map(({ flags }) => flags),
    ['→ a/b\\u202e', 'executable, q', 'symlink'],
  );
  const link = { '': { attr: 'l', length: 0, 'symlink path': ['a'] } };
  const plain = { '': { length: 1, 'pieces root': new Uint8Array(32).fill(1) } };
  const v2Info = { 'file tree': { a: plain, s: link }, 'meta version': 2, name: 'x', 'piece length': 2 ** 14 };
  const v2 = Torrent.fromBytes(encode({ info: v2Info, 'piece layers': {} }));
  assert.deepEqual([...linksOf(v2)], [['s', 'a']]);
});

test('emoji keep their joiners, and other invisible characters become escapes', () => {
  for (const text of [
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
    '\u2764\ufe0f\u200d\u{1f525}',
    '\u{1f9d1}\u{1f3fd}\u200d\u{1f680}',
    '\u{1f3f3}\ufe0f\u200d\u{1f308} flag',
  ])
    assert.equal(visible(text), text);
  assert.equal(visible('a\u200db'), 'a\\u200db');
  assert.equal(visible('\u{1f468}\u200d'), '\u{1f468}\\u200d');
  assert.equal(visible('\u{1f468}\u200d\u200d\u{1f469}'), '\u{1f468}\\u200d\\u200d\u{1f469}');
  assert.equal(visible('\u200d\u{1f468}a\u202e'), '\\u200d\u{1f468}a\\u202e');
});

test('messages name no options, which the page does not have', async () => {
  const files = [{ length: 1, path: ['..', 'a'] }];
  const bytes = encode({ info: { files, name: 'x', 'piece length': 2 ** 14, pieces: new Uint8Array(20) } });
  const inspect = () => Torrent.inspect(bytes, { limits: { bytes: 10 } });
  assert.throws(inspect, ({ message }: Error) => withoutOptions(message) === 'limit of 10 bytes exceeded at byte 10.');
  const decomposed = { name: 'e\u0301', sources: [{ path: 'a', data: new Uint8Array(1) }] };
  const { findings } = await TorrentCreate.plan(decomposed);
  const reads = `metainfo reads at most 1, and more with ${optionText('limits', 'files')}.`;
  const issues = Torrent.inspect(bytes).issues.map(({ message }) => message);
  const messages = [reads, ...issues, ...findings.flatMap(({ message, advice }) => [message, advice])];
  const named = /--|limits: |normalize: /;
  // This shows that the library names options.
  assert.equal(messages.filter((message) => named.test(message)).length, 3);
  for (const message of messages.map(withoutOptions)) assert.doesNotMatch(message, named);
});

test('an infohash becomes a magnet link, and any other text stays', () => {
  const [v1, v2] = ['C1'.repeat(20), 'd2'.repeat(32)];
  assert.equal(parseMagnet(magnetText(` ${v1}\n`)).infohashV1, v1.toLowerCase());
  assert.equal(parseMagnet(magnetText(v2)).infohashV2, v2);
  for (const text of [`${v1}0`, v1.slice(1), 'magnet:?x', 'g'.repeat(40), '']) assert.equal(magnetText(text), text);
  assert.equal(peerText('::1', 6881), '[::1]:6881');
  assert.equal(peerText('127.0.0.1', 1), '127.0.0.1:1');
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
