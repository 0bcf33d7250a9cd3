/** Changes the trackers and webseeds of a torrent. */
import type { Encodable } from '../bencode/value.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { hostKey, hostKeysOf, storedUrl, urlKey } from '../text/urls.ts';
import type { TorrentChanges } from './changes.ts';

/** A tracker in its own tier, or a tier of several (BEP 12). */
type Tier = string | readonly string[];

type Changed = Map<string, Encodable | null>;

/** A text in URLs, and the text that replaces it. */
export type Replacement = NonNullable<TorrentChanges['replaceTrackers']>[number];

/** The new values of `announce` and `announce-list`; empty where the trackers stay the same. */
export function trackerChanges({ announce, announceList }: Torrent, changes: TorrentChanges): Changed {
  const { trackers: set, addTrackers: added, removeTrackers: removed, replaceTrackers: replaced } = changes;
  const listed = announceList?.filter((tier) => tier.length > 0) ?? [];
  const current = listed.length > 0 || announce === null ? listed : [[announce]];
  const isRemoved = announce !== null && isAmong(removed)(announce);
  const own = announce && withReplaced(announce, replaced);
  const tiers =
    changedTiers(current, [set, added, removed, replaced]) ?? (isRemoved || own !== announce ? current : null);
  if (!tiers) return new Map();
  // `announce` stays unless it is changed itself, although clients ignore it beside a list (BEP 12).
  const isFirst = set !== undefined || announce === null || isRemoved || listed.length === 0;
  return new Map<string, Encodable | null>([
    ['announce', (isFirst ? tiers[0]?.[0] : own) ?? null],
    ['announce-list', tiers.flat().length > (isFirst ? 1 : 0) ? tiers : null],
  ]);
}

/** The new value of `url-list`; empty where the webseeds stay the same. */
export function webseedChanges({ webseeds }: Torrent, changes: TorrentChanges): Changed {
  const { urlList: set, addWebseeds: added, removeWebseeds: removed, replaceWebseeds: replaced } = changes;
  const current = webseeds.map((url) => [url]);
  const tiers = changedTiers(current, [set, added, removed, replaced]);
  if (!tiers) return new Map();
  const changed = [...new Set(tiers.flat())];
  // libtorrent and others write a single webseed as text.
  return new Map([['url-list', changed.length > 1 ? changed : (changed[0] ?? null)]]);
}

/** The changes of a list of URLs. */
type UrlChanges = readonly [
  set: readonly Tier[] | null | undefined,
  added: readonly Tier[] | undefined,
  removed: readonly string[] | undefined,
  replaced: readonly Replacement[] | undefined,
];

/** The new tiers, of which none is empty; null where nothing changes. */
function changedTiers(
  current: readonly (readonly string[])[],
  [set, added, removed, replaced]: UrlChanges,
): string[][] | null {
  if (set === undefined && !added?.length && !removed?.length && !replaced?.length) return null;
  const isGone = isAmong(removed);
  const kept = (set === undefined ? current : toTiers(set)).map((tier) => tier.filter((url) => !isGone(url)));
  const others = kept.map((tier) => tier.map((url) => withReplaced(url, replaced)));
  const isReplaced = String(others) !== String(kept);
  const known = new Set<string>();
  const isNew = (url: string) => !known.has(urlKey(url)) && known.add(urlKey(url));
  // Replacing may make URLs equal: the first one stays.
  const tiers = others.map((tier) => tier.filter((url) => isNew(url) || !isReplaced));
  for (const tier of toTiers(added)) tiers.push(tier.filter(isNew));
  const changed = tiers.filter((tier) => tier.length > 0);
  return set === undefined && JSON.stringify(changed) === JSON.stringify(current) ? null : changed;
}

/** The trackers of a torrent, also those in `announce` alone. */
export function allTrackers({ announce, announceList }: Torrent): string[] {
  return [announce ?? '', announceList ?? []].flat(2);
}

/** A URL with texts replaced, one after the other. */
function withReplaced(url: string, replacements: readonly Replacement[] = []): string {
  const replace = (text: string, { from, to }: Replacement) =>
    text.includes(from) ? storedUrl(text.split(from).join(to)) : text;
  return replacements.reduce(replace, url);
}

/** The new URLs that replacements give, and the texts that no URL has. */
export function replacedIn(
  urls: readonly string[],
  replacements: readonly Replacement[] | null | undefined,
): { made: string[]; absent: string[] } {
  let current = urls;
  const absent = (replacements ?? []).flatMap((one) => {
    const before = current;
    current = before.map((url) => withReplaced(url, [one]));
    return before.some((url) => url.includes(one.from)) ? [] : [one.from];
  });
  const old = new Set(urls);
  return { made: [...new Set(current)].filter((url) => !old.has(url)), absent };
}

/** Tells whether a URL is among those of a list, in which a host stands for all its URLs. */
export function isAmong(list: readonly string[] = []): (url: string) => boolean {
  const keys = new Set(list.flatMap((text) => [urlKey(text), hostKey(text)]));
  return (url) => [urlKey(url), ...hostKeysOf(url)].some((key) => keys.has(key));
}

function toTiers(list: readonly Tier[] | null | undefined): string[][] {
  return (list ?? []).map((tier) => [tier].flat().map(storedUrl));
}
