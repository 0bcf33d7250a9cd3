// Creates a torrent from a folder.
//
//   node examples/folder.mjs [FOLDER]
import { fileURLToPath } from 'node:url';
import { TorrentCreate } from 'metainfo';

const folder = process.argv[2] ?? fileURLToPath(new URL('album', import.meta.url));

const draft = new TorrentCreate({ pathRoot: folder, trackers: ['udp://tracker.example:6969/announce'] });
const torrent = await draft.generate({ threads: null });

for (const { path, length } of torrent.files) console.log(`${path}: ${length} bytes`);
console.log(`infohash v1 ${torrent.infohashV1}`);
console.log(`infohash v2 ${torrent.infohashV2}`);
// torrent.write(file) writes the bytes to a file, completely or not at all.
console.log(`${torrent.bencode().length} bytes of metainfo`);
