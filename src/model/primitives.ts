/** Structs of single values, which the models are made of. */
import { array, type Context, define, dynamic, is, nullable, optional, refine, Struct } from 'superstruct';
import type { BencodeMap } from '../bencode/value.ts';
import type { IssueCode } from '../errors/codes.ts';
import { shown } from '../errors/errors.ts';
import { DateTime, expected, mismatch, pathOrNull } from '../errors/guard.ts';
import { BLOCK_SIZE, isPowerOfTwo } from '../layout/piece-length.ts';
import { isMap, isUint8Array } from '../platform/node.ts';
import { HashList, type HashSize } from './hash-list.ts';

/** The piece length of v1: a power of two. BEP 3 allows others, but creators use none. */
export const V1PieceLength = coded<number>('piece_length', 'a power of two', isPowerOfTwo);

/** The piece length of v2 and hybrid: a power of two of at least 16 KiB (BEP 52). */
export const V2PieceLength = coded<number>(
  'piece_length',
  `a power of two of at least ${BLOCK_SIZE}`,
  (value) => isPowerOfTwo(value) && value >= BLOCK_SIZE,
);

/** A {@link HashList} of hashes of one size. */
export const hashList = (hashSize: HashSize): Struct<HashList, null> =>
  define('hashList', (value) => {
    if (!(value instanceof HashList)) return `expected a HashList, got ${shown(value)}`;
    return value.hashSize === hashSize || `expected hashes of ${hashSize} bytes, got ${value.hashSize}`;
  });

/** The infohash of another torrent: 20 bytes, or 32 of a v2 torrent (BEP 38). */
export const Infohash = coded<Uint8Array>('similar', 'an infohash of 20 or 32 bytes, or its hexadecimal', isInfohash);

export function isInfohash(value: unknown): value is Uint8Array {
  return isUint8Array(value) && (value.length === 20 || value.length === 32);
}

/** The address of a DHT node (BEP 5): a host name or IP address, IPv6 without brackets, and a port from 1 to 65535. */
export type DhtNode = readonly [host: string, port: number];
/** Checks a DHT node that a caller gives. */
export const DhtNode: Struct<DhtNode, null> = nodeStruct((host) => /^[^\s[\]/]+$/.test(host) && host.isWellFormed());
/** A DHT node as a torrent has it: with any host. */
export const ReadNode: Struct<DhtNode, null> = nodeStruct((host) => host !== '');

function nodeStruct(isHost: (host: string) => boolean): Struct<DhtNode, null> {
  return define('node', (value) => {
    const [host, port] = Array.isArray(value) && value.length === 2 ? (value as unknown[]) : [];
    const text = () => (Array.isArray(value) ? `[${value.slice(0, 3).map(shown).join(', ')}]` : shown(value));
    return (typeof host === 'string' && isHost(host) && isPort(port)) || `expected [host, port], got ${text()}`;
  });
}

export function isPort(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65_535;
}

/** A value that may be absent or null. */
export const maybe = <T, S>(struct: Struct<T, S>) => optional(nullable(struct));

export const Text = expected<string>('text', (value) => typeof value === 'string');
/** A list of values of one struct. Its failures describe a value in few words, unlike those of superstruct's `array`. */
export function list<T>(struct: Struct<T, unknown>): Struct<readonly T[], Struct<T, unknown>> {
  const validator = (value: unknown) => Array.isArray(value) || mismatch('a list', value);
  return new Struct<readonly T[], Struct<T, unknown>>({ ...array(struct), validator } as never);
}
export const TextList = list(Text);
export const Url = expected<string>('a URL', (value) => typeof value === 'string' && value !== '');
export const Tiers = list(TextList);
/** Trackers as a flat list or in tiers. */
export const TrackerTiers = dynamic(
  (value) => (Array.isArray(value) && value.some(Array.isArray) ? Tiers : TextList) as Struct<unknown>,
);
/** The last year that a creation date can have: later ones are milliseconds that were taken for seconds. */
export const MAX_YEAR = 9999;
/** The date of a new torrent. */
export const NewDate: Struct<Date, null> = refine(
  DateTime,
  'date_range',
  (date) =>
    date.getUTCFullYear() <= MAX_YEAR ||
    `expected a date up to the year ${MAX_YEAR}, got ${date.toISOString()}: as a number, it counts seconds, not milliseconds`,
);
/** Keys that the models do not know: keys with one character per byte, values as the decoder gives them. */
export const Extra = expected<BencodeMap>('a Map of unknown keys', isMap);

/** The path of a file or folder. An empty one would be the current folder, like a variable that is missing. */
export const RootPath = coded<string | URL>('path_root', 'a path or a file: URL', (value) =>
  Boolean(pathOrNull(value)),
);

export const Whole = expected<number>('an integer', Number.isInteger);

/** A struct of a few texts. */
export const choice = <T extends string>(...values: readonly T[]): Struct<T, null> =>
  expected(`one of ${values.join(', ')}`, (value) => values.includes(value as T));

/** A struct whose failures are issues with a code of their own. */
export function coded<T>(code: IssueCode, what: string, test: (value: unknown) => boolean): Struct<T, null> {
  return define<T>(code, (value) => test(value) || mismatch(what, value));
}

/** The structs of an object's fields, as superstruct's `assign`, `omit` and `pick` take them. */
export type FieldStructs<T> = { [K in keyof Required<T>]: Struct<T[K], null> };

/**
 * A struct of fields that looks only at those that a value has and at those that it must have. superstruct runs four generators for
 * each field of a struct, and most fields of a model are usually absent.
 */
export function sparse<T, S>(struct: Struct<T, S>): Struct<T, S> {
  const fields = Object.entries(struct.schema as Record<string, Struct>);
  const required = new Set(fields.filter(([, field]) => !is(undefined, field)).map(([name]) => name));
  return new Struct<T, S>({
    ...struct,
    validator: (value: unknown) => isObject(value) || mismatch('an object', value),
    *entries(value) {
      if (!isObject(value)) return;
      for (const [name, field] of fields) {
        if (name in value || required.has(name)) yield [name, value[name], field];
      }
    },
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Does what superstruct's `is` does in a third of the time: it collects nothing for the message of an error. */
export function fits(value: unknown, struct: Struct<unknown, unknown>): boolean {
  return fitsWithin({ path: [], branch: [value] }, value, struct);
}

/** The context leads from the outermost value to this one: rules may read the values around it. All values share its two lists. */
function fitsWithin(context: Context, value: unknown, struct: Struct<unknown, unknown>): boolean {
  for (const _ of struct.validator(value, context)) return false;
  for (const [key, entry, field] of struct.entries(value, context)) {
    // Like superstruct, which yields no key for the value itself in another struct.
    const isInside = key !== undefined;
    if (isInside) {
      context.path.push(key);
      context.branch.push(entry);
    }
    if (!fitsWithin(context, entry, field as Struct<unknown, unknown>)) return false;
    if (isInside) {
      context.path.pop();
      context.branch.pop();
    }
  }
  for (const _ of struct.refiner(value, context)) return false;
  return true;
}
