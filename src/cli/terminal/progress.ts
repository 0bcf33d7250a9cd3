/** How commands show the progress of their jobs. */
import { Option } from 'commander';
import type { ProgressBar } from '../../jobs/progress-bar.ts';
import type { WatchOptions } from '../../jobs/watch.ts';
import type { SummaryOptions } from '../options/option-values.ts';
import { printableJson, stderr } from './output.ts';

/** The options of every command that shows progress. */
export interface ProgressOptions extends SummaryOptions {
  progress?: 'bar' | 'json' | 'none';
}

/** The option of {@link ProgressOptions}. */
export const progressOption = (): Option =>
  new Option('--progress <form>', 'progress on standard error (default: a bar on a terminal, else none)').choices([
    'bar',
    'json',
    'none',
  ]);

/** The form of progress: a pipe or a log gets none unless the user asks for it. */
export function progressForm({ quiet, json, progress }: ProgressOptions): 'bar' | 'json' | 'none' {
  const form = progress ?? (quiet || json || !stderr().isTTY ? 'none' : 'bar');
  // Opens it first, because the library, which draws the bar, does not handle a closed terminal.
  if (form !== 'none') stderr();
  return form;
}

/** Progress in the form that the options choose; null for none. */
export async function barFor(options: ProgressOptions): Promise<ProgressBar | null> {
  const form = progressForm(options);
  if (form === 'none') return null;
  // Loading the module of the bar takes longer than a small job.
  const { paceMeter, progressBar } = await import('../../jobs/progress-bar.ts');
  return form === 'bar' ? progressBar(stderr()) : jsonLines(paceMeter());
}

/** The options of a job of the library that shows progress. */
export function progressOf(options: ProgressOptions): Pick<WatchOptions, 'progress' | 'onProgress'> {
  const form = progressForm(options);
  if (form !== 'json') return { progress: form === 'bar' };
  const lines = barFor(options);
  return { onProgress: async (state) => (await lines)?.update(state) };
}

/** Writes a line of JSON at most every second, and one for the last byte. */
function jsonLines(paced: ReturnType<typeof import('../../jobs/progress-bar.ts').paceMeter>): ProgressBar {
  let next = 0;
  return {
    update(given) {
      const { totalBytes, totalGrows, likelyBytes, ...state } = paced(given);
      const isEnd = state.jobs ? state.jobs.ended === state.jobs.count : state.bytes === totalBytes;
      if (state.seconds < next && !(isEnd && next < Infinity)) return;
      next = isEnd ? Infinity : state.seconds + 1;
      stderr().write(`${printableJson({ event: 'progress', ...state, totalBytes: totalGrows ? null : totalBytes })}\n`);
    },
    finish() {},
  };
}
