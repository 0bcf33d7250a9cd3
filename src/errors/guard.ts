/** Checks what callers pass in: every export holds its arguments and its options against structs before it uses them. */
import { isDate, isUint8Array } from 'node:util/types';
import { define, type Struct } from 'superstruct';
import { MetainfoError, shown } from './errors.ts';

/** A struct of an argument: `what` completes the sentence "... must be". */
export function expected<T>(what: string, test: (value: unknown) => boolean): Struct<T, null> {
  return define<T>(what, (value) => test(value) || what);
}

/** One of several texts or numbers. */
export function oneOf<T extends string | number>(...values: readonly T[]): Struct<T, null> {
  return expected(
    values.length > 1 ? `${values.slice(0, -1).join(', ')} or ${values.at(-1)}` : `${values[0]}`,
    (value) => values.includes(value as T),
  );
}

/** The same, or null. */
export function orNull<T>(struct: Struct<T, null>): Struct<T | null, null> {
  return expected(`${struct.type} or null`, (value) => value === null || passes(value, struct));
}

/** What is checked where it is used. */
export const Unchecked: Struct<never, null> = expected('anything', () => true);
/** What there is no default for; it is checked where it is used. */
export const Given: Struct<never, null> = expected('given', (value) => value !== undefined);
export const Flag: Struct<boolean, null> = expected('true or false', (value) => typeof value === 'boolean');
export const Text: Struct<string, null> = expected('text', (value) => typeof value === 'string');
/** What no system takes for a path, Node would take for something else: a URL, bytes, a descriptor. */
export const Path: Struct<string, null> = expected(
  'a path: text without NUL',
  (value) => typeof value === 'string' && !value.includes('\0'),
);
export const Bytes: Struct<Uint8Array, null> = expected('bytes (a Uint8Array)', isUint8Array);
export const List: Struct<readonly unknown[], null> = expected('a list', Array.isArray);
export const Size: Struct<number, null> = expected(
  'a whole number from 0 to 2^53 - 1',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
export const DateTime: Struct<Date, null> = expected(
  'a valid Date',
  (value) => isDate(value) && !Number.isNaN(value.getTime()),
);
export const Callback: Struct<(...given: never[]) => unknown, null> = expected(
  'a function',
  (value) => typeof value === 'function',
);
/** Also those of other libraries and of other realms. */
export const Signal: Struct<AbortSignal, null> = expected('an AbortSignal', (value) => {
  const { aborted, addEventListener, removeEventListener } = (value ?? {}) as Partial<AbortSignal>;
  const listens = typeof addEventListener === 'function' && typeof removeEventListener === 'function';
  return typeof aborted === 'boolean' && listens;
});

/** Any struct, as far as it is used here. */
type AnyStruct = Pick<Struct<unknown, null>, 'type' | 'validator'>;

function passes(value: unknown, struct: AnyStruct): boolean {
  const [failure] = struct.validator(value, { branch: [value], path: [] });
  return failure === undefined;
}

/**
 * The value of an argument or option.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, with its name
 */
export function argument<T>(name: string, value: unknown, struct: AnyStruct & Pick<Struct<T, null>, 'TYPE'>): T {
  if (reading(name, () => passes(value, struct))) return value as T;
  throw invalid(`${name} must be ${struct.type}, not ${shown(value)}`);
}

/** A struct for every option of a bag, checked unless it is undefined. */
export type OptionStructs<T> = { readonly [K in keyof T]-?: AnyStruct };

/**
 * A copy of an options bag, of which every option has been read once and checked.
 *
 * @param example What stands in the message where it is no bag at all, such as a number.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` with the option's name; for one that there is not, with the one that was
 *   most likely meant
 */
export function options<T extends object>(
  given: T | undefined,
  structs: OptionStructs<T>,
  { name = 'options', example = '{ threads: 2 }' } = {},
): T {
  if (given === undefined) return {} as T;
  return reading(name, () => {
    const isBag = typeof given === 'object' && given !== null && !(Symbol.iterator in given);
    if (!isBag) throw invalid(`${name} must be an object such as ${example}, not ${shown(given)}`);
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(given)) {
      if (!Object.hasOwn(structs, key) && given[key as keyof T] !== undefined) throw unknown(name, key, structs);
    }
    for (const [key, struct] of Object.entries(structs) as [string, AnyStruct & { TYPE: unknown }][]) {
      const value: unknown = given[key as keyof T];
      if (value !== undefined) copy[key] = argument(name === 'options' ? key : `${name}.${key}`, value, struct);
    }
    return copy as T;
  });
}

/** What a caller's object does when it is read is the caller's: its error becomes the cause. */
export function reading<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof MetainfoError) throw cause;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `${name} cannot be read: ${reasonOf(cause)}.`, { cause });
  }
}

/** Anything may be thrown, also what cannot be read either. */
function reasonOf(cause: unknown): string {
  try {
    return cause instanceof Error ? String(cause.message) : shown(cause);
  } catch {
    return 'it throws';
  }
}

function unknown(bag: string, key: string, structs: object): MetainfoError {
  const known = Object.keys(structs);
  const meant = meantBy(key, known);
  const hint = meant === undefined ? `expected ${known.join(', ')}` : `did you mean ${meant}?`;
  const what = bag === 'options' ? `option ${shown(key)}` : `${shown(key)} in ${bag}`;
  return invalid(`there is no ${what}: ${hint}`);
}

export function invalid(problem: string): MetainfoError {
  return new MetainfoError('ERR_INVALID_ARGUMENT', `${problem}${problem.endsWith('?') ? '' : '.'}`);
}

/** What the Python interface that this one follows calls otherwise, beside its snake_case. */
const OTHER_NAMES: Readonly<Record<string, string>> = { nProcesses: 'threads' };

/** The known name that an unknown one most likely stands for: in snake_case, in other letter case, or one letter off. */
export function meantBy(name: string, known: readonly string[]): string | undefined {
  const camel = name.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const other = Object.hasOwn(OTHER_NAMES, camel) ? (OTHER_NAMES[camel] as string) : camel;
  if (other !== name && known.includes(other)) return other;
  const lower = name.toLowerCase();
  return known.find((one) => one.toLowerCase() === lower && one !== name) ?? nearest(name, known);
}

/** The known name that an unknown one is one letter off: changed, missing, too many, or two swapped. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  for (const candidate of known) {
    if (candidate !== name && candidate.length > 3 && isOneOff(name, candidate)) return candidate;
  }
  return undefined;
}

function isOneOff(a: string, b: string): boolean {
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
 * Bytes as a view of this realm: `instanceof` fails for those of another (a vm context, as test runners make them), and an
 * object that only inherits from Uint8Array holds none.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`
 */
export function bytesOf(name: string, value: unknown): Uint8Array {
  return ownBytes(value) ?? (argument(name, value, Bytes) as never);
}

/** The same; null for what is no Uint8Array. */
export function ownBytes(value: unknown): Uint8Array | null {
  if (!isUint8Array(value)) return null;
  if (value.byteLength === 0) requireAttached(value);
  return isOfThisRealm(value) ? value : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Bytes that went to another thread look like none at all. */
function requireAttached(bytes: Uint8Array): void {
  try {
    new Uint8Array(bytes.buffer);
  } catch (cause) {
    throw new MetainfoError('ERR_INVALID_ARGUMENT', 'The bytes were transferred: their memory is gone.', { cause });
  }
}

/** TypeScript would take what is left for nothing at all. */
function isOfThisRealm(bytes: Uint8Array): boolean {
  return bytes instanceof Uint8Array;
}
