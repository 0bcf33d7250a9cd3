/** Tells whether a failed job may succeed if it is tried again. */
import { type ErrorCategory, errorCategory } from './category.ts';
import { MetainfoError } from './errors.ts';

/** The categories of failures that may pass: of the disk, the network, and resources that others hold. */
const PASSING: readonly ErrorCategory[] = ['busy', 'cancelled', 'io'];

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
 * Whether a retry is pointless after this error: true for files that changed, are missing or cannot be read, and for invalid arguments,
 * plans and parts. False for failures that may pass: of the disk, the network or memory, and unknown ones. Some system errors come back
 * every time, such as ENAMETOOLONG: true. So does a source that gives something other than bytes.
 *
 * @param error What was thrown or rejected with.
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
  if (!PASSING.includes(errorCategory(error)) || error.code === 'ERR_UNREADABLE') return true;
  const isOfDisk = error.code === 'ERR_READ' || error.code === 'ERR_WRITE';
  return isOfDisk && LASTING.has((error.cause as NodeJS.ErrnoException | undefined)?.code);
}
