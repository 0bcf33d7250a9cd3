/** The summary of a creation: as JSON, and as lines. */
import type { Finding } from '../../create/findings/findings.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { formatBytes, plural } from '../../text/format.ts';
import { nameOfTarget } from '../options/target.ts';
import { toPlain } from '../terminal/messages.ts';
import type { CreateOptions } from './options.ts';
import type { Created } from './run-create.ts';

/** A creation and its warnings. */
interface Summary extends Created {
  warnings: readonly Finding[];
}

/** The summary for `--json`. */
export function summaryJson(
  { torrent, target, seconds, kernel, warnings, bytesRead, link, web }: Summary,
  { magnet }: CreateOptions,
): object {
  const { totalSize, nFiles, nPieces, info } = torrent;
  return {
    path: target,
    ...web,
    version: torrent.torrentVersion,
    name: info.name,
    infohash: infohashOf(torrent),
    pieceLength: info.pieceLength,
    pieces: nPieces,
    files: nFiles,
    totalSize,
    ...(bytesRead !== null && { bytesRead }),
    seconds,
    bytesPerSecond: Math.round((bytesRead ?? totalSize) / seconds),
    kernel,
    ...(magnet && { magnet: link }),
    warnings: warnings.map(toPlain),
  };
}

/** The summary for people; with `--quiet` only the magnet link, if it was asked for. */
export function summaryLines(created: Created, { magnet, quiet }: CreateOptions): string[] {
  const { link } = created;
  return [...(quiet ? [] : linesOf(created)), ...(magnet && link !== null ? [link] : [])];
}

/** The infohashes of a torrent, as all objects of `--json` have them. */
export const infohashOf = ({ infohashV1: v1, infohashV2: v2 }: Pick<Torrent, 'infohashV1' | 'infohashV2'>) => ({
  v1,
  v2,
});

/** The infohashes of a torrent, one a line. */
export function infohashLines({ infohashV1, infohashV2 }: Pick<Torrent, 'infohashV1' | 'infohashV2'>): string[] {
  return [...(infohashV1 ? [`infohash v1  ${infohashV1}`] : []), ...(infohashV2 ? [`infohash v2  ${infohashV2}`] : [])];
}

function linesOf({ torrent, target, seconds, kernel, ...summary }: Created): string[] {
  const { totalSize, nFiles, nPieces, info } = torrent;
  const bytesRead = summary.bytesRead ?? totalSize;
  const files = `${plural(nFiles, 'file')}, ${formatBytes(totalSize)}`;
  const pieces = `${plural(nPieces, 'piece')} of ${formatBytes(info.pieceLength)}`;
  const speed = `${formatBytes(Math.round(bytesRead / seconds))}/s, ${kernel}`;
  return [
    `${nameOfTarget(target)}: ${torrent.torrentVersion}, ${files}, ${pieces}`,
    ...infohashLines(torrent),
    ...(bytesRead < totalSize
      ? [`read ${formatBytes(bytesRead)} of ${formatBytes(totalSize)}; the cache provided the rest`]
      : []),
    ...(bytesRead > 0 ? [`hashed in ${seconds.toFixed(2)} s (${speed})`] : []),
  ];
}
