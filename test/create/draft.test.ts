import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { type Decoded, decode } from '../../src/bencode/decode.ts';
import type { BencodeMap } from '../../src/bencode/value.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { TorrentCreateFields } from '../../src/create/draft-fields.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import type { ValidationError } from '../../src/errors/errors.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { V1Hasher } from '../../src/hashers/v1-hasher.ts';
import type { Progress } from '../../src/jobs/watch.ts';
import type { FileTree } from '../../src/model/file-tree.ts';
import { HashList } from '../../src/model/hash-list.ts';
import type { InfoDictV1 } from '../../src/model/info-dict.ts';
import type { Torrent } from '../../src/model/torrent/torrent.ts';
import { CREATED_BY } from '../../src/text/version.ts';
import { sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const URL_A = 'udp://a.example/announce';
const URL_B = 'http://b.example/announce';
const URL_C = 'http://c.example/announce';

type Fields = TorrentCreateFields | Record<string, unknown>;

/** A draft of a folder `album` with files. */
async function draftOf(t: TestContext, files: Record<string, number>, fields: Fields = {}): Promise<TorrentCreate> {
  const pathRoot = path.join(await temporaryFolder(t), 'album');
  await mkdir(pathRoot);
  await writeTree(pathRoot, files);
  return new TorrentCreate({ pathRoot, ...fields });
}

async function generate(t: TestContext, fields: Fields, options: GenerateOptions = {}) {
  return (await draftOf(t, { a: 1 }, fields)).generate(options);
}

/** The generated torrent, decoded. */
async function dictionary(t: TestContext, fields: Fields, options: GenerateOptions = {}): Promise<BencodeMap> {
  const { value } = decode((await generate(t, fields, options)).bencode()) as Decoded;
  return value as BencodeMap;
}

function text(map: BencodeMap, key: string): string | undefined {
  const value = map.get(key);
  return value === undefined ? undefined : Buffer.from(value as Uint8Array).toString();
}

/** `path: code` of every issue that a draft has. All messages begin in lower case, because the path stands before them. */
function issuesOf(fields: Fields): string[] {
  let issues: string[] = [];
  assert.throws(
    () => new TorrentCreate(fields),
    (error: ValidationError) => {
      issues = error.issues.map((issue) => `${issue.path.join('.')}: ${issue.code}`);
      for (const { message } of error.issues) assert.doesNotMatch(message, /^[A-Z]/);
      return error.code === 'ERR_VALIDATION';
    },
  );
  return issues;
}

const file = (length: number, piecesRoot: Uint8Array | null = null): FileTree =>
  new Map([['', { length, piecesRoot }]]);

describe('a draft accepts', () => {
  // Both names of every field, a value as given, and the value in the torrent file.
  const FIELDS: [property: string, key: string, given: unknown, written: unknown][] = [
    ['announce', 'announce', URL_A, Buffer.from(URL_A)],
    ['announceList', 'announce-list', [[URL_A], [URL_B]], [[Buffer.from(URL_A)], [Buffer.from(URL_B)]]],
    ['comment', 'comment', 'ein Bär', Buffer.from('ein Bär')],
    ['createdBy', 'created by', 'me', Buffer.from('me')],
    ['creationDate', 'creation date', new Date(1_700_000_000_000), 1_700_000_000],
    ['urlList', 'url-list', [URL_A, URL_B], [Buffer.from(URL_A), Buffer.from(URL_B)]],
  ];
  for (const [property, key, given, written] of FIELDS) {
    it(`${property} under its name and on-disk key`, async (t) => {
      for (const name of new Set([property, key])) {
        assert.deepEqual(plain((await dictionary(t, { [name]: given })).get(key)), written, name);
      }
      if (property !== key) assert.deepEqual(issuesOf({ [property]: given, [key]: given }), [`${key}: alias`]);
    });
  }

  const INFO_FIELDS: [property: string, key: string, given: unknown, written: unknown][] = [
    ['name', 'name', 'other', Buffer.from('other')],
    ['source', 'source', 'SRC', Buffer.from('SRC')],
    ['private', 'private', true, 1],
    ['pieceLength', 'piece length', 64 * KIB, 64 * KIB],
    ['files', 'files', [{ length: 1, path: ['a'], attr: 'x' }], [fileOnDisk({ attr: 'x' })]],
  ];
  for (const [property, key, given, written] of INFO_FIELDS) {
    it(`info.${property} under its name and on-disk key`, async (t) => {
      for (const name of new Set([property, key])) {
        const info = (await dictionary(t, { info: { [name]: given } })).get('info') as BencodeMap;
        assert.deepEqual(plain(info.get(key)), written, name);
      }
      if (property === key) return;
      assert.deepEqual(issuesOf({ info: { [property]: given, [key]: given } }), [`info.${key}: alias`]);
    });
  }

  it('unknown keys, and writes them', async (t) => {
    const torrent = await dictionary(t, {
      'x-number': 5,
      extra: new Map([['x-text', Buffer.from('hi')]]),
      info: { 'x-list': [1, Buffer.from('b')], größe: 2 },
    });
    assert.equal(torrent.get('x-number'), 5);
    assert.equal(text(torrent, 'x-text'), 'hi');
    const info = torrent.get('info') as BencodeMap;
    assert.deepEqual(plain(info.get('x-list')), [1, Buffer.from('b')]);
    assert.equal(info.get(Buffer.from('größe').toString('latin1')), 2);
  });

  it('an empty input', () => {
    const draft = new TorrentCreate();
    assert.equal(draft.pathRoot, process.cwd());
    assert.equal(draft.info.name, path.basename(process.cwd()));
    assert.equal(draft.createdBy, CREATED_BY);
  });
});

/** Plain Buffers instead of the views that the decoder gives. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Map ? new Map([...value].map(([key, inner]) => [key, plain(inner)])) : value;
}

function fileOnDisk({ attr }: { attr: string }): Map<string, unknown> {
  return new Map<string, unknown>([
    ['attr', Buffer.from(attr)],
    ['length', 1],
    ['path', [Buffer.from('a')]],
  ]);
}

describe('a draft rejects', () => {
  it('invalid fields, all in one error', () => {
    const issues = issuesOf({
      announce: 5,
      comment: 5,
      createdBy: 5,
      creationDate: new Date(Number.NaN),
      info: { name: 5, private: 'yes', length: -1, files: [] },
      pathRoot: '',
      paths: [],
      pieceLength: 3,
      trackers: ['no URL'],
      urlList: ['no URL'],
      announceList: [[5]],
    });
    assert.deepEqual(
      issues.sort(),
      [
        'announce: type',
        'announceList.0.0: type',
        'comment: type',
        'createdBy: type',
        'creationDate: type',
        'info.files: type',
        'info.length: type',
        'info.name: type',
        'info.private: type',
        'pathRoot: path_root',
        'paths: no_duplicated_params',
        'paths: no_duplicated_params',
        'paths: paths',
        'pieceLength: piece_length',
        'trackers: no_duplicated_params',
        'trackers: url',
        'trackers: no_duplicated_params',
        'urlList: url',
      ].sort(),
    );
  });

  for (const pieceLength of [0, 3, -16_384, 24_576, 1.5, Number.NaN, '16384']) {
    it(`a piece length of ${JSON.stringify(pieceLength)}`, () => {
      assert.deepEqual(issuesOf({ pieceLength }), ['pieceLength: piece_length']);
      assert.deepEqual(issuesOf({ info: { pieceLength } }), ['info.pieceLength: piece_length']);
    });
  }

  it('a shorthand together with the field that it sets', () => {
    const files = [{ length: 1, path: ['a'] }];
    const pairs: [Fields, shorthand: string][] = [
      [{ paths: ['a'], info: { files } }, 'paths'],
      [{ paths: ['a'], info: { fileTree: new Map([['a', file(1)]]) } }, 'paths'],
      [{ paths: ['a'], info: { length: 1 } }, 'paths'],
      [{ trackers: [URL_A], announce: URL_A }, 'trackers'],
      [{ trackers: [URL_A], announceList: [[URL_A]] }, 'trackers'],
      [{ pieceLength: 16_384, info: { pieceLength: 16_384 } }, 'pieceLength'],
      [{ similar: ['a'.repeat(40)], info: { similar: [] } }, 'similar'],
      [{ collections: ['a'], info: { collections: ['a'] } }, 'collections'],
      [{ name: 'a', info: { name: 'a' } }, 'name'],
      [{ private: true, info: { private: false } }, 'private'],
      [{ source: 'a', info: { source: 'b' } }, 'source'],
      [{ updateUrl: URL_A, info: { updateUrl: URL_A } }, 'updateUrl'],
    ];
    for (const [fields, shorthand] of pairs) assert.deepEqual(issuesOf(fields), [`${shorthand}: no_duplicated_params`]);
  });

  it('a similar that is not a list', () => {
    assert.deepEqual(issuesOf({ similar: 5 }), ['similar: type']);
    assert.deepEqual(issuesOf({ similar: 'a'.repeat(40) }), ['similar: type']);
  });

  it('invalid similar infohashes and collections', () => {
    const wrong: [unknown, issue: string][] = [
      [{ info: { similar: ['a'.repeat(40), 'a'.repeat(39)] } }, 'info.similar.1: similar'],
      [{ similar: [Buffer.alloc(20), Buffer.alloc(33)] }, 'similar.1: similar'],
      [{ collections: ['a', 5] }, 'collections.1: type'],
      [{ collections: 'a' }, 'collections: type'],
      [{ info: { collections: [5] } }, 'info.collections.0: type'],
      [{ info: { updateUrl: 5 } }, 'info.updateUrl: type'],
      [{ info: { 'update-url': 'no url' } }, 'info.updateUrl: url'],
      [{ info: 5 }, 'info: type'],
      [{ exclude: 5 }, 'exclude: type'],
      [{ httpseeds: 'no url' }, 'httpseeds: url'],
      [{ httpseeds: [5] }, 'httpseeds.0: type'],
      [{ nodes: 5 }, 'nodes: type'],
      [{ nodes: ['a', 5] }, 'nodes.0: node, nodes.1: node'],
      ...[['a'], ['', 1], ['[::1]', 1], ['\ud800', 1], ['a', 0], ['a', 65_536], ['a', '1'], ['a', 1, 2]].map(
        (node): [unknown, string] => [{ nodes: [['::1', 65_535], ['b', 1], node] }, 'nodes.2: node'],
      ),
    ];
    for (const [fields, issue] of wrong)
      assert.deepEqual(issuesOf(fields as Fields).join(', '), issue, JSON.stringify(fields));
  });

  it('a path root without a name', () => {
    const advice = /give the torrent one \(name\)\.$/;
    assert.throws(() => new TorrentCreate({ pathRoot: '/' }), { code: 'ERR_NAME', path: '/', message: advice });
    assert.equal(new TorrentCreate({ pathRoot: '/', name: 'root' }).info.name, 'root');
    assert.equal(new TorrentCreate({ pathRoot: '/', info: { name: 'root' } }).info.name, 'root');
  });
});

describe('the path root of a draft', () => {
  it('is the current folder only where nobody gives undefined', () => {
    assert.equal(new TorrentCreate().pathRoot, process.cwd());
    assert.equal(new TorrentCreate({ paths: null, sources: null }).pathRoot, process.cwd());
    const missing: [fields: Record<string, unknown>, field: string][] = [
      [{ pathRoot: undefined }, 'pathRoot'],
      [{ pathRoot: undefined, paths: ['a'] }, 'pathRoot'],
      [{ paths: undefined }, 'paths'],
      [{ sources: undefined, paths: null }, 'sources'],
    ];
    for (const [fields, field] of missing) {
      assert.deepEqual(issuesOf(fields), [`${field}: path_root`]);
      assert.throws(() => new TorrentCreate(new Map(Object.entries(fields))), {
        message: /set pathRoot to process\.cwd\(\)/,
      });
    }
    for (const fields of [
      { paths: ['a'], sources: undefined },
      { pathRoot: '/srv', paths: undefined, sources: undefined },
    ])
      assert.ok(new TorrentCreate(fields));
  });

  it('is named in the plan, except where sources have all content', async (t) => {
    const draft = await draftOf(t, { a: 1 });
    assert.equal((await draft.plan()).pathRoot, draft.pathRoot);
    const sources = [{ path: 'a', data: Buffer.from('x') }];
    assert.equal((await new TorrentCreate({ sources }).plan()).pathRoot, null);
  });
});

describe('fields of the info dictionary beside it', () => {
  const sources = [{ path: 'a', data: Buffer.from('x') }];

  it('make the same torrent as in it', async () => {
    const fields = { name: 'My album', private: true, source: 's', updateUrl: URL_A };
    const beside = await new TorrentCreate({ sources, ...fields }).generate();
    const within = await new TorrentCreate({ sources, info: fields }).generate();
    assert.deepEqual(beside.bencode(), within.bencode());
    assert.equal(beside.name, 'My album');
    const some = new TorrentCreate({ sources, name: 'n', private: null, info: { source: 's' } });
    assert.deepEqual([some.info.name, some.info.source, some.info.private ?? null], ['n', 's', null]);
  });

  it('are left out where private is false and where a text is empty', async () => {
    const bare = await new TorrentCreate({ sources, createdBy: null }).generate();
    const empty: Fields[] = [
      { private: false },
      { info: { private: false } },
      { private: 0 },
      { source: '' },
      { info: { source: '' } },
      { source: new Uint8Array() },
      { comment: '' },
      { createdBy: '' },
      { 'created by': '' },
      { collections: [''] },
      { info: { collections: ['', ''] } },
      { private: false, source: '', comment: '', collections: [] },
    ] as Fields[];
    for (const fields of empty) {
      const by = Object.keys(fields).some((key) => /by/i.test(key)) ? {} : { createdBy: null };
      const draft = new TorrentCreate({ sources, ...by, ...fields });
      assert.deepEqual((await draft.generate()).bencode(), bare.bencode(), inspect(fields));
      assert.equal((await draft.plan()).torrentSize, bare.bencode().length, inspect(fields));
    }
    const { info } = await new TorrentCreate({ sources, collections: ['', 'a'] }).generate();
    assert.deepEqual(info.collections, ['a']);
  });

  it('keep what a decoded torrent has: a private of 0, and empty texts', async (t) => {
    const { pathRoot } = await draftOf(t, { a: 1 });
    const made = (info: unknown) => new TorrentCreate({ pathRoot, info } as Fields).generate({ version: 'v1' });
    const keysOf = (torrent: Torrent) => [...(decode(torrent.infoBytes).value as BencodeMap).keys()];
    assert.deepEqual(keysOf(await made({ private: 0 })), ['files', 'name', 'piece length', 'pieces', 'private']);
    const fields = { collections: [Buffer.from('')], private: 0, source: Buffer.from('') };
    const decoded = await made(new Map(Object.entries(fields)));
    const all = ['collections', 'files', 'name', 'piece length', 'pieces', 'private', 'source'];
    assert.deepEqual(keysOf(decoded), all);
    for (const same of [decoded.info, (decode(decoded.bencode()).value as BencodeMap).get('info')])
      assert.equal((await made(same)).infohashV1, decoded.infohashV1);
  });

  it('are errors that name the field, if they are invalid or belong into info alone', () => {
    assert.deepEqual(issuesOf({ private: 'yes', name: 5, source: [], updateUrl: 'no url' }), [
      'name: type',
      'private: type',
      'source: type',
      'updateUrl: url',
    ]);
    for (const field of [
      'length',
      'files',
      'fileTree',
      'file tree',
      'pieces',
      'meta version',
      'nameUtf8',
      'piece length',
    ])
      assert.deepEqual(issuesOf({ [field]: 1 }), [`${field}: misplaced`]);
    assert.ok(new TorrentCreate({ extra: { length: 1 } }));
  });

  it('have no place in info if they are no fields of it', () => {
    for (const field of ['announce', 'trackers', 'comment', 'created by', 'createdBy', 'pathRoot', 'url-list'])
      assert.deepEqual(issuesOf({ info: { [field]: 'x' } }), [`info.${field}: misplaced`]);
    const info = new Map([['comment', Buffer.from('x')]]);
    assert.ok(new TorrentCreate({ info } as Fields), 'a decoded torrent may have any key');
    assert.ok(new TorrentCreate({ info: { extra: info } } as Fields));
  });

  it('cannot be undefined under a misspelt name of the path root', () => {
    for (const key of ['path_root', 'pathroot', 'path'])
      assert.deepEqual(issuesOf({ [key]: undefined }), [`${key}: misspelled`]);
    assert.ok(
      new TorrentCreate({
        comment: undefined,
        extra: undefined,
        'created by': undefined,
        unknown: undefined,
      } as Fields),
    );
  });

  it('may have unknown keys, but no values that bencode does not have', () => {
    for (const value of [true, 1.5, new Date(), () => 1, [null], { a: undefined }]) {
      assert.deepEqual(issuesOf({ myFlag: value }), ['myFlag: type'], String(value));
      assert.deepEqual(issuesOf({ info: { x: value }, extra: { y: value } }), ['y: type', 'info.x: type']);
    }
    assert.ok(new TorrentCreate({ x: { y: [1, 'a', new Map()] }, nothing: null, extra: { none: null } } as Fields));
  });
});

describe('the name of a torrent', () => {
  it('is the name of the path root by default', async (t) => {
    assert.equal((await generate(t, {})).info.name, 'album');
    assert.equal((await generate(t, { info: { name: 'x' } })).info.name, 'x');
    const folder = await temporaryFolder(t);
    await writeTree(folder, { film: 1 });
    assert.equal((await new TorrentCreate({ pathRoot: `${folder}/film` }).generate()).info.name, 'film');
  });

  for (const name of ['', '.', '..', 'a/b', 'a\0b', '\ud800']) {
    it(`cannot be ${JSON.stringify(name)}`, async (t) => {
      await assert.rejects(generate(t, { info: { name } }), { code: 'ERR_NAME' });
    });
  }
});

describe('getTrackers', () => {
  const CASES: [Fields, object][] = [
    [{}, {}],
    [{ trackers: [] }, {}],
    [{ trackers: [[], []] }, {}],
    [{ trackers: [URL_A] }, { announce: URL_A }],
    [{ trackers: [[URL_A]] }, { announce: URL_A }],
    [{ trackers: [URL_A, URL_B] }, { announce: URL_A, 'announce-list': [[URL_A], [URL_B]] }],
    [{ trackers: [[], [URL_A, URL_B], [URL_C]] }, { announce: URL_A, 'announce-list': [[URL_A, URL_B], [URL_C]] }],
    [{ announce: URL_A }, { announce: URL_A }],
    [{ announceList: [[URL_B]] }, { 'announce-list': [[URL_B]] }],
    [
      { announce: URL_A, announceList: [[URL_B]] },
      { announce: URL_A, 'announce-list': [[URL_B]] },
    ],
  ];
  for (const [fields, expected] of CASES) {
    it(`gives ${JSON.stringify(expected)} for ${JSON.stringify(fields)}`, async (t) => {
      assert.deepEqual(new TorrentCreate(fields).getTrackers(), expected);
      const torrent = await dictionary(t, fields);
      assert.equal(torrent.has('announce'), 'announce' in expected);
      assert.equal(torrent.has('announce-list'), 'announce-list' in expected);
    });
  }
});

describe('getPaths', () => {
  const FILES = { B: 1, 'a-b/x': 1, 'a/x': 1, c: 1 };
  const tree: FileTree = new Map([['c', file(1)]]);

  it('uses the first of paths, fileTree, files and length', async (t) => {
    const info = { fileTree: tree, files: [{ length: 1, path: ['B'] }], name: 'a-b', length: 1 };
    const paths = async (fields: Fields) => (await draftOf(t, FILES, fields)).getPaths();
    assert.deepEqual(await paths({ paths: ['a'], info: { name: 'c' } }), ['a/x'], 'paths');
    assert.deepEqual(await paths({ info }), ['c'], 'file tree');
    assert.deepEqual(await paths({ info: { ...info, fileTree: null } }), ['B'], 'files');
    assert.deepEqual(await paths({ info: { name: 'c', length: 1 } }), ['c'], 'name and length');
    assert.deepEqual(await paths({ info: { name: 'c' } }), ['B', 'a/x', 'a-b/x', 'c'], 'the disk');
  });

  it('sorts in v2 or v1 order', async (t) => {
    const draft = await draftOf(t, FILES);
    assert.deepEqual(await draft.getPaths(), ['B', 'a/x', 'a-b/x', 'c']);
    assert.deepEqual(await draft.getPaths({ v1Order: true }), ['B', 'c', 'a-b/x', 'a/x']);
  });

  it('keeps the v1 order of a file list, and sorts `paths` as V1Hasher does', async (t) => {
    const given = await draftOf(t, { ...FILES, 'a/Y': 1 }, { paths: ['c', 'a', 'B'] });
    assert.deepEqual(await given.getPaths({ v1Order: true }), ['B', 'c', 'a/x', 'a/Y']);
    assert.deepEqual(await given.getPaths(), ['B', 'a/Y', 'a/x', 'c']);
    const files = ['c', 'B'].map((name) => ({ length: 1, path: [name] }));
    const paths = ['c', 'a/x', 'B', 'a/Y'];
    const { pathRoot } = given;
    const hasher = new V1Hasher({ paths, pathRoot, pieceLength: 16_384 });
    assert.deepEqual(await new TorrentCreate({ pathRoot, paths }).getPaths({ v1Order: true }), [...hasher.paths]);
    const listed = await draftOf(t, FILES, { info: { files } });
    assert.deepEqual(await listed.getPaths({ v1Order: true }), ['c', 'B']);
    const torrent = await listed.generate({ version: 'v1' });
    assert.deepEqual(
      torrent.files.map((one) => one.path),
      ['c', 'B'],
    );
    assert.deepEqual(
      (await listed.generate()).files.map((one) => one.path),
      ['B', 'c'],
    );
  });

  it('leaves pad files out of a given list', async (t) => {
    const files = [
      { length: 1, path: ['c'] },
      { length: 9, path: ['.pad', '9'], attr: 'p' },
      { length: 1, path: ['B'] },
    ];
    assert.deepEqual(await (await draftOf(t, FILES, { info: { files } })).getPaths({ v1Order: true }), ['c', 'B']);
  });

  it('accepts absolute paths and paths with ..', async (t) => {
    const { pathRoot } = await draftOf(t, FILES);
    const draft = new TorrentCreate({ pathRoot, paths: [`${pathRoot}/c`, './a/../B'] });
    assert.deepEqual(await draft.getPaths(), ['B', 'c']);
  });

  it('leaves out system files, like generate(), unless the draft names them', async (t) => {
    const files = { a: 1, '.DS_Store': 1, 'b/Thumbs.db': 1 };
    const draft = await draftOf(t, files);
    assert.deepEqual(await draft.getPaths(), ['a']);
    assert.equal((await draft.generate()).nFiles, 1);
    const named = await draftOf(t, files, { paths: ['a', '.DS_Store'] });
    assert.deepEqual(
      await named.getPaths(),
      (await named.generate()).files.map((one) => one.path),
    );
  });

  it('lists system files with clean: false', async (t) => {
    const draft = await draftOf(t, { a: 1, '.DS_Store': 1 });
    assert.deepEqual(await draft.getPaths({ clean: false }), ['.DS_Store', 'a']);
  });

  it('keeps given paths as they are with clean: false', async (t) => {
    const draft = await draftOf(t, FILES, { paths: ['c', 'a', 'B'] });
    assert.deepEqual(await draft.getPaths({ clean: false }), ['c', 'a', 'B']);
  });

  it('lists a path root that is a file by its name', async (t) => {
    const { pathRoot } = await draftOf(t, FILES);
    assert.deepEqual(await new TorrentCreate({ pathRoot: `${pathRoot}/c` }).getPaths(), ['c']);
  });

  for (const outside of ['../x', '/elsewhere', 'a/../../x']) {
    it(`rejects ${outside}, which is outside the path root`, async (t) => {
      await assert.rejects(draftOf(t, FILES, { paths: ['c', outside] }), ({ issues }: ValidationError) => {
        assert.deepEqual(
          issues.map((issue) => [issue.code, issue.path]),
          [['paths', ['paths', 1]]],
        );
        return true;
      });
    });
  }
});

describe('generate', () => {
  const before = process.env['SOURCE_DATE_EPOCH'];
  afterEach(() => {
    if (before === undefined) delete process.env['SOURCE_DATE_EPOCH'];
    else process.env['SOURCE_DATE_EPOCH'] = before;
  });

  it('makes a hybrid unless told otherwise', async (t) => {
    assert.equal((await generate(t, {})).torrentVersion, 'hybrid');
    for (const version of VERSIONS) assert.equal((await generate(t, {}, { version })).torrentVersion, version);
  });

  for (const version of ['v3', 'toString', '', null]) {
    it(`rejects the version ${version}`, async (t) => {
      const options = { version } as unknown as GenerateOptions;
      await assert.rejects(generate(t, {}, options), { code: 'ERR_INVALID_ARGUMENT', message: /v1, v2 or hybrid/ });
    });
  }

  it('accepts pieces below 16 KiB only in v1', async (t) => {
    for (const pieceLength of [1, KIB, 8 * KIB]) {
      assert.equal((await generate(t, { pieceLength }, { version: 'v1' })).info.pieceLength, pieceLength);
      for (const version of ['v2', 'hybrid'] as const) {
        for (const fields of [{ pieceLength }, { info: { pieceLength } }]) {
          await assert.rejects(generate(t, fields, { version }), { code: 'ERR_PIECE_LENGTH' });
        }
      }
    }
    await assert.rejects(generate(t, { pieceLength: 2 ** 32 }), { code: 'ERR_PIECE_LENGTH' });
  });

  it('rejects a folder without files, and files without content', async (t) => {
    const empty = await draftOf(t, {});
    await assert.rejects(empty.generate(), { code: 'ERR_NO_FILES', path: empty.pathRoot });
    const excluding = await draftOf(t, { a: 1 }, { exclude: () => true });
    await assert.rejects(excluding.generate(), { code: 'ERR_NO_FILES', path: excluding.pathRoot });
    const zeros = await draftOf(t, { a: 0, 'b/c': 0 });
    for (const version of VERSIONS) {
      await assert.rejects(zeros.generate({ version }), { code: 'ERR_NO_DATA', path: zeros.pathRoot });
    }
    const single = new TorrentCreate({ pathRoot: `${zeros.pathRoot}/a` });
    await assert.rejects(single.generate(), { code: 'ERR_NO_DATA', path: `${zeros.pathRoot}/a` });
    await assert.rejects(new TorrentCreate({ pathRoot: `${zeros.pathRoot}/x` }).generate(), {
      code: 'ERR_NOT_FOUND',
      path: `${zeros.pathRoot}/x`,
    });
  });

  for (const paths of [
    ['a', './a'],
    ['d', 'd/'],
  ]) {
    it(`rejects a file that is named twice: ${paths.join(' and ')}`, async (t) => {
      const draft = await draftOf(t, { a: 1, 'd/b': 1 }, { paths });
      await assert.rejects(draft.generate(), { code: 'ERR_DUPLICATE_PATH' });
    });
  }

  it('distinguishes a file from a folder with one file', async (t) => {
    for (const size of [1, 16 * KIB, 40 * KIB]) {
      const folder = await draftOf(t, { film: size }, { pieceLength: 16 * KIB });
      const single = new TorrentCreate({ pathRoot: `${folder.pathRoot}/film`, pieceLength: 16 * KIB });
      for (const version of ['v1', 'hybrid'] as const) {
        const ofFile = (await single.generate({ version })).info as InfoDictV1;
        assert.deepEqual([ofFile.name, ofFile.length, ofFile.files], ['film', size, null]);
        const ofFolder = (await folder.generate({ version })).info as InfoDictV1;
        assert.deepEqual([ofFolder.name, ofFolder.length], ['album', null]);
        assert.deepEqual(ofFolder.files, [{ attr: null, length: size, path: ['film'] }]);
      }
      for (const version of ['v2', 'hybrid'] as const) {
        for (const draft of [single, folder]) {
          const torrent = await draft.generate({ version });
          assert.deepEqual([...(torrent.flatFiles?.keys() ?? [])], ['film']);
        }
      }
    }
  });

  it('writes created by unless that is null', async (t) => {
    assert.match(CREATED_BY, /^metainfo \(\d+\.\d+\.\d+.*\)$/);
    assert.equal((await generate(t, {})).createdBy, CREATED_BY);
    assert.equal((await generate(t, { createdBy: null })).createdBy, null);
  });

  it('writes a creation date only if there is one', async (t) => {
    const dateOf = async (fields: Fields) => (await generate(t, fields)).creationDate?.toISOString() ?? null;
    process.env['SOURCE_DATE_EPOCH'] = '';
    assert.equal(await dateOf({}), null);
    assert.equal(await dateOf({ creationDate: new Date('2024-02-03T04:05:06.789Z') }), '2024-02-03T04:05:06.000Z');
    assert.equal(await dateOf({ creationDate: 86_400 }), '1970-01-02T00:00:00.000Z');
    process.env['SOURCE_DATE_EPOCH'] = '1700000000';
    assert.equal(await dateOf({}), '2023-11-14T22:13:20.000Z');
    assert.equal(await dateOf({ creationDate: new Date(0) }), '1970-01-01T00:00:00.000Z');
    for (const wrong of ['now', '-1', '1.5', '99999999999999']) {
      process.env['SOURCE_DATE_EPOCH'] = wrong;
      await assert.rejects(dateOf({}), { code: 'ERR_INVALID_ARGUMENT', message: /SOURCE_DATE_EPOCH/ });
    }
  });

  it('checks its options before it hashes', async (t) => {
    const engine = { ...nodeEngine(), start: () => assert.fail('hashing was started') };
    await assert.rejects(generate(t, { similar: ['xx'] }, { engine }), { code: 'ERR_VALIDATION' });
    process.env['SOURCE_DATE_EPOCH'] = 'now';
    await assert.rejects(generate(t, {}, { engine }), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('writes similar infohashes as bytes', async (t) => {
    const [short, long] = [Buffer.alloc(20, 1), Buffer.alloc(32, 2)];
    for (const similar of [
      [short, long],
      [short.toString('hex'), long.toString('hex').toUpperCase()],
    ]) {
      const info = (await dictionary(t, { similar })).get('info') as BencodeMap;
      assert.deepEqual(plain(info.get('similar')), [short, long]);
    }
    for (const wrong of [Buffer.alloc(19), 'ab', 'z'.repeat(40), 5]) {
      await assert.rejects(generate(t, { similar: [wrong] }), { code: 'ERR_VALIDATION', message: /similar/ });
    }
  });

  it('writes webseeds, private and source only if given', async (t) => {
    const bare = await dictionary(t, { urlList: [] });
    assert.deepEqual([...bare.keys()], ['created by', 'info', 'piece layers']);
    assert.deepEqual(
      [...(bare.get('info') as BencodeMap).keys()],
      ['file tree', 'files', 'meta version', 'name', 'piece length', 'pieces'],
    );
    assert.deepEqual((await generate(t, { urlList: URL_B })).urlList, [URL_B]);
    assert.deepEqual((await dictionary(t, { urlList: [URL_B] })).get('url-list'), Buffer.from(URL_B));
    const marked = await generate(t, { info: { private: true, source: 'S' } });
    assert.deepEqual([marked.info.private, marked.info.source], [true, 'S']);
    assert.notEqual((await generate(t, { info: { source: 'T' } })).infohashV1, marked.infohashV1);
  });

  it('writes only keys of its version', async (t) => {
    const keys = async (version: 'v1' | 'v2') => {
      const torrent = await dictionary(t, {}, { version });
      return [...torrent.keys(), ...(torrent.get('info') as BencodeMap).keys()];
    };
    assert.deepEqual(await keys('v1'), ['created by', 'info', 'files', 'name', 'piece length', 'pieces']);
    const v2 = ['created by', 'info', 'piece layers', 'file tree', 'meta version', 'name', 'piece length'];
    assert.deepEqual(await keys('v2'), v2);
  });

  it('pads v1 with padding: true, and leaves out the tail pad with tailPad: false', async (t) => {
    const padsOf = async (options: GenerateOptions) => {
      const draft = await draftOf(t, { a: 1, b: 0, c: 2 }, { pieceLength: 16 * KIB });
      const { files } = (await draft.generate(options)).info as InfoDictV1;
      return files?.map(({ path: parts, length }) => `${parts.join('/')} ${length}`);
    };
    assert.deepEqual(await padsOf({ version: 'v1' }), ['a 1', 'b 0', 'c 2']);
    // Like libtorrent: with a tail pad, pad files follow each file; without, they precede the next file with content.
    const before = ['a 1', 'b 0', '.pad/16383 16383', 'c 2'];
    assert.deepEqual(await padsOf({ version: 'v1', padding: true, tailPad: false }), before);
    assert.deepEqual(await padsOf({ tailPad: false }), before);
    assert.deepEqual(await padsOf({}), ['a 1', '.pad/16383 16383', 'b 0', 'c 2', '.pad/16382 16382']);
  });

  for (const threads of [0, -1, 1.5, 2000, Number.NaN, '2']) {
    it(`rejects threads: ${JSON.stringify(threads)}`, async (t) => {
      const options = { threads } as GenerateOptions;
      await assert.rejects(generate(t, {}, options), { code: 'ERR_INVALID_ARGUMENT', message: /threads/ });
    });
  }

  it('accepts threads: null and limits of memory', async (t) => {
    const draft = await draftOf(t, { a: 300 * KIB, b: 5 }, { pieceLength: 32 * KIB });
    const expected = (await draft.generate()).infohashV2;
    for (const options of [
      { threads: null },
      { threads: 1024 },
      { readSize: 16 * KIB },
      { readSize: null, memoryLimit: null },
      { readSize: 2 ** 20, memoryLimit: 2 ** 20, threads: 8 },
      { memoryLimit: 16 * KIB, threads: 8 },
      { memoryLimit: 100_000, threads: 3 },
    ]) {
      assert.equal((await draft.generate(options)).infohashV2, expected, JSON.stringify(options));
    }
  });

  for (const options of [
    { readSize: 8 * KIB },
    { readSize: 48 * KIB },
    { readSize: 0 },
    { memoryLimit: 16 * KIB - 1 },
    { memoryLimit: Number.POSITIVE_INFINITY },
    { readSize: 2 ** 21, memoryLimit: 2 ** 20 },
  ]) {
    it(`rejects ${JSON.stringify(options)}`, async (t) => {
      await assert.rejects(generate(t, {}, options), { code: 'ERR_INVALID_ARGUMENT', message: /readSize|memoryLimit/ });
    });
  }

  it('makes the same torrent twice', async (t) => {
    const draft = await draftOf(t, { a: 1, 'b/c': 100_000 });
    for (const version of VERSIONS) {
      const [first, second] = [await draft.generate({ version }), await draft.generate({ version })];
      assert.deepEqual(first.bencode(), second.bencode());
    }
  });

  it('reports progress that grows up to the total', async (t) => {
    const pathRoot = await sparseFile(await temporaryFolder(t), 'big', 2 ** 30);
    const seen: Progress[] = [];
    await new TorrentCreate({ pathRoot }).generate({ threads: 2, onProgress: (progress) => seen.push(progress) });
    assert.ok(seen.length >= 2, `${seen.length} reports`);
    for (const [i, { bytes, totalBytes, seconds }] of seen.entries()) {
      const last = seen[i - 1] ?? { bytes: 0, seconds: 0 };
      assert.ok(bytes >= last.bytes && seconds > last.seconds, `report ${i}`);
      assert.equal(totalBytes, 2 ** 30);
    }
    assert.equal(seen.at(-1)?.bytes, 2 ** 30);
  });

  it('names the file in its progress', async (t) => {
    const draft = await draftOf(t, { 'a/b': 1 });
    const seen: string[] = [];
    await draft.generate({ onProgress: ({ file: name }) => seen.push(name) });
    assert.deepEqual(seen, ['a/b']);
    const single = new TorrentCreate({ pathRoot: path.join(draft.pathRoot, 'a/b') });
    await single.generate({ onProgress: ({ file: name }) => seen.push(name) });
    assert.deepEqual(seen, ['a/b', 'b']);
  });
});

describe('a size or hash in a draft', () => {
  const FILES = { a: 20_000, b: 5 };

  /** The sizes and hashes of the files, as input of a draft. */
  async function hashed(t: TestContext, version: 'v1' | 'hybrid') {
    const draft = await draftOf(t, FILES, { pieceLength: 16 * KIB });
    const { info, pieceLayers } = await draft.generate({ version });
    return { pathRoot: draft.pathRoot, info: { ...(info as InfoDictV1 & { fileTree: FileTree }) }, pieceLayers };
  }

  it('is kept if it matches', async (t) => {
    for (const version of ['v1', 'hybrid'] as const) {
      const { pathRoot, info, pieceLayers } = await hashed(t, version);
      const again = await new TorrentCreate({ pathRoot, info, pieceLayers }).generate({ version });
      assert.deepEqual((again.info as InfoDictV1).pieces, info.pieces);
      assert.deepEqual((again.info as InfoDictV1).files, info.files);
    }
  });

  const WRONG: Record<string, (good: Awaited<ReturnType<typeof hashed>>) => Fields> = {
    pieces: ({ info }) => ({ info: { ...info, pieces: new HashList(new Uint8Array(info.pieces.bytes.length), 20) } }),
    'a length': ({ info }) => ({
      info: { ...info, files: info.files?.map((one) => ({ ...one, length: one.length + 1 })) },
    }),
    'a pieces root': ({ info }) => ({
      info: { ...info, fileTree: new Map(info.fileTree).set('b', file(5, Buffer.alloc(32, 1))) },
    }),
    'a length in the tree': ({ info }) => ({ info: { ...info, fileTree: new Map(info.fileTree).set('b', file(6)) } }),
    'a piece layer': ({ info, pieceLayers }) => ({
      info,
      pieceLayers: new Map([...(pieceLayers ?? [])].map(([root]) => [root, new HashList(new Uint8Array(64), 32)])),
    }),
  };
  for (const [what, wrong] of Object.entries(WRONG)) {
    it(`fails if ${what} does not match`, async (t) => {
      const good = await hashed(t, 'hybrid');
      const draft = new TorrentCreate({ pathRoot: good.pathRoot, ...wrong(good) });
      await assert.rejects(draft.generate(), { code: 'ERR_HASH_MISMATCH' });
    });
  }

  it('fails if the number of pieces does not match the files', async (t) => {
    const { pathRoot, info } = await hashed(t, 'hybrid');
    const pieces = new HashList(new Uint8Array(20), 20);
    assert.throws(() => new TorrentCreate({ pathRoot, info: { ...info, pieces } }), {
      code: 'ERR_VALIDATION',
      issues: [
        {
          code: 'expected_n_pieces',
          severity: 'error',
          path: ['info', 'pieces'],
          message: 'expected 3 pieces (49152 bytes in pieces of 16384), got 1',
          spec: 'BEP 3',
        },
      ],
    });
  });

  it('fails if the length of a single file does not match, in every version', async (t) => {
    const { pathRoot } = await draftOf(t, FILES);
    for (const version of VERSIONS) {
      const draft = new TorrentCreate({ pathRoot, info: { name: 'b', length: 6 } });
      await assert.rejects(draft.generate({ version }), { code: 'ERR_HASH_MISMATCH' }, version);
    }
  });

  it('fails if it names a file that does not exist', async (t) => {
    const draft = await draftOf(t, FILES, { info: { files: [{ length: 1, path: ['c'] }] } });
    await assert.rejects(draft.generate(), { code: 'ERR_NOT_FOUND', path: path.join(draft.pathRoot, 'c') });
  });
});
