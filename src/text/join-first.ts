/** Joins texts for a message. */

/**
 * The first texts, and the number of the others: `a; b; and 3 more`. Each loses its full stop.
 *
 * @param count The number of all texts, if these are not all.
 */
export function joinFirst(texts: readonly string[], most: number, count = texts.length): string {
  const first = texts.slice(0, most).map((text) => text.replace(/(?<!\.)\.$/, ''));
  const more = count > first.length ? [`and ${count - first.length} more`] : [];
  return [...first, ...more].join('; ');
}
