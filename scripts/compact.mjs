/** How esbuild writes modules without what only readers need: comments and white space. The lines are short enough for stacks. */
export const COMPACT = { minifyWhitespace: true, minifySyntax: true, lineLimit: 160, target: 'es2023' };
