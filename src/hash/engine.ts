import type { Struct } from 'superstruct';
import { expected } from '../errors/guard.ts';
import type { HashJob, HashPlan } from './plan.ts';

/** Something that hashes plans. One suite tests every engine. */
export interface Engine {
  /** Such as `native`. */
  readonly name: string;
  /** The kernel that does the work, for reports. */
  readonly kernel: string;
  /** Starts a job and returns at once: what fails rejects its `done`. */
  start(plan: HashPlan): HashJob;
}

/** An engine of anybody's. */
export const AnyEngine: Struct<Engine, null> = expected(
  'an engine, such as nodeEngine()',
  (value) => typeof (value as Partial<Engine> | null)?.start === 'function',
);
