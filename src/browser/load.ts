/** Stands for the files `load.ts` in the bundle for browsers, which is one module. */
import { describeLayout, planOf } from '../create/findings/plan-report.ts';
import { noDisk } from './no-disk.ts';

export const loadPlanReport: typeof import('../create/load.ts')['loadPlanReport'] = async () => ({
  describeLayout,
  planOf,
});
export const loadLibtorrent: typeof import('../create/load.ts')['loadLibtorrent'] = async () => ({
  GENERATE_EXT: {} as never,
  generateExt: async () => noDisk('A browser has no libtorrent: use generate.'),
});
/** A page shows progress itself. */
export const loadProgressBar: typeof import('../jobs/load.ts')['loadProgressBar'] = async () => ({
  progressBar: () => null as never,
});
