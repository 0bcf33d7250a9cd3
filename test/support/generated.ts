/** Generates trees of files with difficult names (whose order depends on the comparison) and sizes (at block and piece borders). */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import type { GenerateOptions } from '../../src/create/options.ts';
import { MANY_FILES } from '../../src/create/order-files.ts';

const KIB = 1024;

/** Options for each way in which files lie in a torrent: side by side, or with pad files between them, and behind the last one. */
export const LAYOUTS: GenerateOptions[] = [
  { version: 'v1' },
  { version: 'v1', padding: true },
  { version: 'v1', padding: true, tailPad: false },
  { version: 'v2' },
  { version: 'hybrid' },
  { version: 'hybrid', tailPad: false },
];

/** The content of a generated torrent: a single file, or a folder of files. */
export interface Tree {
  single: boolean;
  files: { path: string; size: number; seed: number }[];
  pieceLength: number;
}

// Names whose order depends on the comparison: by component or joined, by UTF-16 or UTF-8, with or without case.
const NAMES = ['a', 'a-b', 'a.txt', 'A', 'b', 'Z', 'aa', 'é', '\u{e000}', '\u{1f600}', '\uffee', '.x', 'z z', '_'];
const name = fc.constantFrom(...NAMES);
const pieceLength = fc.constantFrom(16 * KIB, 32 * KIB, 64 * KIB);
/** Sizes at and around the borders of blocks and pieces. */
const size = fc.oneof(
  fc.constantFrom(
    0,
    1,
    2,
    16 * KIB - 1,
    16 * KIB,
    16 * KIB + 1,
    32 * KIB,
    32 * KIB + 1,
    48 * KIB,
    64 * KIB,
    64 * KIB + 1,
  ),
  fc.constantFrom(128 * KIB - 1, 128 * KIB, 192 * KIB + 7, 256 * KIB),
  fc.nat(300 * KIB),
);
// The seeds are few, so files with equal content and equal roots are common.
export const file = fc.record({ path: fc.array(name, { minLength: 1, maxLength: 3 }), size, seed: fc.nat(2) });

export const tree: fc.Arbitrary<Tree> = fc
  .record({ single: fc.nat(5), files: fc.array(file, { minLength: 1, maxLength: 9 }), pieceLength })
  .map(({ single, files, pieceLength: length }) => ({
    single: single === 0,
    pieceLength: length,
    files: withoutConflicts(
      single === 0 ? files.slice(0, 1).map((one) => ({ ...one, path: one.path.slice(0, 1) })) : files,
    ),
  }))
  .filter(({ files }) => files.some((one) => one.size > 0));

/** More files than the library handles as objects, some of them as in {@link tree}. */
export const manyFiles: fc.Arbitrary<Tree> = fc
  .record({ files: fc.array(file, { maxLength: 30 }), pieceLength })
  .map(({ files, pieceLength: length }) => ({
    single: false,
    pieceLength: length,
    files: withoutConflicts([...files, ...fillers]),
  }));

const fillers = Array.from({ length: MANY_FILES }, (_, i) => ({
  path: ['filler', `${i % 7}`, `${i}`],
  size: i % 5,
  seed: i % 3,
}));

/** Whether no path repeats or leads through a file. */
export function withoutConflicts(files: { path: string[]; size: number; seed: number }[]): Tree['files'] {
  const kept: { path: string[]; size: number; seed: number }[] = [];
  const startsWith = (whole: string[], part: string[]) => part.every((component, i) => whole[i] === component);
  for (const one of files) {
    if (!kept.some((other) => startsWith(one.path, other.path) || startsWith(other.path, one.path))) kept.push(one);
  }
  return kept.map((one) => ({ ...one, path: one.path.join('/') }));
}

/** Content with a prime period, so that swapped blocks give another hash. */
export function content(bytes: number, seed: number): Buffer {
  const period = Buffer.from(Array.from({ length: 251 }, (_, i) => (i * 7 + seed * 31) % 256));
  return Buffer.alloc(bytes, period);
}

/** Writes the files of a generated tree into a folder. */
export async function writeGenerated(root: string, { files }: Tree): Promise<void> {
  for (const one of files) {
    const target = path.join(root, one.path);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content(one.size, one.seed));
  }
}
