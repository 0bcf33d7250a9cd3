/** The files of a layout as an engine hashes them, and the digests of a whole torrent. */
import type { PackedTrees } from '../hash/file-digests.ts';
import type { RequestedFile } from '../hash/hash-request.ts';
import { toRequestedFile } from '../hash/make-requested-files.ts';
import type { TorrentLayout } from './torrent-layout.ts';

/** The digests of a layout, in the order of its files: plain data. */
export interface TorrentDigests {
  /** Bytes of each file, if hashing had to find out the length of a stream; null if the layout has the length of every file. */
  lengths: readonly number[] | null;
  /** v1 and hybrid: 20 bytes per piece, packed. */
  pieces: Uint8Array | null;
  /** v2 and hybrid: the trees of all files. */
  trees: PackedTrees | null;
}

/** Files on disk or in memory, as some of the files of a layout. */
export interface FilesToHash {
  files: RequestedFile[];
  /** The index of each file in the layout. */
  indexes: number[];
  /** How many of them, from the first on, have their last piece filled up by a pad file. */
  paddedFiles: number;
}

/** The files of a layout that are not streams. */
export function filesToHash({ files, paddedFiles }: Pick<TorrentLayout, 'files' | 'paddedFiles'>): FilesToHash {
  const found: FilesToHash = { files: [], indexes: [], paddedFiles: 0 };
  let index = 0;
  for (const file of files) {
    if (!file.stream) {
      found.files.push(toRequestedFile(file));
      found.indexes.push(index);
      if (index < paddedFiles) found.paddedFiles += 1;
    }
    index += 1;
  }
  return found;
}
