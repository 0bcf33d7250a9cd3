/** Bounds the lines of a report: the first items of each kind, and how many more there are. */

/** The most items of a kind without `-v`: the wrong folder may have millions of files. */
const MAX_ITEMS = 20;

/**
 * The lines of the first items of each kind, and one for each kind that has more.
 *
 * @param kind The plural of the items, or of each of them, as in "and 5 more missing files".
 * @param isAll Whether every item gets its lines, as with `-v`.
 */
export function firstLines<T>(
  items: Iterable<T>,
  kind: string | ((item: T) => string),
  isAll: boolean | undefined,
  linesOf: (item: T) => string | readonly string[],
): string[] {
  const limit = isAll ? Infinity : MAX_ITEMS;
  const counts = new Map<string, number>();
  const lines: string[] = [];
  for (const item of items) {
    const own = typeof kind === 'string' ? kind : kind(item);
    const count = (counts.get(own) ?? 0) + 1;
    counts.set(own, count);
    if (count <= limit) lines.push(...[linesOf(item)].flat());
  }
  for (const [own, count] of counts)
    if (count > limit) lines.push(`… and ${(count - limit).toLocaleString('en')} more ${own} (-v lists all)`);
  return lines;
}
