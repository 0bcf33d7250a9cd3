/** A torrent and a magnet link to try the page with. */
import { type Torrent, TorrentCreate } from 'metainfo/browser';

/** Bytes of each file. */
const FILES = {
  '01 first.flac': 90_000,
  '02 second.flac': 70_000,
  'notes/booklet.pdf': 30_000,
  'notes/readme.txt': 400,
};

/** Makes the torrent: a hybrid with all that the page draws. */
export async function exampleTorrent(): Promise<Torrent> {
  const sources = Object.entries(FILES).map(([path, length]) => ({
    path,
    data: Uint8Array.from({ length }, (_, i) => i),
  }));
  return new TorrentCreate({
    name: 'Example album',
    comment: 'An example: its trackers and its webseed do not exist.',
    trackers: [['https://tracker.example/announce'], ['udp://tracker.example:6969/announce']],
    urlList: ['https://files.example/'],
    sources,
    info: { pieceLength: 2 ** 15 },
  }).generate();
}

/** The link to that torrent, with a peer. */
export async function exampleMagnet(): Promise<string> {
  return `${(await exampleTorrent()).magnet()}&x.pe=[2001:db8::1]:6881`;
}
