// The responsiveness of the event loop: the time between two calls of a timer of 10 ms, while a process does other work.
import { mainThreadSeconds, percentile } from './measure.ts';
import type { Column } from './tables.ts';

const INTERVAL_MS = 10;
/** The goal for the 99th percentile. */
const BOUND_MS = 20;

/** The time between two calls of the timer. */
export interface TimerReport {
  timerP50Seconds: number;
  timerP99Seconds: number;
  timerMostSeconds: number;
  /** The same without the time that the thread waited for a processor; null where the system does not say. */
  timerP99OwnSeconds: number | null;
}

/** Starts the timer; the returned function stops it. */
export function watchTimer(): () => TimerReport {
  const [intervals, own]: [number[], number[]] = [[], []];
  const clocks = () => ({ at: performance.now() / 1000, waited: mainThreadSeconds('waiting') ?? Number.NaN });
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
      timerP50Seconds: percentile(intervals, 0.5),
      timerP99Seconds: percentile(intervals, 0.99),
      timerMostSeconds: percentile(intervals, 1),
      timerP99OwnSeconds: Number.isNaN(last.waited) ? null : percentile(own, 0.99),
    };
  };
}

const inMilliseconds = (key: keyof TimerReport) => (report: TimerReport) => {
  const seconds = report[key];
  return seconds === null ? null : seconds * 1000;
};

export const TIMER_COLUMNS: readonly Column<TimerReport>[] = [
  ['median', 'ms', inMilliseconds('timerP50Seconds')],
  ['99 %', 'ms', inMilliseconds('timerP99Seconds')],
  ['99 % without waiting for a processor', 'ms', inMilliseconds('timerP99OwnSeconds')],
  ['most', 'ms', inMilliseconds('timerMostSeconds')],
];

/** Says which of the named reports miss the goal. */
export function timerVerdict(reports: readonly [name: string, report: TimerReport][]): string {
  const late = reports.filter(([, { timerP99Seconds }]) => timerP99Seconds * 1000 >= BOUND_MS).map(([name]) => name);
  return late.length === 0
    ? `The 99th percentile is below ${BOUND_MS} ms everywhere.`
    : `The 99th percentile is NOT below ${BOUND_MS} ms: ${late.join('; ')}.`;
}
