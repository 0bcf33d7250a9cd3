/** Compares the clock of this machine with that of the server: BullMQ delays retries by the clock of the worker that failed. */
import { MetainfoError } from 'metainfo';
import type { Backend, BullQueue } from './backend.ts';
import type { RootWorkers } from './passing.ts';

/** Milliseconds by which clocks may differ. */
const MOST_MS = 5000;

/** Requires that this machine has the time of the server, unless it does not tell it. Throws `ERR_QUEUE`. */
export async function requireSameClock(backend: Backend, queue: BullQueue): Promise<void> {
  const asked = performance.now();
  const server = await backend.time(queue);
  // The answer may be as old as the question.
  const most = MOST_MS + performance.now() - asked;
  const ahead = Date.now() - server;
  if (Number.isNaN(ahead) || Math.abs(ahead) <= most) return;
  const seconds = Math.round(Math.abs(ahead) / 1000);
  throw new MetainfoError(
    'ERR_QUEUE',
    `The clock of this machine is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} the clock of the server: its retries would come at the wrong time. Set the clock, for example with NTP.`,
  );
}

/** A function that looks at the clock: while it is wrong, the workers take no jobs. */
export function clockGuard(
  workers: readonly Pick<RootWorkers, 'hold' | 'release'>[],
  requireClock: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let isWrong = false;
  return async () => {
    const problem: unknown = await requireClock().catch((error: unknown) => error);
    // The server is away.
    if (problem && !(problem instanceof MetainfoError)) return;
    if (problem && !isWrong) onError(problem);
    if (problem) await Promise.all(workers.map((its) => its.hold('clock')));
    else if (isWrong) await Promise.all(workers.map((its) => its.release('clock')));
    isWrong = problem !== undefined;
  };
}
