// Section 1 of the interface: every model takes decoded dictionaries, aliases and property names, and keeps unknown keys.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, is, type Struct, validate } from 'superstruct';
import {
  type BencodeMap,
  decode,
  encode,
  FileItem,
  FileList,
  FileTree,
  InfoDict,
  InfoDictHybrid,
  InfoDictHybridCreate,
  InfoDictV1,
  InfoDictV1Base,
  InfoDictV1Create,
  InfoDictV2,
  InfoDictV2Base,
  InfoDictV2Create,
  PieceLayers,
  Torrent,
  TorrentCreate,
  TorrentCreateFields,
  TorrentFields,
  type ValidationError,
  withRules,
} from '../../src/index.ts';
import {
  A,
  B,
  type Bencode,
  bencode,
  both,
  folder,
  LAYER,
  layers,
  leaf,
  long,
  PAD_A,
  ROOT,
  single,
  torrent,
  v2,
  withLayers,
} from '../support/build.ts';
import { H32, hashes, V1, V1_FOLDER, V2 } from './models.ts';

const TOP = {
  announce: 'http://a.example/',
  'announce-list': [['http://a.example/'], ['udp://b.example:1/x']],
  comment: Buffer.from('caf\xe9', 'latin1'),
  'created by': 'me',
  'creation date': 9,
  httpseeds: ['http://h.example/'],
  nodes: [['a.example', 6881]],
  'url-list': 'http://w.example/',
  'x-unknown': { '\u00e9': 1 },
};
const EXTRAS = {
  private: 1,
  source: 's',
  'x-info': Buffer.from([0xff]),
  collections: ['c'],
  similar: [Buffer.alloc(20, 3)],
};
const PADDED = folder([{ ...A, attr: 'x' }, PAD_A, B], EXTRAS);
const TREE = v2({ '\u00e9': leaf(5), b: { '\u{1f600}': leaf(6, { attr: 'x' }) } }, EXTRAS);

const TORRENTS: [name: string, bytes: Buffer, info: Struct<never, never>][] = [
  ['v1', torrent(PADDED, TOP), InfoDictV1 as never],
  ['a single file', torrent({ ...single, ...EXTRAS }, TOP), InfoDictV1 as never],
  ['v2', withLayers(TREE, {}, TOP), InfoDictV2 as never],
  ['v2 with layers', withLayers(long, layers([ROOT, LAYER]), TOP), InfoDictV2 as never],
  ['hybrid', withLayers({ ...both, ...EXTRAS }, {}, TOP), InfoDictHybrid as never],
];

/** `path: rule` of each failure of `create`. */
function failuresOf(value: unknown, struct: unknown): string[] {
  const [error] = validate(value, struct as Struct<unknown>, { coerce: true });
  return (error?.failures() ?? []).map(({ path, refinement }) => `${path.join('.')}: ${refinement}`);
}

describe('1 A decoded dictionary', () => {
  for (const [name, bytes, Info] of TORRENTS) {
    const read = Torrent.fromBytes(bytes);
    const { value } = decode(bytes) as { value: BencodeMap };
    const dump = read.modelDumpTorrent();

    it(`of the info of ${name} makes its model`, () => {
      for (const info of [value.get('info'), decode(read.infoBytes).value, dump['info']]) {
        for (const struct of [Info, InfoDict]) {
          const { extra, ...model } = create(info, struct as never as Struct<Record<string, unknown>>);
          const { extra: ofTorrent, ...expected } = { ...read.info } as Record<string, unknown>;
          assert.deepEqual(
            { ...expected, ...model },
            { ...expected, ...('metaVersion' in model && { metaVersion: 2 }) },
          );
          assert.deepEqual(extra ?? new Map(), ofTorrent);
        }
      }
    });

    it(`of the torrent ${name} makes its fields`, () => {
      for (const given of [value, dump, read.modelDumpTorrent({ mode: 'binary' })]) {
        const {
          info: _,
          pieceLayers: __,
          extra,
          similar: ___,
          collections: ____,
          ...fields
        } = create(given, TorrentFields);
        for (const [field, entry] of Object.entries(fields))
          assert.deepEqual(entry, read[field as keyof Torrent], field);
        assert.deepEqual(encode(extra ?? {}), encode(read.extra));
      }
    });

    it(`of the torrent ${name} makes a draft`, () => {
      for (const given of [value, new Map(Object.entries(dump))]) {
        const draft = new TorrentCreate(given);
        assert.deepEqual([draft.info.name, draft.info.private ?? null], [read.name, read.info.private]);
        assert.deepEqual(draft.fields.announceList ?? null, read.announceList);
        assert.ok(is(create(given, TorrentCreateFields), TorrentCreateFields));
      }
    });

    it(`dumped from the torrent ${name} encodes to the same bytes`, () => {
      assert.deepEqual(Buffer.from(encode(dump)), bytes);
      assert.deepEqual(Buffer.from(encode(read.modelDumpTorrent({ mode: 'binary' }))), bytes);
    });
  }

  it('makes the models of a draft, also where a key is missing', () => {
    const info = decode(Torrent.fromBytes(torrent(PADDED)).infoBytes).value as BencodeMap;
    info.delete('pieces');
    for (const struct of [InfoDictV1Base, InfoDictV1Create, InfoDictHybridCreate])
      assert.equal(create(info, struct as Struct<{ private: unknown }>).private, true);
    const tree = decode(bencode({ ...TREE, name: undefined })).value;
    for (const struct of [InfoDictV2Base, InfoDictV2Create, InfoDictHybridCreate])
      assert.equal(create(tree, struct as Struct<{ name: unknown }>).name, null);
  });

  it('makes files, file trees and piece layers', () => {
    const decoded = (value: Bencode) => decode(bencode(value)).value;
    const file = { length: 5, path: ['\u00e9', 'x'], attr: Buffer.from([0x78, 0xff]) };
    const link = { attr: 'l', path: ['l'], 'symlink path': ['a'] };
    assert.deepEqual(create(decoded(file), FileItem), { length: 5, path: ['\u00e9', 'x'], attr: 'x\xff' });
    assert.deepEqual(create(decoded([file, link, { length: 3, attr: 'p' }]), FileList), [
      { length: 5, path: ['\u00e9', 'x'], attr: 'x\xff' },
      { length: 0, path: ['l'], attr: 'l', symlinkPath: ['a'] },
      { length: 3, path: [], attr: 'p' },
    ]);
    const leafOf = (length: number) => new Map([['', { length }]]);
    const tree = create(decoded({ '\u00e9': { '': { length: 0 } }, Z: { '': { length: 1 } } }), FileTree);
    assert.deepEqual(
      [...tree],
      [
        ...new Map([
          ['Z', leafOf(1)],
          ['\u00e9', leafOf(0)],
        ]),
      ],
    );
    assert.deepEqual(create(tree, FileTree), tree);
    const [[root, layer] = []] = [...create(decode(bencode(layers([ROOT, LAYER]))).value, PieceLayers)];
    assert.deepEqual([root, Buffer.from(layer?.bytes ?? [])], [ROOT.toString('hex'), Buffer.from(LAYER)]);
  });

  it('draws a name from name.utf-8 where the name is not UTF-8', () => {
    const latin1 = Buffer.from('caf\xe9', 'latin1');
    const info = { ...single, name: latin1, 'name.utf-8': 'caf\u00e9' };
    assert.equal(create(decode(bencode(info)).value, InfoDictV1).name, 'caf\u00e9');
    assert.deepEqual(failuresOf(decode(bencode({ ...single, name: latin1 })).value, InfoDictV1), ['name: undefined']);
  });
});

describe('1 A struct', () => {
  it('reports what the constructor reports', () => {
    const given = { 'created by': 'a', createdBy: 'b', extra: 5, piecelength: 1, length: 3, pathRoot: undefined };
    const issuesOf = (fields: object) => {
      try {
        new TorrentCreate(fields);
      } catch (error) {
        return (error as ValidationError).issues.map(({ code, path }) => `${path.join('.')}: ${code}`);
      }
      return [];
    };
    const expected = [
      'createdBy: alias',
      'extra: type',
      'length: misplaced',
      'pathRoot: path_root',
      'piecelength: misspelled',
    ];
    assert.deepEqual(issuesOf(given).sort(), expected);
    assert.deepEqual(failuresOf(given, TorrentCreateFields).sort(), expected);
    const torrentFields = { info: V1, 'created by': 'a', createdBy: 'b', anounce: 'c' };
    assert.deepEqual(failuresOf(torrentFields, TorrentFields), ['createdBy: alias', 'anounce: misspelled']);
    assert.deepEqual(failuresOf({ info: { ...V1, privat: 1 } }, TorrentFields), ['info.privat: misspelled']);
    assert.deepEqual(failuresOf({ ...V1, 'meta version': 1, metaVersion: 1 }, InfoDictV1)[0], 'metaVersion: alias');
    assert.deepEqual(failuresOf({ length: 1, path: ['a'], lenght: 1, extra: 9 }, FileItem), [
      'lenght: misspelled',
      'extra: type',
    ]);
  });

  it('refuses what the reader refuses', () => {
    const treeOf = (item: unknown) => ({ ...V2, fileTree: new Map([['a', new Map([['', item]])]]) });
    const file = (changes: object) => ({
      ...V1_FOLDER,
      pieces: hashes(1),
      files: [{ length: 5, path: ['a'], ...changes }],
    });
    const wrong: (readonly [value: unknown, struct: unknown])[] = [
      ...[[], Buffer.alloc(5), [1], { length: 5, piecesRoot: H32, attr: 'p' }].map(
        (item) => [treeOf(item), InfoDictV2] as const,
      ),
      ...[
        { symlinkPath: 7 },
        { extra: 9 },
        { attr: 1 },
        { piecesRoot: 'x' },
        { attr: 'l', length: 0, piecesRoot: null },
      ].map((changes) => [treeOf({ length: 5, piecesRoot: H32, ...changes }), InfoDictV2] as const),
      ...[{ symlinkPath: 7 }, { extra: 9 }, { pathUtf8: [1] }, { pathUtf8: [] }, { path: ['..'] }, { attr: 'l' }].map(
        (changes) => [file(changes), InfoDictV1] as const,
      ),
      [{ ...V1, metaVersion: 3 }, InfoDictV1],
      [{ ...V1, metaVersion: 3 }, InfoDictV1Base],
      [{ ...V1, name: '..' }, InfoDictV1],
      [{ ...V2, name: 'a/b' }, InfoDictV2],
      [{ ...V1, updateUrl: '' }, InfoDictV1],
      [
        {
          ...V1_FOLDER,
          files: [
            { length: 3, path: ['a'] },
            { length: 4, path: ['a'] },
          ],
        },
        InfoDictV1,
      ],
      [{ info: V1, nodes: [['a', 0]] }, TorrentFields],
      [{ info: { ...V1, length: 0, pieces: hashes(0) } }, TorrentFields],
      [
        { info: { ...V2, fileTree: new Map([['a', new Map([['', { length: 5 }]])]]) }, pieceLayers: new Map() },
        TorrentFields,
      ],
    ];
    for (const [value, struct] of wrong) assert.ok(!is(value, struct as Struct<unknown>), JSON.stringify(value));
    for (const [value, struct] of [
      [V1, InfoDictV1],
      [file({ symlinkPath: null, extra: new Map(), pathUtf8: null }), InfoDictV1],
      [treeOf({ length: 5, piecesRoot: H32, symlinkPath: null, extra: new Map() }), InfoDictV2],
    ] as const)
      assert.deepEqual(failuresOf(value, struct), []);
  });

  it('requires the key piece length, which may be null while a torrent is created', () => {
    for (const struct of [InfoDictV1Base, InfoDictV1Create, InfoDictV2Base, InfoDictV2Create]) {
      assert.deepEqual(failuresOf({ name: 'a' }, struct), ['pieceLength: undefined']);
      assert.equal(create({ 'piece length': null }, struct as Struct<{ pieceLength: unknown }>).pieceLength, null);
    }
    assert.equal(create({}, InfoDictHybridCreate).pieceLength, null);
  });

  it('describes values in few words, and speaks of no option', () => {
    const bytes = Buffer.alloc(1000, 0x61);
    const bare = Object.create(null) as object;
    for (const [value, struct] of [
      [
        { ...V1, name: bytes, source: bare, private: bytes, similar: bytes, collections: [bytes], extra: bare },
        InfoDictV1,
      ],
      [{ ...V2, pieces: bytes, length: 1 }, InfoDictV2],
      [{ info: V1, announceList: [bare], nodes: bare, creationDate: bytes }, TorrentFields],
      [{ symlinks: bytes, hidden: bytes, trackers: [[bytes]] }, TorrentCreateFields],
    ] as const) {
      const [error] = validate(value, struct as Struct<unknown>);
      const messages = (error?.failures() ?? []).map(({ message }) => message);
      assert.ok(messages.length > 0);
      for (const message of messages) assert.ok(message.length < 160 && !/compat|aaaa|97,97/.test(message), message);
    }
  });

  it('has rules for the three versions only', () => {
    for (const version of ['v3', undefined, 1])
      assert.throws(() => withRules(InfoDictV1, version as never), {
        code: 'ERR_INVALID_ARGUMENT',
        message: /v1, v2 or hybrid/,
      });
  });
});
