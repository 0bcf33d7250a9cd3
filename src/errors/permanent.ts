/** Tells whether a failed job may succeed if it is tried again. */
import type { MetainfoErrorCode } from './codes.ts';
import { MetainfoError } from './errors.ts';

/** The codes of failures that may pass: of the disk, the network, and resources that others hold. */
const PASSING: ReadonlySet<MetainfoErrorCode> = new Set([
  'ERR_ABORTED',
  'ERR_CACHE',
  'ERR_HTTP',
  'ERR_NO_DESCRIPTORS',
  'ERR_NO_MEMORY',
  'ERR_NO_SPACE',
  'ERR_PART_MISSING',
  'ERR_QUEUE',
  'ERR_READ',
  'ERR_SOURCE',
  'ERR_WRITE',
]);

/**
 * Whether it is pointless to try again what failed with this error: files that changed, that are missing or that nobody may read, and
 * invalid arguments, plans and parts. Failures of the disk, the network, memory and unknown ones may pass (`false`).
 *
 * @example
 * ```ts
 * import { isPermanent, Torrent } from 'metainfo';
 *
 * const error = await Torrent.read('missing.torrent').catch((reason: unknown) => reason);
 * console.log(isPermanent(error), isPermanent(new Error('connect ETIMEDOUT'))); // true false
 * ```
 */
export function isPermanent(error: unknown): boolean {
  return error instanceof MetainfoError && !PASSING.has(error.code);
}
