/** The summary of a creation: as JSON, and as lines. */
import type { Finding } from '../../create/findings/findings.ts';
import type { ReuseReport } from '../../create/known/known.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { formatBytes, plural } from '../../text/format.ts';
import { joinFirst, printable } from '../../text/printable.ts';
import { withoutSecrets } from '../../text/urls.ts';
import { nameOfTarget } from '../options/target.ts';
import { toPlain } from '../terminal/messages.ts';
import type { CreateOptions } from './options.ts';
import type { Created } from './run-create.ts';

/** A creation and its warnings. */
interface Summary extends Created {
  warnings: readonly Finding[];
}

/** The path of the content of a creation, for `--json`; null if there are several. */
export const contentPathOf = (paths: readonly string[]): string | null =>
  paths.length === 1 ? withoutSecrets(paths[0] as string, /$/) : null;

/** The summary for `--json`, without the paths. */
export function summaryJson(
  { torrent, seconds, kernel, warnings, bytesRead, reuse, link, web }: Summary,
  { magnet }: CreateOptions,
): object {
  const { totalSize, nFiles, nPieces, info } = torrent;
  return {
    ...web,
    version: torrent.torrentVersion,
    name: info.name,
    infohash: infohashOf(torrent),
    pieceLength: info.pieceLength,
    pieces: nPieces,
    files: nFiles,
    totalSize,
    ...(bytesRead !== null && { bytesRead }),
    ...(reuse && { reuse }),
    seconds,
    bytesPerSecond: Math.round((bytesRead ?? totalSize) / seconds),
    kernel,
    ...(magnet && { magnet: link }),
    warnings: warnings.map(toPlain),
  };
}

/** The summary for people; with `--quiet` only the magnet link, if it was asked for. */
export function summaryLines(created: Created, options: CreateOptions): string[] {
  const { link } = created;
  return [...(options.quiet ? [] : linesOf(created, options)), ...(options.magnet && link !== null ? [link] : [])];
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

/** The lines of a torrent that was joined from parts. */
export function joinedLines(
  target: string,
  joined: { version: string; files: number; totalSize: number } & Parameters<typeof infohashLines>[0],
  parts: number,
): string[] {
  const { version, files, totalSize } = joined;
  const content = `${plural(files, 'file')}, ${formatBytes(totalSize)}, from ${plural(parts, 'part')}`;
  return [`${nameOfTarget(target)}: ${version}, ${content}`, ...infohashLines(joined)];
}

function linesOf({ torrent, target, seconds, kernel, reuse, ...summary }: Created, options: CreateOptions): string[] {
  const { totalSize, nFiles, nPieces, info } = torrent;
  const bytesRead = summary.bytesRead ?? totalSize;
  const cache = options.cache || options.cacheDir ? 'the cache' : null;
  const rest = `${[cache, reuse && 'other torrents'].filter(Boolean).join(' and ')} provided`;
  const files = `${plural(nFiles, 'file')}, ${formatBytes(totalSize)}`;
  const pieces = `${plural(nPieces, 'piece')} of ${formatBytes(info.pieceLength)}`;
  const speed = `${formatBytes(Math.round(bytesRead / seconds))}/s, ${kernel}`;
  const { source } = info;
  const facts = [...(info.private ? ['private'] : []), ...(source ? [`source ${printable(source)}`] : [])];
  return [
    `${nameOfTarget(target)}: ${torrent.torrentVersion}, ${files}, ${pieces}`,
    ...infohashLines(torrent),
    ...(facts.length > 0 ? [facts.join(', ')] : []),
    ...(reuse ? reuseLines(reuse, options.reuseVerify) : []),
    ...(bytesRead < totalSize ? [`read ${formatBytes(bytesRead)} of ${formatBytes(totalSize)}; ${rest} the rest`] : []),
    ...(bytesRead > 0 ? [`hashed in ${seconds.toFixed(2)} s (${speed})`] : []),
  ];
}

/** The most files that differ from all torrents, in the lines. */
const MAX_DIFFERENT = 10;

function reuseLines(report: ReuseReport, isCompared = false): string[] {
  const from = `${plural(report.torrents, 'torrent')}${skippedText(report.skipped)}`;
  const reused = report.files > 0 ? `reused ${hashesText(report)} from ${from}` : `found no hashes to reuse in ${from}`;
  const compared = `${hashesText(report)} agree with those of ${from}`;
  return [isCompared ? compared : reused, ...differentLines(report)];
}

/** Tells whose hashes were reused. */
export const hashesText = ({ files, bytes }: Pick<ReuseReport, 'files' | 'bytes'>): string =>
  `the hashes of ${plural(files, 'file')} (${formatBytes(bytes)})`;

/** Names the files that no torrent has in this form. */
export function differentLines({ different }: ReuseReport): string[] {
  const others = joinFirst(different.map(printable), MAX_DIFFERENT);
  return others ? [`different from the torrents: ${others}`] : [];
}

/** Tells how many invalid or unreadable torrents were skipped. */
export const skippedText = (skipped: number): string =>
  skipped === 0 ? '' : `; skipped ${plural(skipped, 'invalid torrent')}`;
