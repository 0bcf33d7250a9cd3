/** Draws the progress bar of a job. */
import cliTruncate from 'cli-truncate';
import type { Retrying } from '../hash/engine.ts';
import { variable } from '../platform/node.ts';
import { processView } from '../platform/process.ts';
import { formatBytes, formatDuration } from '../text/format.ts';
import { printable } from '../text/printable.ts';

/** The progress that a line shows. */
export interface BarState {
  bytes: number;
  /** Bytes that have arrived: shown instead of `bytes`, because a source may be slower than the hashing. */
  arrivedBytes?: number;
  /** Bytes of all content; null while they are not known. */
  totalBytes: number | null;
  /** The bytes of all content that are likely, if `totalBytes` is null: for the time left. */
  likelyBytes?: number | null;
  /** The total is not known yet: only bytes and rate are shown. */
  totalGrows?: boolean;
  /** The file or job that is shown if there is room. */
  file: string;
  /** Seconds since hashing began. */
  seconds: number;
  /** Jobs that go first. */
  queued?: number;
  /** A file that is read again after a pause. */
  retrying?: Retrying;
  /** Other machines work, which may pause. */
  isRemote?: boolean;
  /** The jobs of a command that does many: they replace the percentage. */
  jobs?: JobCounts | undefined;
}

/** The numbers of jobs. */
export interface JobCounts {
  ended: number;
  /** Jobs that have ended with a failure. */
  failed: number;
  /** All jobs; null if only the end of a stream tells. */
  count: number | null;
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
const SECONDS_BETWEEN_LINES = 60;
/** The rate is that of so many seconds: the disk may be slower now than it was. */
const RATE_SECONDS = 10;
/** A job that gets no data for so long says so. */
const STALL_SECONDS = 5;
/** Bytes a second: a lower rate says only that hashing has just begun. */
const LEAST_RATE = 1024;
/** Less than this is no room for a name. */
const NAME_COLUMNS = 8;
const GAP = '  ';
const CLEAR_LINE = '\r\u001b[K';

/** A state, its bytes a second in the last ten seconds, and the seconds since the last byte and until the end; null if unknown. */
type Paced = BarState & { rate: number; idle: number; left: number | null };

/** Makes a function that takes the states of a job in their order, and tells its pace. Bytes of a state of 0 seconds were there before. */
export function paceMeter(): (state: BarState) => Paced {
  const samples = [{ seconds: 0, bytes: 0 }];
  let moved = 0;
  return (state) => {
    if (state.seconds === 0) samples.length = 0;
    const { arrivedBytes: bytes = state.bytes, seconds, queued = 0, retrying, likelyBytes = null } = state;
    const all = (state.totalGrows ? null : state.totalBytes) ?? likelyBytes;
    const isWaiting = queued > 0 || retrying || state.isRemote || bytes === all || (state.jobs && bytes === 0);
    if (isWaiting || bytes !== samples.at(-1)?.bytes) moved = seconds;
    samples.push({ seconds, bytes });
    while (samples.length > 2 && (samples[1] as { seconds: number }).seconds <= seconds - RATE_SECONDS) samples.shift();
    const [first] = samples as [{ seconds: number; bytes: number }];
    const rate = seconds > first.seconds ? (bytes - first.bytes) / (seconds - first.seconds) : 0;
    const left = all === null || rate <= 0 ? null : Math.max(0, all - bytes) / rate;
    return { ...state, rate, idle: seconds - moved, left };
  };
}

/** Shows a bar with rate and remaining time on a terminal, and what is read again above it. On another stream, writes a line at most every minute. */
export function progressBar(stream: BarStream = processView().stderr): ProgressBar {
  const paced = paceMeter();
  let drawn = false;
  let lastLine = Number.NEGATIVE_INFINITY;
  let lastAttempt = '';
  return {
    update(given) {
      const state = paced(given);
      if (state.seconds < DELAY_SECONDS) return;
      const attempt = attemptText(state);
      if (attempt !== '' && attempt !== lastAttempt) stream.write(`${drawn ? CLEAR_LINE : ''}${attempt}\n`);
      lastAttempt = attempt || lastAttempt;
      if (stream.isTTY) {
        stream.write(CLEAR_LINE + lineText(state, columnsOf(stream)));
        drawn = true;
      } else if (state.seconds - lastLine >= SECONDS_BETWEEN_LINES) {
        stream.write(`${figures(state, PARTS.slice(1)).join(GAP)}\n`);
        lastLine = state.seconds;
      }
    },
    finish() {
      if (drawn) stream.write(CLEAR_LINE);
      drawn = false;
    },
  };
}

/** Says what is read again, in which file; empty for nothing. */
function attemptText({ retrying }: BarState): string {
  if (!retrying) return '';
  const { path, code, attempt, seconds } = retrying;
  return `${printable(path)}: ${code}, reading again in ${seconds} s (attempt ${attempt} of 3)`;
}

/** The width of a terminal: `COLUMNS` can make the lines shorter, and stands in for a terminal that does not tell. */
function columnsOf({ columns }: BarStream): number {
  const widths = [columns, Number(variable('COLUMNS'))].filter((width) => width !== undefined && width > 0);
  return widths.length === 0 ? 80 : Math.min(...(widths as number[]));
}

/** The parts of a line besides the share of the work, in the order in which a narrow terminal drops them. */
const PARTS = ['bar', 'total', 'rate', 'bytes', 'failed', 'left'] as const;

/** One line of fewer than `columns` columns, with the name only if all parts fit. */
function lineText(state: Paced, columns: number): string {
  const room = columns - 1;
  // The name of a file that stalls is worth more than the other parts.
  const least = isStalled(state) && state.file !== '' ? 2 * NAME_COLUMNS : 0;
  const fits = (dropped: number) => figures(state, PARTS.slice(dropped), columns).join(GAP).length + least <= room;
  const dropped = [...PARTS.keys()].find(fits) ?? PARTS.length;
  const text = figures(state, PARTS.slice(dropped), columns).join(GAP);
  const rest = room - text.length - GAP.length;
  if ((dropped > 0 && !isStalled(state)) || rest < NAME_COLUMNS || state.file === '') return cliTruncate(text, room);
  // Count columns, not characters: a name may contain wide characters.
  return `${text}${isStalled(state) ? ': ' : GAP}${cliTruncate(printable(state.file), rest, { position: 'start' })}`;
}

/** The parts of a line, in their order on it. */
function figures(state: Paced, kept: readonly (typeof PARTS)[number][], columns = 80): string[] {
  const { arrivedBytes: bytes = state.bytes, queued = 0, retrying, jobs, rate, left } = state;
  const total = state.totalGrows ? null : state.totalBytes;
  const all = total ?? state.likelyBytes ?? null;
  const share = all === null ? null : all > 0 ? Math.min(1, bytes / all) : 1;
  const width = columns >= 100 ? 24 : 8;
  const filled = Math.round((share ?? 0) * width);
  const ofTotal = total === null || !kept.includes('total') ? '' : ` of ${formatBytes(total)}`;
  const texts: [part: (typeof PARTS)[number] | null, text: string][] = [
    ['bar', share === null ? '' : '█'.repeat(filled) + '░'.repeat(width - filled)],
    [null, jobs ? jobsText(jobs) : share === null ? '' : `${Math.floor(share * 100)} %`.padStart(5)],
    ['failed', jobs && jobs.failed > 0 ? `${jobs.failed} failed` : ''],
    ['bytes', `${formatBytes(bytes)}${ofTotal}`],
    [null, retrying ? `${retrying.code}: reading again in ${retrying.seconds} s` : ''],
    ['rate', waiting(queued) || (rate >= LEAST_RATE && !isStalled(state) ? `${formatBytes(Math.round(rate))}/s` : '')],
    ['left', left === null || isStalled(state) ? '' : `${formatDuration(left)} left`],
    [null, isStalled(state) ? `no data for ${Math.floor(state.idle)} s` : ''],
  ];
  return texts.flatMap(([part, text]) => (text !== '' && (part === null || kept.includes(part)) ? [text] : []));
}

const isStalled = ({ idle }: Paced): boolean => idle >= STALL_SECONDS;

function jobsText({ ended, count }: JobCounts): string {
  return count === null ? `${ended} done` : `${ended} of ${count} done`;
}

function waiting(queued: number): string {
  if (queued === 0) return '';
  return queued === 1 ? 'waiting for another job' : `waiting for ${queued} other jobs`;
}
