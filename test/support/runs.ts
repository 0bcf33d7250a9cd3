/** The number of runs of every property test: set in one place, so that `npm test` can lower it for all of them. */

/** A share of the usual number, above 0; `npm test` and `.ci/run` set it, `npm test -- --all` and single files leave it at 1. */
const SHARE = Number(process.env['METAINFO_RUNS'] ?? 1);

/**
 * Lowers a property test's number of runs to the share that was asked for, never below 5. A test that counts how often
 * something happened needs its full number, and does not use this.
 */
export const runs = (usual: number): number => Math.max(Math.min(5, usual), Math.ceil(usual * SHARE));
