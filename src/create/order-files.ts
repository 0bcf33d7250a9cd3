/** Orders the files of a table: on a native thread if there are many. */
import { MetainfoError } from '../errors/errors.ts';
import { addonOrNull, tableResult } from '../hash/addon.ts';
import { FileTable, type PathColumn, pathAt, type TableFile } from '../layout/file-table.ts';
import { sortV1, sortV2 } from '../layout/order.ts';
import { concatBytes, isAscii, nextRound, utf8Bytes, utf8Length } from '../platform/node.ts';

/** Sorting fewer files takes less time than starting a native thread. */
export const MANY_FILES = 256;
/** Paths that are lower-cased in one step of the event loop. */
const PATHS_PER_STEP = 4096;

/** The order of files in a torrent: see {@link sortV1} and {@link sortV2}. */
export type FileOrder = 'v1' | 'v2';

/** Returns the table in order. */
export async function orderFiles<File extends TableFile>(
  table: FileTable<File>,
  order: FileOrder,
): Promise<FileTable<File>> {
  return (await orderedFiles(table, order)).files;
}

/** The table in v2 order. Throws `ERR_DUPLICATE_PATH` for two files with one path, and for a file where another needs a folder. */
export async function orderDistinctFiles<File extends TableFile>(table: FileTable<File>): Promise<FileTable<File>> {
  const { files, collision } = await orderedFiles(table, 'v2');
  if (collision < 0) return files;
  const [before, path] = [files.pathAt(collision - 1), files.pathAt(collision)];
  const message =
    before === path
      ? `Two files have the path ${path}.`
      : `${before} is the path of a file, and also the folder of ${path}.`;
  throw new MetainfoError('ERR_DUPLICATE_PATH', message, { path });
}

interface Ordered<File extends TableFile> {
  files: FileTable<File>;
  /** In v2 order: the first file whose path equals the path before it, or leads through it as if it were a folder; else -1. */
  collision: number;
}

async function orderedFiles<File extends TableFile>(table: FileTable<File>, order: FileOrder): Promise<Ordered<File>> {
  const addon = table.length < MANY_FILES ? null : addonOrNull();
  if (!addon) return orderedRows(table, order);
  const { columns } = table;
  const lower = order === 'v1' && !isAscii(columns.paths.bytes) ? await lowerCased(columns.paths) : null;
  const sorted = await tableResult(addon.sortFiles(columns, order === 'v1', lower));
  const { data } = table;
  const files =
    'columns' in data
      ? { root: data.root, columns: sorted.columns }
      : Array.from(sorted.order, (index) => data[index] as File);
  return { files: new FileTable<File>(files, sorted.facts), collision: sorted.collision };
}

function orderedRows<File extends TableFile>(table: FileTable<File>, order: FileOrder): Ordered<File> {
  const rows = order === 'v1' ? sortV1(table.rows()) : sortV2(table.rows());
  return { files: new FileTable<File>(rows), collision: order === 'v2' ? collisionIn(rows) : -1 };
}

/** The first file of a list in v2 order whose path equals the path before it, or leads through it; else -1. */
function collisionIn(files: readonly TableFile[]): number {
  return files.findIndex(({ path }, index) => {
    const before = files[index - 1]?.path;
    return before?.every((name, depth) => name === path[depth]) ?? false;
  });
}

/** The paths with `/`, lower-cased: only JavaScript knows how to do that for all of Unicode. */
async function lowerCased(paths: PathColumn): Promise<PathColumn> {
  const ends = new Uint32Array(paths.ends.length);
  const parts: Uint8Array[] = [];
  let end = 0;
  for (let first = 0; first < ends.length; first += PATHS_PER_STEP) {
    let text = '';
    for (let i = first; i < Math.min(ends.length, first + PATHS_PER_STEP); i += 1) {
      const path = pathAt(paths, i).join('/').toLowerCase();
      end += utf8Length(path);
      ends[i] = end;
      text += path;
    }
    parts.push(utf8Bytes(text));
    await nextRound();
  }
  return { bytes: concatBytes(parts), ends };
}
