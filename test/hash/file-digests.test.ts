import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Digests } from '../../src/hash/engine.ts';
import { DigestTable, packDigests, splitDigests } from '../../src/hash/file-digests.ts';
import { noise } from './reference.ts';

const PIECE = 16 * 1024;
/** An empty file, files of one piece, and files with a piece layer. */
const LENGTHS = [0, 1, 3 * PIECE, PIECE, PIECE + 1, 0, 2 * PIECE];

const inHex = ({ v1, v2 }: Digests) =>
  [v1, v2?.roots, v2?.layers].map((bytes) => bytes && Buffer.from(bytes).toString('hex'));

describe('a table of digests', () => {
  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    const format = { version, pieceLength: PIECE };
    const all = packDigests(
      LENGTHS.map((length, i) => {
        const pieces = Math.ceil(length / PIECE);
        const layer = noise(pieces > 1 ? pieces * 32 : 0, i + 10);
        return { pieces: noise(pieces * 20, i + 1), root: length > 0 ? noise(32, i + 20) : null, layer };
      }),
      version,
    );

    it(`holds the same bytes however files are added: ${version}`, () => {
      const each = splitDigests(LENGTHS, all, format);
      for (const known of [[], [0], [2, 4], [1, 2, 3], [0, 1, 2, 3, 4, 5, 6]]) {
        const table = new DigestTable(LENGTHS, format);
        for (const index of known) table.set(index, each[index] as (typeof each)[number]);
        const rest = table.unknown();
        assert.deepEqual(
          [...rest],
          [...LENGTHS.keys()].filter((index) => !known.includes(index)),
        );
        const hashed = [...rest].map((index) => each[index] as (typeof each)[number]);
        table.add(rest, packDigests(hashed, version));
        assert.deepEqual(inHex(table.packed), inHex(all));
        assert.equal(table.unknown().length, 0);
      }
    });

    it(`refuses digests of another size, which an engine of the caller may give: ${version}`, () => {
      const table = new DigestTable(LENGTHS, format);
      const two = Uint32Array.of(2, 3);
      const some = splitDigests(LENGTHS, all, format);
      assert.throws(() => table.add(two, packDigests(some.slice(2, 3), version)), { code: 'ERR_INVALID_ARGUMENT' });
      assert.throws(() => table.add(two, packDigests(some.slice(2, 5), version)), { code: 'ERR_INVALID_ARGUMENT' });
      assert.deepEqual([...table.unknown()], [...LENGTHS.keys()]);
    });
  }
});
