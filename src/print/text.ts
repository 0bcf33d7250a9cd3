import prettyBytes from 'pretty-bytes';

/** Control, bidirectional and zero-width characters: what could change what a terminal shows of other text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Text of a stranger, safe for a terminal: what cannot be printed is shown as \xNN or \uNNNN. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
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
