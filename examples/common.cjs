// A CommonJS program: makes a torrent of a folder, reads it again and verifies the folder against it.
//
//   node examples/common.cjs
const { mkdtemp, rm } = require('node:fs/promises');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { create, errorCategory, Torrent, verify } = require('metainfo');

async function main() {
  const album = path.join(__dirname, 'album');
  const folder = await mkdtemp(path.join(tmpdir(), 'common-'));
  try {
    const made = await create(album, { private: true, trackers: ['https://tracker.example/announce'], threads: null });
    const file = path.join(folder, 'album.torrent');
    await made.write(file);
    const torrent = await Torrent.read(file);
    const { ok, files } = await verify(torrent, album);
    console.log(`${torrent.name}: ${files.length} files, ${ok ? 'complete' : 'incomplete'}`);
    await made.write(file).catch((error) => console.log(`a second time: ${error.code} (${errorCategory(error)})`));
  } finally {
    await rm(folder, { recursive: true });
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
