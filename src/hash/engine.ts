/** The interface of hash engines. */
import type { Struct } from 'superstruct';
import { expected } from '../errors/guard.ts';
import type { HashJob, HashRequest } from './hash-request.ts';

/** Hashes content: {@link nativeEngine}, {@link nodeEngine} or {@link partsEngine} makes one. */
export interface Engine {
  /** A short name, such as `native`. */
  readonly name: string;
  /** The kernel that hashes, for reports. */
  readonly kernel: string;
  /** @internal Starts a hash job and returns at once. If the job fails, its `done` rejects. */
  start(request: HashRequest): HashJob;
}

const own = new WeakSet<Engine>();

/** Marks an engine as one of this package, and freezes it: its digests are right, and nobody else holds or changes them. */
export function ownEngine(engine: Engine): Engine {
  own.add(engine);
  return Object.freeze(engine);
}

/** Whether {@link ownEngine} made the engine. */
export function isOwnEngine(engine: Engine): boolean {
  return own.has(engine);
}

/** Checks an engine: any object with a `start` method. */
export const AnyEngine: Struct<Engine, null> = expected(
  'an engine, such as nodeEngine()',
  (value) => typeof (value as Partial<Engine> | null)?.start === 'function',
);
