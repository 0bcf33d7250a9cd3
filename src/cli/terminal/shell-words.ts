/** Writes words as a command line. */

/** Joins words into a command line, and quotes those that a shell would split or expand. */
export function shellWords(...words: string[]): string {
  return words
    .map((word) => (/^[\p{L}\p{N}./\\:_-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}
