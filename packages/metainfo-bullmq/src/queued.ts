/** Queued torrents and batches, as a producer sees them. */

import type { JobsOptions } from 'bullmq';
import { MetainfoError, type TorrentVersion } from 'metainfo';
import { enums, integer, is, mask, min, nullable, pattern, string, type } from 'superstruct';
import type { ItemResult } from './batch-job.ts';
import type { ResultsOptions } from './batches.ts';
import type { OnNoWorker } from './job-waits.ts';

/** Options of BullMQ that are safe for the jobs of torrents and batches. */
export type PassedOptions = Pick<
  JobsOptions,
  | 'continueParentOnFailure'
  | 'delay'
  | 'failParentOnFailure'
  | 'ignoreDependencyOnFailure'
  | 'parent'
  | 'removeDependencyOnFailure'
  | 'removeOnComplete'
  | 'removeOnFail'
>;

/** How to queue work. */
export interface AddOptions {
  /**
   * Jobs of a smaller number run earlier, from 1 to 1000; those without one run first.
   *
   * @default none
   */
  priority?: number | undefined;
  /**
   * A text for dashboards: `label` in the data of the job.
   *
   * @default the output, or the operation of a batch and its items
   */
  label?: string | undefined;
  /**
   * Options of BullMQ: `parent` (with what its failure does to it), `delay`, `removeOnComplete`, `removeOnFail`. A job that is removed at
   * once tells no result.
   *
   * @default jobs are removed a day after their end
   */
  job?: PassedOptions | undefined;
  /** Cancels queuing. Jobs that were queued before stay in the queue. */
  signal?: AbortSignal | undefined;
}

/** How to queue a batch. */
export interface AddBatchOptions extends AddOptions {
  /**
   * The most items of one job, up to 2000: give fewer if their content is large. Items of other roots begin a new job.
   *
   * @default 500
   */
  perJob?: number | undefined;
  /**
   * Your own name for the batch. If it is in the queue, nothing is queued again; if adding it was interrupted, give the same items.
   *
   * @default a random one
   */
  id?: string | undefined;
}

/** Where the torrent file of a queued torrent will be. */
export interface AddTorrentOptions extends AddOptions {
  /**
   * The content on the workers: `NAME`, or `NAME/path` beneath one of their roots.
   *
   * @default the root in the plan
   */
  root?: string | undefined;
  /** The torrent file, which a worker writes: `NAME/path`. */
  output: string;
  /**
   * Replace the output.
   *
   * @default false
   */
  force?: boolean | undefined;
}

/** How to wait for a queued torrent. */
export interface DoneOptions {
  /** Ends the wait. The torrent stays in the queue. */
  signal?: AbortSignal | undefined;
  /** Called now and then, and when the torrent is written. */
  onProgress?: ((progress: QueueProgress) => unknown) | undefined;
  /**
   * Called with the name of a root that has had no connected worker for ten seconds; again if one comes and goes. The torrent stays in
   * the queue, but what this function throws ends the wait.
   */
  onNoWorker?: OnNoWorker | undefined;
}

/** How far a queued torrent is. */
export interface QueueProgress {
  /** `waiting` until the last part is hashed, `joining` until the torrent is written. */
  state: 'waiting' | 'joining' | 'done' | 'failed';
  /** Parts that are hashed. */
  hashed: number;
  /** All parts. */
  parts: number;
  /** Bytes that are hashed, those of running parts too. */
  bytes: number;
  /** Bytes of content. */
  totalBytes: number;
}

/** A torrent that a worker has joined and written. */
export interface JoinedTorrent {
  /** The torrent file: `NAME/path`. */
  output: string;
  /** The version of the torrent. */
  version: TorrentVersion;
  /** The v1 infohash; null for a v2 torrent. */
  infohashV1: string | null;
  /** The v2 infohash; null for a v1 torrent. */
  infohashV2: string | null;
  /** The number of files, without pad files. */
  files: number;
  /** Bytes of content. */
  totalSize: number;
}

const JOINED = type({
  output: pattern(string(), /^[^\p{Cc}]+$/u),
  version: enums(['v1', 'v2', 'hybrid']),
  infohashV1: nullable(pattern(string(), /^[0-9a-f]{40}$/)),
  infohashV2: nullable(pattern(string(), /^[0-9a-f]{64}$/)),
  files: min(integer(), 0),
  totalSize: min(integer(), 0),
});

/** Checks the result of a join, because nobody trusts the queue. Throws `ERR_QUEUE`. */
export function joinedTorrent(result: unknown): JoinedTorrent {
  if (is(result, JOINED)) return mask(result, JOINED);
  throw new MetainfoError('ERR_QUEUE', 'The queue has a malformed result for this torrent.');
}

/** A torrent in the queue. */
export interface QueuedTorrent {
  /** The id of the plan. */
  id: string;
  /** Whether an earlier call has queued it, and it was still running. */
  attached: boolean;
  /** Tells how far it is. */
  progress(options?: { signal?: AbortSignal | undefined }): Promise<QueueProgress>;
  /**
   * Waits for the torrent.
   *
   * @throws {MetainfoError} the error of the part or of the join that failed; `ERR_ABORTED` if somebody has cancelled the torrent;
   *   `ERR_QUEUE`, also if its jobs are no longer in the queue, or if the queue is closed
   * @throws {AbortError} if the signal fires: the torrent stays in the queue
   */
  done(options?: DoneOptions): Promise<JoinedTorrent>;
  /**
   * Cancels the torrent: parts that wait are removed, and running ones end within seconds. It is not written, unless it is being written.
   *
   * @returns False if it has ended before, or was written anyway.
   */
  cancel(options?: { signal?: AbortSignal | undefined }): Promise<boolean>;
}

/** A batch in the queue. */
export interface QueuedBatch {
  /** The id of the batch in the store. */
  id: string;
  /** Whether an earlier call has queued it. */
  attached: boolean;
  /** The number of jobs. */
  jobs: number;
  /**
   * The results, as soon as their jobs have ended. If a job fails, or is lost, so do its items without a result. Results of a job that were all
   * read are deleted from the store, unless `keep` is set. A later reading of this batch goes on with the other jobs.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` if all results were read and deleted; `ERR_QUEUE` if the store has lost them
   */
  results(options?: ResultsOptions): AsyncIterable<ItemResult>;
  /** Tells how many jobs and items have ended. */
  progress(options?: { signal?: AbortSignal | undefined }): Promise<BatchProgress>;
  /**
   * Cancels the batch: jobs that wait are removed, and running ones end within seconds. The results of items that have no other are
   * `ERR_ABORTED`.
   *
   * @returns False if all jobs have ended before.
   */
  cancel(options?: { signal?: AbortSignal | undefined }): Promise<boolean>;
}

/** How far a batch is. Results are told when their whole job has ended. */
export interface BatchProgress {
  /** All jobs. */
  jobs: number;
  /** Jobs that have ended. */
  doneJobs: number;
  /** All items. */
  items: number;
  /** Items of jobs that have ended. */
  doneItems: number;
}
