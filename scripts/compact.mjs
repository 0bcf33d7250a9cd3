/**
 * How esbuild writes modules without what only readers need: comments, white space and long names in functions. The lines are short
 * enough for stacks.
 */
export const COMPACT = {
  minifyWhitespace: true,
  minifySyntax: true,
  minifyIdentifiers: true,
  lineLimit: 160,
  target: 'es2023',
};
