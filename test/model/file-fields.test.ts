import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
