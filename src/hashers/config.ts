/** The configuration of hashers, and the structs that check it. */
import path from 'node:path';
import { define, type Infer, optional, type Struct, type } from 'superstruct';
import { shown } from '../errors/errors.ts';
import { Flag } from '../errors/guard.ts';
import { MAX_THREADS } from '../hash/hash-request.ts';
import { BLOCK_SIZE, isPowerOfTwo, MAX_PIECE_LENGTH } from '../layout/piece-length.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { coded, maybe, RootPath } from '../model/primitives.ts';

// Each struct has the name of the issue code that it reports.

const paths: Struct<readonly string[], null> = define('paths', (value, { path: at }) => {
  if (!Array.isArray(value) || value.length === 0) return `expected at least one path, got ${shown(value)}`;
  const all = new Set<unknown>();
  // A hole of the list is no path either.
  return Array.from<unknown>(value).flatMap((name, index) => {
    const problem = pathProblem(name) ?? (all.has(name) ? 'a duplicate path' : null);
    all.add(name);
    const message = `expected a relative path, got ${problem}: ${shown(name)}`;
    return problem ? [{ path: [...at, index], message }] : [];
  });
});

const threads = coded<number>('threads', `1 to ${MAX_THREADS}`, (value) => isWhole(value, 1, MAX_THREADS));

/** The limit must be at least one read. */
const memoryLimit: Struct<number, null> = define('memory_limit', (value, { branch }) => {
  const { readSize } = (branch.at(-2) ?? {}) as Partial<HasherConfig>;
  const least = Math.max(BLOCK_SIZE, readSize ?? 0);
  const message = `expected at least one read (${readSize ?? BLOCK_SIZE} bytes), got ${shown(value)}`;
  return isWhole(value, least, Number.MAX_SAFE_INTEGER) || message;
});

const powerOfTwo = (name: 'piece_length' | 'read_size', least: number): Struct<number, null> =>
  coded<number>(
    name,
    `a power of two${least > 1 ? ` of at least ${least}` : ''}`,
    (value) => isPowerOfTwo(value) && value >= least && value <= MAX_PIECE_LENGTH,
  );

const anySize = coded<number>('read_size', 'a size from 1', (value) => isWhole(value, 1, MAX_PIECE_LENGTH));

const fieldsOf = (pieceLength: Struct<number, null>, readSize: Struct<number, null>) =>
  type({
    /** The files, relative to `pathRoot`, with `/`. */
    paths,
    /** The folder that holds the files: a path or a `file:` URL. */
    pathRoot: RootPath,
    /** Bytes: a power of two, at least 16 KiB for v2 and hybrid. */
    pieceLength,
    /**
     * Threads of {@link HasherBase.process}; null means one per core.
     *
     * @default 1
     */
    threads: maybe(threads),
    /**
     * Show a progress bar on standard error.
     *
     * @default false
     */
    progress: optional(Flag),
    /**
     * Bytes of a read. For v2 and hybrid, a power of two of at least 16 KiB.
     *
     * @default the piece length; for v2 the larger of the piece length and 1 MiB
     */
    readSize: maybe(readSize),
    /**
     * Bytes of all buffers. Reading pauses when they are full.
     *
     * @default 64 MiB per thread
     */
    memoryLimit: maybe(memoryLimit),
  });

const v1 = fieldsOf(powerOfTwo('piece_length', 1), anySize);
const v2 = fieldsOf(powerOfTwo('piece_length', BLOCK_SIZE), powerOfTwo('read_size', BLOCK_SIZE));

/** The configuration of a hasher. */
export interface HasherConfig extends Infer<typeof v1> {}
/** Checks the configuration of a {@link V1Hasher}. Its fields carry the rules, so superstruct's `assign` and `omit` keep them. */
export const HasherConfig: Struct<HasherConfig, typeof v1.schema> = v1;
/** Checks the configuration of a {@link V2Hasher} or {@link HybridHasher}: sizes are powers of two of at least 16 KiB. */
export const V2HasherConfig: Struct<HasherConfig, typeof v2.schema> = v2;

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

function pathProblem(name: unknown): string | null {
  if (typeof name !== 'string') return 'a value that is not a string';
  if (path.isAbsolute(name)) return 'an absolute path';
  if (!name.isWellFormed()) return 'a string with half a surrogate pair';
  return (
    name
      .split('/')
      .map(unsafeComponent)
      .find((problem) => problem !== null) ?? null
  );
}
