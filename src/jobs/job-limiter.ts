/** The limiter of all jobs of the process that hash files. */
import { Limiter } from '../hash/limiter.ts';
import { availableParallelism } from '../platform/node.ts';

/** Bounds the jobs that run at once, from their scan to their last hash: enough to keep the disk and all cores busy. */
export const jobLimiter = new Limiter(Math.max(8, availableParallelism()));

/**
 * A job with more bytes of content than this releases its slot when it begins to hash: the native budget shares threads
 * fairly among large jobs, and small jobs must not wait for them.
 */
export const LARGE_JOB_BYTES = 64 * 2 ** 20;
