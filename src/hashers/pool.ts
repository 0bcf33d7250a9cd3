import { availableParallelism } from 'node:os';
import { checkOptions, type OptionStructs } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { AnyEngine, type Engine } from '../hash/engine.ts';
import { memoryPlanFile } from '../hash/file-plan.ts';
import { type HashPlan, planResources, RESOURCES } from '../hash/plan.ts';
import { privateCopy } from '../hash/private-buffer.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';

/** On what a {@link HashPool} hashes. */
export interface HashPoolOptions {
  /** Threads that hash; null is one a core. Default 1. */
  threads?: number | null;
  /** Default: the one that METAINFO_ENGINE names; else the native one, or where that does not load `nodeEngine()`. */
  engine?: Engine | undefined;
}

const HASH_POOL: OptionStructs<HashPoolOptions> = { threads: RESOURCES.threads, engine: AnyEngine };

/** What a hasher wants hashed. */
interface Wanted {
  bytes: Uint8Array;
  resolve: (hash: Uint8Array) => void;
  reject: (error: unknown) => void;
}

/** More than this does not wait for what is asked for next. */
const MOST_WAITING_BYTES = 16 * 2 ** 20;

/**
 * Worker threads for `update` of the hashers. What is asked for before the event loop turns is hashed together, side by
 * side. It has nothing to close: threads live as long as there is work.
 */
export class HashPool {
  readonly #engine: Engine;
  readonly #resources: Pick<HashPlan, 'threads' | 'readSize' | 'memoryLimit'>;
  /** By what the engine is to do with them: v1 pieces of one length, or v2 blocks. */
  readonly #waiting = new Map<number, { wanted: Wanted[]; bytes: number }>();

  /** @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, `ERR_NATIVE_UNAVAILABLE`, `ERR_KERNEL` */
  constructor(given: HashPoolOptions = {}) {
    const { threads = 1, engine = defaultEngine() } = checkOptions(given, HASH_POOL);
    this.#engine = engine;
    this.#resources = planResources({ threads }, 'v1', availableParallelism());
  }

  /**
   * @internal
   * @param pieceLength SHA-1 of a piece of at most so many bytes; 0: SHA-256 of a block of at most 16 KiB.
   */
  hash(bytes: Uint8Array, pieceLength: number): Promise<Uint8Array> {
    // It is hashed later: until then the caller may transfer, resize or reuse the chunk.
    const copy = privateCopy(bytes);
    return new Promise((resolve, reject) => {
      let batch = this.#waiting.get(pieceLength);
      if (!batch) {
        batch = { wanted: [], bytes: 0 };
        this.#waiting.set(pieceLength, batch);
        setImmediate(() => this.#start(pieceLength));
      }
      batch.wanted.push({ bytes: copy, resolve, reject });
      batch.bytes += copy.length;
      // Only the last piece of a job may be short.
      if (batch.bytes >= MOST_WAITING_BYTES || (pieceLength > 0 && copy.length < pieceLength)) this.#start(pieceLength);
    });
  }

  async #start(pieceLength: number): Promise<void> {
    const { wanted } = this.#waiting.get(pieceLength) ?? { wanted: [] };
    this.#waiting.delete(pieceLength);
    if (wanted.length === 0) return;
    const files = wanted.map(({ bytes }) => memoryPlanFile(bytes));
    const version = pieceLength > 0 ? ('v1' as const) : ('v2' as const);
    const plan = {
      files,
      version,
      pieceLength: pieceLength || BLOCK_SIZE,
      onMissing: 'fail' as const,
      ...this.#resources,
    };
    try {
      const { v1, v2 } = await this.#engine.start(plan).done;
      const hashes = v1 ?? (v2?.roots as Uint8Array);
      const size = v1 ? 20 : 32;
      for (const [i, { resolve }] of wanted.entries()) resolve(hashes.subarray(i * size, (i + 1) * size));
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}
