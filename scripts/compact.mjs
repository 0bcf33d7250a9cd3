// Makes the modules that tsc wrote smaller.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';

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

/** Rewrites the modules of a folder. */
export function compact(folder) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, name);
    if (name.endsWith('.js')) writeFileSync(file, transformSync(readFileSync(file, 'utf8'), COMPACT).code);
  }
}
