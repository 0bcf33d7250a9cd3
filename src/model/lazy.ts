/** Values that are made when they are first accessed. */

/** A function that computes its result when it is first called. */
export function once<T>(compute: () => T): () => T {
  let result: { value: T } | null = null;
  return () => {
    result ??= { value: compute() };
    return result.value;
  };
}

/**
 * Gives an object a property whose value is made when it is first read, and which is an ordinary property from then on. It keeps
 * the place of a property of that name.
 */
export function defineLazy(target: object, property: string, compute: () => unknown): void {
  const make = once(compute);
  const settle = (owner: object, value: unknown) =>
    Object.defineProperty(owner, property, { value, enumerable: true, configurable: true, writable: true });
  Object.defineProperty(target, property, {
    enumerable: true,
    configurable: true,
    get(this: object) {
      if (!Object.isFrozen(this)) settle(this, make());
      return make();
    },
    set(this: object, value: unknown) {
      settle(this, value);
    },
  });
}

/** Gives an object the property of another one. A value that was not made so far is still made when it is first read. */
export function copyProperty(property: string, from: object, to: object): void {
  const descriptor = Object.getOwnPropertyDescriptor(from, property) as PropertyDescriptor;
  if (descriptor.get) Object.defineProperty(to, property, descriptor);
  // An assignment takes a tenth of the time.
  else (to as Record<string, unknown>)[property] = descriptor.value;
}
