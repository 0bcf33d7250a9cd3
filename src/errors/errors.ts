/** The errors that this library throws, and how values and system errors are put into their messages. */
import { constants } from 'node:os';
import { isMap, isProxy, isUint8Array } from 'node:util/types';
import type { IssueCode, MetainfoErrorCode } from './codes.ts';

/** What an error is about, beside its text. */
export interface MetainfoErrorOptions {
  /** The file or folder that the error is about. */
  path?: string | undefined;
  /** What was behind it. */
  cause?: unknown;
}

/** The one class of errors that this library throws on purpose: tell them apart by `code`. */
export class MetainfoError extends Error {
  /** That of the class. */
  override readonly name: string = 'MetainfoError';
  /** What happened, stable: see {@link ERROR_CODES}. */
  readonly code: MetainfoErrorCode;
  /** The file or folder that it is about, where there is one. */
  readonly path?: string;

  /** An error whose message says what happened, to what, and what to do. */
  constructor(code: MetainfoErrorCode, message: string, { path, cause }: MetainfoErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    if (path !== undefined) this.path = path;
  }
}

/** One thing that is wrong with a torrent or a draft. */
export interface Issue {
  /** The rule that failed, stable: see {@link ISSUE_CODES}. */
  code: IssueCode;
  /** An `error` makes a torrent invalid, a `warning` does not. */
  severity: 'error' | 'warning';
  /** Where in the data: keys and indexes from the top. */
  path: (string | number)[];
  /** For people. */
  message: string;
  /** The document that has the rule, such as `BEP 52`. */
  spec?: string;
  /** Byte offset in the input, where known. */
  offset?: number;
}

/** A message names this many issues; the list has all. */
const MOST_IN_MESSAGE = 10;

/** Data that breaks rules of the models; `issues` holds every failure. */
export class ValidationError extends MetainfoError {
  override readonly name = 'ValidationError';
  /** Everything that is wrong, errors first; warnings among them. */
  readonly issues: readonly Issue[];
  /** What was checked: a torrent that was read, or a draft of one. */
  readonly subject: 'torrent' | 'draft' | 'hasher' | 'magnet link';

  /**
   * An error whose message has the first ten errors of `issues`.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for anything but a list of issues
   */
  constructor(issues: readonly Issue[], subject: 'torrent' | 'draft' | 'hasher' | 'magnet link' = 'torrent') {
    super('ERR_VALIDATION', `This ${subject} is not valid: ${summaryOf(issues)}.`);
    this.issues = issues;
    this.subject = subject;
  }
}

function summaryOf(issues: readonly Issue[]): string {
  try {
    const errors = issues.filter(({ severity }) => severity === 'error');
    const lines = errors
      .slice(0, MOST_IN_MESSAGE)
      .map((issue) => `${issue.path.join('.') || 'top level'}: ${issue.message}`);
    const more = errors.length - lines.length;
    return `${lines.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
  } catch (cause) {
    throw new MetainfoError('ERR_INVALID_ARGUMENT', 'issues must be a list of issues.', { cause });
  }
}

/** The same error, its message naming the file that was read. */
export function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof MetainfoError) || error.path !== undefined) return error;
  return Object.assign(error, { path, message: `${path}: ${error.message}` });
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for what no system takes for a path, or Node for something else */
export function requirePath(path: unknown): asserts path is string {
  if (typeof path === 'string' && !path.includes('\0')) return;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `A path must be text without NUL, not ${shown(path)}.`);
}

const TOO_MANY_OPEN = {
  EMFILE:
    'too many files are open in this process (EMFILE): run fewer jobs or threads at once, or raise the limit (ulimit -n)',
  ENFILE:
    'too many files are open on this system (ENFILE): close other programs, or raise the limit (sysctl fs.file-max)',
};

/** Such as `ENOENT`. */
export function errnoName(errno: number): string | undefined {
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0];
}

/** libuv does not know some, such as EDQUOT and ESTALE, which come as `Unknown system error -122`. */
function systemCode({ code, errno }: NodeJS.ErrnoException): string | undefined {
  return code?.startsWith('Unknown') && errno !== undefined ? errnoName(-errno) : code;
}

/** Makes a {@link MetainfoError} that names the path out of a failed system call. */
export function fromSystemError(error: unknown, path: string, doing: 'read' | 'write'): MetainfoError {
  if (error instanceof MetainfoError) return error;
  const options = { path, cause: error };
  const code = systemCode(error as NodeJS.ErrnoException);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new MetainfoError('ERR_NOT_FOUND', `${path}: no such file or folder.`, options);
    case 'EACCES':
    case 'EPERM': {
      const permission = doing === 'read' ? 'ERR_UNREADABLE' : 'ERR_WRITE';
      return new MetainfoError(permission, `${path}: no permission to ${doing} it.`, options);
    }
    case 'EISDIR':
      return new MetainfoError(
        doing === 'read' ? 'ERR_NOT_A_FILE' : 'ERR_WRITE',
        `${path}: cannot ${doing} it, because it is a folder.`,
        options,
      );
    case 'ELOOP':
      return new MetainfoError('ERR_LINK_LOOP', `${path}: its symbolic links lead back to themselves.`, options);
    case 'ENOSPC':
      return new MetainfoError('ERR_NO_SPACE', `${path}: the disk is full.`, options);
    case 'EDQUOT':
      return new MetainfoError('ERR_NO_SPACE', `${path}: your quota of the disk is used up.`, options);
    case 'EMFILE':
    case 'ENFILE':
      return new MetainfoError('ERR_NO_DESCRIPTORS', `${path}: cannot ${doing} it, ${TOO_MANY_OPEN[code]}.`, options);
    default: {
      const hint = code === 'ESTALE' ? ': it was replaced or deleted on its file server, so try again' : '';
      const message = `${path}: cannot ${doing} it (${code ?? (error as Error).message})${hint}.`;
      return new MetainfoError(doing === 'read' ? 'ERR_READ' : 'ERR_WRITE', message, options);
    }
  }
}

/** A value for a message, cut. What only pretends to be bytes or a list is not believed. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (isUint8Array(value)) return `${value.byteLength} bytes`;
  if (isProxy(value)) return 'a proxy';
  if (isMap(value)) return 'a dictionary';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'function') return 'a function';
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : textOf(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    // Somebody's object without a text, such as one without a prototype.
    return typeof value;
  }
}

/** Bytes in lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
