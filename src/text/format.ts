/** Sizes, durations and counts as text for people. */
import prettyBytes from 'pretty-bytes';

/** Formats a number of bytes in binary units: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  return prettyBytes(bytes, { binary: true });
}

/** Formats a number of bytes in the largest binary unit in which it is whole: `1500 KiB`, `1001 bytes`. */
export function exactBytes(bytes: number): string {
  const units = ['GiB', 'MiB', 'KiB'];
  const at = units.findIndex((_, i) => bytes > 0 && bytes % 1024 ** (3 - i) === 0);
  return at < 0 ? `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}` : `${bytes / 1024 ** (3 - at)} ${units[at]}`;
}

/** Formats a duration: `4 s`, `3:07`, `2:00:09`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [hours, ...rest] = parts as [number, number, number];
  const shown = hours > 0 ? parts : rest;
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}

/** `1 file`, `2 files`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
