// Orders, measures and encodes many files, natively where the addon is loaded, against the functions for lists of objects.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  encodedFileList,
  encodedFileTree,
  fileList,
  type ListedFile,
  type ListShape,
} from '../../src/create/file-list.ts';
import { measureFiles } from '../../src/create/findings/file-sizes.ts';
import { MANY_FILES, orderDistinctFiles, orderFiles } from '../../src/create/order-files.ts';
import { addonOrNull } from '../../src/hash/addon.ts';
import { FileTable } from '../../src/layout/file-table.ts';
import { sortV1, sortV2 } from '../../src/layout/order.ts';
import type { FileItem } from '../../src/model/file-item.ts';
import { encodeFileList, encodeFlatTree } from '../../src/model/files-codec.ts';
import { chooseEngine } from '../support/choose-engine.ts';
import { runs } from '../support/runs.ts';

// Orders differ: by component or joined, by UTF-16 or UTF-8, with or without case. Some names are those of pad files, and some
// agree in more bytes than are compared at once.
const NAMES = [
  'a',
  'A',
  'a-b',
  'a.txt',
  'b',
  'Z',
  'aa',
  'é',
  'É',
  '\u{e000}',
  '\u{1f600}',
  '\uffee',
  '.x',
  'z z',
  '_',
  'Σ',
  'aΣ',
  'İ',
  'i\u{307}',
  'ß',
  '.pad',
  '.pad_',
  '16383',
  '16379',
  'eight888',
  'eight8889nine',
  'eight8889',
  'x'.repeat(255),
];
const name = fc.constantFrom(...NAMES);
const path = fc.array(name, { minLength: 1, maxLength: 5 });
const length = fc.oneof(fc.constantFrom(0, 1, 5, 16_383, 16_384, 16_385, 2 ** 31, 2 ** 45), fc.nat(100_000));
const file = fc.record({ path, length });

/** Fewer files are not handed to native code. */
const filler = Array.from({ length: MANY_FILES }, (_, i) => ({ path: ['filler', `${i % 7}`, `${i}`], length: i % 5 }));

/** Many files with different paths, none of which leads through a file. */
const files = fc.array(file, { maxLength: 40 }).map((some) => {
  const kept: { path: string[]; length: number }[] = [];
  const isPrefix = (short: string[], long: string[]) => short.every((part, i) => part === long[i]);
  for (const one of some)
    if (!kept.some((other) => isPrefix(other.path, one.path) || isPrefix(one.path, other.path))) kept.push(one);
  return [...kept, ...filler];
});

const shuffled = files.chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));

/** The same files as a list and as columns. */
function tables(rows: readonly ListedFile[]): FileTable<ListedFile>[] {
  const list = new FileTable<ListedFile>(rows);
  return [list, new FileTable<ListedFile>({ root: '/root', columns: list.columns })];
}

const paths = (table: Iterable<{ path: readonly string[] }>) => Array.from(table, (one) => one.path.join('/'));

describe('orderFiles', () => {
  for (const order of ['v1', 'v2'] as const) {
    it(`sorts many files in ${order} order, with their lengths and times`, async () => {
      await fc.assert(
        fc.asyncProperty(shuffled, async (rows) => {
          const timed = rows.map((row, i) => ({ ...row, mtimeMs: i, ctimeMs: i + 0.5 }));
          const wanted = order === 'v1' ? sortV1(timed) : sortV2(timed);
          for (const table of tables(timed)) {
            const sorted = await orderFiles(table, order);
            const { columns } = sorted;
            assert.deepEqual(paths(sorted), paths(wanted));
            assert.deepEqual(
              [...columns.lengths],
              wanted.map((row) => row.length),
            );
            assert.deepEqual(
              [...columns.mtimes],
              wanted.map(({ mtimeMs }) => mtimeMs),
            );
            assert.deepEqual(
              [...columns.ctimes],
              wanted.map(({ ctimeMs }) => ctimeMs),
            );
          }
        }),
        { numRuns: runs(150) },
      );
    });

    it(`keeps the order of equal paths in ${order} order`, async () => {
      const rows = Array.from({ length: 2 * MANY_FILES }, (_, i) => ({ path: ['d', `${i % 3}`], length: i }));
      const sorted = await orderFiles(new FileTable(rows), order);
      assert.deepEqual(
        [...sorted.lengths],
        (order === 'v1' ? sortV1(rows) : sortV2(rows)).map((row) => row.length),
      );
    });

    it(`sorts paths of a thousand components in ${order} order`, async () => {
      const deep = Array.from({ length: MANY_FILES }, (_, i) => ({
        path: [...Array<string>(1000 + (i % 3)).fill('folder'), `${(i * 7) % MANY_FILES}`],
        length: i,
      }));
      const sorted = await orderFiles(new FileTable(deep), order);
      assert.deepEqual(paths(sorted), paths(order === 'v1' ? sortV1(deep) : sortV2(deep)));
    });
  }

  it('keeps the path on disk of each file', async () => {
    const { columns } = new FileTable(filler.toReversed());
    const diskPaths = new FileTable(filler.toReversed().map((row) => ({ ...row, path: ['on disk', ...row.path] })))
      .columns.paths;
    const table = new FileTable({ root: '/root', columns: { ...columns, diskPaths } });
    for (const { path: parts, diskPath } of await orderFiles(table, 'v2'))
      assert.equal(diskPath, ['/root/on disk', ...parts].join('/'));
  });
});

describe('orderDistinctFiles', () => {
  const few = (...names: string[]) => new FileTable(names.map((one) => ({ path: one.split('/'), length: 1 })));
  const many = (...names: string[]) => new FileTable([...filler, ...few(...names)]);

  it('rejects a path that is there twice, and a file in the place of a folder', async () => {
    for (const table of [few, many]) {
      await assert.rejects(orderDistinctFiles(table('a/b', 'c', 'a/b')), {
        code: 'ERR_DUPLICATE_PATH',
        path: 'a/b',
        message: 'Two files have the path a/b.',
      });
      for (const names of [
        ['a', 'a/b/c'],
        ['a/b/c', 'a'],
      ]) {
        await assert.rejects(orderDistinctFiles(table(...names, 'a-b', 'ab')), {
          code: 'ERR_DUPLICATE_PATH',
          path: 'a/b/c',
          message: 'a is the path of a file, and also the folder of a/b/c.',
        });
      }
    }
  });

  it('accepts names that only begin alike', async () => {
    for (const table of [few, many]) {
      const names = ['ab', 'a/b', 'a-b', 'a/bc', 'A/b'];
      const sorted = paths(await orderDistinctFiles(table(...names)));
      assert.deepEqual(
        sorted.filter((one) => names.includes(one)),
        ['A/b', 'a/b', 'a/bc', 'a-b', 'ab'],
      );
    }
  });
});

describe('the encoding of many files', () => {
  const shapes = fc.record({
    version: fc.constantFrom('v1' as const, 'hybrid' as const, 'v2' as const),
    padding: fc.option(
      fc.record({
        tailPad: fc.boolean(),
        padNames: fc.constantFrom('auto' as const, 'libtorrent' as const, 'unique' as const),
      }),
    ),
    pieceLength: fc.constantFrom(16_384, 32_768, 2 ** 20),
  });
  const shapeOf = (table: FileTable<ListedFile>, how: Omit<ListShape, 'files' | 'isSingleFile'>): ListShape => {
    return { ...how, isSingleFile: false, files: table };
  };

  it('equals the encoding of a list of objects', async () => {
    await fc.assert(
      fc.asyncProperty(files, shapes, async (rows, how) => {
        for (const table of tables(how.version === 'v1' ? rows : sortV2(rows))) {
          const shape = shapeOf(table, how);
          const list = fileList(shape);
          assert.deepEqual((await encodedFileList(shape))?.bytes, list ? encodeFileList(list).bytes : undefined);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it('equals the encoding of a tree of objects', async () => {
    await fc.assert(
      fc.asyncProperty(files, async (rows) => {
        const sorted = sortV2(rows);
        const roots = Buffer.from(Array.from({ length: 32 * sorted.length }, (_, i) => (i * 31) % 251));
        const flat = sorted.map((row, i) => ({
          ...row,
          piecesRoot: row.length > 0 ? roots.subarray(i * 32, (i + 1) * 32) : null,
        }));
        for (const table of tables(sorted))
          assert.deepEqual((await encodedFileTree(table, roots)).bytes, encodeFlatTree(flat).bytes);
      }),
      { numRuns: runs(150) },
    );
  });

  it('keeps what entries have beside paths and lengths', async () => {
    const extra = new Map([['key', 7]]);
    const listed: FileItem = { path: ['old'], length: 1, extra };
    const attr: ListedFile[] = [...filler, { path: ['z'], length: 1, attr: 'x', extra, listed }];
    const shape = shapeOf(new FileTable(attr), { version: 'hybrid', padding: null, pieceLength: 16_384 });
    const list = Buffer.from((await encodedFileList(shape))?.bytes ?? []).toString();
    assert.ok(list.endsWith('d4:attr1:x3:keyi7e6:lengthi1e4:pathl1:zeee'), list.slice(-80));
    const tree = Buffer.from((await encodedFileTree(shape.files, Buffer.alloc(32 * attr.length))).bytes).toString();
    assert.ok(tree.includes('1:zd0:d4:attr1:x3:keyi7e6:lengthi1e'), tree.slice(-120));
  });

  it('clears the flags of files that are named like pad files', async () => {
    const rows = [...filler, { path: ['_____padding_file_0'], length: 1 }];
    for (const table of tables(rows)) {
      const shape = shapeOf(table, { version: 'v1', padding: null, pieceLength: 16_384 });
      const list = Buffer.from((await encodedFileList(shape))?.bytes ?? []).toString();
      assert.ok(list.endsWith('d4:attr0:6:lengthi1e4:pathl19:_____padding_file_0eee'), list.slice(-80));
      assert.deepEqual((await measureFiles(shape, 10)).likePads, [filler.length]);
    }
  });

  const noAddon = !addonOrNull() && 'there is no addon';
  it('is measured alike with and without the addon', { skip: noAddon }, async () => {
    await fc.assert(
      fc.asyncProperty(files, shapes, fc.integer({ min: 1, max: 6 }), async (rows, how, maxComponents) => {
        for (const table of tables(how.version === 'v1' ? sortV1(rows) : sortV2(rows))) {
          const shape = shapeOf(table, how);
          const measured = await measureFiles(shape, maxComponents);
          const restore = chooseEngine('node');
          const wanted = await measureFiles(shape, maxComponents).finally(restore);
          assert.deepEqual(measured, wanted);
        }
      }),
      { numRuns: runs(150) },
    );
  });
});

describe('missing roots', () => {
  it('are left to the reader of the tree, for few and for many files', async () => {
    for (const count of [2, MANY_FILES]) {
      const table = new FileTable(Array.from({ length: count }, (_, i) => ({ path: [`${1000 + i}`], length: 1 })));
      const tree = Buffer.from((await encodedFileTree(table, new Uint8Array())).bytes).toString();
      assert.ok(tree.endsWith('11:pieces root0:eee'), tree.slice(-80));
    }
  });
});
