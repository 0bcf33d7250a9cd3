// Compiled by `npm run check`, never run: what must compile, and what must not.
import { type HashList, type InfoDictV2, Torrent, TorrentCreate } from '../../src/index.ts';

declare const bytes: Uint8Array;
const torrent = Torrent.fromBytes(bytes);

// Before the kind is known there is only what all kinds have.
export const name: string = torrent.info.name;
// @ts-expect-error: a v2 torrent has no pieces
export const early: HashList = torrent.info.pieces;

switch (torrent.torrentVersion) {
  case 'v1': {
    const pieces: HashList = torrent.info.pieces;
    // @ts-expect-error: a v1 infodict has no file tree
    const tree = torrent.info.fileTree;
    void [pieces, tree];
    break;
  }
  case 'v2': {
    const info: InfoDictV2 = torrent.info;
    // @ts-expect-error: a v2 infodict has no pieces
    const pieces = torrent.info.pieces;
    void [info, pieces];
    break;
  }
  case 'hybrid': {
    const pieces: HashList = torrent.info.pieces;
    const tree: InfoDictV2['fileTree'] = torrent.info.fileTree;
    void [pieces, tree];
    break;
  }
  default: {
    // All kinds are named above.
    const never: never = torrent;
    void never;
  }
}

// @ts-expect-error: a torrent never changes
torrent.comment = 'x';
// @ts-expect-error: no such kind
new TorrentCreate().generate({ version: 'v3' });
// @ts-expect-error: no such mode
torrent.modelDumpTorrent({ mode: 'text' });
// @ts-expect-error: no such profile
Torrent.fromBytes(bytes, { context: { profile: 'lax' } });
