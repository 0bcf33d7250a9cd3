/**
 * The part of the command `metainfo` that works with queues: `create --queue`, `verify --queue` and `worker`. The command loads it when
 * it is used, and is its only user: it is no public interface. Both packages have the same version. It is built as one file with the
 * library in it (scripts/bundle-queues.mjs).
 */
export { VERSION } from '../version.ts';
export { createByWorkers } from './create.ts';
export { runWorker } from './run-worker.ts';
export type { PrintOptions, Terminal } from './terminal.ts';
export { verifyByWorkers } from './verify.ts';
