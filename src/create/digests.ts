/** The files of a plan as an engine hashes them, and the digests of a whole torrent. */
import type { TreeDigests } from '../hash/file-digests.ts';
import { type AlignedFile, toPlanFile } from '../hash/file-plan.ts';
import type { CreatePlan, PlannedFile } from './plan.ts';

/** The digests of a plan, in the order of its files: plain data. */
export interface TorrentDigests {
  /** Bytes of each file. Hashing finds out the length of a stream without a size. */
  lengths: readonly number[];
  /** v1 and hybrid: 20 bytes per piece, packed. */
  pieces: Uint8Array | null;
  /** v2 and hybrid: the digests of each file. */
  trees: readonly TreeDigests[] | null;
}

/** A file on disk or in memory, and its plan file. */
export interface FileToHash extends AlignedFile {
  file: PlannedFile;
  /** The index of the file in the plan. */
  index: number;
}

/** The files of a plan that are not streams. */
export function filesToHash({ files, paddedFiles }: CreatePlan): FileToHash[] {
  return files.flatMap((file, index) =>
    file.stream ? [] : [{ file, index, plan: toPlanFile(file), isPadded: index < paddedFiles }],
  );
}
