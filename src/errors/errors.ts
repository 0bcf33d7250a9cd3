/** The errors that this library throws, and helpers that describe values in their messages. */
import { hexText, isMap, isProxy, isUint8Array } from '../platform/node.ts';
import { joinFirst, printable } from '../text/printable.ts';
import { shownUrl, withoutSecrets } from '../text/urls.ts';
import type { IssueCode, MetainfoErrorCode } from './codes.ts';
import { shareClass } from './shared.ts';

/** Details of a {@link MetainfoError} besides its code and message. */
export interface MetainfoErrorOptions {
  /** The file or folder that the error is about. */
  path?: string | undefined;
  /** The underlying error. */
  cause?: unknown;
  /** The options that the message names: see {@link MetainfoError.option}. */
  option?: MetainfoError['option'];
}

/**
 * The base class of all errors that this library throws on purpose. Tell them apart by `code`.
 *
 * @example
 * ```ts
 * import { MetainfoError, Torrent } from 'metainfo';
 *
 * try {
 *   await Torrent.read('missing.torrent');
 * } catch (error) {
 *   if (!(error instanceof MetainfoError)) throw error;
 *   console.log(error.code, error.path); // ERR_NOT_FOUND missing.torrent
 * }
 * ```
 */
export class MetainfoError extends Error {
  /** The name of the class. */
  override readonly name: string = 'MetainfoError';
  /** The stable code: see {@link ERROR_CODES}. */
  readonly code: MetainfoErrorCode;
  /** The file or folder that the error is about, if any. A URL is without passwords and secret parameters. */
  readonly path?: string;
  /** The option that the message names, with the value that it advises: `{ force: true }`. Null where it names no value. */
  readonly option?: Readonly<Record<string, string | number | true | null>>;

  /**
   * Makes an error.
   *
   * @param code The stable code.
   * @param message What happened, to what, and what to do next.
   */
  constructor(code: MetainfoErrorCode, message: string, { path, cause, option }: MetainfoErrorOptions = {}) {
    super(safeMessage(message, path), cause === undefined ? undefined : { cause });
    this.code = code;
    if (path !== undefined) this.path = withoutSecrets(path, /$/);
    if (option !== undefined) this.option = option;
  }
}
shareClass(MetainfoError, 'MetainfoError');

/** One finding of a validation. */
export interface Issue {
  /** The rule that is broken: see {@link ISSUE_CODES}. */
  code: IssueCode;
  /** An `error` makes the data invalid, a `warning` does not. */
  severity: 'error' | 'warning';
  /** The place in the data: keys and list indexes from the top. */
  path: (string | number)[];
  /** A text for people; it may change. */
  message: string;
  /** The document that has the rule, such as `BEP 52`. */
  spec?: string;
  /** The offset in the input, if known: bytes of a torrent, characters of a magnet link. */
  offset?: number;
  /** The option that the message names: see {@link MetainfoError.option}. */
  option?: MetainfoError['option'];
}

/** The message of a ValidationError has this many issues; its `issues` has all of them. */
const MAX_IN_MESSAGE = 10;

/**
 * A torrent, draft, edit, hasher configuration or magnet link that breaks validation rules; `issues` lists every one of them.
 *
 * @example
 * ```ts
 * import { Torrent, ValidationError } from 'metainfo';
 *
 * try {
 *   Torrent.fromBytes(Buffer.from('d4:infodee'));
 * } catch (error) {
 *   if (!(error instanceof ValidationError)) throw error;
 *   for (const { code, path } of error.issues) console.log(code, path.join('.'));
 * }
 * ```
 */
export class ValidationError extends MetainfoError {
  override readonly name = 'ValidationError';
  /** All issues, errors before warnings. At most 1,000 of each severity are listed. */
  readonly issues: readonly Issue[];
  /** The kind of data that was validated. */
  readonly subject: 'torrent' | 'draft' | 'edit' | 'hasher' | 'magnet link';

  /**
   * Makes an error whose message has the first ten errors of `issues`.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when `issues` is not a list of issues
   */
  constructor(issues: readonly Issue[], subject: ValidationError['subject'] = 'torrent') {
    super('ERR_VALIDATION', sentence(`This ${subject} is not valid: ${summaryOf(issues)}`));
    this.issues = issues;
    this.subject = subject;
  }
}
shareClass(ValidationError, 'ValidationError');

/** Writes an option in a message, as a program passes it: `padNames: 'unique'`. */
export function optionText(name: string, value: string | number | true | null): string {
  if (value === null) return name;
  if (name === 'limits') return `limits: { ${value}: N }`;
  return `${name}: ${typeof value === 'string' ? `'${value}'` : value}`;
}

/** Ends a text with a full stop, unless it ends with a question mark. */
export function sentence(text: string): string {
  return text.endsWith('?') ? text : `${text}.`;
}

function summaryOf(issues: readonly Issue[]): string {
  try {
    const errors = issues.filter(({ severity }) => severity === 'error');
    const first = errors.slice(0, MAX_IN_MESSAGE);
    const lines = first.map(({ path, message }) => `${path.join('.') || 'top level'}: ${message}`);
    return joinFirst(lines, MAX_IN_MESSAGE, errors.length);
  } catch (cause) {
    throw new MetainfoError('ERR_INVALID_ARGUMENT', 'issues must be a list of issues.', { cause });
  }
}

/** Adds the path of the file that was read to an error and its message, unless the error has a path. */
export function withPath(error: unknown, path: string): unknown {
  if (!(error instanceof MetainfoError) || error.path !== undefined) return error;
  const safe = withoutSecrets(path, /$/);
  return Object.assign(error, { path: safe, message: `${safe}: ${error.message}` });
}

/** A message that has no password and no other secret of a URL. Its path may be a URL with blanks. */
function safeMessage(message: string, path = ''): string {
  return withoutSecrets(path === '' ? message : message.replaceAll(path, () => withoutSecrets(path, /$/)));
}

/** Describes a value in an error message, in at most 80 characters: a URL without its secrets. It runs no code of a proxy. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (isUint8Array(value)) return `${value.byteLength} bytes`;
  if (isProxy(value)) return 'a proxy';
  if (isMap(value)) return 'a dictionary';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'function') return 'a function';
  const text = printable(
    typeof value === 'string' ? JSON.stringify(shownUrl(value.slice(0, 10_000)).slice(0, 100)) : textOf(value),
  );
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function textOf(value: unknown): string {
  try {
    const text = String(value);
    return text.startsWith('[object ') ? 'an object' : text;
  } catch {
    // An object without a prototype, for example, cannot be converted.
    return typeof value;
  }
}

/** Formats bytes as lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return hexText(bytes);
}
