// Sections 2.1 to 2.3 of the interface: FileItem, FileTreeItem and the file tree.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, is } from 'superstruct';
import { FileItem, FileTree, isPadFile, Torrent } from '../../src/index.ts';
import { bencode, leaf as bencodedLeaf, torrent, v2, withLayers } from '../support/build.ts';
import { H32, leaf, pad } from './models.ts';

describe('2.1 FileItem', () => {
  it('requires length, an integer of at least 0', () => {
    assert.ok(is({ length: 0, path: ['a'] }, FileItem));
    for (const length of [undefined, null, -1, 1.5, '1', 2 ** 53]) assert.ok(!is({ length, path: ['a'] }, FileItem));
  });

  it('requires path, a list of strings', () => {
    assert.ok(is({ length: 1, path: ['a', 'b'] }, FileItem));
    for (const path of [undefined, null, 'a', [], [1], [null]]) assert.ok(!is({ length: 1, path }, FileItem));
  });

  it('has an attr that is a string or null, null by default', () => {
    for (const attr of [undefined, null, '', 'x', 'px']) assert.ok(is({ length: 1, path: ['a'], attr }, FileItem));
    for (const attr of [1, [], {}]) assert.ok(!is({ length: 1, path: ['a'], attr }, FileItem));
  });

  it('allows extra fields, which a torrent keeps', () => {
    const files = [{ length: 5, path: ['a'], md5sum: 'x' }];
    const info = { name: 'd', 'piece length': 16_384, pieces: Buffer.alloc(20), files };
    const read = Torrent.fromBytes(torrent(info));
    assert.ok(read.torrentVersion === 'v1');
    assert.deepEqual(read.info.files?.[0]?.extra?.get('md5sum'), Buffer.from('x'));
    assert.deepEqual(Buffer.from(read.bencode()), bencode({ info }));
  });

  it('is a pad file if its attr contains p', () => {
    assert.ok(isPadFile(pad(7)));
    assert.ok(!isPadFile({ length: 7, path: ['a'], attr: 'x' }));
  });
});

describe('2.2 FileTreeItem', () => {
  const tree = (item: object) => new Map([['a', new Map([['', item]])]]);

  it('requires length', () => {
    assert.ok(is(tree({ length: 5, piecesRoot: H32 }), FileTree));
    for (const length of [undefined, null, -1, 0.5]) assert.ok(!is(tree({ length, piecesRoot: H32 }), FileTree));
  });

  it('has an optional pieces root of exactly 32 bytes', () => {
    assert.ok(is(tree({ length: 0 }), FileTree));
    for (const size of [0, 31, 33]) assert.ok(!is(tree({ length: 5, piecesRoot: Buffer.alloc(size, 1) }), FileTree));
  });
});

describe('2.3 The file tree', () => {
  it('has a tree for a folder, and a mapping with an empty key for a file', () => {
    assert.ok(is(new Map([['d', new Map([['a', leaf(5)]])]]), FileTree));
    const beside = new Map([['a', new Map([...leaf(5), ['b', leaf(1)]])]]);
    for (const wrong of [new Map(), leaf(5), beside, new Map([['d', new Map()]]), {}, []])
      assert.ok(!is(wrong, FileTree));
  });

  it('has its keys sorted by bytes after validation', () => {
    // The order of UTF-16 code units would be the opposite.
    const tree = new Map(['\u{1f600}', '\ue000', 'b', 'a-b', 'a'].map((name) => [name, leaf(5)]));
    assert.deepEqual([...create(tree, FileTree).keys()], ['a', 'a-b', 'b', '\ue000', '\u{1f600}']);
  });

  it('flattens to a mapping from full paths to items', () => {
    const read = Torrent.fromBytes(withLayers(v2({ b: bencodedLeaf(5), 'd d': { a: bencodedLeaf(6) } })));
    assert.deepEqual(
      [...(read.flatFiles ?? [])].map(([path, { length }]) => [path, length]),
      [
        ['b', 5],
        ['d d/a', 6],
      ],
    );
  });
});
