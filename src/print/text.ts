import prettyBytes from 'pretty-bytes';

/** Control, bidirectional and zero-width characters: what could change what a terminal shows of other text. */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|\u034f|\p{Cs}/gu;

/** Text of a stranger, safe for a terminal: what cannot be printed is shown as \xNN, \uNNNN or \u{NNNNN}. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => {
    const code = char.codePointAt(0) as number;
    if (code > 0xffff) return `\\u{${code.toString(16)}}`;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** JSON in which what {@link printable} escapes is escaped too; it parses to the same value. */
export function printableJson(value: unknown): string {
  const escape16 = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(UNPRINTABLE, (char) => char.split('').map(escape16).join(''));
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
