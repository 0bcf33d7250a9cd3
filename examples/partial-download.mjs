// Finds the valid pieces of an incomplete download: each piece is hashed by itself.
//
//   node examples/partial-download.mjs
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TorrentCreate } from 'metainfo';

const folder = await mkdtemp(path.join(tmpdir(), 'download-'));
const PIECE = 2 ** 16;
const film = randomBytes(10 * PIECE + 123);
const notes = randomBytes(1000);
const sources = [
  { path: 'film.mkv', data: film },
  { path: 'notes.txt', data: notes },
];
const torrent = await new TorrentCreate({ info: { name: 'album' }, sources, pieceLength: PIECE }).generate();

// The download so far: all of the notes, and pieces 0 to 3 and 7 of the film. Piece 2 is corrupt.
const partial = Buffer.alloc(film.length);
for (const piece of [0, 1, 2, 3, 7]) film.copy(partial, piece * PIECE, piece * PIECE, (piece + 1) * PIECE);
partial[2 * PIECE + 77] ^= 1;
await writeFile(path.join(folder, 'film.mkv'), partial);
await writeFile(path.join(folder, 'notes.txt'), notes);

/** Whether a piece of a file on disk matches its v2 hash. */
async function isValid(name, piece) {
  const { rangeStart, rangeEnd, validateData } = torrent.v2PieceRange(name, piece);
  const file = await open(path.join(folder, name));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(rangeEnd - rangeStart), { position: rangeStart });
    return validateData([buffer.subarray(0, bytesRead)]);
  } finally {
    await file.close();
  }
}

const valid = {};
for (const { path: name, length } of torrent.files) {
  valid[name] = [];
  for (let piece = 0; piece < Math.max(1, Math.ceil(length / PIECE)); piece += 1) {
    if (await isValid(name, piece)) valid[name].push(piece);
  }
  console.log(`${name}: pieces ${valid[name].join(', ')} of ${Math.ceil(length / PIECE)} are valid`);
}
assert.deepEqual(valid, { 'film.mkv': [0, 1, 3, 7], 'notes.txt': [0] });

await rm(folder, { recursive: true });
