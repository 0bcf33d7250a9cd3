/** Matches paths against globs in linear time: names on disk come from strangers, and a matcher that backtracks takes years for some. */
import { expand } from 'brace-expansion';
import { InvalidArgumentError } from 'commander';

/** The longest glob, in UTF-16 units, and the most alternatives of its braces. */
const MAX_GLOB = 4096;
const MAX_ALTERNATIVES = 1000;

/**
 * Compiles a glob of `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `{1..9}`, and `**` for any number of folders. `\` escapes a character, and `!`
 * at the start negates the glob.
 *
 * @param orAbove Also match the paths below those that the glob names.
 * @throws {InvalidArgumentError} if the glob is empty, too long or has an invalid range
 */
export function globMatcher(glob: string, ignoreCase = false, orAbove = false): (path: string) => boolean {
  if (glob === '') throw new InvalidArgumentError("Expected a pattern such as '*.nfo'.");
  if (glob.length > MAX_GLOB) throw new InvalidArgumentError(`Expected a pattern of at most ${MAX_GLOB} characters.`);
  const isNegated = glob.length > 1 && glob.startsWith('!');
  const pattern = isNegated ? glob.slice(1) : glob;
  const alternatives = pattern.includes('{') ? expand(pattern, { max: MAX_ALTERNATIVES + 1 }) : [pattern];
  if (alternatives.length > MAX_ALTERNATIVES)
    throw new InvalidArgumentError(`Expected a pattern whose braces have at most ${MAX_ALTERNATIVES} alternatives.`);
  const compiled = alternatives.map((alternative) =>
    toRegExp(alternative, ignoreCase ? 'ui' : 'u', orAbove ? END : '$'),
  );
  return (path) => compiled.some((regexp) => regexp.test(path)) !== isNegated;
}

// After a * or **, the first place where the text up to the next * or ** matches is as good as any other, because the wildcard takes
// whatever is left. So each such text is an atomic group, which never looks for another place.

/** The end of a name. */
const END = '(?=/|$)';

function toRegExp(glob: string, flags: string, end: string): RegExp {
  let groups = 0;
  // JavaScript has no atomic groups, but a lookahead is atomic, and the backreference takes what it has found.
  const atomic = (source: string): string => {
    groups += 1;
    return `(?=(?<g${groups}>${source}))\\k<g${groups}>`;
  };
  const nameSource = (name: string): string => {
    const [first = '', ...others] = charactersOf(name).split('*');
    return first + others.map((text, i) => atomic(`[^/]*?${text}${i < others.length - 1 ? '' : END}`)).join('');
  };
  const [first = [], ...others] = groupsOfNames(glob.replace(/^(?:\.\/)+/, '').split('/'));
  let source = first.map(nameSource).join('/');
  for (const [i, names] of others.entries()) {
    const isLast = i === others.length - 1;
    const separator = source === '' ? '' : '/';
    if (names.length === 0) source += separator ? '(?:/[^]*)?' : '[^]*';
    else source += separator + atomic(`(?:[^/]+/)*?${names.map(nameSource).join('/')}${isLast ? end : END}`);
  }
  try {
    return new RegExp(`^${source}${end}`, flags);
  } catch {
    throw new InvalidArgumentError(`The pattern has an invalid range: ${glob}`);
  }
}

/** The names of a glob between its `**`. */
function groupsOfNames(names: readonly string[]): string[][] {
  const groups: string[][] = [[]];
  for (const [i, name] of names.entries()) {
    if (name !== '**') groups.at(-1)?.push(name);
    else if (names[i - 1] !== '**') groups.push([]);
  }
  return groups;
}

const TOKEN = /\\(?<escaped>.)|(?<stars>\*+)|(?<any>\?)|\[(?<not>[!^]?)(?<set>(?:\\.|[^\\])(?:\\.|[^\\\]])*)\]|./gsu;

/** The regular expression of a name of a glob. A `*` stands for the places to split it at. */
function charactersOf(name: string): string {
  return name.replace(TOKEN, (token, ...args) => {
    const { escaped, stars, any, not, set } = args.at(-1) as Record<string, string | undefined>;
    if (stars !== undefined) return '*';
    if (any !== undefined) return '[^/]';
    if (set === undefined) return literal(escaped ?? token);
    const members = set.replace(/\\(.)|(?<=.)-(?=.)|./gsu, (member, own) =>
      member === '-' ? '-' : literal(own ?? member),
    );
    return `(?!/)[${not ? '^' : ''}${members}]`;
  });
}

const literal = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;
