/** Tells what this process does now, and what it has done so far. */
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { loadedAddon } from '../hash/addon.ts';
import { hashedHere } from '../hash/engine.ts';
import { nodeEngineUse } from '../hash/node.ts';
import { jobLimiter } from './job-limiter.ts';
import { counts } from './track.ts';

/** The result of {@link processStats}. */
export interface ProcessStats {
  /** Jobs that scan, read or hash now: creations, verifications and so on. */
  running: number;
  /** Jobs that wait for others of this process: for their turn, or for a thread. */
  waiting: number;
  /** Jobs that have ended since the start, failed ones too. */
  ended: number;
  /** How many of them have failed, by code; `other` for errors of callbacks and of engines of others. Cancelled jobs are `ERR_ABORTED`. */
  failures: Partial<Record<MetainfoErrorCode | 'other', number>>;
  /** Bytes of content that were hashed since the start, also those of jobs that run, were cancelled or have failed. */
  bytes: number;
  /** Native threads that list, read or hash now: at most `processLimits().threads`. */
  threads: number;
  /** Bytes of the buffers of these threads: at most `processLimits().memory`, but for a job that needs more and runs alone. */
  memory: number;
}

/** Bytes that were reported last: a speed test takes its bytes off before it hashes them, and counters must not fall. */
let reported = 0;

/**
 * Tells what this process does now, and what it has done since its start. It takes some microseconds, waits for nothing and loads
 * nothing, so it suits the gauges of a metrics library, and a server that refuses requests while many jobs wait.
 *
 * `threads`, `memory` and `bytes` of native threads are those of the whole process. Each worker thread of Node, and each copy of this
 * package, counts its own jobs.
 *
 * @example
 * ```ts
 * import { processStats, TorrentCreate } from 'metainfo';
 *
 * await new TorrentCreate({ sources: [{ path: 'a', data: Buffer.from('content') }] }).generate();
 * const { running, waiting, ended, failures, bytes } = processStats();
 * console.log(running, waiting, ended, failures, bytes);
 * // In a server: if (processStats().waiting > 100) answer with 503.
 * ```
 *
 * ```text
 * 0 0 1 {} 7
 * ```
 */
export function processStats(): ProcessStats {
  const { active, ended, failures } = counts;
  const native = loadedAddon()?.usage() ?? { threads: 0, memory: 0, waiting: 0, bytes: 0 };
  // A job may wait with several hash jobs.
  const waiting = Math.min(active, jobLimiter.waiting + native.waiting + nodeEngineUse.waiting);
  reported = Math.max(reported, native.bytes + hashedHere.bytes);
  return {
    running: active - waiting,
    waiting,
    ended,
    failures: Object.fromEntries(failures),
    bytes: reported,
    threads: native.threads,
    memory: native.memory,
  };
}
