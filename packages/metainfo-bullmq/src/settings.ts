/** The names of the queues, and the settings with which workers of any size recover within seconds. */
import type { JobsOptions } from 'bullmq';

/** The kinds of jobs: `part` hashes a part of a plan, `join` joins the parts, `batch` processes some torrents of a batch. */
export type JobKind = 'part' | 'join' | 'batch';

/** The kinds of jobs, and the start of the names of their queues. */
export const QUEUES: Readonly<Record<JobKind | 'run', string>> = {
  part: 'metainfo-parts',
  join: 'metainfo-joins',
  batch: 'metainfo-batches',
  // No worker takes these: they tell which verifications are under way.
  run: 'metainfo-runs',
};

/**
 * The name of the queue of the jobs of a root: a worker takes only the jobs of its roots.
 *
 * @param kind The kind of the jobs.
 * @param root The name of the root.
 */
export const queueName = (kind: keyof typeof QUEUES, root: string): string => `${QUEUES[kind]}-${root}`;

/**
 * A worker that dies loses its lock after 15 s, and another one notices within 10 s. Ten such losses of one job are a worker that dies
 * of it, not a cluster that is restarted.
 */
export const RECOVERY = { lockDuration: 15_000, stalledInterval: 10_000, maxStalledCount: 10 } as const;

/** Least time between two reports of the progress of a job, in milliseconds: each is a write. */
export const PROGRESS_MS = 5000;

/** Priorities of parts within one priority of their torrents. BullMQ has 21 bits. */
const LEVELS = 2048;

/** The largest priority of a torrent. */
export const MAX_PRIORITY = 1000;

/** The priority of a job in BullMQ: parts of a smaller index run earlier, so that torrents take turns. */
export const priorityOf = (priority = 0, index = 0): number => priority * LEVELS + Math.min(index, LEVELS - 1);

/** The children that a flow has at once. The job that joins adds the next ones when they have ended. */
export const MAX_CHILDREN = 4096;

/** How a failed job is tried again: after 1, 2, 4 … seconds, with some chance, so that not all of them come back at once. */
export const RETRIES = {
  attempts: 8,
  backoff: { type: 'exponential', delay: 1000, jitter: 0.5 },
} as const satisfies JobsOptions;

/** Children that fail for good fail their parent. Finished ones are kept until they are joined: then nobody hashes them again. */
export const CHILD: JobsOptions = {
  ...RETRIES,
  failParentOnFailure: true,
  removeOnComplete: false,
  removeOnFail: false,
};

/** How long a finished job tells its result: a day. */
export const KEEP: JobsOptions = { removeOnComplete: { age: 24 * 3600 }, removeOnFail: { age: 24 * 3600 } };

/** How long a job of a batch tells its results, unless somebody has read them: a week. */
export const KEEP_RESULTS: JobsOptions = { removeOnComplete: { age: 7 * 24 * 3600 } };

/** The id of the job that hashes a part. */
export const partJobId = (planId: string, index: number): string => `${planId}-${index}`;
/** The progress of a job that somebody has cancelled. It is not in the data: a worker that adds the next parts writes those. */
export const CANCELLED = 'cancelled';

/** The id of the job that joins a plan. */
export const joinJobId = (planId: string): string => `${planId}-join`;
