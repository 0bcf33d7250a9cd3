import type { Torrent } from '../model/torrent.ts';
import { formatBytes, printable } from './text.ts';

/** Longer lists are cut, so that all fits one screen. */
const MOST_TRACKERS = 5;
const MOST_TEXT = 200;

/** Prints the top-level metadata of a torrent on standard output, in less than one screen. */
export function pprint(torrent: Torrent): void {
  process.stdout.write(`${formatTorrent(torrent)}\n`);
}

/** What {@link pprint} prints, without an end of line. */
export function formatTorrent(torrent: Torrent): string {
  const { info } = torrent;
  const rows: [label: string, value: string | null | undefined][] = [
    ['name', info.name],
    ['version', torrent.torrentVersion],
    ['infohash v1', torrent.infohashV1],
    ['infohash v2', torrent.infohashV2],
    ['size', `${formatBytes(torrent.totalSize)} in ${plural(torrent.nFiles, 'file')}`],
    ['pieces', `${torrent.nPieces} of ${formatBytes(info.pieceLength)}`],
    ...listRows('tracker', torrent.flatTrackers),
    ...listRows('webseed', torrent.urlList ?? []),
    ['private', info.private ? 'yes' : null],
    ['source', info.source],
    ['comment', torrent.comment],
    ['created by', torrent.createdBy],
    ['created', torrent.creationDate?.toISOString()],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([label, value]) => `${label.padEnd(width)}  ${cut(printable(value as string))}`)
    .join('\n');
}

/** `1 file`, `2 files`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function listRows(label: string, values: readonly string[]): [string, string][] {
  const rows: [string, string][] = values.slice(0, MOST_TRACKERS).map((value) => [label, value]);
  const more = values.length - rows.length;
  return more > 0 ? [...rows, [label, `and ${more} more`]] : rows;
}

function cut(text: string): string {
  const chars = [...text];
  return chars.length > MOST_TEXT ? `${chars.slice(0, MOST_TEXT - 1).join('')}…` : text;
}
