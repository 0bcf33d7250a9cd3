/** Code that few jobs use: it is loaded with the first of them. */

type ProgressBar = typeof import('./progress-bar.ts');
export const loadProgressBar = (): Promise<Pick<ProgressBar, 'progressBar'>> => import('./progress-bar.ts');
