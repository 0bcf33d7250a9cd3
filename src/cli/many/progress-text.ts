/** The text of the progress of many jobs: one line that fits the terminal. */
import cliTruncate from 'cli-truncate';
import { formatBytes, formatDuration, printable } from '../../layout/text.ts';

/** The state of many jobs. */
export interface OverallState {
  /** Jobs that have ended. */
  ended: number;
  /** Jobs that have ended with a failure. */
  failed: number;
  /** All jobs; null if only the end of a stream tells. */
  count: number | null;
  /** Bytes that were hashed. */
  bytes: number;
  /** Bytes of all jobs; null while that is not known. */
  totalBytes: number | null;
  /** Bytes of all jobs as far as is known: if other jobs have as many bytes as those of known size. Null if nothing is known. */
  likelyBytes: number | null;
  /** Seconds since the first job started. */
  seconds: number;
  /** The job or file that reported last. */
  name: string;
}

/** Less than this is no room for a name. */
const NAME_COLUMNS = 8;
/** Narrower terminals show the bytes without their total. */
const WIDE_ENOUGH = 60;
const GAP = '  ';

/** One line of fewer than `columns` columns. On a narrow terminal the less important figures are left out. */
export function overallText(state: OverallState, columns: number): string {
  const { ended, failed, count, bytes, totalBytes, seconds } = state;
  const share = shareOf(state);
  const rate = bytes > 0 && seconds > 0 ? bytes / seconds : 0;
  const left = share === null || share === 0 ? null : (seconds * (1 - share)) / share;
  const width = columns >= 100 ? 24 : 8;
  const filled = Math.round((share ?? 0) * width);
  // In the order on the line; the rank says what goes first where there is no room.
  const parts: [rank: number, text: string][] = [
    [5, share === null ? '' : '█'.repeat(filled) + '░'.repeat(width - filled)],
    [0, count === null ? `${ended} done` : `${ended} of ${count} done`],
    [1, failed > 0 ? `${failed} failed` : ''],
    [
      3,
      totalBytes === null || columns < WIDE_ENOUGH
        ? formatBytes(bytes)
        : `${formatBytes(bytes)} of ${formatBytes(totalBytes)}`,
    ],
    [4, rate > 0 ? `${formatBytes(Math.round(rate))}/s` : ''],
    [2, left === null ? '' : `${formatDuration(left)} left`],
  ];
  const room = columns - 1;
  const kept = fitting(parts, room);
  const text = kept.join(GAP);
  const rest = room - text.length - GAP.length;
  const hasAll = kept.length === parts.filter(([, part]) => part !== '').length;
  if (!hasAll || rest < NAME_COLUMNS || state.name === '') return cliTruncate(text, room);
  // Count columns, not characters: a name may contain wide characters.
  return `${text}${GAP}${cliTruncate(printable(state.name), rest, { position: 'start' })}`;
}

/** The parts that fit, the most important ones first, in their order. */
function fitting(parts: readonly [number, string][], room: number): string[] {
  let used = -GAP.length;
  const kept = new Set<string>();
  for (const [, text] of parts.filter(([, part]) => part !== '').toSorted(([a], [b]) => a - b)) {
    if (used + GAP.length + text.length > room) break;
    used += GAP.length + text.length;
    kept.add(text);
  }
  return parts.flatMap(([, text]) => (kept.has(text) ? [text] : []));
}

/** How much of all work is done; null if that is not known. */
function shareOf({ bytes, totalBytes, likelyBytes }: OverallState): number | null {
  const all = totalBytes ?? likelyBytes;
  return all === null || all === 0 ? null : Math.min(1, bytes / all);
}
