/** Expands wildcards in arguments, for Windows: the shells there leave that to programs. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isWindows } from '../../platform/node.ts';
import { globMatcher } from './glob.ts';

/** Whether a word may have wildcards. The `?` of a link or URL is none. */
const hasWildcard = (word: string): boolean => /[*?]/.test(word) && !/^[a-z][a-z\d+.-]+:/i.test(word);

/** Replaces each argument with `*` or `?` by the files that it matches, sorted. One that exists or matches nothing stays. */
export function withWildcards(words: readonly string[]): string[] {
  return words.flatMap((word) => {
    const matches = hasWildcard(word) && !existsSync(word) ? matchesOf(word) : [];
    return matches.length > 0 ? matches : [word];
  });
}

function matchesOf(word: string): string[] {
  let places = [''];
  // The separators stay as they are given.
  for (const part of word.split(isWindows ? /([\\/])/ : /(\/)/))
    places = places.flatMap((place) => (hasWildcard(part) ? namesIn(place, part) : [part]).map((name) => place + name));
  return places.filter((place) => existsSync(place));
}

/** The names in a folder that match, in any letter case; only * and ? are wildcards. As in other shells, they match no hidden files. */
function namesIn(folder: string, pattern: string): string[] {
  const isMatch = globMatcher(pattern.replace(/[[\]{}!\\]/g, '\\$&'), true);
  let names: string[];
  try {
    names = readdirSync(path.resolve(folder)).sort();
  } catch {
    // Nothing matches in what is no folder, or cannot be listed: the command then reports the argument.
    return [];
  }
  return names.filter((name) => isMatch(name) && (!name.startsWith('.') || pattern.startsWith('.')));
}
