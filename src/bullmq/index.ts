/**
 * Hash torrents on many machines with BullMQ: parts of large torrents, and batches of small ones.
 *
 * Needs the packages `bullmq`, and `ioredis` or `pg` for its server.
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
export type { AddTorrentOptions, JoinedTorrent, QueuedBatch, QueuedTorrent, QueueProgress } from './queued.ts';
export type { Roots } from './roots.ts';
export { TorrentQueue, type TorrentQueueOptions } from './torrent-queue.ts';
export { createWorkers, type EndedJob, type Workers, type WorkersOptions } from './workers.ts';
