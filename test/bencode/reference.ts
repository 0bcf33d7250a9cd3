/** A reference encoder and generators of bencoded values for property tests. */
import fc from 'fast-check';
import type { BencodeMap, BencodeValue } from '../../src/bencode/value.ts';

/** A value that {@link reference} encodes. Keys of a record are text, keys of a Map are latin1 with one character per byte. */
export type Plain =
  | bigint
  | number
  | string
  | Uint8Array
  | readonly Plain[]
  | ReadonlyMap<string, Plain>
  | { readonly [key: string]: Plain };

/** A second encoder, as plainly as BEP 3 puts it: what the tests hold the sources against. */
export function reference(value: Plain): Buffer {
  if (typeof value === 'number' || typeof value === 'bigint') return Buffer.from(`i${value}e`);
  if (typeof value === 'string') return reference(Buffer.from(value));
  if (value instanceof Uint8Array) return Buffer.concat([Buffer.from(`${value.length}:`), value]);
  if (Array.isArray(value)) return Buffer.concat([Buffer.from('l'), ...value.map(reference), Buffer.from('e')]);
  const entries =
    value instanceof Map
      ? [...(value as ReadonlyMap<string, Plain>)].map(([key, item]) => [Buffer.from(key, 'latin1'), item] as const)
      : Object.entries(value).map(([key, item]) => [Buffer.from(key), item] as const);
  const sorted = entries.toSorted(([a], [b]) => Buffer.compare(a, b));
  const parts = sorted.flatMap(([key, item]) => [reference(key), reference(item)]);
  return Buffer.concat([Buffer.from('d'), ...parts, Buffer.from('e')]);
}

/** Text as bytes, one char a byte. */
export const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Any key, and those that trip objects. */
const key = fc.oneof(
  fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom('', '__proto__', 'constructor', '0', '10', '9', 'info'),
);

const integer = fc.oneof(
  fc.maxSafeInteger(),
  // Only bigints that no number holds exactly: decode returns others as numbers.
  fc.bigInt({ min: 2n ** 53n, max: 10n ** 60n }),
  fc.bigInt({ min: -(10n ** 60n), max: -(2n ** 53n) }),
);

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));

/** Anything that bencode can say, as the decoder gives it. */
export const bencodeValue: fc.Arbitrary<BencodeValue> = fc.letrec<{
  value: BencodeValue;
  list: BencodeValue[];
  map: BencodeMap;
}>((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, integer, bytes, tie('list'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 5 }),
  map: fc
    .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 5, selector: ([name]) => name })
    .map((list) => new Map(list)),
})).value;

/** Bencode whose keys stand in any order, and may come twice: what only a tolerant decoder reads. */
export const loose: fc.Arbitrary<Buffer> = fc.letrec<{ value: Buffer; list: Buffer; map: Buffer }>((tie) => {
  const text = fc.constantFrom('0:', '1:a', '1:b', '2:aa', '01:a').map(latin1);
  const number = fc.constantFrom('i0e', 'i-0e', 'i07e', 'i-12e', 'i9223372036854775808e').map(latin1);
  const between = (open: string, items: readonly Buffer[]) => Buffer.concat([latin1(open), ...items, latin1('e')]);
  return {
    value: fc.oneof({ maxDepth: 4 }, text, number, tie('list'), tie('map')),
    list: fc.array(tie('value'), { maxLength: 4 }).map((items) => between('l', items)),
    map: fc.array(fc.tuple(text, tie('value')), { maxLength: 4 }).map((entries) => between('d', entries.flat())),
  };
}).value;

/** A value with every kind of token, for tests that go through it byte by byte. */
export const SAMPLE = reference({
  announce: 'http://t/',
  'creation date': 1_700_000_000,
  info: { a: [1, -20, 'x', []], length: 12_345, name: 'n', pieces: latin1('\x00\xffe:') },
  z: { '': {}, k: 2n ** 64n },
});
