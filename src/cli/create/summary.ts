/** The summary of a creation: as JSON, and as lines. */
import { formatBytes } from '../../layout/text.ts';
import { plural } from '../../model/pprint.ts';
import type { Warnings } from '../output.ts';
import { nameOfTarget } from '../target.ts';
import type { Created } from './run-create.ts';

/** A creation and its warnings. */
export interface Summary extends Created {
  warnings: Warnings['list'];
}

/** The summary for `--json`. */
export function summaryJson({ torrent, target, seconds, kernel, warnings, bytesRead }: Summary): object {
  const { totalSize, infohashV1, infohashV2, nFiles, nPieces, info } = torrent;
  return {
    path: target,
    version: torrent.torrentVersion,
    name: info.name,
    infohash: { v1: infohashV1, v2: infohashV2 },
    pieceLength: info.pieceLength,
    pieces: nPieces,
    files: nFiles,
    totalSize,
    ...(bytesRead !== null && { bytesRead }),
    seconds,
    bytesPerSecond: Math.round((bytesRead ?? totalSize) / seconds),
    kernel,
    warnings,
  };
}

/** The summary for people. */
export function summaryLines({ torrent, target, seconds, kernel, ...summary }: Summary): string[] {
  const { totalSize, infohashV1, infohashV2, nFiles, nPieces, info } = torrent;
  const bytesRead = summary.bytesRead ?? totalSize;
  const files = `${plural(nFiles, 'file')}, ${formatBytes(totalSize)}`;
  const pieces = `${plural(nPieces, 'piece')} of ${formatBytes(info.pieceLength)}`;
  const speed = `${formatBytes(Math.round(bytesRead / seconds))}/s, ${kernel}`;
  return [
    `${nameOfTarget(target)}: ${torrent.torrentVersion}, ${files}, ${pieces}`,
    ...(infohashV1 ? [`infohash v1  ${infohashV1}`] : []),
    ...(infohashV2 ? [`infohash v2  ${infohashV2}`] : []),
    ...(bytesRead < totalSize
      ? [`read ${formatBytes(bytesRead)} of ${formatBytes(totalSize)}; the cache provided the rest`]
      : []),
    ...(bytesRead > 0 ? [`hashed in ${seconds.toFixed(2)} s (${speed})`] : []),
  ];
}
