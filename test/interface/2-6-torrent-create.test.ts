// Sections 2.6 and 4.2 of the interface: TorrentCreate, its fields, validators and operations.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { HashList, MetainfoError, Torrent, TorrentCreate, ValidationError } from '../../src/index.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const PIECE = 16_384;
const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

let root = '';
before(async () => {
  root = path.join(await temporaryFolder({ after: () => {} }), 'album');
  await writeTree(root, { 'B.txt': Buffer.from('b'), 'a/x': Buffer.alloc(PIECE + 1, 1), 'a-b': Buffer.from('c') });
});

function codesOf(fields: object): string[] {
  try {
    new TorrentCreate(fields);
    return [];
  } catch (error) {
    assert.ok(error instanceof ValidationError, String(error));
    return error.issues.map(({ code }) => code);
  }
}

describe('2.6 TorrentCreate: fields', () => {
  it('do not require info', () => assert.equal(new TorrentCreate({ pathRoot: root }).info.pieces ?? null, null));

  it('name the library and its version as created by', () => {
    assert.equal(new TorrentCreate({ pathRoot: root }).createdBy, `metainfo (${version})`);
  });

  it('have a path_root, by default the current folder', () => {
    assert.equal(new TorrentCreate().pathRoot, process.cwd());
    assert.equal(new TorrentCreate({ pathRoot: 'relative' }).pathRoot, path.resolve('relative'));
    assert.deepEqual(codesOf({ pathRoot: '' }), ['path_root']);
  });

  it('accept relative and absolute paths below the root', async () => {
    const draft = new TorrentCreate({ pathRoot: root, paths: ['a-b', path.join(root, 'B.txt')] });
    assert.deepEqual((await draft.getPaths()).toSorted(), ['B.txt', 'a-b']);
    for (const outside of ['../x', '/elsewhere/x'])
      assert.throws(() => new TorrentCreate({ pathRoot: root, paths: [outside] }), MetainfoError);
  });

  it('put each tracker of a flat list in its own tier, and keep tiers', () => {
    const flat = new TorrentCreate({ trackers: ['http://a/', 'http://b/'] });
    assert.deepEqual(flat.getTrackers(), { announce: 'http://a/', 'announce-list': [['http://a/'], ['http://b/']] });
    const tiers = [['http://a/', 'http://b/'], ['http://c/']];
    assert.deepEqual(new TorrentCreate({ trackers: tiers }).getTrackers(), {
      announce: 'http://a/',
      'announce-list': tiers,
    });
  });

  it('require a piece_length that is a power of two', () => {
    for (const pieceLength of [0, -1, 3, PIECE + 1]) assert.deepEqual(codesOf({ pieceLength }), ['piece_length']);
    for (const pieceLength of [1024, PIECE, 2 * PIECE, null]) assert.deepEqual(codesOf({ pieceLength }), []);
  });

  it('accept infohashes for similar', async () => {
    const hash = Buffer.alloc(20, 5);
    const made = await new TorrentCreate({ pathRoot: root, similar: [hash] }).generate({ version: 'v1' });
    assert.deepEqual(made.info.similar, [hash]);
    assert.notDeepEqual(codesOf({ similar: [Buffer.alloc(19)] }), []);
  });
});

describe('2.6 TorrentCreate: validators', () => {
  it('name_from_path_root: uses the name of the root if none is given', () => {
    assert.equal(new TorrentCreate({ pathRoot: root }).info.name, 'album');
    assert.equal(new TorrentCreate({ pathRoot: root, info: { name: 'x' } }).info.name, 'x');
  });

  it('no_duplicated_params: rejects a shorthand together with its field', () => {
    for (const fields of [
      { pieceLength: PIECE, info: { pieceLength: PIECE } },
      { trackers: ['http://a/'], announce: 'http://a/' },
      { trackers: ['http://a/'], announceList: [['http://a/']] },
      { similar: [Buffer.alloc(20)], info: { similar: [Buffer.alloc(20)] } },
    ])
      assert.deepEqual(codesOf(fields), ['no_duplicated_params']);
  });

  it('expected_n_pieces: applies to given hashes', () => {
    const info = { name: 'a', length: 5, pieceLength: PIECE, pieces: new HashList(Buffer.alloc(180), 20) };
    assert.deepEqual(codesOf({ info }), ['expected_n_pieces']);
  });
});

describe('4.2 generate', () => {
  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    it(`${version}: hashes pieces and turns shorthands into fields`, async () => {
      const draft = new TorrentCreate({ pathRoot: root, trackers: ['http://a/'], pieceLength: PIECE });
      const made = await draft.generate({ version, threads: 2, progress: false });
      assert.equal(made.torrentVersion, version);
      assert.equal(made.announce, 'http://a/');
      assert.equal(made.info.pieceLength, PIECE);
      assert.deepEqual(Torrent.fromBytes(made.bencode()).files, made.files);
      assert.deepEqual(made.files.map((file) => file.path).toSorted(), ['B.txt', 'a-b', 'a/x']);
    });
  }
});

describe('4.2 get_paths', () => {
  const tree = new Map([['t', new Map([['', { length: 1 }]])]]);
  const files = [{ length: 1, path: ['f'] }];

  it('uses the first of paths, file tree, files, name with length, and the files on disk', async () => {
    const folder = path.join(root, '..', 'order');
    await writeTree(folder, Object.fromEntries(['p', 't', 'f', 'n'].map((name) => [name, Buffer.from(name)])));
    const get = (fields: object) => new TorrentCreate({ pathRoot: folder, ...fields }).getPaths({ clean: false });
    // no_duplicated_params forbids these together with paths.
    assert.deepEqual(await get({ paths: ['p'] }), ['p']);
    for (const info of [{ fileTree: tree }, { files }])
      assert.deepEqual(codesOf({ paths: ['p'], info }), ['no_duplicated_params']);
    assert.deepEqual(await get({ info: { fileTree: tree, files } }), ['t']);
    assert.deepEqual(await get({ info: { files } }), ['f']);
    assert.deepEqual(await get({ info: { name: 'n', length: 1 } }), ['n']);
    assert.deepEqual((await get({})).toSorted(), ['f', 'n', 'p', 't']);
  });

  it('v1_order: sorts files at the top first, by lower-cased path; the default is tree order', async () => {
    const draft = new TorrentCreate({ pathRoot: root });
    assert.deepEqual(await draft.getPaths({ v1Order: true }), ['a-b', 'B.txt', 'a/x']);
    assert.deepEqual(await draft.getPaths(), ['B.txt', 'a/x', 'a-b']);
  });
});
