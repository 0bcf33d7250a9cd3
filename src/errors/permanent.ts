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

/** System errors that come back every time, although reading and writing may also fail in passing. */
const LASTING: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOTDIR',
  'EPERM',
  'EROFS',
]);

/**
 * Whether it is pointless to try again what failed with this error: files that changed, that are missing or that nobody may read, and
 * invalid arguments, plans and parts. Failures of the disk, the network, memory and unknown ones may pass (`false`), apart from those that
 * the system repeats, such as for a name that is too long.
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
  if (!(error instanceof MetainfoError)) return false;
  if (!PASSING.has(error.code)) return true;
  const isOfDisk = error.code === 'ERR_READ' || error.code === 'ERR_WRITE';
  return isOfDisk && LASTING.has((error.cause as NodeJS.ErrnoException | undefined)?.code);
}
