/** One verification of `metainfo verify` among many. */
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { untilAbort } from '../../errors/cancel.ts';
import { fromSystemError, MetainfoError, withPath } from '../../errors/errors.ts';
import type { Progress } from '../../jobs/watch.ts';
import type { VerifyReport } from '../../verify/report.ts';
import { type VerifyOptions, verify } from '../../verify/verify.ts';
import { readTorrent, safeName } from '../options/arguments.ts';
import type { ProfileOptions } from '../options/option-values.ts';
import { type ResumeOptions, type ResumeTarget, resumeTarget, writeResume } from '../verify/resume.ts';
import { progressClock } from './run-jobs.ts';

/** Something that happened to the verification of a torrent file. */
export type VerifyEvent = { index: number; file: string } & (
  | { event: 'start' }
  | { event: 'progress'; path: string; progress: Progress }
  | { event: 'done'; path: string; name: string; report: VerifyReport; resume: ResumeTarget | null }
  | { event: 'missing'; path: string; name: string }
  | { event: 'failed'; error: MetainfoError }
  | { event: 'cancelled' }
);

export interface VerifyJobOptions {
  /** The folder that has the content of each torrent under its name. */
  folder: string;
  profile: ProfileOptions;
  resume: ResumeOptions;
  verify: Omit<VerifyOptions, 'signal' | 'onProgress' | 'progress'>;
  signal: AbortSignal;
  onEvent: (event: VerifyEvent) => Promise<void>;
  /** Called about ten times a second, and with the last state. */
  onProgress: (progress: Progress) => void;
}

/**
 * Verifies the content of one torrent. A failure is an event.
 *
 * @throws {AbortError} when the signal fires
 */
export async function runVerifyJob(file: string, index: number, options: VerifyJobOptions): Promise<void> {
  const { folder, profile, signal, onEvent, onProgress } = options;
  const about = { index, file };
  try {
    await onEvent({ ...about, event: 'start' });
    const torrent = await untilAbort(signal, readTorrent(file, profile));
    const { name } = torrent;
    const content = path.join(folder, safeName(torrent));
    if (!(await isThere(content))) {
      await onEvent({ ...about, event: 'missing', path: content, name });
      return;
    }
    const resume = await resumeTarget(torrent, content, options.resume);
    const isDue = progressClock();
    const report = await verify(torrent, content, {
      ...options.verify,
      signal,
      onProgress: (progress) => {
        onProgress(progress);
        return (isDue() ? onEvent({ ...about, event: 'progress', path: content, progress }) : undefined) as never;
      },
    });
    if (resume) await writeResume(torrent, report, resume);
    await onEvent({ ...about, event: 'done', path: content, name, report, resume });
  } catch (error) {
    if (!(error instanceof MetainfoError) || signal.aborted) throw error;
    await onEvent({ ...about, event: 'failed', error: withPath(error, file) as MetainfoError });
  }
}

async function isThere(content: string): Promise<boolean> {
  try {
    await lstat(content);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw fromSystemError(error, content, 'read');
  }
}
