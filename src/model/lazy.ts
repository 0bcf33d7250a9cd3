/** Values that are made when they are first accessed. */

/** A function that computes its result when it is first called. */
export function once<T>(compute: () => T): () => T {
  let result: { value: T } | null = null;
  return () => {
    result ??= { value: compute() };
    return result.value;
  };
}

/** Gives an object that is frozen later a property whose value is made when it is first read. */
export function defineLazy(target: object, property: string, compute: () => unknown): void {
  Object.defineProperty(target, property, { enumerable: true, configurable: true, get: once(compute) });
}

/** Gives an object the property of another one. A value that was not made so far is still made when it is first read. */
export function copyProperty(property: string, from: object, to: object): void {
  Object.defineProperty(to, property, Object.getOwnPropertyDescriptor(from, property) as PropertyDescriptor);
}
