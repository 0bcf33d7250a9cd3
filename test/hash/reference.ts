// The hashes of BEP 3 and BEP 52 as plainly as they can be put, over whole contents in memory: what the tests hold the
// sources against. Shares nothing with src/hash or src/digest.
import { createHash } from 'node:crypto';

const BLOCK = 16_384;

export const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest();
export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

function chunks(content: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(content.length / size) }, (_, i) => content.subarray(i * size, (i + 1) * size));
}

/** The SHA-1 of every piece of the concatenation of all files. */
export function v1Pieces(stream: Buffer, pieceLength: number): Buffer[] {
  return chunks(stream, pieceLength).map(sha1);
}

/**
 * The pieces root of a file that is not empty, and its layer: none unless it is longer than a piece. Builds the whole
 * tree, with a leaf of zeros for every block past the end.
 */
export function v2Hashes(content: Buffer, pieceLength: number): { root: Buffer; layer: Buffer[] } {
  const hasLayer = content.length > pieceLength;
  let level = chunks(content, BLOCK).map(sha256);
  let width = hasLayer ? pieceLength / BLOCK : 1;
  while (width < level.length) width *= 2;
  while (level.length < width) level.push(Buffer.alloc(32));

  let layer: Buffer[] = [];
  for (let covered = BLOCK; ; covered *= 2) {
    if (hasLayer && covered === pieceLength) layer = level.slice(0, Math.ceil(content.length / pieceLength));
    const [root] = level;
    if (root && level.length === 1) return { root, layer };
    level = chunks(Buffer.concat(level), 64).map(sha256);
  }
}

/** Bytes without any period: swapped blocks cannot hide. Equal seeds give equal bytes. */
export function noise(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  // xorshift32
  let state = seed;
  for (let i = 0; i < length; i += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state;
  }
  return bytes;
}
