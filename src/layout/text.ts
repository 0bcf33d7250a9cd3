import prettyBytes from 'pretty-bytes';
import { MetainfoError } from '../errors/errors.ts';

/**
 * Controls, what has no width or changes the direction of other text, and separators of lines: what could change what a
 * terminal shows. Not what only chooses among forms of the character before it, as in emoji.
 */
const UNPRINTABLE = /(?![\ufe00-\ufe0f])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** What was escaped before: a text may be of nothing else, and each would be a string of its own. */
const escapes = new Map<string, string>();
/** Code units that are escaped at once: of each match a replacement is held until the end. */
const CHUNK = 2 ** 16;

function escaped(text: string, replace: (char: string) => string): string {
  let all = '';
  for (let at = 0; at < text.length; ) {
    // Not between the halves of a character.
    const isHalf = (text.codePointAt(at + CHUNK - 1) ?? 0) > 0xffff;
    const end = at + CHUNK + (isHalf ? 1 : 0);
    all += text.slice(at, end).replace(UNPRINTABLE, replace);
    at = end;
  }
  return all;
}

/** Text of a stranger, safe for a terminal: what cannot be printed is shown as \xNN, \uNNNN or \u{NNNNN}. */
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

/** The same of several lines, which stay lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** JSON in which what {@link printable} escapes is escaped too; it parses to the same value. */
export function printableJson(value: unknown): string {
  try {
    return escapedJson(value);
  } catch (error) {
    // Of half a GiB: what strings can hold.
    if (!(error instanceof RangeError)) throw error;
    throw new MetainfoError('ERR_LIMIT', 'There is more to say than JSON in one text can hold.', { cause: error });
  }
}

function escapedJson(value: unknown): string {
  const escape16 = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return escaped(JSON.stringify(value), (char) => char.split('').map(escape16).join(''));
}

/** A number of bytes for people, in binary units, as torrents have them: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  return prettyBytes(bytes, { binary: true });
}

/** A duration for people: `4 s`, `3:07`, `2:00:09`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [hours, ...rest] = parts as [number, number, number];
  const shown = hours > 0 ? parts : rest;
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}
