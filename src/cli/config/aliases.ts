/** The aliases of trackers: names that stand for URLs on the command line and in the configuration file. */
import { invalidArgument, nearest } from '../../errors/guard.ts';

/** The tiers of each alias. A tier has URLs and other aliases. */
export type Aliases = ReadonlyMap<string, readonly (readonly string[])[]>;

/** The most URLs that an alias may stand for. */
const MAX_URLS = 1000;
/** How deeply aliases may stand for each other. */
const MAX_DEPTH = 100;
/** The most aliases among which one of a similar name is looked for. */
const MAX_COMPARED = 1000;

/** Whether a text can be the name of an alias: it is no URL and no list. */
export const isAliasName = (text: string): boolean => /^[\w.-]+$/.test(text);

/**
 * Replaces aliases by their URLs. An alias that stands alone gives its tiers; one in a tier joins that tier.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a name that is no alias
 */
export function withoutAliases(tiers: readonly (readonly string[])[], aliases: Aliases): string[][] {
  if (aliases.size === 0) return tiers.map((tier) => [...tier]);
  return apart(tiers, aliases).flatMap((tier) => expandTier(tier, (name) => expandAlias(name, aliases)));
}

/** The tiers of an alias; null for a URL. Throws `ERR_INVALID_ARGUMENT` for an unknown alias, a loop, or one of too many URLs. */
export function expandAlias(
  name: string,
  aliases: Aliases,
  known = new Map<string, string[][] | Error>(),
  above: readonly string[] = [],
): string[][] | null {
  const tiers = aliases.get(name);
  if (tiers === undefined) {
    if (!isAliasName(name)) return null;
    const meant = aliases.size > MAX_COMPARED ? undefined : nearest(name, aliases.keys());
    throw invalidArgument(
      `${name} is neither a URL nor an alias of a tracker${meant ? `: did you mean ${meant}?` : ''}`,
    );
  }
  if (above.includes(name)) throw invalidArgument(`the alias leads back to itself: ${[...above, name].join(' → ')}`);
  const before = known.get(name);
  if (before instanceof Error) throw before;
  if (before) return before;
  if (above.length >= MAX_DEPTH) throw invalidArgument(`aliases lead to each other more than ${MAX_DEPTH} times`);
  try {
    const expanded = expandTiers(apart(tiers, aliases), (inner) =>
      expandAlias(inner, aliases, known, [...above, name]),
    );
    known.set(name, expanded);
    return expanded;
  } catch (error) {
    known.set(name, error as Error);
    throw error;
  }
}

/** The tiers with aliases behind a URL as words of their own: any other comma belongs to the URL. */
function apart(tiers: readonly (readonly string[])[], aliases: Aliases): string[][] {
  return tiers.map((tier) =>
    tier.flatMap((text) => {
      const words = text.split(',').map((word) => word.trim());
      const last = words.findLastIndex((word) => !aliases.has(word));
      return last < 0 ? words : [words.slice(0, last + 1).join(','), ...words.slice(last + 1)];
    }),
  );
}

function expandTiers(tiers: readonly (readonly string[])[], expand: (name: string) => string[][] | null): string[][] {
  const expanded: string[][] = [];
  let urls = 0;
  for (const tier of tiers) {
    for (const whole of expandTier(tier, expand)) {
      urls += whole.length;
      if (urls > MAX_URLS) throw invalidArgument(`the alias stands for more than ${MAX_URLS} URLs`);
      expanded.push(whole);
    }
  }
  return expanded;
}

function expandTier(tier: readonly string[], expand: (name: string) => string[][] | null): string[][] {
  const [only] = tier;
  if (tier.length === 1 && only !== undefined) return expand(only) ?? [[only]];
  return [tier.flatMap((url) => expand(url)?.flat() ?? [url])];
}
