/** The parts of the last line of a command that does many jobs. */
import { formatBytes } from '../../layout/text.ts';

/** The counts that are not 0, each after a comma: `, 2 failed`. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => (count > 0 ? `, ${count} ${what}` : ''))
    .join('');
}

/** Bytes, seconds and the rate: `3 GiB in 2.5 s, 1.2 GiB/s`. */
export function rateText(bytes: number, seconds: number): string {
  const rate = seconds > 0 ? `, ${formatBytes(Math.round(bytes / seconds))}/s` : '';
  return `${formatBytes(bytes)} in ${seconds.toFixed(1)} s${rate}`;
}
