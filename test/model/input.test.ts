import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { INFO, TORRENT } from '../../src/model/codec.ts';
import { HashList } from '../../src/model/hash-list.ts';
import { fromInput } from '../../src/model/input.ts';
import { Issues } from '../../src/model/issues.ts';
import { codesAndPaths } from './decoded-fields.ts';

describe('fromInput', () => {
  const read = (input: Record<string, unknown>, fields: object = INFO, own: string[] = []) => {
    const issues = new Issues();
    const model = fromInput(input, fields, { own, path: ['info'], issues });
    return { model, issues: codesAndPaths(issues) };
  };

  it('accepts on-disk keys and property names', () => {
    const expected = { model: { pieceLength: 4, metaVersion: 2 }, issues: [] };
    assert.deepEqual(read({ 'piece length': 4, 'meta version': 2 }), expected);
    assert.deepEqual(read({ pieceLength: 4, metaVersion: 2 }), expected);
  });

  it('reports a field that is given under both names', () => {
    assert.deepEqual(read({ 'piece length': 4, pieceLength: 4 }).issues, [['alias', 'info', 'pieceLength']]);
    assert.deepEqual(read({ createdBy: 'a', 'created by': 'a' }, TORRENT).issues, [['alias', 'info', 'created by']]);
  });

  it('reads undefined as absent, but keeps null', () => {
    assert.deepEqual(read({ name: undefined, source: null, 'piece length': undefined, pieceLength: 1 }), {
      model: { source: null, pieceLength: 1 },
      issues: [],
    });
  });

  it('keeps unknown keys in their on-disk form, together with those in extra', () => {
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

  it('keeps properties of the caller that are not fields', () => {
    assert.deepEqual(read({ paths: ['a'], trackers: 1 }, TORRENT, ['paths']).model, {
      paths: ['a'],
      extra: new Map([['trackers', 1]]),
    });
  });

  it('reads __proto__ as an ordinary key', () => {
    const { model } = read(JSON.parse('{"__proto__": {"name": "x"}}') as Record<string, unknown>);
    assert.equal(Object.getPrototypeOf(model), Object.prototype);
    assert.deepEqual([...(model['extra'] as Map<string, unknown>).keys()], ['__proto__']);
  });

  it('converts packed and listed hashes, dates in seconds and a single URL', () => {
    const packed = Buffer.alloc(40, 1);
    for (const pieces of [packed, [packed.subarray(20), packed.subarray(20)]]) {
      assert.deepEqual(read({ pieces }).model, { pieces: new HashList(packed, 20) });
    }
    assert.deepEqual(read({ creationDate: 5, 'url-list': 'http://w/' }, TORRENT).model, {
      creationDate: new Date(5000),
      urlList: ['http://w/'],
    });
  });

  it('returns other values unchanged, for the structs to check', () => {
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
