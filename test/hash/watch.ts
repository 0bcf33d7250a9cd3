import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HashJob } from '../../src/hash/hash-request.ts';

/** Looks at a job's progress at every turn of the event loop, until `look` is content or the job has ended. */
export async function watch(job: HashJob, look: (progress: ReturnType<HashJob['progress']>) => boolean): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  job.done.then(end, end);
  while (!ended && !look(job.progress())) await nextTurn();
}
