import type { HashJob, HashPlan } from './plan.ts';

/** Something that hashes plans. One suite tests every engine. */
export interface Engine {
  readonly name: string;
  /** The kernel that does the work, for reports. */
  readonly kernel: string;
  start(plan: HashPlan): HashJob;
}
