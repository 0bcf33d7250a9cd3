/** Text for people: sizes and durations, and escapes that make untrusted text safe to print. */
import prettyBytes from 'pretty-bytes';
import { MetainfoError } from '../errors/errors.ts';

/**
 * Characters that could change what a terminal shows: controls, line separators, and characters that have no width or change the
 * direction of text. Variation selectors are allowed, as they only choose a form of the character before them, as in emoji.
 */
const UNPRINTABLE = /(?![\ufe00-\ufe0f])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Escapes that were made before. A text may consist of escapes only, and each would otherwise be a new string. */
const escapes = new Map<string, string>();
/** Code units to escape at once: `replace` holds all replacements in memory until it ends. */
const CHUNK = 2 ** 16;

function escaped(text: string, replace: (char: string) => string): string {
  let all = '';
  for (let at = 0; at < text.length; ) {
    // Do not split a surrogate pair.
    const isHalf = (text.codePointAt(at + CHUNK - 1) ?? 0) > 0xffff;
    const end = at + CHUNK + (isHalf ? 1 : 0);
    all += text.slice(at, end).replace(UNPRINTABLE, replace);
    at = end;
  }
  return all;
}

/** Makes untrusted text safe to print: unprintable characters become \xNN, \uNNNN or \u{NNNNN}. */
export function printable(text: string): string {
  return escaped(text, (char) => {
    const known = escapes.get(char);
    if (known !== undefined) return known;
    const shown = escapeOf(char.codePointAt(0) as number);
    escapes.set(char, shown);
    return shown;
  });
}

function escapeOf(code: number): string {
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** Does what {@link printable} does, but keeps line feeds. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/**
 * Formats a value as JSON in which the characters that {@link printable} escapes are escaped too. It parses to the same value.
 *
 * @throws {MetainfoError} `ERR_LIMIT` when the JSON would be longer than a string can be
 */
export function printableJson(value: unknown): string {
  try {
    return escapedJson(value);
  } catch (error) {
    // V8 throws it for a string of more than half a GiB.
    if (!(error instanceof RangeError)) throw error;
    throw new MetainfoError('ERR_LIMIT', 'The JSON is longer than a string can be (512 MiB).', { cause: error });
  }
}

function escapedJson(value: unknown): string {
  const escape16 = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return escaped(JSON.stringify(value), (char) => char.split('').map(escape16).join(''));
}

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
