/** Values that are made when they are first accessed. */

/** A function that computes its result when it is first called. */
export function once<T>(compute: () => T): () => T {
  let result: { value: T } | null = null;
  return () => {
    result ??= { value: compute() };
    return result.value;
  };
}

/** The properties that may be made when they are read. */
export type LazyName = 'fileTree' | 'files' | 'infoBytes' | 'pieceLayers';
const LAZY: ReadonlySet<string> = new Set<LazyName>(['fileTree', 'files', 'infoBytes', 'pieceLayers']);

/** The value of an own property; undefined if it is made when it is read. Reading a descriptor takes ten times as long. */
export function ownValue(target: object, name: string): unknown {
  if (LAZY.has(name)) return Object.getOwnPropertyDescriptor(target, name)?.value;
  return (target as Record<string, unknown>)[name];
}

/** Gives an object that is frozen later a property whose value is made when it is first read. */
export function defineLazy(target: object, property: LazyName, compute: () => unknown): void {
  Object.defineProperty(target, property, { enumerable: true, configurable: true, get: once(compute) });
}

/** Gives an object the property of another one. A value that was not made so far is still made when it is first read. */
export function copyProperty(property: LazyName, from: object, to: object): void {
  Object.defineProperty(to, property, Object.getOwnPropertyDescriptor(from, property) as PropertyDescriptor);
}
