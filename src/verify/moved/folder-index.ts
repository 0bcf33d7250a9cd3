/** Lists folders once for any number of searches: finds their files by size, in columns, because there may be millions. */
import { stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { type ScannedFile, type ScanOptions, scan } from '../../disk/scan.ts';
import type { MetainfoError } from '../../errors/errors.ts';
import { throwSystemError } from '../../errors/system-error.ts';
import { FileTable } from '../../layout/file-table.ts';
import { type DiskFile, diskFileAt } from '../matched-files.ts';

/** The files of folders by size. */
export class FolderIndex {
  /** The errors of files and folders that could not be searched. */
  readonly problems: MetainfoError[] = [];
  /** The files that got another name, which changes their `ctimeMs`: device and inode. */
  readonly linked = new Set<string>();
  /** The files of each folder, and their indexes in the order of their sizes. */
  readonly #folders: { table: FileTable<ScannedFile>; bySize: Uint32Array }[] = [];

  /** Lists folders, and adds single files, without following links. Throws `ERR_NOT_FOUND` or `ERR_UNREADABLE` for a folder. */
  static async of(
    folders: readonly string[],
    options: Pick<ScanOptions, 'signal' | 'slot'> = {},
  ): Promise<FolderIndex> {
    await requireFolders(folders);
    const index = new FolderIndex();
    for (const folder of folders) await index.#add(folder, options);
    return index;
  }

  async #add(folder: string, options: Pick<ScanOptions, 'signal' | 'slot'>): Promise<void> {
    const scanned = await scan(nodePath.resolve(folder), null, {
      ...options,
      symlinks: 'skip',
      anyFiles: true,
      anyNames: true,
      onProblem: (error) => this.problems.push(error),
    });
    const table = new FileTable<ScannedFile>(scanned);
    const { lengths } = table;
    const bySize = new Uint32Array(lengths.keys()).sort((a, b) => (lengths[a] as number) - (lengths[b] as number));
    this.#folders.push({ table, bySize });
  }

  /** The files of a size. */
  *filesOf(size: number): Generator<DiskFile> {
    for (const { table, bySize } of this.#folders) {
      const sizeAt = (at: number) => table.lengths[bySize[at] as number] as number;
      let [first, end] = [0, bySize.length];
      while (first < end) {
        const middle = (first + end) >> 1;
        if (sizeAt(middle) < size) first = middle + 1;
        else end = middle;
      }
      for (; first < bySize.length && sizeAt(first) === size; first += 1)
        yield diskFileAt(table, bySize[first] as number);
    }
  }
}

/** @throws {MetainfoError} `ERR_NOT_FOUND` or `ERR_UNREADABLE` for a folder that is not there */
export async function requireFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await stat(folder).catch(throwSystemError(folder, 'read'));
}
