/** Stable codes of {@link MetainfoError}. A message may change, a code does not. */
export type MetainfoErrorCode =
  | 'ERR_ABORTED' // the caller's signal stopped the work
  | 'ERR_BENCODE' // bytes that are not canonical bencode; see BencodeError
  | 'ERR_BROKEN_LINK' // a symbolic link whose target does not exist
  | 'ERR_DUPLICATE_PATH' // the same file named twice
  | 'ERR_FILE_CHANGED' // a file grew, shrank, vanished or was modified while it was hashed
  | 'ERR_HASH_MISMATCH' // hashes or sizes given in a draft are not those of the data
  | 'ERR_INTERNAL' // a defect of this library
  | 'ERR_INVALID_ARGUMENT' // an argument or option of the wrong type or value
  | 'ERR_KERNEL' // METAINFO_KERNEL names no kernel that this CPU can run
  | 'ERR_LINK_LOOP' // symbolic links that lead back to themselves
  | 'ERR_LINK_OUTSIDE' // a symbolic link that leaves the root
  | 'ERR_NAME' // a file or torrent name that a torrent cannot hold
  | 'ERR_NATIVE_UNAVAILABLE' // the native addon could not be loaded
  | 'ERR_NO_DATA' // nothing but empty files
  | 'ERR_NO_FILES' // an empty folder, or every file left out
  | 'ERR_NO_MEMORY'
  | 'ERR_NO_SPACE' // the disk is full
  | 'ERR_NOT_A_FILE' // a FIFO, socket or device
  | 'ERR_NOT_FOUND' // a path that does not exist
  | 'ERR_OUTPUT_EXISTS' // the output is there already
  | 'ERR_PATH_OUTSIDE' // a path that is not beneath the path root
  | 'ERR_PIECE_LENGTH' // no power of two, or below 16 KiB for v2 and hybrid
  | 'ERR_READ' // the system failed to read
  | 'ERR_TOO_LARGE' // beyond a documented limit
  | 'ERR_UNREADABLE' // no permission
  | 'ERR_VALIDATION' // see ValidationError
  | 'ERR_WRITE'; // the system failed to write

export interface MetainfoErrorOptions {
  /** The file or folder that the error is about. */
  path?: string | undefined;
  cause?: unknown;
}

/** The one class of errors that this library throws on purpose: tell them apart by `code`. */
export class MetainfoError extends Error {
  override readonly name: string = 'MetainfoError';
  readonly code: MetainfoErrorCode;
  readonly path?: string;

  constructor(code: MetainfoErrorCode, message: string, { path, cause }: MetainfoErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    if (path !== undefined) this.path = path;
  }
}

/** One thing that is wrong with a torrent or a draft. */
export interface Issue {
  /** The name of the rule that failed, stable. */
  code: string;
  severity: 'error' | 'warning';
  /** Where in the data: keys and indexes from the top. */
  path: (string | number)[];
  message: string;
  /** The document that has the rule, such as `BEP 52`. */
  spec?: string;
  /** Byte offset in the input, where known. */
  offset?: number;
}

/** Data that breaks rules of the models; `issues` holds every failure. */
export class ValidationError extends MetainfoError {
  override readonly name = 'ValidationError';
  readonly issues: readonly Issue[];
  /** What was checked: a torrent that was read, or a draft of one. */
  readonly subject: 'torrent' | 'draft';

  constructor(issues: readonly Issue[], subject: 'torrent' | 'draft' = 'torrent') {
    const lines = issues.map((issue) => `${issue.path.join('.') || '(top level)'}: ${issue.message}`);
    super('ERR_VALIDATION', `This ${subject} is not valid: ${lines.join('; ')}.`);
    this.issues = issues;
    this.subject = subject;
  }
}

/** The caller's signal stopped the work: its reason is the `cause`. */
export class AbortError extends MetainfoError {
  override readonly name = 'AbortError';

  constructor(signal: AbortSignal) {
    super('ERR_ABORTED', 'The work was stopped by its signal.', { cause: signal.reason });
  }
}

/** The same error, its message naming the file that was read. */
export function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof MetainfoError) || error.path !== undefined) return error;
  return Object.assign(error, { path, message: `${path}: ${error.message}` });
}

/** Throws an {@link AbortError} when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError(signal);
}

/** Makes a {@link MetainfoError} that names the path out of a failed system call. */
export function fromSystemError(error: unknown, path: string, doing: 'read' | 'write'): MetainfoError {
  if (error instanceof MetainfoError) return error;
  const options = { path, cause: error };
  const system = error as NodeJS.ErrnoException;
  switch (system.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new MetainfoError('ERR_NOT_FOUND', `${path}: no such file or folder.`, options);
    case 'EACCES':
    case 'EPERM':
      return new MetainfoError('ERR_UNREADABLE', `${path}: no permission to ${doing} it.`, options);
    case 'ELOOP':
      return new MetainfoError('ERR_LINK_LOOP', `${path}: its symbolic links lead back to themselves.`, options);
    case 'ENOSPC':
    case 'EDQUOT':
      return new MetainfoError('ERR_NO_SPACE', `${path}: the disk is full.`, options);
    default: {
      const code = doing === 'read' ? 'ERR_READ' : 'ERR_WRITE';
      return new MetainfoError(code, `${path}: cannot ${doing} it (${system.code ?? system.message}).`, options);
    }
  }
}
