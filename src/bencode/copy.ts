/** Copies of bytes and values for callers, who may change or transfer them. */
import { isMap, isProxy, isUint8Array } from 'node:util/types';
import { RawBencode } from './value.ts';

/** A copy with an ArrayBuffer of its own. It has the same class, because callers may use the methods of a Buffer. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.isBuffer(bytes) ? Buffer.allocUnsafeSlow(bytes.length) : new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy;
}

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
