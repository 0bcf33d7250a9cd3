/** Fields of plain values: text, numbers, URLs, dates, infohashes, hashes and lists of them. */
import { type BencodeMap, type BencodeValue, textOrNull } from '../bencode/value.ts';
import { shown, toHex } from '../errors/errors.ts';
import { copyOf, hexBytes, isUint8Array, utf8Text } from '../platform/node.ts';
import type { Field } from './field.ts';
import { HashList, type HashSize } from './hash-list.ts';
import { hashesOf, textsOf } from './input.ts';
import type { Issues } from './issues.ts';
import { type DhtNode, isInfohash, isPort, MAX_YEAR } from './primitives.ts';

export function decodeText(value: BencodeValue, issues: Issues): string | undefined {
  if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected text, got ${shown(value)}`);
  return textOf(value, issues);
}

/**
 * Text of any length within the limits. In compat, bytes that are not UTF-8 read in the `encoding` of the torrent, or as replacement
 * characters; the torrent keeps its bytes.
 */
export function textOf(bytes: Uint8Array, issues: Issues): string | undefined {
  issues.requireWithin('text', bytes.length);
  const text = textOrNull(bytes);
  if (text !== null) return text;
  issues.forgivable('not_utf8', [], () => `expected UTF-8, got the bytes ${shortHex(bytes)}`);
  return issues.compat || issues.severity === 'warning'
    ? (issues.decoder?.decode(bytes) ?? utf8Text(bytes))
    : undefined;
}

function shortHex(bytes: Uint8Array): string {
  return bytes.length > 24 ? `${toHex(bytes.subarray(0, 24))}...` : toHex(bytes);
}

function decodeInteger(value: BencodeValue, issues: Issues): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint')
    return issues.add('too_large', [], () => `expected an integer within 2^53, got ${shown(value)}`);
  return issues.add('type', [], () => `expected an integer, got ${shown(value)}`);
}

function decodeSize(value: BencodeValue, issues: Issues): number | undefined {
  const size = decodeInteger(value, issues);
  if (size === undefined || size >= 0) return size;
  return issues.add('negative', [], () => `expected a size of 0 or more, got ${size}`);
}

export function decodeMap(value: BencodeValue, issues: Issues): BencodeMap | undefined {
  return value instanceof Map ? value : issues.add('type', [], () => `expected a dictionary, got ${shown(value)}`);
}

/** Decodes a list item by item. Returns undefined when an item does not decode; where only warnings are reported, leaves it out. */
export function decodeList<T>(
  value: BencodeValue,
  issues: Issues,
  item: (value: BencodeValue, issues: Issues) => T | undefined,
): T[] | undefined {
  if (!Array.isArray(value)) return issues.add('type', [], () => `expected a list, got ${shown(value)}`);
  const items: T[] = [];
  const { path } = issues;
  for (let i = 0; i < value.length; i += 1) {
    path.push(i);
    const decoded = item(value[i] as BencodeValue, issues);
    path.pop();
    if (decoded !== undefined) items.push(decoded);
  }
  return items.length === value.length || issues.severity === 'warning' ? items : undefined;
}

/** Fields of text or of lists of text, which a caller may give as bytes. */
const texts =
  <T>(decode: Field<T>['decode']) =>
  (key: string): Field<T> => ({ key, lenient: true, decode, coerce: textsOf });

/** Text that must be UTF-8. */
export const text = texts(decodeText);

/** Text outside `info`, which reads with replacement characters where it is not UTF-8. */
export const shownText = (key: string): Field<string> => ({
  ...text(key),
  ignored: true,
  coerce: (value) => (isUint8Array(value) ? utf8Text(value) : value),
});

export const textList = texts<readonly string[]>((value, issues) => decodeList(value, issues, decodeText));

export const url = texts(decodeUrl);

/** A list of URLs, or a single URL. */
export const urlList = (key: string): Field<readonly string[]> => ({
  key,
  lenient: true,
  ignored: true,
  // A single URL reads as a list of one, an empty text as an empty list (BEP 19; BEP 17 as libtorrent reads it).
  decode: (value, issues) => {
    if (!(value instanceof Uint8Array)) return decodeList(value, issues, decodeUrl);
    const only = textOf(value, issues);
    return only === undefined ? undefined : only === '' ? [] : [only];
  },
  coerce: (value) => {
    const urls = textsOf(value);
    return typeof urls === 'string' ? [urls].filter((url) => url !== '') : urls;
  },
});

function decodeUrl(value: BencodeValue, issues: Issues): string | undefined {
  const url = decodeText(value, issues);
  return url === '' ? issues.add('url', [], 'expected a URL, got an empty string') : url;
}

/** Tiers of trackers (BEP 12). Empty tiers and blanks around URLs are kept. */
export const tiers = (key: string): Field<readonly (readonly string[])[]> => ({
  key,
  lenient: true,
  ignored: true,
  decode: (value, issues) => decodeList(value, issues, (tier) => decodeList(tier, issues, decodeText)),
  coerce: textsOf,
});

export const integer = (key: string, { lenient = false } = {}): Field<number> => ({
  key,
  lenient,
  decode: decodeInteger,
});
/** A size in bytes, from 0. */
export const size = (key: string): Field<number> => ({ key, decode: decodeSize });

/** Whether only the trackers may announce peers. BEP 27 defines 1; libtorrent takes every integer but 0 as true. */
export const privateFlag: Field<boolean> = {
  key: 'private',
  lenient: true,
  decode: (value, issues) => {
    const number = decodeInteger(value, issues);
    const message = () => `expected 1 or 0, got ${number}: not every client treats that as private`;
    if (number !== undefined && number !== 0 && number !== 1)
      issues.add('private', [], message, issues.rules.ignoredByClients);
    return number === undefined ? undefined : number !== 0;
  },
  encode: (value) => (value ? 1 : 0),
  coerce: (value) => (Number.isSafeInteger(value) ? value !== 0 : value),
};

/** Infohashes of other torrents (BEP 38). */
export const infohashList = (key: string): Field<readonly Uint8Array[]> => ({
  key,
  lenient: true,
  decode: (value, issues) => decodeList(value, issues, decodeInfohash),
  coerce: (value) => (Array.isArray(value) ? value.map((hash) => toInfohash(hash) ?? (hash as unknown)) : value),
});

function decodeInfohash(value: BencodeValue, issues: Issues): Uint8Array | undefined {
  if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected an infohash, got ${shown(value)}`);
  const { length } = value;
  return isInfohash(value)
    ? copyOf(value)
    : issues.add('similar', [], () => `expected an infohash of 20 or 32 bytes, got ${length}`);
}

/** An infohash as bytes of its own, from 20 or 32 bytes or their hexadecimal. Null for anything else. */
export function toInfohash(hash: unknown): Uint8Array | null {
  if (typeof hash === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(hash)) return copyOf(hexBytes(hash));
  return isInfohash(hash) ? copyOf(hash) : null;
}

/** DHT nodes (BEP 5). */
export const nodes: Field<readonly DhtNode[]> = {
  key: 'nodes',
  lenient: true,
  ignored: true,
  decode: (value, issues) => decodeList(value, issues, decodeNode),
  coerce: textsOf,
};

function decodeNode(value: BencodeValue, issues: Issues): DhtNode | undefined {
  if (!Array.isArray(value)) return issues.add('type', [], () => `expected a host and a port, got ${shown(value)}`);
  if (value.length !== 2) return issues.add('node', [], () => `expected a host and a port, got ${shown(value)}`);
  const host = issues.within(0, () => decodeText(value[0] as BencodeValue, issues));
  const port = issues.within(1, () => decodeInteger(value[1] as BencodeValue, issues));
  if (host === '') issues.add('node', [0], 'expected a host, got an empty string');
  if (port !== undefined && !isPort(port))
    issues.add('node', [1], () => `expected a port from 1 to 65535, got ${port}`);
  return host && isPort(port) ? [host, port as number] : undefined;
}

/** A date, in seconds since 1970 on disk. */
export const date = (key: string): Field<Date> => ({
  key,
  lenient: true,
  ignored: true,
  decode: (value, issues) => {
    if (typeof value !== 'number' && typeof value !== 'bigint') {
      return issues.add('type', [], () => `expected an integer, got ${shown(value)}`);
    }
    const time = new Date(Number(value) * 1000);
    const range = `expected seconds within 100 million days of 1970, got ${shown(value)}`;
    if (Number.isNaN(time.getTime())) return issues.add('date_range', [], range);
    const year = time.getUTCFullYear();
    if (year > MAX_YEAR) issues.add('date_range', [], `expected seconds, got the year ${year}: probably milliseconds`);
    return time;
  },
  encode: (value) => Math.floor(value.getTime() / 1000),
  coerce: (value) => (typeof value === 'number' || typeof value === 'bigint' ? new Date(Number(value) * 1000) : value),
});

/** Packed hashes of one size. */
export const hashes = (key: string, hashSize: HashSize): Field<HashList> => ({
  key,
  decode: (value, issues) => decodeHashes(value, hashSize, issues),
  coerce: (value) => hashesOf(value, hashSize),
});

export function decodeHashes(value: BencodeValue, hashSize: HashSize, issues: Issues): HashList | undefined {
  if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected hashes, got ${shown(value)}`);
  if (value.length % hashSize === 0) return new HashList(value, hashSize, true);
  return issues.add('hash_length', [], () => `expected a multiple of ${hashSize} bytes, got ${value.length}`);
}

/** A hash of 32 bytes. */
export const root = (key: string): Field<Uint8Array> => ({
  key,
  decode: (value, issues) => {
    if (!(value instanceof Uint8Array)) return issues.add('type', [], () => `expected a hash, got ${shown(value)}`);
    if (value.length === 32) return value;
    return issues.add('hash_length', [], () => `expected 32 bytes, got ${value.length}`);
  },
  coerce: (value) => (isUint8Array(value) ? copyOf(value) : value),
});
