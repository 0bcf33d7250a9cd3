import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { array, object, validate } from 'superstruct';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { ValidationError } from '../../src/errors/errors.ts';
import { FileTree, type FlatFile, flattenTree, sortTree, unflattenTree } from '../../src/model/file-tree.ts';
import { flatFiles } from './arbitraries.ts';

const problemOf = (value: unknown) => validate(value, FileTree)[0]?.message ?? null;

/** Compares paths by the bytes of their components. No component has a NUL, so NUL works as a separator that sorts first. */
function byBytes(a: FlatFile, b: FlatFile): number {
  const [left, right] = [a, b].map(({ path }) => Buffer.from(path.map((part) => `${part}\0`).join('')));
  return Buffer.compare(left as Buffer, right as Buffer);
}

/** The names of every folder, from the top. */
function namesOf(tree: FileTree): string[][] {
  const below = [...tree.values()].flatMap((child) => (child instanceof Map ? namesOf(child) : []));
  return [[...tree.keys()], ...below];
}

/** The same tree with the names of every folder in reverse order. */
function reversed(tree: FileTree): FileTree {
  const children = [...tree].map(([name, child]) => [name, child instanceof Map ? reversed(child) : child] as const);
  return new Map(children.reverse());
}

describe('flattenTree and unflattenTree', () => {
  it('round-trip a list of files into the order of the tree', () => {
    fc.assert(
      fc.property(flatFiles, (files) => {
        const tree = unflattenTree(files);
        assert.deepEqual(flattenTree(tree), files.toSorted(byBytes));
        assert.equal(problemOf(tree), null);
      }),
    );
  });

  it('round-trip a tree, with the names of its folders in byte order', () => {
    fc.assert(
      fc.property(flatFiles, (files) => {
        const tree = unflattenTree(files);
        assert.deepEqual(unflattenTree(flattenTree(tree)), tree);
        for (const names of namesOf(tree)) {
          const bytes = names.map((name) => Buffer.from(name));
          assert.deepEqual(bytes, bytes.toSorted(Buffer.compare));
        }
      }),
    );
  });

  it('keep unknown keys of a leaf', () => {
    const file: FlatFile = { path: ['a', 'b'], length: 0, extra: new Map([['k', 1]]) };
    assert.deepEqual(flattenTree(unflattenTree([file])), [file]);
  });

  it('convert a known tree', () => {
    const leaf = { length: 0 };
    const tree: FileTree = new Map<string, FileTree>([
      ['a', new Map([['x', new Map([['', leaf]])]])],
      ['a-b', new Map([['', leaf]])],
    ]);
    assert.deepEqual(
      flattenTree(tree).map((file) => file.path),
      [['a', 'x'], ['a-b']],
    );
    assert.deepEqual(
      unflattenTree([
        { path: ['a-b'], length: 0 },
        { path: ['a', 'x'], length: 0 },
      ]),
      tree,
    );
  });

  it('accept a tree of any depth', () => {
    const path = Array.from({ length: 5000 }, () => 'd');
    assert.deepEqual(flattenTree(unflattenTree([{ path, length: 0 }]))[0]?.path.length, path.length);
  });

  it('accept a folder of 200,000 files', () => {
    const files = Array.from({ length: 200_000 }, (_, i) => ({ path: [String(i)], length: 0 }));
    assert.equal(flattenTree(unflattenTree(files)).length, files.length);
  });
});

describe('sortTree', () => {
  it('does not change its input', () => {
    const leaf = () => new Map([['', { length: 0 }]]);
    const tree: FileTree = new Map([
      ['b', leaf()],
      ['a', leaf()],
    ]);
    assert.deepEqual([...sortTree(tree).keys()], ['a', 'b']);
    assert.deepEqual([...tree.keys()], ['b', 'a']);
  });

  it('sorts names from any order', () => {
    fc.assert(
      fc.property(flatFiles, (files) => {
        const tree = unflattenTree(files);
        const sorted = sortTree(reversed(tree));
        assert.deepEqual(sorted, tree);
        assert.deepEqual(namesOf(sorted), namesOf(tree));
      }),
    );
  });
});

describe('FileTree', () => {
  const root = Buffer.alloc(32, 1);
  const file = (item: unknown = { length: 0 }) => new Map([['', item]]);

  it('accepts files and folders', () => {
    const tree = new Map<string, unknown>([
      ['a', file()],
      ['b', new Map([['c', file({ length: 1, piecesRoot: root })]])],
      ['d', file({ length: 1, piecesRoot: null })],
    ]);
    assert.equal(problemOf(tree), null);
  });

  const refused: [what: string, tree: unknown, message: RegExp][] = [
    ['no tree', {}, /a file tree/],
    ['an empty tree', new Map(), /at least one/],
    ['an empty name at the root', file(), /at the root of the tree, got an empty one/],
    [
      'an empty name beside others at the root',
      new Map<string, unknown>([
        ['', {}],
        ['a', file()],
      ]),
      /at the root of the tree, got an empty one/,
    ],
    [
      'a file beside other entries',
      new Map([
        [
          'a',
          new Map<string, unknown>([
            ['', { length: 0 }],
            ['b', file()],
          ]),
        ],
      ]),
      /^At path: a -- .*, got a file beside other entries/,
    ],
    ['a folder in place of a file', new Map([['a', file(new Map())]]), /^At path: a -- expected a file/],
    ['an empty folder', new Map([['a', new Map([['b', new Map()]])]]), /^At path: a\.b -- expected at least one entry/],
    ['a file in place of a folder', new Map([['a', { length: 0 }]]), /^At path: a -- expected a folder/],
    ['null in place of a file', new Map([['a', file(null)]]), /^At path: a -- expected a file, got null/],
    ['no length', new Map([['a', file({})]]), /^At path: a -- expected a length/],
    ['a length below 0', new Map([['a', file({ length: -1 })]]), /^At path: a -- expected a length/],
    ['a length above 2^53', new Map([['a', file({ length: 2 ** 53 })]]), /^At path: a -- expected a length/],
    ['a root of 31 bytes', new Map([['a', file({ length: 1, piecesRoot: root.subarray(1) })]]), /32 bytes, got 31/],
    ['a root that is text', new Map([['a', file({ length: 1, piecesRoot: '1'.repeat(32) })]]), /32 bytes/],
  ];
  for (const [what, tree, message] of refused) {
    it(`rejects ${what}`, () => assert.match(problemOf(tree) ?? 'accepted', message));
  }

  const failuresOf = (tree: unknown) =>
    validate(tree, FileTree)[0]
      ?.failures()
      .map(({ path, message }) => [path, message]) ?? [];

  it('gives a failure with its path for each broken entry, in the order of the tree', () => {
    const tree = new Map<string, unknown>([
      ['a', file({ length: -1 })],
      ['good', file()],
      [
        'd',
        new Map<string, unknown>([
          ['..', file()],
          ['e', new Map()],
          ['f.g', file({ length: 1, piecesRoot: root.subarray(1) })],
        ]),
      ],
      [
        'h',
        new Map<string, unknown>([
          ['', { length: 0 }],
          ['i', 5],
        ]),
      ],
    ]);
    assert.deepEqual(failuresOf(tree), [
      [['a'], 'expected a length of 0 or more, got -1'],
      [['d', '..'], 'a name of dots in a path: ".."'],
      [['d', 'e'], 'expected at least one entry in a folder, got none'],
      [['d', 'f.g'], 'expected a pieces root of 32 bytes, got 31 bytes'],
      [['h'], 'expected a file or a folder, got a file beside other entries'],
      [['h', 'i'], 'expected a folder or a file, got 5'],
    ]);
  });

  it('gives the paths below that of the tree in a larger struct', () => {
    const [error] = validate({ t: [new Map([['a', 1]])] }, object({ t: array(FileTree) }));
    assert.deepEqual(error?.failures().at(-1)?.path, ['t', 0, 'a']);
  });

  it('lists at most 1,000 failures', () => {
    const failures = failuresOf(new Map(Array.from({ length: 5000 }, (_, i) => [String(i), i])));
    assert.equal(failures.length, 1001);
    assert.deepEqual(failures[999], [['999'], 'expected a folder or a file, got 999']);
    assert.match(String(failures[1000]?.[1]), /^expected at most 1000 failures, got more$/);
    assert.deepEqual(failures[1000]?.[0], []);
  });

  it('rejects a tree that is too deep, or that contains itself, with one failure', () => {
    const itself = new Map<string, unknown>([['x', file()]]);
    itself.set('a', itself).set('b', itself);
    const deep = unflattenTree([{ path: Array.from({ length: 1000 }, () => 'd'), length: 0 }]);
    for (const tree of [itself, deep])
      assert.deepEqual(failuresOf(tree), [[[], 'expected at most 1000 levels of folders, got more']]);
    assert.deepEqual(failuresOf(unflattenTree([{ path: Array.from({ length: 999 }, () => 'd'), length: 0 }])), []);
  });

  it('checks as many entries as a torrent may have, also where folders share their contents', () => {
    let tree = file();
    for (let depth = 0; depth < 40; depth += 1)
      tree = new Map([
        ['a', tree],
        ['b', tree],
      ]);
    assert.match(String(failuresOf(tree)), /^,expected at most \d+ entries, got more$/);
  });

  it('reports each broken entry of the tree of a draft', () => {
    const fileTree = new Map([
      ['日本', new Map([['é', 1]])],
      ['b', 2],
    ] as never);
    assert.throws(
      () => new TorrentCreate({ pathRoot: '/x', info: { fileTree } as never }),
      ({ issues }: ValidationError) => {
        assert.deepEqual(
          issues.map(({ path }) => path),
          [
            ['info', 'fileTree', 'b'],
            ['info', 'fileTree', '日本', 'é'],
          ],
        );
        return true;
      },
    );
  });
});
