/** Makes what a torrent gives out read-only: nothing that a caller does to it changes the torrent. */
import { isDate, isMap, isUint8Array } from 'node:util/types';
import { copyOfValue } from '../bencode/copy.ts';

/** Keeps values that nobody else may reach with an object of any class: its constructor returns that object. */
const Owner = function (this: unknown, owner: object) {
  return owner;
} as unknown as new (
  owner: object,
) => object;

class Kept extends Owner {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(owner: object, values: Readonly<Record<string, unknown>>) {
    super(owner);
    this.#values = values;
  }

  /** A copy of a kept value. */
  static copy(owner: object, name: string): unknown {
    const value = #values in owner ? owner.#values[name] : undefined;
    return isDate(value) ? new Date(value) : copyOfValue(value);
  }
}

/** One accessor per name: objects with the same accessors share a hidden class of the engine. */
const accessors = new Map<string, PropertyDescriptor>();

function accessorOf(name: string): PropertyDescriptor {
  let accessor = accessors.get(name);
  if (!accessor) {
    accessor = {
      enumerable: true,
      get(this: object) {
        return Kept.copy(this, name);
      },
    };
    accessors.set(name, accessor);
  }
  return accessor;
}

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
  else keepCopies(value);
  return Object.freeze(value);
}

function keepCopies(owner: object): void {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(owner)) {
    const { value } = Object.getOwnPropertyDescriptor(owner, name) as PropertyDescriptor;
    if (!needsCopy(name, value)) readOnly(value);
    else {
      kept[name] = value;
      Object.defineProperty(owner, name, accessorOf(name));
    }
  }
  if (Object.keys(kept).length > 0) new Kept(owner, kept);
}

function needsCopy(name: string, value: unknown): boolean {
  return isUint8Array(value) || isDate(value) || name === 'extra' || (Array.isArray(value) && value.some(isUint8Array));
}
