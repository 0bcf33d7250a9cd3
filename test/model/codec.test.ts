import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decode } from '../../src/bencode/decode.ts';
import { encode } from '../../src/bencode/encode.ts';
import type { BencodeMap } from '../../src/bencode/value.ts';
import { toHex } from '../../src/errors/errors.ts';
import { nearest } from '../../src/errors/guard.ts';
import { INFO, TORRENT } from '../../src/model/codec.ts';
import { decodeFields, encodeFields } from '../../src/model/field.ts';
import { unflattenTree } from '../../src/model/file-tree.ts';
import { HashList, type HashSize } from '../../src/model/hash-list.ts';
import { fromInput } from '../../src/model/input.ts';
import { Issues, type Profile } from '../../src/model/issues.ts';
import { latin1, type Plain, reference } from '../bencode/reference.ts';
import { flatFiles, name, text } from './arbitraries.ts';

/** A dictionary's model, and the codes and places of its issues. */
function decoded(given: Plain, fields: object, profile?: Profile) {
  const issues = new Issues(profile);
  const model = decodeFields(decode(reference(given)).value as BencodeMap, fields, issues);
  return { model, issues: placesOf(issues) };
}

const placesOf = (issues: Issues) => issues.finish().map(({ code, path }) => [code, ...path]);

/** A model to bytes and back. */
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
/** Any of the attributes, in any number. */
const partial = <T extends Record<string, fc.Arbitrary<unknown>>>(model: T) =>
  fc.record(model, { requiredKeys: [], noNullPrototype: true });
const url = text.filter((one) => one !== '');
const infohashes = fc.array(fc.oneof(bytes(20), bytes(32)), { maxLength: 3 });
const extra = fc.constant(
  new Map([
    ['x_unknown', latin1('\xff')],
    ['\xfe\x80', latin1('')],
  ]),
);

describe('encodeFields and decodeFields', () => {
  it('give back an infodict', () => {
    const file = fc
      .tuple(fc.maxSafeNat(), fc.array(name, { minLength: 1, maxLength: 3 }), fc.option(fc.constantFrom('p', 'x', 'h')))
      .map(([length, path, attr]) => ({ length, path, ...(attr !== null && { attr }) }));
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
      fileTree: flatFiles.map(unflattenTree),
      extra,
    });
    fc.assert(fc.property(info, (model) => assert.deepEqual(throughBytes(model, INFO), model)));
  });

  it('give back the fields of a torrent', () => {
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
        'source',
        'private',
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
        ...['announce', 'announce-list', 'comment', 'created by', 'creation date', 'piece layers', 'url-list'],
        ...['httpseeds', 'nodes', 'similar', 'collections'],
      ],
    );
  });
});

describe('encodeFields', () => {
  it('leaves out null and what is absent', () => {
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

  it('does not let an unknown key stand in for a known one', () => {
    const model = { name: 'a', extra: new Map([['name', latin1('b')]]) };
    assert.deepEqual(encodeFields(model, INFO), new Map([['name', 'a']]));
  });
});

describe('decodeFields', () => {
  it('keeps unknown keys as they are, __proto__ and extra too', () => {
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

  it('keeps unknown keys of files and of leaves', () => {
    const leaf = { '': { length: 0, x: 1 } };
    const { model, issues } = decoded(
      { files: [{ length: 1, path: ['a'], md5sum: 'ab' }], 'file tree': { a: leaf } },
      INFO,
    );
    assert.deepEqual(issues, []);
    assert.deepEqual(model, {
      files: [{ length: 1, path: ['a'], extra: new Map([['md5sum', latin1('ab')]]) }],
      fileTree: new Map([['a', new Map([['', { length: 0, extra: new Map([['x', 1]]) }]])]]),
    });
  });

  it('reads one URL as a list of one, and an empty text as none', () => {
    assert.deepEqual(decoded({ 'url-list': 'http://w/' }, TORRENT).model, { urlList: ['http://w/'] });
    assert.deepEqual(decoded({ 'url-list': '' }, TORRENT).model, { urlList: [] });
  });

  it('reads any integer but 0 as private', () => {
    for (const [given, expected] of [
      [0, false],
      [1, true],
      [2, true],
      [-1, true],
    ] as const) {
      assert.deepEqual(decoded({ private: given }, INFO).model, { private: expected });
    }
  });

  it('keeps a byte order mark', () => {
    assert.deepEqual(decoded({ comment: '\ufeffx' }, TORRENT).model, { comment: '\ufeffx' });
  });

  it('reads dates before 1970 and up to the last that can be told', () => {
    for (const seconds of [0, -1, 8_640_000_000_000, -8_640_000_000_000]) {
      assert.deepEqual(decoded({ 'creation date': seconds }, TORRENT).model, {
        creationDate: new Date(seconds * 1000),
      });
    }
  });

  const noText = latin1('\xff\xfe');
  const faults: [what: string, fields: object, given: Plain, issues: (string | number)[][]][] = [
    ['a number for text', TORRENT, { announce: 1 }, [['type', 'announce']]],
    ['text that is not UTF-8', TORRENT, { comment: noText }, [['not_utf8', 'comment']]],
    ['a surrogate in UTF-8', TORRENT, { comment: latin1('\xed\xa0\x80') }, [['not_utf8', 'comment']]],
    ['text for an integer', INFO, { length: '1' }, [['type', 'length']]],
    ['an integer above 2^53', INFO, { length: 2n ** 53n }, [['too_large', 'length']]],
    ['text for a flag', INFO, { private: '1' }, [['type', 'private']]],
    ['a date out of range', TORRENT, { 'creation date': 8_640_000_000_001 }, [['date_range', 'creation date']]],
    ['a date above 2^53', TORRENT, { 'creation date': 2n ** 60n }, [['date_range', 'creation date']]],
    ['text for tiers', TORRENT, { 'announce-list': 'a' }, [['type', 'announce-list']]],
    ['text for a tier', TORRENT, { 'announce-list': [['a'], 'b'] }, [['type', 'announce-list', 1]]],
    [
      'a tier of no text',
      TORRENT,
      { 'announce-list': [['a', noText], [1]] },
      [
        ['not_utf8', 'announce-list', 0, 1],
        ['type', 'announce-list', 1, 0],
      ],
    ],
    ['a dictionary for URLs', TORRENT, { 'url-list': {} }, [['type', 'url-list']]],
    ['an empty URL', TORRENT, { 'url-list': ['a', ''] }, [['url', 'url-list', 1]]],
    ['a URL that is no text', TORRENT, { 'url-list': noText }, [['not_utf8', 'url-list']]],
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
      'a file with a path of no text',
      INFO,
      { files: [{ length: 1, path: ['a', noText] }] },
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
      'a name in a tree that is no text',
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
      'a layer of half a hash',
      TORRENT,
      { 'piece layers': new Map([['\x8b'.repeat(32), 'x'.repeat(33)]]) },
      [['hash_length', 'piece layers', '8b'.repeat(32)]],
    ],
    [
      'a key of 31 bytes',
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
  for (const [what, fields, given, expected] of faults) {
    it(`reports ${what}`, () => assert.deepEqual(decoded(given, fields).issues, expected));
  }

  it('leaves out what it reports, and keeps the rest', () => {
    assert.deepEqual(decoded({ announce: 1, comment: 'x' }, TORRENT).model, { comment: 'x' });
  });
});

describe('decodeFields in compat', () => {
  it('drops what is no URL from a list, and says so', () => {
    const { model, issues } = decoded({ 'url-list': ['', 'http://w/', 7] }, TORRENT, 'compat');
    assert.deepEqual(model, { urlList: ['http://w/'] });
    assert.deepEqual(issues, [
      ['url', 'url-list', 0],
      ['type', 'url-list', 2],
    ]);
  });

  it('shows text that is not UTF-8 with replacement characters', () => {
    const { model, issues } = decoded({ comment: latin1('a\xff') }, TORRENT, 'compat');
    assert.deepEqual([model, issues], [{ comment: 'a\ufffd' }, [['not_utf8', 'comment']]]);
  });

  it('tells names apart that are not UTF-8', () => {
    const leaf = { '': { length: 0 } };
    const tree = new Map([
      ['\xfe', leaf],
      ['\xff', leaf],
    ]);
    const { model } = decoded({ 'file tree': tree }, INFO, 'compat');
    assert.deepEqual([...(model['fileTree'] as Map<string, unknown>).keys()], ['\ufffd', '\ufffd.1']);
  });
});

describe('BEP 47', () => {
  const fileOf = (item: Plain) => decoded({ files: [item] }, INFO);

  it('lets a pad have no path', () => {
    assert.deepEqual(fileOf({ attr: 'p', length: 3 }), {
      model: { files: [{ attr: 'p', length: 3, path: [] }] },
      issues: [],
    });
  });

  it('lets a symbolic link have no length', () => {
    assert.deepEqual(fileOf({ attr: 'l', path: ['a'], 'symlink path': ['b', 'c'] }), {
      model: { files: [{ attr: 'l', path: ['a'], symlinkPath: ['b', 'c'], length: 0 }] },
      issues: [],
    });
  });

  it('wants a target of a link, within the torrent', () => {
    assert.deepEqual(fileOf({ attr: 'l', path: ['a'] }).issues, [['symlink', 'files', 0]]);
    assert.deepEqual(fileOf({ attr: 'l', path: ['a'], 'symlink path': ['..', 'c'] }).issues, [
      ['unsafe_path', 'files', 0, 'symlink path', 0],
    ]);
  });

  it('has no pad in a tree, and keeps other flags there', () => {
    const leaf = (attr: string) => decoded({ 'file tree': { a: { '': { attr, length: 0 } } } }, INFO);
    assert.deepEqual(leaf('px').issues, [['pad_in_tree', 'file tree', 'a', '', 'attr']]);
    assert.deepEqual(leaf('x').issues, []);
  });
});

describe('an unknown key', () => {
  it('that is one letter off a known one is warned of', () => {
    assert.deepEqual(decoded({ anounce: 'a', 'creation dat': 1 }, TORRENT).issues, [
      ['misspelled', 'anounce'],
      ['misspelled', 'creation dat'],
    ]);
  });

  it('is not, where the known one is there too, or where it is further off', () => {
    assert.deepEqual(decoded({ announce: 'a', anounce: 'a', commentary: 'a' }, TORRENT).issues, []);
  });

  it('is near by one letter changed, missing, too many or two swapped', () => {
    for (const key of ['pieves', 'piees', 'pieeces', 'ipeces', 'pieces2', 'ieces']) {
      assert.equal(nearest(key, ['length', 'pieces']), 'pieces', key);
    }
    for (const key of ['pieces', 'piecs2', 'pceies', 'piec', ''])
      assert.equal(nearest(key, ['pieces']), undefined, key);
  });
});

describe('fromInput', () => {
  const read = (input: Record<string, unknown>, fields: object = INFO, own: string[] = []) => {
    const issues = new Issues();
    const model = fromInput(input, fields, { own, path: ['info'], issues });
    return { model, issues: placesOf(issues) };
  };

  it('takes the on-disk key or the name of the attribute', () => {
    const expected = { model: { pieceLength: 4, metaVersion: 2 }, issues: [] };
    assert.deepEqual(read({ 'piece length': 4, 'meta version': 2 }), expected);
    assert.deepEqual(read({ pieceLength: 4, metaVersion: 2 }), expected);
  });

  it('reports a field that is given under both', () => {
    assert.deepEqual(read({ 'piece length': 4, pieceLength: 4 }).issues, [['alias', 'info', 'pieceLength']]);
    assert.deepEqual(read({ createdBy: 'a', 'created by': 'a' }, TORRENT).issues, [['alias', 'info', 'created by']]);
  });

  it('takes undefined as absent and null as given', () => {
    assert.deepEqual(read({ name: undefined, source: null, 'piece length': undefined, pieceLength: 1 }), {
      model: { source: null, pieceLength: 1 },
      issues: [],
    });
  });

  it('keeps unknown keys, as keys on disk, beside those given as extra', () => {
    const extra = new Map([['a', 1]]);
    const { model } = read({ é: 2, extra });
    assert.deepEqual(model, {
      extra: new Map([
        ['a', 1],
        ['\xc3\xa9', 2],
      ]),
    });
    assert.deepEqual([...extra.keys()], ['a']);
    assert.deepEqual(read({}).model, {});
  });

  it('keeps attributes that are no fields when they are named', () => {
    assert.deepEqual(read({ paths: ['a'], trackers: 1 }, TORRENT, ['paths']).model, {
      paths: ['a'],
      extra: new Map([['trackers', 1]]),
    });
  });

  it('does not take __proto__ for anything but a key', () => {
    const { model } = read(JSON.parse('{"__proto__": {"name": "x"}}') as Record<string, unknown>);
    assert.equal(Object.getPrototypeOf(model), Object.prototype);
    assert.deepEqual([...(model['extra'] as Map<string, unknown>).keys()], ['__proto__']);
  });

  it('takes other forms of hashes, dates and URLs', () => {
    const packed = Buffer.alloc(40, 1);
    for (const pieces of [packed, [packed.subarray(20), packed.subarray(20)]]) {
      assert.deepEqual(read({ pieces }).model, { pieces: new HashList(packed, 20) });
    }
    assert.deepEqual(read({ creationDate: 5, 'url-list': 'http://w/' }, TORRENT).model, {
      creationDate: new Date(5000),
      urlList: ['http://w/'],
    });
  });

  it('leaves what is no such form to the structs', () => {
    for (const pieces of [Buffer.alloc(19), [Buffer.alloc(19)], ['x'], 7, null]) {
      assert.deepEqual(read({ pieces }).model, { pieces });
    }
    const date = new Date(5);
    assert.deepEqual(read({ creationDate: date, urlList: ['a'] }, TORRENT).model, {
      creationDate: date,
      urlList: ['a'],
    });
  });
});
