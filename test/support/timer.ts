/** The responsiveness of the event loop: the time between two calls of a timer of 10 ms, while a process does other work. */
import { mainThreadSeconds } from './proc.ts';

const INTERVAL_MS = 10;

/** Starts the timer; the returned function stops it, and gives milliseconds between two calls. */
export function watchTimer() {
  const [intervals, own]: [number[], number[]] = [[], []];
  const clocks = () => ({ at: performance.now(), waited: (mainThreadSeconds('waiting') ?? Number.NaN) * 1000 });
  let last = clocks();
  const tick = () => {
    const now = clocks();
    intervals.push(now.at - last.at);
    own.push(now.at - last.at - (now.waited - last.waited));
    last = now;
  };
  const timer = setInterval(tick, INTERVAL_MS);
  return () => {
    clearInterval(timer);
    // Work that ends within the first interval still has a figure.
    tick();
    return {
      timerMedian: percentile(intervals, 0.5),
      timer99: percentile(intervals, 0.99),
      /** Without the time that the thread waited for a processor; null where the system does not say. */
      timer99Own: Number.isNaN(last.waited) ? null : percentile(own, 0.99),
      timerMost: percentile(intervals, 1),
    };
  };
}

/** The value that this share of the numbers, 0 to 1, does not exceed. */
function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
