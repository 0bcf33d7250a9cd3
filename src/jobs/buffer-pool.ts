/** A pool of reusable buffers: it bounds the memory of a job. */
import { Limiter, Slot } from '../hash/limiter.ts';
import { allocPrivate } from '../hash/private-buffer.ts';

/** Lends buffers of one size. Callers wait in order when all buffers are lent. */
export class BufferPool {
  /** Bytes of each buffer. */
  readonly bufferSize: number;
  readonly #limiter: Limiter;
  readonly #free: Uint8Array[] = [];
  readonly #lent = new Map<Uint8Array, Slot>();

  /** Allocates each buffer when it is first needed. */
  constructor(count: number, bufferSize: number) {
    this.bufferSize = bufferSize;
    this.#limiter = new Limiter(count);
  }

  /** Waits for a buffer. Its content is undefined. */
  async take(): Promise<Uint8Array> {
    const slot = new Slot(this.#limiter);
    await slot.acquire();
    const buffer = this.#free.pop() ?? allocPrivate(this.bufferSize);
    this.#lent.set(buffer, slot);
    return buffer;
  }

  /** Takes a buffer back. */
  give(buffer: Uint8Array): void {
    this.#free.push(buffer);
    this.#lent.get(buffer)?.release();
    this.#lent.delete(buffer);
  }
}
