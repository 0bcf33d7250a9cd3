import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decode } from '../../src/bencode/decode.ts';
import { encode } from '../../src/bencode/encode.ts';
import type { BencodeMap } from '../../src/bencode/value.ts';
import { toHex } from '../../src/errors/errors.ts';
import { INFO, TORRENT } from '../../src/model/codec.ts';
import { decodeFields, encodeFields } from '../../src/model/field.ts';
import { flattenTree, unflattenTree } from '../../src/model/file-tree.ts';
import { encodeFileList, encodeFlatTree } from '../../src/model/files-codec.ts';
import { HashList, type HashSize } from '../../src/model/hash-list.ts';
import { Issues } from '../../src/model/issues.ts';
import { latin1, type Plain } from '../bencode/reference.ts';
import { flatFiles, name, text } from './arbitraries.ts';
import { decoded } from './decoded-fields.ts';

/** Encodes a model and decodes it again. */
function throughBytes(model: object, fields: object): object {
  const issues = new Issues();
  const back = decodeFields(decode(encode(encodeFields(model, fields))).value as BencodeMap, fields, issues);
  assert.deepEqual(issues.finish(), []);
  return back;
}

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const hashList = (size: HashSize) =>
  fc.array(bytes(size), { maxLength: 4 }).map((list) => new HashList(Buffer.concat(list), size));
/** A model with any subset of the properties. */
const partial = <T extends Record<string, fc.Arbitrary<unknown>>>(model: T) =>
  fc.record(model, { requiredKeys: [], noNullPrototype: true });
const url = text.filter((value) => value !== '');
const infohashes = fc.array(fc.oneof(bytes(20), bytes(32)), { maxLength: 3 });
const extra = fc.constant(
  new Map([
    ['x_unknown', latin1('\xff')],
    ['\xfe\x80', latin1('')],
  ]),
);

describe('encodeFields and decodeFields', () => {
  it('round-trip an infodict', () => {
    const file = fc
      .tuple(fc.maxSafeNat(), fc.array(name, { minLength: 1, maxLength: 3 }), fc.option(fc.constantFrom('p', 'x', 'h')))
      .map(([length, path, attr]) => ({ attr, length, path }));
    const info = partial({
      name: text,
      source: text,
      private: fc.boolean(),
      similar: infohashes,
      collections: fc.array(text, { maxLength: 3 }),
      updateUrl: url,
      pieceLength: fc.maxSafeNat(),
      pieces: hashList(20),
      length: fc.maxSafeNat(),
      files: fc.array(file, { minLength: 1, maxLength: 4 }),
      metaVersion: fc.constant(2),
      fileTree: flatFiles.map((files) => flattenTree(unflattenTree(files))),
      extra,
    });
    // A creation encodes these three by itself, from columns.
    const encoders = { files: encodeFileList, fileTree: encodeFlatTree, pieces: HashList.viewOf };
    const fields = Object.entries(INFO).map(([key, field]): [string, object] => [
      key,
      { ...field, ...(key in encoders && { encode: encoders[key as keyof typeof encoders] }) },
    ]);
    fc.assert(fc.property(info, (model) => assert.deepEqual(throughBytes(model, Object.fromEntries(fields)), model)));
  });

  it('round-trip the fields of a torrent', () => {
    const torrent = partial({
      announce: text,
      announceList: fc.array(fc.array(text, { maxLength: 3 }), { maxLength: 3 }),
      comment: text,
      createdBy: text,
      creationDate: fc.integer({ min: -(10 ** 9), max: 10 ** 10 }).map((seconds) => new Date(seconds * 1000)),
      pieceLayers: fc
        .array(fc.tuple(bytes(32).map(toHex), hashList(32)), { maxLength: 3 })
        .map((list) => new Map(list)),
      urlList: fc.array(url, { maxLength: 3 }),
      httpseeds: fc.array(url, { maxLength: 3 }),
      nodes: fc.array(fc.tuple(url, fc.integer({ min: 1, max: 65_535 })), { maxLength: 3 }),
      similar: infohashes,
      collections: fc.array(text, { maxLength: 3 }),
      extra,
    });
    fc.assert(fc.property(torrent, (model) => assert.deepEqual(throughBytes(model, TORRENT), model)));
  });

  it('use the keys of the BEPs', () => {
    assert.deepEqual(
      Object.values(INFO).map((field) => field.key),
      [
        'name',
        'name.utf-8',
        'private',
        'source',
        'similar',
        'collections',
        'update-url',
        'piece length',
        'pieces',
        'length',
        'files',
        'meta version',
        'file tree',
      ],
    );
    assert.deepEqual(
      Object.values(TORRENT).map((field) => field.key),
      [
        ...['announce', 'announce-list', 'comment', 'created by', 'creation date', 'url-list', 'httpseeds'],
        ...['nodes', 'piece layers', 'similar', 'collections'],
      ],
    );
  });
});

describe('encodeFields', () => {
  it('leaves out properties that are null or absent', () => {
    assert.deepEqual(encodeFields({ name: null, source: undefined, length: 0 }, INFO), new Map([['length', 0]]));
  });

  it('rounds a date down to seconds', () => {
    for (const [ms, seconds] of [
      [1999, 1],
      [2000, 2],
      [-1, -1],
    ] as const) {
      assert.equal(encodeFields({ creationDate: new Date(ms) }, TORRENT).get('creation date'), seconds);
    }
  });

  it('ignores a known key in extra', () => {
    const model = { name: 'a', extra: new Map([['name', latin1('b')]]) };
    assert.deepEqual(encodeFields(model, INFO), new Map([['name', 'a']]));
  });
});

describe('decodeFields', () => {
  it('keeps unknown keys unchanged, also __proto__ and extra', () => {
    const keys = new Map<string, Plain>([
      ['__proto__', 1],
      ['extra', 2],
      ['\xff', 'x'],
      ['pieceLength', 3],
    ]);
    const { model } = decoded(keys, INFO);
    assert.deepEqual(Object.keys(model), ['extra']);
    assert.deepEqual(
      model['extra'],
      new Map([...keys].map(([key, value]) => [key, value === 'x' ? latin1('x') : value])),
    );
  });

  it('keeps unknown keys of files and leaves', () => {
    const leaf = { '': { length: 0, x: 1 } };
    const { model, issues } = decoded(
      { files: [{ length: 1, path: ['a'], md5sum: 'ab' }], 'file tree': { a: leaf } },
      INFO,
    );
    assert.deepEqual(issues, []);
    assert.deepEqual(model, {
      files: [{ attr: null, length: 1, path: ['a'], extra: new Map([['md5sum', latin1('ab')]]) }],
      fileTree: [{ length: 0, path: ['a'], extra: new Map([['x', 1]]) }],
    });
  });

  it('reads a single URL as a list of one, and an empty text as an empty list', () => {
    assert.deepEqual(decoded({ 'url-list': 'http://w/' }, TORRENT).model, { urlList: ['http://w/'] });
    assert.deepEqual(decoded({ 'url-list': '' }, TORRENT).model, { urlList: [] });
  });

  it('reads every integer except 0 as private', () => {
    for (const [given, expected] of [
      [0, false],
      [1, true],
      [2, true],
      [-1, true],
    ] as const) {
      // `extra` keeps a number that the flag does not tell, for copies of the model.
      const extra = given === Number(expected) ? {} : { extra: new Map([['private', given]]) };
      assert.deepEqual(decoded({ private: given }, INFO).model, { private: expected, ...extra });
    }
  });

  it('keeps a byte order mark', () => {
    assert.deepEqual(decoded({ comment: '\ufeffx' }, TORRENT).model, { comment: '\ufeffx' });
  });

  it('reads dates before 1970 and at both ends of the range of Date', () => {
    for (const seconds of [0, -1, 8_640_000_000_000, -8_640_000_000_000]) {
      assert.deepEqual(decoded({ 'creation date': seconds }, TORRENT).model, {
        creationDate: new Date(seconds * 1000),
      });
    }
  });

  const notUtf8 = latin1('\xff\xfe');
  const cases: [what: string, fields: object, given: Plain, issues: (string | number)[][]][] = [
    ['a number for text', TORRENT, { announce: 1 }, [['type', 'announce']]],
    ['text that is not UTF-8', TORRENT, { comment: notUtf8 }, [['not_utf8', 'comment']]],
    ['a surrogate in UTF-8', TORRENT, { comment: latin1('\xed\xa0\x80') }, [['not_utf8', 'comment']]],
    ['text for an integer', INFO, { length: '1' }, [['type', 'length']]],
    ['an integer above 2^53', INFO, { length: 2n ** 53n }, [['too_large', 'length']]],
    ['text for a flag', INFO, { private: '1' }, [['type', 'private']]],
    ['a date out of range', TORRENT, { 'creation date': 8_640_000_000_001 }, [['date_range', 'creation date']]],
    ['a date above 2^53', TORRENT, { 'creation date': 2n ** 60n }, [['date_range', 'creation date']]],
    ['text for tiers', TORRENT, { 'announce-list': 'a' }, [['type', 'announce-list']]],
    ['text for a tier', TORRENT, { 'announce-list': [['a'], 'b'] }, [['type', 'announce-list', 1]]],
    [
      'tiers that are not text',
      TORRENT,
      { 'announce-list': [['a', notUtf8], [1]] },
      [
        ['not_utf8', 'announce-list', 0, 1],
        ['type', 'announce-list', 1, 0],
      ],
    ],
    ['a dictionary for URLs', TORRENT, { 'url-list': {} }, [['type', 'url-list']]],
    ['an empty URL', TORRENT, { 'url-list': ['a', ''] }, [['url', 'url-list', 1]]],
    ['a URL that is not UTF-8', TORRENT, { 'url-list': notUtf8 }, [['not_utf8', 'url-list']]],
    ['a list for hashes', INFO, { pieces: [] }, [['type', 'pieces']]],
    ['half a hash', INFO, { pieces: latin1('x'.repeat(30)) }, [['hash_length', 'pieces']]],
    ['a dictionary for files', INFO, { files: {} }, [['type', 'files']]],
    ['text for a file', INFO, { files: ['a'] }, [['type', 'files', 0]]],
    [
      'a file without any key',
      INFO,
      { files: [{}] },
      [
        ['required', 'files', 0, 'length'],
        ['required', 'files', 0, 'path'],
      ],
    ],
    [
      'a file whose path is not UTF-8',
      INFO,
      { files: [{ length: 1, path: ['a', notUtf8] }] },
      [['not_utf8', 'files', 0, 'path', 1]],
    ],
    [
      'a file with a number for flags',
      INFO,
      { files: [{ length: 1, path: ['a'], attr: 1 }] },
      [['type', 'files', 0, 'attr']],
    ],
    ['a list for a tree', INFO, { 'file tree': [] }, [['type', 'file tree']]],
    ['text in a tree', INFO, { 'file tree': { a: { b: 'c' } } }, [['type', 'file tree', 'a', 'b']]],
    [
      'a name in a tree that is not UTF-8',
      INFO,
      { 'file tree': new Map([['\xff', { '': { length: 0 } }]]) },
      [['not_utf8', 'file tree', 'ff']],
    ],
    [
      'a leaf without a length',
      INFO,
      { 'file tree': { a: { '': {} } } },
      [['required', 'file tree', 'a', '', 'length']],
    ],
    [
      'a root of 20 bytes',
      INFO,
      { 'file tree': { a: { '': { length: 1, 'pieces root': 'x'.repeat(20) } } } },
      [['hash_length', 'file tree', 'a', '', 'pieces root']],
    ],
    ['a list for layers', TORRENT, { 'piece layers': [] }, [['type', 'piece layers']]],
    [
      'a layer with half a hash',
      TORRENT,
      { 'piece layers': new Map([['\x8b'.repeat(32), 'x'.repeat(33)]]) },
      [['hash_length', 'piece layers', '8b'.repeat(32)]],
    ],
    [
      'a layer under a key of 31 bytes',
      TORRENT,
      { 'piece layers': new Map([['\x8b'.repeat(31), 'x'.repeat(32)]]) },
      [['layers_key', 'piece layers', '8b'.repeat(31)]],
    ],
    [
      'a list for a layer',
      TORRENT,
      { 'piece layers': new Map([['\x8b'.repeat(32), []]]) },
      [['type', 'piece layers', '8b'.repeat(32)]],
    ],
  ];
  for (const [what, fields, given, expected] of cases) {
    it(`reports ${what}`, () => assert.deepEqual(decoded(given, fields).issues, expected));
  }

  it('leaves out fields with issues and keeps the others', () => {
    assert.deepEqual(decoded({ announce: 1, comment: 'x' }, TORRENT).model, { comment: 'x' });
  });
});

describe('decodeFields in compat', () => {
  it('drops invalid URLs from a list and reports them', () => {
    const { model, issues } = decoded({ 'url-list': ['', 'http://w/', 7] }, TORRENT, 'compat');
    assert.deepEqual(model, { urlList: ['http://w/'] });
    assert.deepEqual(issues, [
      ['url', 'url-list', 0],
      ['type', 'url-list', 2],
    ]);
  });

  it('reads text that is not UTF-8 with replacement characters', () => {
    const { model, issues } = decoded({ comment: latin1('a\xff') }, TORRENT, 'compat');
    assert.deepEqual([model, issues], [{ comment: 'a\ufffd' }, [['not_utf8', 'comment']]]);
  });

  it('numbers names that are not UTF-8 and would read alike', () => {
    const leaf = { '': { length: 0 } };
    const tree = new Map([
      ['\xfe', leaf],
      ['\xff', leaf],
    ]);
    const { model } = decoded({ 'file tree': tree }, INFO, 'compat');
    assert.deepEqual(model['fileTree'], [
      { length: 0, path: ['\ufffd'] },
      { length: 0, path: ['\ufffd.1'] },
    ]);
  });
});
