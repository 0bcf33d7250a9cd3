/** Copies of bytes and values for callers, who may change or transfer them. */
import { copyOf, isMap, isProxy, isUint8Array } from '../platform/node.ts';
import { type BencodeValue, RawBencode } from './value.ts';

/** A copy of a value with all lists, dictionaries and bytes in it. Other objects are kept. A value may contain itself. */
export function copyOfValue<T>(value: T): T {
  const copies = new Map<unknown, unknown[] | Map<unknown, unknown>>();
  const copied = (one: unknown): unknown => {
    if (isUint8Array(one)) return copyOf(one);
    if (one instanceof RawBencode) return new RawBencode(copyOf(one.bytes));
    if (!(isMap(one) || Array.isArray(one)) || isProxy(one)) return one;
    const copy = copies.get(one) ?? (isMap(one) ? new Map() : []);
    copies.set(one, copy);
    return copy;
  };
  const result = copied(value) as T;
  // Iterating a Map also visits the entries that are added meanwhile.
  for (const [original, copy] of copies) {
    if (Array.isArray(copy)) for (const item of original as unknown[]) copy.push(copied(item));
    else for (const [key, item] of original as Map<unknown, unknown>) copy.set(key, copied(item));
  }
  return result;
}

/**
 * Gives all bytes in a value that was just decoded an ArrayBuffer of their own, in place: {@link copyOfValue} needs twice the memory
 * for millions of entries. May recurse, because the decoder bounds the depth.
 */
export function ownBytes(value: BencodeValue): BencodeValue {
  if (value instanceof Uint8Array) return copyOf(value);
  if ((value as unknown) instanceof RawBencode) return copyOfValue(value);
  if (Array.isArray(value)) for (let i = 0; i < value.length; i += 1) value[i] = ownBytes(value[i] as BencodeValue);
  else if (value instanceof Map) for (const [key, entry] of value) value.set(key, ownBytes(entry));
  return value;
}
