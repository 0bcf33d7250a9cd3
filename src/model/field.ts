/** One field between a model and bencode, and dictionaries of such fields. */
import type { BencodeMap, BencodeValue, Encodable } from '../bencode/value.ts';
import { nearest } from '../errors/guard.ts';
import type { InputContext } from './input.ts';
import type { Issues } from './issues.ts';

/** How one field is translated between the model and bencode. */
export interface Field<T> {
  /** The on-disk key. */
  key: string;
  /** Whether libtorrent ignores an invalid value: compat then warns and leaves the field out. */
  lenient?: boolean;
  /** Whether every client ignores an invalid value: then only strict refuses it, and the others warn. */
  ignored?: boolean;
  /** Returns undefined after it has reported an issue. */
  decode(value: BencodeValue, issues: Issues): T | undefined;
  /** Absent where the value is encoded as it is. */
  encode?(value: T): Encodable;
  /** Converts the other forms that a caller may give, as copies. Returns any other value unchanged. */
  coerce?(value: unknown, context: InputContext): unknown;
}

/** A field with the property of the model that holds it. */
interface KnownKey {
  property: string;
  field: Field<never>;
}

const keyCache = new WeakMap<object, ReadonlyMap<string, KnownKey>>();

/** The property and field of each on-disk key. */
export function keysOf(fields: object): ReadonlyMap<string, KnownKey> {
  let keys = keyCache.get(fields);
  if (!keys) {
    const entries = Object.entries(fields as Record<string, Field<never>>);
    keys = new Map(entries.map(([property, field]) => [field.key, { property, field }]));
    keyCache.set(fields, keys);
  }
  return keys;
}

/**
 * Decodes a dictionary into a model: a property for each field, `extra` for all other keys. Reports each value that does
 * not decode and leaves it out, and warns of unknown keys that are one letter off a known one.
 */
export function decodeFields(map: BencodeMap, fields: object, issues: Issues): Record<string, unknown> {
  const known = keysOf(fields);
  const model: Record<string, unknown> = {};
  let extra: BencodeMap | undefined;
  for (const [key, value] of map) {
    const entry = known.get(key);
    if (!entry) {
      extra ??= new Map();
      // Its bytes are views of the torrent: `readOnly` gives callers copies.
      extra.set(key, value);
      continue;
    }
    const { severity, lenient } = issues;
    issues.lenient = entry.field.lenient ?? false;
    if (issues.lenient && issues.compat) issues.severity = 'warning';
    if (entry.field.ignored) issues.severity = issues.rules.ignoredByClients;
    issues.path.push(key);
    const decoded = entry.field.decode(value, issues);
    issues.path.pop();
    issues.severity = severity;
    issues.lenient = lenient;
    if (decoded !== undefined) model[entry.property] = decoded;
    // A copy of the model must make the same bytes.
    if (typeof decoded === 'boolean' && value !== Number(decoded)) extra = new Map(extra).set(key, value);
  }
  if (extra) {
    model['extra'] = extra;
    for (const key of extra.keys()) {
      if (known.has(key)) continue;
      const similar = nearest(key, known.keys());
      if (similar && !map.has(similar))
        issues.add('misspelled', [key], () => `an unknown key: did you mean ${similar}?`, 'warning');
    }
  }
  return model;
}

/** Encodes a model as a dictionary. Properties that are null or absent are left out. */
export function encodeFields(model: object, fields: object): Map<string, Encodable> {
  const map = new Map<string, Encodable>((model as { extra?: BencodeMap }).extra);
  for (const [property, value] of Object.entries(model)) {
    if (value === undefined || value === null || !Object.hasOwn(fields, property)) continue;
    const { key, encode } = (fields as Record<string, Field<unknown>>)[property] as Field<unknown>;
    map.set(key, encode ? encode(value) : (value as Encodable));
  }
  return map;
}
