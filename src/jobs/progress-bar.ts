import cliTruncate from 'cli-truncate';
import { formatBytes, formatDuration, printable } from '../layout/text.ts';

/** What a bar shows. */
export interface BarState {
  bytes: number;
  totalBytes: number;
  file: string;
  /** Since the work began. */
  seconds: number;
  /** Jobs that go before. */
  queued: number;
}

export interface ProgressBar {
  update(state: BarState): void;
  /** Takes the bar away. */
  finish(): void;
}

/** A terminal, or what stands in for one. */
export interface BarStream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** Nothing is shown of work that is done sooner. */
const DELAY_SECONDS = 1;
const SECONDS_BETWEEN_LINES = 5;
/** A narrow terminal has a short bar, so that the file's name has room. */
const barWidth = (columns: number) => (columns >= 100 ? 24 : 8);
const CLEAR_LINE = '\r\u001b[K';

/** A bar with rate and time left on a terminal; elsewhere a line every five seconds. */
export function progressBar(stream: BarStream): ProgressBar {
  let drawn = false;
  let lastLine = Number.NEGATIVE_INFINITY;
  return {
    update(state) {
      if (state.seconds < DELAY_SECONDS) return;
      if (stream.isTTY) {
        stream.write(CLEAR_LINE + barText(state, stream.columns ?? 80));
        drawn = true;
      } else if (state.seconds - lastLine >= SECONDS_BETWEEN_LINES) {
        stream.write(`${figures(state).join('  ')}\n`);
        lastLine = state.seconds;
      }
    },
    finish() {
      if (drawn) stream.write(CLEAR_LINE);
      drawn = false;
    },
  };
}

function barText(state: BarState, columns: number): string {
  const width = barWidth(columns);
  const filled = Math.round(share(state) * width);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
  const text = [bar, ...figures(state)].join('  ');
  const room = columns - text.length - 3;
  // Cut by columns, not by chars: a name may hold wide ones.
  const file = room < 8 ? '' : `  ${cliTruncate(printable(state.file), room, { position: 'start' })}`;
  return cliTruncate(text, columns - 1) + file;
}

function figures(state: BarState): string[] {
  const rate = state.bytes / state.seconds;
  const left = rate > 0 ? Math.max(0, state.totalBytes - state.bytes) / rate : Number.POSITIVE_INFINITY;
  return [
    `${Math.floor(share(state) * 100)} %`.padStart(5),
    `${formatBytes(state.bytes)} of ${formatBytes(state.totalBytes)}`,
    waiting(state.queued) || `${formatBytes(rate)}/s`,
    Number.isFinite(left) ? `${formatDuration(left)} left` : '',
  ].filter((figure) => figure !== '');
}

function waiting(queued: number): string {
  if (queued === 0) return '';
  return queued === 1 ? 'waiting for another job' : `waiting for ${queued} other jobs`;
}

function share({ bytes, totalBytes }: BarState): number {
  return totalBytes > 0 ? Math.min(1, bytes / totalBytes) : 1;
}
