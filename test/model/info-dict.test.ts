import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assign, create, is, omit, type Struct, string, type, union, validate } from 'superstruct';
import {
  type Encodable,
  encode,
  FileItem,
  FileTree,
  HashList,
  InfoDict,
  InfoDictHybrid,
  InfoDictHybridCreate,
  InfoDictV1,
  InfoDictV1Base,
  InfoDictV2,
  InfoDictV2Base,
  RawBencode,
  Torrent,
  type TorrentBase,
  TorrentCreate,
  type ValidationError,
  withRules,
} from '../../src/index.ts';

const K16 = 2 ** 14;
const sha1 = (count: number) => new HashList(Buffer.alloc(20 * count, 1), 20);
const leaf = (length: number) => new Map([['', { length, piecesRoot: Buffer.alloc(32, 1) }]]);
const tree = (entries: Record<string, number>): FileTree =>
  new Map(Object.entries(entries).map(([name, length]) => [name, leaf(length)]));

const V1 = { name: 'a', pieceLength: K16, pieces: sha1(2), length: 2 * K16 };
const V2 = { name: 'a', pieceLength: K16, fileTree: tree({ a: 2 * K16 }) };
const HYBRID = { ...V1, fileTree: V2.fileTree };
const PAIR = [
  { length: 1, path: ['a'] },
  { length: K16 - 1, path: ['.pad', String(K16 - 1)], attr: 'p' },
  { length: K16, path: ['b'] },
];
const FOLDER = { name: 'x', pieceLength: K16, pieces: sha1(2), files: PAIR };
const HYBRID_FOLDER = { ...FOLDER, fileTree: tree({ a: 1, b: K16 }) };
const UNPADDED = [PAIR[0], { length: 2 * K16 - 1, path: ['b'] }];

/** The rule of each failure (none for a wrong type) and its path. */
function failures(value: unknown, struct: unknown): [rule: string | undefined, at: string][] {
  const [error] = validate(value, struct as Struct<unknown>);
  return (error?.failures() ?? []).map(({ refinement, path }) => [refinement, path.join('.')]);
}

describe('the infodict models', () => {
  const cases: [name: string, struct: unknown, value: object, expected: [rule: string | undefined, at: string][]][] = [
    ['InfoDictV1: a single file', InfoDictV1, V1, []],
    ['InfoDictV1: a folder', InfoDictV1, FOLDER, []],
    [
      'InfoDictV1: nine pieces instead of two',
      InfoDictV1,
      { ...V1, pieces: sha1(9) },
      [['expected_n_pieces', 'pieces']],
    ],
    ['InfoDictV1: length and files', InfoDictV1, { ...FOLDER, length: 2 * K16 }, [['length_xor_files', '']]],
    ['InfoDictV1: neither length nor files', InfoDictV1, { ...V1, length: null }, [['length_xor_files', '']]],
    ['InfoDictV1: a file tree', InfoDictV1, HYBRID, [['disallowed_fields', 'fileTree']]],
    ['InfoDictV1: a meta version', InfoDictV1, { ...V1, metaVersion: 2 }, [['disallowed_fields', 'metaVersion']]],
    ['InfoDictV1: files that are not aligned', InfoDictV1, { ...FOLDER, files: UNPADDED }, []],
    ['InfoDictV1: no name', InfoDictV1, { ...V1, name: undefined }, [[undefined, 'name']]],
    ['InfoDictV1Base: only a piece length', InfoDictV1Base, { pieceLength: null }, []],
    [
      'InfoDictV1Base: a wrong number of pieces',
      InfoDictV1Base,
      { ...V1, pieces: sha1(1) },
      [['expected_n_pieces', 'pieces']],
    ],
    ['InfoDictV1Base: a file tree', InfoDictV1Base, HYBRID, [['disallowed_fields', 'fileTree']]],
    ['InfoDictV2: a file', InfoDictV2, V2, []],
    ['InfoDictV2: pieces', InfoDictV2, { ...V2, pieces: sha1(2) }, [['disallowed_fields', 'pieces']]],
    ['InfoDictV2: a length', InfoDictV2, { ...V2, length: 1 }, [['disallowed_fields', 'length']]],
    ['InfoDictV2: files', InfoDictV2, { ...V2, files: PAIR }, [['disallowed_fields', 'files']]],
    [
      'InfoDictV2Base: pieces',
      InfoDictV2Base,
      { pieceLength: null, pieces: sha1(2) },
      [['disallowed_fields', 'pieces']],
    ],
    ['InfoDictHybrid: a single file', InfoDictHybrid, HYBRID, []],
    ['InfoDictHybrid: a folder', InfoDictHybrid, HYBRID_FOLDER, []],
    [
      'InfoDictHybrid: different sizes in v1 and v2',
      InfoDictHybrid,
      { ...HYBRID, fileTree: tree({ a: 5 }) },
      [['v1_v2_files_match', 'length']],
    ],
    [
      'InfoDictHybrid: different orders in v1 and v2',
      InfoDictHybrid,
      { ...HYBRID_FOLDER, fileTree: tree({ b: K16, a: 1 }) },
      [['v1_v2_files_match', 'files']],
    ],
    [
      'InfoDictHybrid: pieces for one pad file too many',
      InfoDictHybrid,
      { ...HYBRID, pieces: sha1(3) },
      [['expected_n_pieces', 'pieces']],
    ],
    ['InfoDictHybridCreate: nothing', InfoDictHybridCreate, {}, []],
    [
      'InfoDictHybridCreate: without the pad files that are added later',
      InfoDictHybridCreate,
      { ...FOLDER, files: [PAIR[0], PAIR[2]] },
      [],
    ],
    [
      'InfoDictHybridCreate: a wrong number of pieces',
      InfoDictHybridCreate,
      { ...V1, pieces: sha1(9) },
      [['expected_n_pieces', 'pieces']],
    ],
  ];
  for (const [name, struct, value, expected] of cases) {
    it(`${expected.length === 0 ? 'accept' : 'reject'} ${name}`, () =>
      assert.deepEqual(failures(value, struct), expected));
  }

  it('reject a hybrid whose files are not aligned', () => {
    const value = { ...HYBRID_FOLDER, files: UNPADDED, fileTree: tree({ a: 1, b: 2 * K16 - 1 }) };
    assert.deepEqual(failures(value, InfoDictHybrid)[0], ['padfile_alignment', 'files.1']);
  });
});

describe('composed infodict models', () => {
  it('select the version in a union, in any order', () => {
    for (const Any of [
      union([InfoDictV1, InfoDictV2, InfoDictHybrid]),
      union([InfoDictHybrid, InfoDictV2, InfoDictV1]),
    ]) {
      for (const value of [V1, V2, HYBRID, HYBRID_FOLDER]) assert.ok(is(value, Any));
      assert.ok(!is({ ...HYBRID, pieces: sha1(3) }, Any));
    }
    const passes = (value: unknown) =>
      [InfoDictV1, InfoDictV2, InfoDictHybrid].map((struct) => is(value, struct as never));
    assert.deepEqual([V1, V2, HYBRID].map(passes), [
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]);
  });

  it('report the errors of the selected model alone (InfoDict)', () => {
    assert.deepEqual(failures({ ...V2, pieceLength: 5 }, InfoDict), [[undefined, 'pieceLength']]);
    assert.deepEqual(failures({ ...V1, pieces: sha1(9) }, InfoDict), [['expected_n_pieces', 'pieces']]);
    assert.deepEqual(failures({ name: 'a' }, InfoDict), [[undefined, '']]);
  });

  it('lose their rules by assign and omit, and get them back by withRules', () => {
    const Sourced = assign(InfoDictV1, type({ source: string() }));
    const wrong = { ...V1, pieces: sha1(9), source: 's' };
    assert.deepEqual(failures(wrong, Sourced), []);
    assert.deepEqual(failures(wrong, withRules(Sourced, 'v1')), [['expected_n_pieces', 'pieces']]);
    assert.deepEqual(failures({ ...V1 }, withRules(Sourced, 'v1')), [[undefined, 'source']]);
    const Nameless = withRules(omit(InfoDictV1, ['name']), 'v1');
    assert.ok(is({ ...V1, name: undefined }, Nameless));
    assert.deepEqual(failures({ ...HYBRID, name: undefined }, Nameless), [['disallowed_fields', 'fileTree']]);
  });

  it('check padfile_alignment as the context of withRules says', () => {
    const short = { length: 1, path: ['.pad', '1'], attr: 'p' };
    const value = { ...FOLDER, files: [PAIR[0], { length: 2 * K16 - 2, path: ['b'] }, short] };
    assert.ok(is(value, InfoDictV1));
    assert.deepEqual(failures(value, withRules(InfoDictV1, 'v1', { padding: 'strict' })), [
      ['padfile_alignment', 'files.1'],
    ]);
    assert.ok(is({ ...FOLDER, files: UNPADDED }, withRules(InfoDictV1, 'v1', { padding: 'strict' })));
    const hybrid = { ...HYBRID_FOLDER, files: UNPADDED, fileTree: tree({ a: 1, b: 2 * K16 - 1 }) };
    const Loose = withRules(type(InfoDictHybrid.schema), 'hybrid', { padding: 'ignore' });
    assert.ok(!failures(hybrid, Loose).some(([rule]) => rule === 'padfile_alignment'));
    assert.throws(() => withRules(InfoDictV1, 'v1', { pading: 'strict' } as never), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

describe('the rules of a draft', () => {
  const codes = (fields: object) => {
    try {
      new TorrentCreate(fields);
      return [];
    } catch (error) {
      return (error as ValidationError).issues.map(({ code, path }) => `${code} ${path.join('.')}`);
    }
  };

  it('check the number of pieces', () => {
    assert.deepEqual(codes({ info: { ...V1, pieces: sha1(9) } }), ['expected_n_pieces info.pieces']);
    assert.deepEqual(codes({ info: V1 }), []);
  });

  it('count pieces by the pieceLength of the draft, with the pad files that are added later', () => {
    const { pieceLength, ...info } = FOLDER;
    assert.deepEqual(codes({ pieceLength, info: { ...info, files: [PAIR[0], PAIR[2]] } }), []);
    assert.deepEqual(codes({ pieceLength: K16 / 2, info }), ['expected_n_pieces info.pieces']);
  });
});

describe('create with the infodict models', () => {
  const onDisk = { name: 'a', 'piece length': K16, length: 2 * K16, 'x-unknown': 1 };

  it('accepts on-disk keys, Maps and packed hashes, and returns properties', () => {
    const pieces = Buffer.alloc(40, 1);
    for (const input of [
      { ...onDisk, pieces },
      new Map<string, unknown>(Object.entries({ ...onDisk, pieces })),
      new Map<Buffer, unknown>(Object.entries({ ...onDisk, pieces }).map(([key, value]) => [Buffer.from(key), value])),
      { ...onDisk, pieces: [pieces.subarray(0, 20), pieces.subarray(20)] },
    ]) {
      const { pieceLength, pieces: list, extra, ...rest } = create(input, InfoDictV1);
      assert.deepEqual([pieceLength, list.length, extra], [K16, 2, new Map([['x-unknown', 1]])]);
      assert.deepEqual(rest, {
        ...{ name: 'a', length: 2 * K16, files: null, source: null, private: null, nameUtf8: null },
        ...{ similar: null, collections: null, updateUrl: null },
      });
    }
    assert.throws(() => create({ ...onDisk, pieces: Buffer.alloc(60) }, InfoDictV1), {
      refinement: 'expected_n_pieces',
    });
    assert.throws(() => create({ ...onDisk, pieces: [Buffer.alloc(19), Buffer.alloc(21)] }, InfoDictV1), {
      key: 'pieces',
    });
  });

  it('sorts a file tree, and reads an absent meta version as 2', () => {
    const file = { '': { length: K16, 'pieces root': Buffer.alloc(32, 1) } };
    const input = {
      name: 'x',
      'piece length': K16,
      'file tree': { z: file, 'b-': file, a: { '\u{1f600}': file, '\u{e000}': file } },
    };
    const { metaVersion, fileTree } = create(input, InfoDictV2);
    assert.equal(metaVersion, 2);
    assert.deepEqual([...fileTree.keys()], ['a', 'b-', 'z']);
    assert.deepEqual([...(fileTree.get('a') as FileTree).keys()], ['\u{e000}', '\u{1f600}']);
    assert.deepEqual(fileTree, create(input['file tree'], FileTree));
    assert.equal(create({}, InfoDictHybridCreate).metaVersion, 2);
  });

  it('accepts a file under on-disk keys, and sets an absent attr to null', () => {
    const input = { length: 1, path: ['a'], 'path.utf-8': ['b'] };
    assert.deepEqual(create(input, FileItem), { length: 1, path: ['a'], pathUtf8: ['b'], attr: null });
  });

  it('accepts property names alone after omit and assign, and on-disk keys again after withRules', () => {
    const Nameless = omit(InfoDictV1, ['name']);
    const input = { ...onDisk, pieces: Buffer.alloc(40, 1) };
    assert.throws(() => create(input, Nameless), { key: 'pieceLength' });
    assert.equal(create(input, withRules(Nameless, 'v1')).pieceLength, K16);
  });
});

describe('torrent.info', () => {
  it('has null for absent fields and 2 for an absent meta version, and does not change the bytes', () => {
    const info = encode(
      new Map<string, Encodable>([
        [
          'file tree',
          new Map([
            [
              'a',
              new Map([
                [
                  '',
                  new Map<string, Encodable>([
                    ['length', 1],
                    ['pieces root', Buffer.alloc(32, 1)],
                  ]),
                ],
              ]),
            ],
          ]),
        ],
        ['name', 'a'],
        ['piece length', K16],
      ]),
    );
    const bytes = encode(
      new Map<string, Encodable>([
        ['info', new RawBencode(info)],
        ['piece layers', new Map()],
      ]),
    );
    const torrent = Torrent.fromBytes(bytes) as TorrentBase<'v2'>;
    const { source, nameUtf8, similar, updateUrl, metaVersion, extra } = torrent.info;
    assert.deepEqual([source, nameUtf8, torrent.info.private, similar, updateUrl], [null, null, null, null, null]);
    assert.deepEqual([metaVersion, extra], [2, new Map()]);
    assert.ok(is(torrent.info, InfoDictV2));
    const { pieceLayers } = torrent;
    for (const copy of [torrent.info, { ...torrent.info }])
      assert.equal(Torrent.fromDecoded({ info: copy, pieceLayers }).infohashV2, torrent.infohashV2);
  });
});
