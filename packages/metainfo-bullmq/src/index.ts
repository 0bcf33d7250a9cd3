/**
 * Hash torrents on many machines with BullMQ: parts of large torrents, and batches of small ones.
 *
 * @module BullMQ
 * @group Reference
 */
export type { QueueConnection, QueueOptions } from './backend.ts';
export type {
  BatchFields,
  BatchItems,
  BatchOperation,
  CreateItem,
  ItemResult,
  ValidateItem,
  VerifyItem,
} from './batch-job.ts';
export type { ResultsOptions } from './batches.ts';
export type { OnNoWorker } from './job-waits.ts';
export type { WorkerState } from './passing.ts';
export type {
  AddBatchOptions,
  AddOptions,
  AddTorrentOptions,
  BatchProgress,
  DoneOptions,
  JoinedTorrent,
  PassedOptions,
  QueuedBatch,
  QueuedTorrent,
  QueueProgress,
} from './queued.ts';
export type { QueueCounts, RootCounts } from './root-queues.ts';
export type { Roots } from './roots.ts';
export { type JobKind, queueName } from './settings.ts';
export { type QueueEngine, type QueueEngineOptions, TorrentQueue, type TorrentQueueOptions } from './torrent-queue.ts';
export { createWorkers, type EndedJob, type Workers, type WorkersOptions } from './workers.ts';
