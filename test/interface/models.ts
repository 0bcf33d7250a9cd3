/** Valid info dictionaries of each version as plain models, and assertions on the rules that a changed one breaks. */
import assert from 'node:assert/strict';
import { type Struct, validate } from 'superstruct';
import { HashList } from '../../src/index.ts';

export const PIECE = 16_384;
export const H32 = Buffer.alloc(32, 2);

export const hashes = (count: number): HashList => new HashList(Buffer.alloc(20 * count, 1), 20);
export const leaf = (length: number): Map<string, unknown> =>
  new Map([['', { length, ...(length > 0 && { piecesRoot: H32 }) }]]);
export const pad = (length: number) => ({ length, path: ['.pad', String(length)], attr: 'p' });

/** A single file of 5 bytes. */
export const V1 = { name: 'a', pieceLength: PIECE, pieces: hashes(1), length: 5 };
/** A folder of two files of one piece each, unpadded: 3 + 4 bytes. */
export const V1_FOLDER = {
  name: 'd',
  pieceLength: PIECE,
  pieces: hashes(1),
  files: [
    { length: 3, path: ['a'] },
    { length: 4, path: ['b'] },
  ],
};
export const V2 = { name: 'a', pieceLength: PIECE, metaVersion: 2, fileTree: new Map([['a', leaf(5)]]) };
export const HYBRID = { ...V2, pieces: hashes(1), length: 5 };
/** A padded folder: `a` of 5 bytes, its pad file, `b` of 6 bytes. */
export const HYBRID_FOLDER = {
  name: 'd',
  pieceLength: PIECE,
  metaVersion: 2,
  pieces: hashes(2),
  files: [{ length: 5, path: ['a'] }, pad(PIECE - 5), { length: 6, path: ['b'] }],
  fileTree: new Map([
    ['a', leaf(5)],
    ['b', leaf(6)],
  ]),
};

/** Returns the rules or fields that make a value invalid; empty if it is valid. */
export function failures(value: unknown, struct: unknown): string[] {
  const [error] = validate(value, struct as Struct<unknown, unknown>);
  return error ? error.failures().map(({ refinement, path }) => refinement ?? path.join('.')) : [];
}

export function assertValid(value: unknown, struct: unknown): void {
  assert.deepEqual(failures(value, struct), []);
}

/** Asserts that a value is invalid, and that the failure names the rule or field. */
export function assertFails(value: unknown, struct: unknown, name: string): void {
  const found = failures(value, struct);
  assert.ok(found.includes(name), `expected ${name}, got [${found}]`);
}
