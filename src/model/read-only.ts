/** Makes what a torrent gives out read-only: nothing that a caller does to it changes the torrent. */
import { copyOfValue } from '../bencode/value.ts';
import { isDate, isMap, isUint8Array } from '../platform/node.ts';
import { ownValue } from './lazy/lazy.ts';

function refuse(): never {
  throw new TypeError('A torrent is read-only: copy this Map to change it.');
}

const LOCK = { set: { value: refuse }, delete: { value: refuse }, clear: { value: refuse } };

/**
 * Freezes a value and everything in it, and locks Maps. Properties with bytes, dates or unknown keys give a new copy each time
 * that they are read; those with an accessor keep it. The value must not be shared with a caller yet.
 */
export function readOnly<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (isMap(value)) {
    for (const entry of value.values()) readOnly(entry);
    Object.defineProperties(value, LOCK);
  } else if (Array.isArray(value)) for (const item of value) readOnly(item);
  else guardFields(value);
  return Object.freeze(value);
}

function guardFields(owner: object): void {
  for (const name of Object.keys(owner)) {
    const value = ownValue(owner, name);
    // Most fields are null, a text or a number.
    if (typeof value !== 'object' || value === null) continue;
    if (!needsCopy(name, value)) readOnly(value);
    else if (isMap(value) && value.size === 0) Object.defineProperty(owner, name, EMPTY);
    else
      Object.defineProperty(owner, name, {
        get: () => (isDate(value) ? new Date(value) : copyOfValue<unknown>(value)),
      });
  }
}

/** One accessor for all objects: V8 makes a hidden class for each accessor of its own. */
const EMPTY = { get: () => new Map() };

function needsCopy(name: string, value: unknown): boolean {
  return isUint8Array(value) || isDate(value) || name === 'extra' || (Array.isArray(value) && value.some(isUint8Array));
}
