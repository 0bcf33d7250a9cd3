/** Lets several copies of this package in one process recognise each other's torrents, drafts, engines and errors. */

interface Shared {
  readonly torrents: WeakSet<object>;
  readonly engines: WeakSet<object>;
  readonly drafts: WeakSet<object>;
}

const REGISTRY = Symbol.for('metainfo.shared');

const holder = globalThis as { [REGISTRY]?: Shared };
if (!holder[REGISTRY]) {
  const value: Shared = { torrents: new WeakSet(), engines: new WeakSet(), drafts: new WeakSet() };
  Object.defineProperty(holder, REGISTRY, { value });
}

/** The torrents, engines and drafts of all copies. */
export const { torrents, engines, drafts } = holder[REGISTRY] as Shared;

/** Lets `instanceof` accept objects of another copy of a class. @param name That of the class, which a bundler may change. */
export function shareClass(own: { readonly prototype: object }, name: string): void {
  const brand = Symbol.for(`metainfo.${name}`);
  Object.defineProperty(own.prototype, brand, { value: true });
  Object.defineProperty(own, Symbol.hasInstance, {
    value(this: unknown, value: unknown) {
      // A class of a caller that extends this one inherits the method.
      if (this !== own) return Function.prototype[Symbol.hasInstance].call(this, value);
      return typeof value === 'object' && value !== null && brand in value;
    },
  });
}
