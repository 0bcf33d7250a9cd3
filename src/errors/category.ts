/** Sorts errors by who can do something about them, for HTTP codes, retries and alerts. */
import { constants } from 'node:os';
import type { MetainfoErrorCode } from './codes.ts';
import { MetainfoError, ValidationError } from './errors.ts';
import { fromSystemError } from './system-error.ts';

/**
 * The kind of an error, by who can do something about it:
 *
 * - `input`: the caller, whose arguments, options or paths are wrong.
 * - `content`: the owner of the files or torrents, which are invalid, damaged or unsuitable.
 * - `conflict`: the caller, because something else is there or has changed: look again, then decide.
 * - `limit`: the caller, who sent more than is allowed.
 * - `busy`: nobody; the same call may succeed later.
 * - `io`: the operator of the disk, network or queue that failed.
 * - `cancelled`: nobody; the caller's signal cancelled the job.
 * - `bug`: the authors of this library or of the program, or whoever installed it.
 */
export type ErrorCategory = 'input' | 'content' | 'conflict' | 'limit' | 'busy' | 'io' | 'cancelled' | 'bug';

/** The category of every code. {@link errorCategory} looks at some errors more closely. */
export const CATEGORIES: Readonly<Record<MetainfoErrorCode, ErrorCategory>> = {
  ERR_ABORTED: 'cancelled',
  ERR_BENCODE: 'content',
  ERR_BROKEN_LINK: 'content',
  ERR_CACHE: 'io',
  ERR_CONFIG: 'input',
  ERR_DUPLICATE_PATH: 'input',
  ERR_FILE_CHANGED: 'conflict',
  ERR_FINDINGS: 'content',
  ERR_HASH_MISMATCH: 'content',
  ERR_HTTP: 'io',
  ERR_INFOHASH: 'conflict',
  ERR_INTERNAL: 'bug',
  ERR_INVALID_ARGUMENT: 'input',
  ERR_KERNEL: 'bug',
  ERR_LIMIT: 'limit',
  ERR_LINK: 'content',
  ERR_LINK_LOOP: 'content',
  ERR_LINK_OUTSIDE: 'content',
  ERR_MAKER: 'bug',
  ERR_MAKER_UNAVAILABLE: 'bug',
  ERR_NAME: 'input',
  ERR_NATIVE_UNAVAILABLE: 'bug',
  ERR_NOT_A_FILE: 'input',
  ERR_NOT_FOUND: 'input',
  ERR_NO_DATA: 'content',
  ERR_NO_DESCRIPTORS: 'busy',
  ERR_NO_FILES: 'content',
  ERR_NO_MEMORY: 'busy',
  ERR_NO_SPACE: 'io',
  ERR_OUTPUT_EXISTS: 'conflict',
  ERR_OUTPUT_IS_INPUT: 'input',
  ERR_OUT_OF_RANGE: 'input',
  ERR_PART: 'content',
  ERR_PART_MISSING: 'busy',
  ERR_PATH_OUTSIDE: 'input',
  ERR_PIECE_LENGTH: 'input',
  ERR_PLAN: 'content',
  ERR_QUEUE: 'io',
  ERR_READ: 'io',
  ERR_SIZE_UNKNOWN: 'input',
  ERR_SOURCE: 'io',
  ERR_SOURCE_SIZE: 'content',
  ERR_SOURCE_TRUNCATED: 'content',
  ERR_TOO_LARGE: 'limit',
  ERR_UNPROVEN: 'content',
  ERR_UNREADABLE: 'io',
  ERR_VALIDATION: 'content',
  ERR_WRITE: 'io',
};

/** The codes of Node and the system whose category is not that of a failure to read. */
const SYSTEM_CODES: Readonly<Record<string, ErrorCategory>> = {
  EAGAIN: 'busy',
  EBUSY: 'busy',
  EEXIST: 'conflict',
  EFBIG: 'limit',
  ENAMETOOLONG: 'input',
  ENOMEM: 'busy',
  ENOTEMPTY: 'conflict',
  ERR_STREAM_PREMATURE_CLOSE: 'io',
};

/** The most causes that are looked at: an error may be its own cause. */
const MAX_CAUSES = 8;

/**
 * Tells who can do something about an error: see {@link ErrorCategory}. It knows the errors of this library, those of Node with the code
 * of a system error, and aborted signals. Any other error has the category of its `cause`; without one, and for any other value, it is a
 * `bug`. It never throws.
 *
 * @param error What was thrown or rejected with.
 * @example
 * ```ts
 * import { errorCategory, Torrent } from 'metainfo';
 *
 * const error = await Torrent.read('missing.torrent').catch((reason: unknown) => reason);
 * console.log(errorCategory(error), errorCategory(new TypeError('x is not a function'))); // input bug
 * ```
 */
export function errorCategory(error: unknown): ErrorCategory {
  try {
    return categoryOf(error, MAX_CAUSES);
  } catch {
    // A getter of a foreign error threw.
    return 'bug';
  }
}

function categoryOf(error: unknown, causes: number): ErrorCategory {
  if (error instanceof MetainfoError) return categoryOfOwn(error, causes);
  if (typeof error !== 'object' || error === null) return 'bug';
  const { name, code, errno, cause } = error as Partial<NodeJS.ErrnoException>;
  // AbortSignal.timeout has a DOMException with the number of TIMEOUT_ERR.
  if (name === 'AbortError' || (name === 'TimeoutError' && (code as unknown) === 23)) return 'cancelled';
  if (typeof code === 'string') {
    if (Object.hasOwn(SYSTEM_CODES, code)) return SYSTEM_CODES[code] as ErrorCategory;
    const isOfSystem = typeof errno === 'number' || Object.hasOwn(constants.errno, code);
    if (isOfSystem) return CATEGORIES[fromSystemError(error, '', 'read').code];
  }
  return cause === undefined || causes === 0 ? 'bug' : categoryOf(cause, causes - 1);
}

function categoryOfOwn(error: MetainfoError, causes: number): ErrorCategory {
  const { code, cause } = error;
  // Only torrents are content; the caller wrote drafts, edits, configurations and magnet links.
  if (error instanceof ValidationError && error.subject !== 'torrent') return 'input';
  if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENAMETOOLONG') return 'input';
  if (code === 'ERR_SOURCE') {
    // Without a cause, it gave something other than bytes.
    if (cause === undefined) return 'input';
    const ofCause = causes === 0 ? 'bug' : categoryOf(cause, causes - 1);
    return ofCause === 'bug' ? 'io' : ofCause;
  }
  // Another copy of this package may have newer codes.
  return Object.hasOwn(CATEGORIES, code) ? CATEGORIES[code] : 'bug';
}

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
