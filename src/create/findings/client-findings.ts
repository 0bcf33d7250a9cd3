/** Hints at clients that cannot read a torrent of a version. docs/interop.md has the facts. */
import type { TorrentVersion } from '../../model/discriminator.ts';
import type { Finding } from './findings.ts';

/** The clients that cannot read a version, and what to do about them. All of them read v1. */
const CLIENTS: Readonly<Record<TorrentVersion, readonly [message: string, advice: string] | null>> = {
  v1: null,
  v2: [
    'rtorrent, Transmission, aria2 and WebTorrent do not support v2 torrents.',
    'Make a hybrid, or make a v1 torrent, if such clients must read it.',
  ],
  hybrid: [
    'Transmission 3 cannot parse a hybrid torrent, and aria2 1.36 computes a wrong infohash for one.',
    'Make a v1 torrent if such clients must read it.',
  ],
};

/** One hint at the clients that cannot read a torrent of a version; nothing for v1. */
export function clientFindings(version: TorrentVersion): Finding[] {
  const client = CLIENTS[version];
  if (!client) return [];
  const [message, advice] = client;
  return [{ code: 'old_clients', severity: 'hint', path: null, message, advice, option: { version: 'v1' } }];
}
