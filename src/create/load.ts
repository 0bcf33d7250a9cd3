/** Code that few creations use: it is loaded with the first of them. Browsers have all code at once (src/browser/load.ts). */

type Report = typeof import('./findings/plan-report.ts');
export const loadPlanReport = (): Promise<Pick<Report, 'describeLayout' | 'planOf'>> =>
  import('./findings/plan-report.ts');

type Libtorrent = typeof import('./libtorrent.ts');
export const loadLibtorrent = (): Promise<Pick<Libtorrent, 'GENERATE_EXT' | 'generateExt'>> =>
  import('./libtorrent.ts');
