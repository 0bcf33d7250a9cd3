/** The files of a v1 torrent that is upgraded: the checks that they match it, and their layout as a hybrid. */
import { LimitError, type Limits, limitsOf } from '../bencode/limits.ts';
import { type LaidOutFile, layoutOfShape, type SizedLayout } from '../create/torrent-layout.ts';
import { MetainfoError } from '../errors/errors.ts';
import { bytesToPieceEnd } from '../hash/make-requested-files.ts';
import { FileTable } from '../layout/file-table.ts';
import { comparePathsV2 } from '../layout/order.ts';
import { PADDING_DEFAULTS, type PadNames, padNamesOf } from '../layout/padding.ts';
import { type FileItem, v1List } from '../model/file-item.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { joinFirst } from '../text/printable.ts';
import type { DiskFile, MatchedFile } from '../verify/matched-files.ts';
import type { PieceLayout } from '../verify/piece-layout.ts';
import { withoutContent } from './replace-fields.ts';

/** How many problems an error message lists. */
const MAX_LISTED = 5;

/** Throws one error for all files that are missing, unreadable or of another size. */
export function requireAllFiles(files: readonly MatchedFile[]): void {
  const mismatches: string[] = [];
  // One folder that cannot be read is the reason for all files in it.
  const failures = new Set<MetainfoError>();
  for (const { path, length, onDisk } of files) {
    if (!onDisk) mismatches.push(`${path} is missing`);
    else if ('size' in onDisk) {
      if (onDisk.size !== length) mismatches.push(`${path} has ${onDisk.size} bytes, not ${length}`);
    } else if (onDisk.error) failures.add(onDisk.error);
    else mismatches.push(`${path} is ${onDisk.problem}`);
  }
  const [failure] = failures;
  if (failure) {
    const { code, path } = failure;
    const problems = [...Array.from(failures, ({ message }) => message), ...mismatches];
    const message = `Some files cannot be read: ${joinFirst(problems, MAX_LISTED)}.`;
    throw new MetainfoError(code, message, { ...(path !== undefined && { path }), cause: failure });
  }
  if (mismatches.length > 0) throw mismatch(mismatches);
}

/** Throws an error that lists the pieces that are not good. */
export function requireGoodPieces(good: Uint8Array, map: PieceLayout, files: readonly MatchedFile[]): void {
  const wrong = [...good.keys()].filter((piece) => good[piece] !== 1);
  const fileAt = (offset: number) => {
    const entry = map.starts.findLastIndex((start, i) => start <= offset && map.fileIndexes[i] !== -1);
    return files[map.fileIndexes[entry] as number]?.path ?? 'a pad file';
  };
  const describe = (piece: number) => `piece ${piece} (in ${fileAt(piece * map.pieceLength)}) is wrong`;
  if (wrong.length > 0) throw mismatch(wrong.slice(0, MAX_LISTED).map(describe), wrong.length);
}

function mismatch(problems: readonly string[], count?: number): MetainfoError {
  const message = `The files do not match the torrent: ${joinFirst(problems, MAX_LISTED, count)}.`;
  return new MetainfoError('ERR_HASH_MISMATCH', message);
}

/** The layout of the hybrid. Its files are those that were found on disk. */
export function hybridLayout(
  torrent: Torrent,
  matched: readonly MatchedFile[],
  padNames: PadNames | undefined,
): SizedLayout {
  const { name } = torrent;
  const info = torrent.info as InfoDictV1;
  const { pieceLength } = info;
  const { list, isPad } = v1List(info);
  const content = list.filter((item) => !isPad(item));
  const files = content.map((item, i) => laidOutFile(item, (matched[i] as MatchedFile).onDisk as DiskFile));
  const padding = info.files ? { ...PADDING_DEFAULTS, padNames: padNames ?? padNamesOf(list) } : null;
  return layoutOfShape({
    version: 'hybrid',
    isSingleFile: !info.files,
    name,
    pieceLength,
    padding,
    files: new FileTable(files.sort((a, b) => comparePathsV2(a.path, b.path))),
    otherFields: withoutContent(torrent),
  });
}

/** The file of the hybrid for an entry of the v1 torrent. A symbolic link has no content, so nothing is read for it. */
function laidOutFile(
  { pathUtf8, ...item }: FileItem,
  { diskPath, mtimeMs, ctimeMs }: DiskFile,
): LaidOutFile & { length: number } {
  const { length, attr, symlinkPath } = item;
  const path = pathUtf8 ?? item.path;
  const described = { path, length, attr: attr || undefined, listed: { ...item, path } };
  if (attr?.includes('l')) return { ...described, symlinkPath: symlinkPath ?? undefined };
  return { ...described, diskPath, mtimeMs, ctimeMs };
}

/** Throws when the hybrid would have too much padding: many small files with large pieces take too long to hash. */
export function requirePadding({ files, paddedFiles, pieceLength }: SizedLayout, limits: Limits | undefined): void {
  const { padding: max } = limitsOf(limits);
  const padded = files.lengths.subarray(0, paddedFiles);
  if (padded.reduce((sum, length) => sum + bytesToPieceEnd(length, pieceLength), 0) > max)
    throw new LimitError('padding', max);
}

/** @throws {MetainfoError} `ERR_FILE_CHANGED` if a file was replaced or written */
export function requireSameTimes(before: readonly MatchedFile[], after: readonly MatchedFile[]): void {
  for (const [i, { onDisk }] of before.entries()) {
    const [was, is] = [onDisk as DiskFile, after[i]?.onDisk as Partial<DiskFile> | null | undefined];
    if (is?.mtimeMs === was.mtimeMs && is?.ctimeMs === was.ctimeMs) continue;
    const message = `${was.diskPath} changed while it was hashed.`;
    throw new MetainfoError('ERR_FILE_CHANGED', message, { path: was.diskPath });
  }
}
