/** Checks the arguments and options of every exported function against superstruct structs before they are used. */
import { Struct } from 'superstruct';
import { currentFolder, inNode, isAbsolute, isDate, isUint8Array, pathOfUrl, resolvePath } from '../platform/node.ts';
import { MetainfoError, type MetainfoErrorOptions, sentence, shown } from './errors.ts';

/** Makes a struct from a test; `what` completes the messages "... must be" and "expected ...". */
export function expected<T>(
  what: string,
  test: (value: unknown) => boolean,
  coercer: (value: unknown) => unknown = (value) => value,
): Struct<T, null> {
  const validator = (value: unknown) => test(value) || mismatch(what, value);
  return new Struct<T, null>({ type: what, schema: null, validator, coercer });
}

/** The message of a failure: a value in few words. */
export function mismatch(what: string, value: unknown): string {
  return `expected ${what}, got ${shown(value)}`;
}

/** Whether a value is a number of bytes, of files and the like. */
export function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Makes a struct that accepts only the given strings or numbers. */
export function oneOf<T extends string | number>(...values: readonly T[]): Struct<T, null> {
  return expected(
    values.length > 1 ? `${values.slice(0, -1).join(', ')} or ${values.at(-1)}` : `${values[0]}`,
    (value) => values.includes(value as T),
  );
}

/** Makes a struct that accepts null too. */
export function orNull<T>(struct: Struct<T, null>): Struct<T | null, null> {
  return expected(
    `${struct.type} or null`,
    (value) => value === null || passes(value, struct),
    struct.coercer as () => unknown,
  );
}

/** Accepts anything: the value is checked where it is used. */
export const Unchecked: Struct<never, null> = expected('anything', () => true);
/** Accepts anything but undefined, for arguments without a default: the value is checked where it is used. */
export const Given: Struct<never, null> = expected('given', (value) => value !== undefined);
export const Flag: Struct<boolean, null> = expected('true or false', (value) => typeof value === 'boolean');
export const Text: Struct<string, null> = expected('a string', (value) => typeof value === 'string');
/** The text of a path or of a `file:` URL; null for anything else. Node would also take a buffer or a file descriptor as a path. */
export function pathOrNull(value: unknown): string | null {
  const text = typeof value === 'string' ? value : pathOfUrl(value);
  return text?.includes('\0') ? null : text;
}
/** The absolute path of a path or `file:` URL; anything else as it is. An empty path stays empty. */
export function absolutePath(value: unknown): unknown {
  const path = pathOrNull(value);
  return path && !isAbsolute(path) ? resolvePath(currentFolder(), path) : (path ?? value);
}
/** The text of a path or of a `file:` URL. Throws `ERR_INVALID_ARGUMENT` for anything else. */
export function checkedPath(value: unknown): string {
  const path = pathOrNull(value);
  if (path !== null) return path;
  throw invalidArgument(`A path must be a string without NUL bytes or a file: URL, not ${shown(value)}`);
}
/** Accepts a path or a `file:` URL. {@link checkArgument} returns its text. */
export const Path: Struct<string, null> = expected(
  'a path: a string without NUL bytes or a file: URL',
  (value) => pathOrNull(value) !== null,
  pathOrNull,
);
export const Bytes: Struct<Uint8Array, null> = expected('bytes (a Uint8Array)', isUint8Array);
export const List: Struct<readonly unknown[], null> = expected('a list', Array.isArray);
/** Whether a value is a list of such entries. `every` would skip the holes of a list. */
export const isListOf = <T = unknown>(value: unknown, fits: (entry: T) => unknown): boolean =>
  Array.isArray(value) && Array.from<T>(value as T[]).every(fits);
const isText = (value: unknown) => typeof value === 'string';
export const Texts: Struct<readonly string[], null> = expected('a list of strings', (value) => isListOf(value, isText));
/** Makes a struct of iterables, which bytes are not. */
export const iterable = <T>(what: string): Struct<Iterable<T>, null> =>
  expected(what, (value) => Object(value) === value && !isUint8Array(value) && Symbol.iterator in (value as object));
export const Size: Struct<number, null> = expected('a whole number from 0 to 2^53 - 1', isSize);
/** Makes a struct of whole numbers of at least `least`. */
export const wholeFrom = (least: number): Struct<number, null> =>
  expected(`a whole number of at least ${least}`, (value) => Number.isSafeInteger(value) && (value as number) >= least);
export const DateTime: Struct<Date, null> = expected(
  'a valid Date',
  (value) => isDate(value) && !Number.isNaN(value.getTime()),
);
export const Callback: Struct<(...given: never[]) => unknown, null> = expected(
  'a function',
  (value) => typeof value === 'function',
);
/** Accepts signals of other realms and of polyfills too. */
export const Signal: Struct<AbortSignal, null> = expected('an AbortSignal', (value) => {
  const { aborted, addEventListener, removeEventListener } = (value ?? {}) as Partial<AbortSignal>;
  const listens = typeof addEventListener === 'function' && typeof removeEventListener === 'function';
  return typeof aborted === 'boolean' && listens;
});

/** A struct of a single value: it does not look into objects. */
export type AnyStruct = Pick<Struct<unknown, null>, 'type' | 'validator' | 'coercer'>;

/** Whether a value fits a struct of a single value. */
export function passes(value: unknown, struct: AnyStruct): boolean {
  const [failure] = struct.validator(value, { branch: [value], path: [] });
  return failure === undefined;
}

/** Returns an argument that fits its struct: for a `file:` URL, its path. Throws `ERR_INVALID_ARGUMENT` with its name. */
export function checkArgument<T>(name: string, value: unknown, struct: AnyStruct & Pick<Struct<T, null>, 'TYPE'>): T {
  if (readSafely(name, () => passes(value, struct))) {
    // The structs of this file look at the value alone.
    return struct.coercer(value, undefined as never) as T;
  }
  throw invalidArgument(`${name} must be ${struct.type}, not ${shown(value)}`, { option: { [name]: null } });
}

/** Options whose URLs of files have become paths. */
export type Checked<T> = { [K in keyof T]: Exclude<T[K], URL> };

/** A struct for every option of an options object. Options that are undefined are not checked. */
export type OptionStructs<T> = { readonly [K in keyof T]-?: AnyStruct };

/**
 * Copies an options object: reads every option once and checks it.
 *
 * @param example An options object for the message when `given` is not an object.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an invalid option, or for an unknown one, with the name that was probably
 *   meant
 */
export function checkOptions<T extends object>(
  given: T | undefined,
  structs: OptionStructs<T>,
  { name = 'options', example = '{ threads: 2 }' } = {},
): Checked<T> {
  if (given === undefined) return {} as Checked<T>;
  return readSafely(name, () => {
    const isObject = typeof given === 'object' && given !== null && !(Symbol.iterator in given);
    if (!isObject) throw invalidArgument(`${name} must be an object such as ${example}, not ${shown(given)}`);
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(given)) {
      if (!Object.hasOwn(structs, key) && given[key as keyof T] !== undefined) throw unknownOption(name, key, structs);
    }
    for (const key in structs) {
      const value: unknown = given[key];
      if (value === undefined) continue;
      const struct = structs[key] as AnyStruct & { TYPE: unknown };
      copy[key] = checkArgument(name === 'options' ? key : `${name}.${key}`, value, struct);
    }
    return copy as Checked<T>;
  });
}

/**
 * Runs code that reads an object of the caller, whose getters or proxy traps may throw.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` with the error that was thrown as its `cause`; a MetainfoError passes through
 */
export function readSafely<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof MetainfoError) throw cause;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `${name} cannot be read: ${reasonOf(cause)}.`, { cause });
  }
}

/** Returns the message of anything that was thrown. Reading the thrown value may throw again. */
function reasonOf(cause: unknown): string {
  try {
    return cause instanceof Error ? String(cause.message) : shown(cause);
  } catch {
    return 'it threw an error';
  }
}

function unknownOption(bag: string, key: string, structs: object): MetainfoError {
  const known = Object.keys(structs);
  const meant = suggestName(key, known);
  const hint = meant === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${meant}?`;
  const what = bag === 'options' ? `option ${shown(key)}` : `key ${shown(key)} in ${bag}`;
  return invalidArgument(`unknown ${what}: ${hint}`);
}

/** Makes an `ERR_INVALID_ARGUMENT` error; `problem` is a sentence without its full stop. */
export function invalidArgument(problem: string, details?: MetainfoErrorOptions): MetainfoError {
  return new MetainfoError('ERR_INVALID_ARGUMENT', sentence(problem), details);
}

/** Words for an option elsewhere: in the Python interface that this library follows, in the command, in other libraries. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  nProcesses: 'threads',
  webSeeds: 'webseeds',
  webseed: 'webseeds',
  webSeed: 'webseeds',
  isPrivate: 'private',
  pieceSize: 'pieceLength',
  torrentVersion: 'version',
  date: 'creationDate',
  dhtNodes: 'nodes',
  output: 'outputPath',
};

/** Finds the known name that an unknown one probably stands for: in snake_case, in other letter case, or with a typo. */
export function suggestName(name: string, known: readonly string[]): string | undefined {
  const camel = name.replace(/[_-]+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const other = inNode() && Object.hasOwn(OTHER_NAMES, camel) ? (OTHER_NAMES[camel] as string) : camel;
  if (other !== name && known.includes(other)) return other;
  const lower = name.toLowerCase();
  return known.find((candidate) => candidate.toLowerCase() === lower && candidate !== name) ?? nearest(name, known);
}

/** Finds the known name with one typo: a letter that is changed, missing or added, or two letters swapped. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  for (const candidate of known) {
    if (candidate !== name && candidate.length > 3 && isOneTypoOff(name, candidate)) return candidate;
  }
  return undefined;
}

function isOneTypoOff(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 1;
  while (end <= a.length - start && a.at(-end) === b.at(-end)) end += 1;
  const odd = Math.max(a.length, b.length) - start - end + 1;
  const swapped = odd === 2 && a.length === b.length && a[start] === b[start + 1] && a[start + 1] === b[start];
  return odd <= 1 || swapped;
}

/**
 * Returns bytes as a Uint8Array of this realm. Checking with `instanceof` would refuse arrays of another realm, such as a vm
 * context of a test runner, and accept objects that only inherit from Uint8Array.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when the value is not a Uint8Array, or was transferred to another thread
 */
export function bytesOf(name: string, value: unknown): Uint8Array {
  return bytesOrNull(value) ?? (checkArgument(name, value, Bytes) as never);
}

/** Does what {@link bytesOf} does, but returns null when the value is not a Uint8Array. */
export function bytesOrNull(value: unknown): Uint8Array | null {
  if (!isUint8Array(value)) return null;
  if (value.byteLength === 0) requireAttached(value);
  return isOfThisRealm(value) ? value : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Whether a value is a Blob, of this realm, another one, or a library. */
export function isBlob(value: object): value is Blob {
  return 'stream' in value && 'slice' in value && typeof value.slice === 'function' && 'size' in value;
}

/** A transferred array has a length of 0, so it looks like an empty one. */
function requireAttached(bytes: Uint8Array): void {
  try {
    new Uint8Array(bytes.buffer);
  } catch (cause) {
    throw invalidArgument('The bytes were transferred to another thread: their memory is gone', { cause });
  }
}

/** A function, because an inline `instanceof` would narrow the other branch to `never`. */
function isOfThisRealm(bytes: Uint8Array): boolean {
  return bytes instanceof Uint8Array;
}
