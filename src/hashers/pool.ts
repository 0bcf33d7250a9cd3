/** A pool of threads for hashers. */
import { checkOptions, type OptionStructs } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { AnyEngine, type Engine } from '../hash/engine.ts';
import { checkedResources, type HashRequest, RESOURCES } from '../hash/hash-request.ts';
import { requestedMemory } from '../hash/make-requested-files.ts';
import { privateCopy } from '../hash/private-buffer.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { copyOf, soon } from '../platform/node.ts';

/** Options of a {@link HashPool}. */
export interface HashPoolOptions {
  /**
   * Threads that hash; null means one per core.
   *
   * @default 1
   */
  threads?: number | null;
  /**
   * The engine that hashes.
   *
   * @default the engine that METAINFO_ENGINE names, else `nativeEngine()`, or `nodeEngine()` if the addon does not load
   */
  engine?: Engine | undefined;
}

const HASH_POOL: OptionStructs<HashPoolOptions> = { threads: RESOURCES.threads, engine: AnyEngine };

/** A request to hash some bytes. */
interface PoolEntry {
  bytes: Uint8Array;
  resolve: (hash: Uint8Array) => void;
  reject: (error: unknown) => void;
}

/** A batch of this size starts at once. */
const MAX_BATCH_BYTES = 16 * 2 ** 20;

/**
 * Hashes the chunks of {@link HasherBase.update} on threads. Requests of the same turn of the event loop are hashed together, as
 * one request. It needs no `close`: the threads end when nothing is left to hash.
 *
 * @example
 * ```ts
 * import path from 'node:path';
 * import { HashPool, iterBlocks, V2Hasher } from 'metainfo';
 *
 * const pathRoot = path.resolve('.');
 * const hasher = new V2Hasher({ paths: ['film.mkv'], pathRoot, pieceLength: 2 ** 20 });
 * const pool = new HashPool({ threads: 2 });
 * const hashes = [];
 * for await (const chunk of iterBlocks(path.join(pathRoot, 'film.mkv'), { readSize: 2 ** 20 }))
 *   hashes.push(...hasher.update(chunk, pool));
 * console.log(hasher.complete(await Promise.all(hashes)).length);
 * ```
 * ```text
 * 184
 * ```
 */
export class HashPool {
  readonly #engine: Engine;
  readonly #resources: Pick<HashRequest, 'threads' | 'readSize' | 'memoryLimit'>;
  /** The batches, by piece length; 0 for v2 blocks. */
  readonly #waiting = new Map<number, { entries: PoolEntry[]; bytes: number }>();

  /** @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, `ERR_NATIVE_UNAVAILABLE`, `ERR_KERNEL` */
  constructor(options: HashPoolOptions = {}) {
    const { threads = 1, engine = defaultEngine() } = checkOptions(options, HASH_POOL);
    this.#engine = engine;
    this.#resources = checkedResources({ threads }, 'v1');
  }

  /**
   * @internal
   * @param pieceLength 0 for a v2 block: SHA-256 of at most 16 KiB. Otherwise SHA-1 of a piece of at most so many bytes.
   */
  hash(bytes: Uint8Array, pieceLength: number): Promise<Uint8Array> {
    // The caller may transfer, resize or reuse the chunk before it is hashed.
    const copy = privateCopy(bytes);
    return new Promise((resolve, reject) => {
      let batch = this.#waiting.get(pieceLength);
      if (!batch) {
        batch = { entries: [], bytes: 0 };
        this.#waiting.set(pieceLength, batch);
        soon(() => this.#start(pieceLength));
      }
      batch.entries.push({ bytes: copy, resolve, reject });
      batch.bytes += copy.length;
      // Only the last piece of a request may be short.
      if (batch.bytes >= MAX_BATCH_BYTES || (pieceLength > 0 && copy.length < pieceLength)) this.#start(pieceLength);
    });
  }

  async #start(pieceLength: number): Promise<void> {
    const { entries } = this.#waiting.get(pieceLength) ?? { entries: [] };
    this.#waiting.delete(pieceLength);
    if (entries.length === 0) return;
    const files = entries.map(({ bytes }) => requestedMemory(bytes));
    const version = pieceLength > 0 ? ('v1' as const) : ('v2' as const);
    const request = {
      files,
      version,
      pieceLength: pieceLength || BLOCK_SIZE,
      onMissing: 'fail' as const,
      ...this.#resources,
    };
    try {
      const { v1, v2 } = await this.#engine.start(request).done;
      const hashes = v1 ?? (v2?.roots as Uint8Array);
      const size = v1 ? 20 : 32;
      for (const [i, { resolve }] of entries.entries()) resolve(copyOf(hashes.subarray(i * size, (i + 1) * size)));
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
  }
}
