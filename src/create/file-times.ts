/** The times of a torrent's files, which tell a later update which files are unchanged. */
import { expected, invalidArgument } from '../errors/guard.ts';
import { FileTable } from '../layout/file-table.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { isFloat64Array } from '../platform/node.ts';

/** When the files of a torrent were last changed, in the order of `torrent.files`. NaN: the file is not on disk. */
export interface FileTimes {
  /** When the content was last changed: milliseconds since 1970, one number per file. */
  mtimeMs: Float64Array;
  /** When the content or the status (name, permissions) was last changed: milliseconds since 1970, one number per file. */
  ctimeMs: Float64Array;
}

interface Timed {
  mtimeMs?: number | undefined;
  ctimeMs?: number | undefined;
}

/** The times of scanned files. */
export function fileTimesOf(files: FileTable | readonly Timed[]): FileTimes {
  const onDisk = files instanceof FileTable ? files.onDisk : null;
  if (onDisk) return { mtimeMs: onDisk.columns.mtimes, ctimeMs: onDisk.columns.ctimes };
  const timed: readonly Timed[] = files instanceof FileTable ? files.rows() : files;
  return {
    mtimeMs: Float64Array.from(timed, ({ mtimeMs }) => mtimeMs ?? Number.NaN),
    ctimeMs: Float64Array.from(timed, ({ ctimeMs }) => ctimeMs ?? Number.NaN),
  };
}

/** The struct of {@link FileTimes}. */
export const FileTimesStruct = expected<FileTimes>('file times: two Float64Arrays, mtimeMs and ctimeMs', (value) => {
  const { mtimeMs, ctimeMs } = Object(value) as Partial<FileTimes>;
  return isFloat64Array(mtimeMs) && isFloat64Array(ctimeMs);
});

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if the times are those of another number of files */
export function requireTimesOf({ nFiles }: Torrent, { mtimeMs, ctimeMs }: FileTimes): void {
  if (mtimeMs.length === nFiles && ctimeMs.length === nFiles) return;
  throw invalidArgument(
    `fileTimes must have one mtimeMs and one ctimeMs for each of the ${nFiles} files of the torrent, not ${mtimeMs.length} and ${ctimeMs.length}`,
  );
}
