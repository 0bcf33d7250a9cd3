// The package has no types of its own.
declare module 'parse-torrent' {
  export default function parseTorrent(torrent: Uint8Array): Promise<{ infoHash?: string }>;
}
