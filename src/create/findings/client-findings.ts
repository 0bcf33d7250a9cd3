/** Hints at clients that cannot read a torrent of a version. docs/interop.md has the facts. */
import type { TorrentVersion } from '../../model/discriminator.ts';
import type { Finding } from './findings.ts';

/** The clients that cannot read a version. */
const MESSAGES: Readonly<Record<Exclude<TorrentVersion, 'v1'>, string>> = {
  v2: 'rtorrent, Transmission, aria2 and WebTorrent do not support v2 torrents.',
  hybrid: 'Transmission 3 cannot parse a hybrid torrent, and aria2 1.36 computes a wrong infohash for one.',
};

const ADVICE: Readonly<Record<Exclude<TorrentVersion, 'v1'>, string>> = {
  v2: 'Make a hybrid, or make a v1 torrent, if such clients must read it.',
  hybrid: 'Make a v1 torrent if such clients must read it.',
};

/** One hint at the clients that cannot read a torrent of a version; nothing for v1, which all of them read. */
export function clientFindings(version: TorrentVersion): Finding[] {
  if (version === 'v1') return [];
  return [
    {
      code: 'old_clients',
      severity: 'hint',
      path: null,
      message: MESSAGES[version],
      advice: ADVICE[version],
      option: { version: 'v1' },
    },
  ];
}
