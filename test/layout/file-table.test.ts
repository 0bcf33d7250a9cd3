import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { FileTable, pathAt, pathColumn, type TableFile } from '../../src/layout/file-table.ts';

const ROOT = path.resolve('/root');

/** Files on disk, one of them behind a link. */
const ON_DISK: TableFile[] = [
  { path: ['a'], length: 5, diskPath: path.join(ROOT, 'a'), mtimeMs: 1.5, ctimeMs: 2.5 },
  { path: ['\u{1f600}', 'é'], length: 0, diskPath: path.join(ROOT, 'target', 'x'), mtimeMs: 3, ctimeMs: 4 },
  { path: ['z'], length: 5, diskPath: path.join(ROOT, 'z'), mtimeMs: 5, ctimeMs: 6 },
];

function asColumns(files: readonly TableFile[]): FileTable {
  const diskPaths = pathColumn(
    files.map(({ diskPath }) => path.relative(ROOT, diskPath as string).replaceAll(path.sep, '\0')),
  );
  return new FileTable({ root: ROOT, columns: { ...new FileTable(files).columns, diskPaths } });
}

describe('FileTable', () => {
  it('gives the same files as a list and as columns', () => {
    const [list, columns] = [new FileTable(ON_DISK), asColumns(ON_DISK)];
    for (const table of [list, columns]) {
      assert.equal(table.length, 3);
      assert.deepEqual([...table], ON_DISK);
      assert.deepEqual(table.rows(), ON_DISK);
      assert.deepEqual(table.at(1), ON_DISK[1]);
      assert.deepEqual([table.at(3), table.at(-1), table.pathAt(3)], [undefined, undefined, '']);
      assert.equal(table.pathAt(1), '\u{1f600}/é');
      assert.deepEqual(
        table.map(({ length }, i) => (length as number) + i),
        [5, 1, 7],
      );
      assert.equal(table.totalLength, 10);
      assert.deepEqual([...table.withLength(5)], [ON_DISK[0], ON_DISK[2]]);
      assert.deepEqual([...table.withLength(6)], []);
      assert.deepEqual([table.hasAllLengths, table.hasNamesLikePads], [true, false]);
      assert.deepEqual([...table.lengths], [5, 0, 5]);
    }
    assert.deepEqual([list.onDisk, columns.onDisk?.root], [null, ROOT]);
  });

  it('marks what it does not know with NaN in its columns', () => {
    const table = new FileTable([{ path: ['stream'], length: null }]);
    const { lengths, mtimes, ctimes } = table.columns;
    assert.deepEqual([lengths[0], mtimes[0], ctimes[0]], [Number.NaN, Number.NaN, Number.NaN]);
    assert.deepEqual([table.totalLength, table.hasAllLengths], [0, false]);
  });

  it('finds names like those of BitComet pad files', () => {
    for (const name of ['_____padding_file_0_', 'x_____padding_file_', '____padding_file_']) {
      const files = [...ON_DISK, { path: ['d', name, 'f'], length: 1, diskPath: path.join(ROOT, 'd', name, 'f') }];
      const found = [new FileTable(files), asColumns(files)].map((table) => table.hasNamesLikePads);
      assert.deepEqual(found, name.startsWith('____p') ? [false, false] : [true, true], name);
    }
  });

  it('takes the facts that it is given', () => {
    const table = new FileTable(ON_DISK, { totalLength: 7, hasNamesLikePads: true });
    assert.deepEqual([table.totalLength, table.hasNamesLikePads], [7, true]);
  });

  it('has the path of its root for a file without components', () => {
    const { columns } = new FileTable([{ path: [], length: 1, mtimeMs: 1, ctimeMs: 1 }]);
    const table = new FileTable({ root: ROOT, columns });
    assert.deepEqual(table.at(0), { path: [], length: 1, diskPath: ROOT, mtimeMs: 1, ctimeMs: 1 });
  });

  it('is made anew from a clone of its data', () => {
    for (const table of [new FileTable(ON_DISK), asColumns(ON_DISK)])
      assert.deepEqual(new FileTable(structuredClone(table.data)).rows(), ON_DISK);
  });

  it('separates the components of its paths by zero bytes', () => {
    const column = pathColumn(['a\0b', '', 'é']);
    assert.deepEqual(Buffer.from(column.bytes), Buffer.from('a\0bé'));
    assert.deepEqual([...column.ends], [3, 3, 5]);
    assert.deepEqual([pathAt(column, 0), pathAt(column, 1), pathAt(column, 2)], [['a', 'b'], [], ['é']]);
  });
});
