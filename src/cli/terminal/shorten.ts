/** Shortens names to the width of a terminal. */
import cliTruncate from 'cli-truncate';

/** Every character of it has one column. */
const PLAIN = /^[ -~]*$/;
/** Longer texts lose their middle before anything counts columns, which takes quadratic time. */
const MAX_UNITS_PER_COLUMN = 8;

/** Replaces the middle of a text that is wider than `columns` by an ellipsis. Counts columns, not characters. */
export function shorten(text: string, columns: number): string {
  // No UTF-16 unit is wider than two columns.
  if (2 * text.length <= columns || (text.length <= columns && PLAIN.test(text))) return text;
  const most = MAX_UNITS_PER_COLUMN * columns;
  const cut = text.length > 2 * most ? `${text.slice(0, most)}…${text.slice(-most)}`.toWellFormed() : text;
  if (PLAIN.test(cut)) return withoutMiddle(cut, columns);
  // cli-truncate keeps all of a wide character that the limit splits, so its result may be too wide.
  for (let limit = columns; ; limit -= 1) {
    const short = cliTruncate(cut, limit, { position: 'middle' });
    if (limit <= 1 || cliTruncate(short, columns) === short) return short;
  }
}

/** Shortens a text that has as many columns as characters: much faster, for many names. */
function withoutMiddle(text: string, columns: number): string {
  const start = Math.floor(columns / 2);
  return `${text.slice(0, start)}…${text.slice(text.length - (columns - start - 1))}`;
}
