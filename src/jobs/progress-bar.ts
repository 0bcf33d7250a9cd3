/** Draws the progress bar of a job. */
import cliTruncate from 'cli-truncate';
import { formatBytes, formatDuration, printable } from '../layout/text.ts';

/** The progress that a bar shows. */
export interface BarState {
  bytes: number;
  totalBytes: number;
  /** The total is not known: only bytes and rate are shown. */
  totalGrows?: boolean;
  file: string;
  /** Seconds since hashing began. */
  seconds: number;
  /** Bytes a second; by default, those of the whole time. */
  rate?: number;
  /** Jobs that go first. */
  queued: number;
}

export interface ProgressBar {
  update(state: BarState): void;
  /** Removes the bar. */
  finish(): void;
}

/** A terminal or another stream. */
export interface BarStream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** A job that ends sooner shows nothing. */
const DELAY_SECONDS = 1;
const SECONDS_BETWEEN_LINES = 5;
/** On a narrow terminal, the bar is short, so that the file name has room. */
const barWidth = (columns: number) => (columns >= 100 ? 24 : 8);
const CLEAR_LINE = '\r\u001b[K';

/** Shows a bar with rate and remaining time on a terminal; on another stream, writes a line every five seconds. */
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
  const text = [...(state.totalGrows ? [] : [bar]), ...figures(state)].join('  ');
  const room = columns - text.length - 3;
  // Count columns, not characters: a name may contain wide characters.
  const file = room < 8 ? '' : `  ${cliTruncate(printable(state.file), room, { position: 'start' })}`;
  return cliTruncate(text, columns - 1) + file;
}

function figures(state: BarState): string[] {
  const { rate = state.bytes / state.seconds } = state;
  if (state.totalGrows) return [formatBytes(state.bytes), waiting(state.queued) || `${formatBytes(rate)}/s`];
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
