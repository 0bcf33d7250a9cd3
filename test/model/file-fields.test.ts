import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Encodable, encode, type Profile, Torrent } from '../../src/index.ts';
import { INFO } from '../../src/model/codec.ts';
import type { Plain } from '../bencode/reference.ts';
import { decoded } from './decoded-fields.ts';

describe('decoding files by BEP 47', () => {
  const fileOf = (item: Plain) => decoded({ files: [item] }, INFO);

  it('accepts a pad file without a path', () => {
    assert.deepEqual(fileOf({ attr: 'p', length: 3 }), {
      model: { files: [{ attr: 'p', length: 3, path: [] }] },
      issues: [],
    });
  });

  it('accepts a symbolic link without a length', () => {
    assert.deepEqual(fileOf({ attr: 'l', path: ['a'], 'symlink path': ['b', 'c'] }), {
      model: { files: [{ attr: 'l', path: ['a'], symlinkPath: ['b', 'c'], length: 0 }] },
      issues: [],
    });
  });

  it('requires a symbolic link to have a target inside the torrent', () => {
    assert.deepEqual(fileOf({ attr: 'l', path: ['a'] }).issues, [['symlink', 'files', 0]]);
    assert.deepEqual(fileOf({ attr: 'l', path: ['a'], 'symlink path': ['..', 'c'] }).issues, [
      ['unsafe_path', 'files', 0, 'symlink path', 0],
    ]);
  });

  it('rejects a pad file in a file tree, but accepts other flags there', () => {
    const leaf = (attr: string) => decoded({ 'file tree': { a: { '': { attr, length: 0 } } } }, INFO);
    assert.deepEqual(leaf('px').issues, [['pad_in_tree', 'file tree', 'a', '', 'attr']]);
    assert.deepEqual(leaf('x').issues, []);
  });
});

describe('paths with many components', () => {
  const filesOf = (count: number, components: number) =>
    Array.from({ length: count }, (_, i) => ({
      length: 16_384,
      path: [...Array<string>(components - 1).fill('a'), `${i}`],
    }));
  const inspect = (files: Encodable[], profile: Profile) => {
    const info = { name: 'n', 'piece length': 16_384, pieces: Buffer.alloc(20 * files.length), files };
    return Torrent.inspect(encode({ info }), { context: { profile } }).issues;
  };

  // Native code reads the longer list.
  for (const count of [1, 20]) {
    it(`are a warning, in strict an error, above 1,000: ${count} files`, () => {
      for (const [profile, severity] of [
        ['default', 'warning'],
        ['compat', 'warning'],
        ['strict', 'error'],
      ] as const) {
        assert.deepEqual(inspect(filesOf(count, 1000), profile), []);
        const found = inspect([...filesOf(count, 1000).slice(1), ...filesOf(1, 1001)], profile);
        assert.deepEqual(
          found.map((issue) => [issue.code, issue.severity, issue.path]),
          [['deep_path', severity, ['info', 'files', count - 1, 'path']]],
        );
      }
    });
  }

  it('are found in path.utf-8 and symlink path too', () => {
    const deep = Array<string>(1001).fill('a');
    const files = [
      { length: 16_384, path: ['x'], 'path.utf-8': deep },
      { attr: 'l', length: 0, path: ['link'], 'symlink path': deep },
    ];
    const found = inspect(files, 'default').filter(({ code }) => code === 'deep_path');
    assert.deepEqual(
      found.map(({ path }) => path.slice(2)),
      [
        [0, 'path.utf-8'],
        [1, 'symlink path'],
      ],
    );
  });
});
