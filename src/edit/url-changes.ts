/** Changes the trackers and webseeds of a torrent. */
import type { Encodable } from '../bencode/value.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { storedUrl, urlKey } from '../text/urls.ts';
import type { TorrentChanges } from './changes.ts';

/** A tracker in its own tier, or a tier of several (BEP 12). */
type Tier = string | readonly string[];

type Changed = Map<string, Encodable | null>;

/** The new values of `announce` and `announce-list`; empty where the trackers stay the same. */
export function trackerChanges(torrent: Torrent, changes: TorrentChanges): Changed {
  const tiers = changedTiers(torrent, changes);
  if (!tiers) return new Map();
  const { announce } = torrent;
  // `announce` stays unless it is removed itself, although clients ignore it beside a list (BEP 12).
  const isRemoved = announce !== null && keysOf(changes.removeTrackers).has(urlKey(announce));
  const isReplaced = changes.trackers !== undefined || announce === null || isRemoved;
  return new Map<string, Encodable | null>([
    ['announce', isReplaced ? (tiers[0]?.[0] ?? null) : announce],
    ['announce-list', tiers.flat().length > (isReplaced ? 1 : 0) ? tiers : null],
  ]);
}

/** The new tiers; null where nothing changes. */
function changedTiers({ announce, announceList }: Torrent, changes: TorrentChanges): string[][] | null {
  const { trackers, addTrackers, removeTrackers } = changes;
  if (trackers === undefined && !addTrackers?.length && !removeTrackers?.length) return null;
  const current = announceList?.some((tier) => tier.length > 0) ? announceList : [announce === null ? [] : [announce]];
  const removed = keysOf(removeTrackers);
  const tiers = (trackers === undefined ? current : toTiers(trackers)).map((tier) =>
    tier.filter((url) => !removed.has(urlKey(url))),
  );
  const known = keysOf(tiers.flat());
  for (const tier of toTiers(addTrackers))
    tiers.push(tier.filter((url) => !known.has(urlKey(url)) && known.add(urlKey(url))));
  const changed = withoutEmpty(tiers);
  const isSame = trackers === undefined && JSON.stringify(changed) === JSON.stringify(withoutEmpty(current));
  const removesAnnounce = announce !== null && removed.has(urlKey(announce));
  return isSame && !removesAnnounce ? null : changed;
}

function keysOf(urls: readonly string[] | null | undefined): Set<string> {
  return new Set((urls ?? []).map(urlKey));
}

function toTiers(list: readonly Tier[] | null | undefined): string[][] {
  return (list ?? []).map((tier) => [tier].flat().map(storedUrl));
}

function withoutEmpty<T extends readonly string[]>(tiers: readonly T[]): T[] {
  return tiers.filter((tier) => tier.length > 0);
}

/** The new value of `url-list`; empty where the webseeds stay the same. */
export function webseedChanges({ webseeds }: Torrent, changes: TorrentChanges): Changed {
  const { urlList, addWebseeds, removeWebseeds } = changes;
  if (urlList === undefined && !addWebseeds?.length && !removeWebseeds?.length) return new Map();
  const removed = keysOf(removeWebseeds);
  const kept = (urlList === undefined ? webseeds : (urlList ?? []).map(storedUrl)).filter(
    (url) => !removed.has(urlKey(url)),
  );
  const known = keysOf(kept);
  const added = (addWebseeds ?? []).map(storedUrl).filter((url) => !known.has(urlKey(url)) && known.add(urlKey(url)));
  const changed = [...new Set(kept), ...added];
  if (urlList === undefined && JSON.stringify(changed) === JSON.stringify(webseeds)) return new Map();
  return new Map([['url-list', changed.length > 0 ? changed : null]]);
}
