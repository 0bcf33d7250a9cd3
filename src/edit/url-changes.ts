/** Changes the trackers and webseeds of a torrent. */
import type { Encodable } from '../bencode/value.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { storedUrl, urlKey } from '../text/urls.ts';
import type { TorrentChanges } from './changes.ts';

/** A tracker in its own tier, or a tier of several (BEP 12). */
type Tier = string | readonly string[];

type Changed = Map<string, Encodable | null>;

/** The new values of `announce` and `announce-list`; empty where the trackers stay the same. */
export function trackerChanges({ announce, announceList }: Torrent, changes: TorrentChanges): Changed {
  const { trackers: replaced, addTrackers: added, removeTrackers: removed } = changes;
  const listed = announceList?.filter((tier) => tier.length > 0) ?? [];
  const current = listed.length > 0 || announce === null ? listed : [[announce]];
  const isRemoved = announce !== null && keysOf(removed).has(urlKey(announce));
  const tiers = changedTiers(current, { replaced, added, removed }) ?? (isRemoved ? current : null);
  if (!tiers) return new Map();
  // `announce` stays unless it is removed itself, although clients ignore it beside a list (BEP 12).
  const isReplaced = replaced !== undefined || announce === null || isRemoved;
  return new Map<string, Encodable | null>([
    ['announce', isReplaced ? (tiers[0]?.[0] ?? null) : announce],
    ['announce-list', tiers.flat().length > (isReplaced ? 1 : 0) ? tiers : null],
  ]);
}

/** The new value of `url-list`; empty where the webseeds stay the same. */
export function webseedChanges({ webseeds }: Torrent, changes: TorrentChanges): Changed {
  const { urlList: replaced, addWebseeds: added, removeWebseeds: removed } = changes;
  const tiers = changedTiers(
    webseeds.map((url) => [url]),
    { replaced, added, removed },
  );
  if (!tiers) return new Map();
  const changed = [...new Set(tiers.flat())];
  return new Map([['url-list', changed.length > 0 ? changed : null]]);
}

/** The changes of a list of URLs. */
interface UrlChanges {
  replaced: readonly Tier[] | null | undefined;
  added: readonly Tier[] | undefined;
  removed: readonly string[] | undefined;
}

/** The new tiers, of which none is empty; null where nothing changes. */
function changedTiers(
  current: readonly (readonly string[])[],
  { replaced, added, removed }: UrlChanges,
): string[][] | null {
  if (replaced === undefined && !added?.length && !removed?.length) return null;
  const gone = keysOf(removed);
  const kept = replaced === undefined ? current : toTiers(replaced);
  const tiers = kept.map((tier) => tier.filter((url) => !gone.has(urlKey(url))));
  const known = keysOf(tiers.flat());
  for (const tier of toTiers(added))
    tiers.push(tier.filter((url) => !known.has(urlKey(url)) && known.add(urlKey(url))));
  const changed = tiers.filter((tier) => tier.length > 0);
  return replaced === undefined && JSON.stringify(changed) === JSON.stringify(current) ? null : changed;
}

function keysOf(urls: readonly string[] | undefined): Set<string> {
  return new Set(urls?.map(urlKey));
}

function toTiers(list: readonly Tier[] | null | undefined): string[][] {
  return (list ?? []).map((tier) => [tier].flat().map(storedUrl));
}
