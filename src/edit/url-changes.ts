/** Changes the trackers and webseeds of a torrent. */
import type { Encodable } from '../bencode/value.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { checkList, checkTexts, checkUrls } from './change-values.ts';
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
  const isRemoved = changes.removeTrackers?.some((url) => url.trim() === announce?.trim());
  const isReplaced = changes.trackers !== undefined || announce === null || isRemoved;
  return new Map<string, Encodable | null>([
    ['announce', isReplaced ? (tiers[0]?.[0] ?? null) : announce],
    ['announce-list', tiers.flat().length > (isReplaced ? 1 : 0) ? tiers : null],
  ]);
}

/** The new tiers; null where nothing changes. */
function changedTiers({ announce, announceList }: Torrent, changes: TorrentChanges): string[][] | null {
  const { trackers } = changes;
  const addTrackers = checkList<Tier>('addTrackers', changes.addTrackers ?? []);
  const removeTrackers = checkTexts('removeTrackers', changes.removeTrackers ?? []);
  if (trackers === undefined && addTrackers.length === 0 && removeTrackers.length === 0) return null;
  const current = announceList?.some((tier) => tier.length > 0) ? announceList : [announce === null ? [] : [announce]];
  const [replaced, added] = [toTiers(trackers ?? []), toTiers(addTrackers)];
  // Some torrents have blanks around their trackers.
  const removed = new Set(removeTrackers.map((url) => url.trim()));
  const tiers = (trackers === undefined ? current : replaced).map((tier) =>
    tier.filter((url) => !removed.has(url.trim())),
  );
  const known = new Set(tiers.flat().map((url) => url.trim()));
  for (const tier of added) tiers.push(tier.filter((url) => !known.has(url) && known.add(url)));
  checkUrls('trackers', [...replaced, ...added].flat());
  const changed = withoutEmpty(tiers);
  const isSame = trackers === undefined && JSON.stringify(changed) === JSON.stringify(withoutEmpty(current));
  const removesAnnounce = announce !== null && removed.has(announce.trim());
  return isSame && !removesAnnounce ? null : changed;
}

function toTiers(list: readonly Tier[]): string[][] {
  return checkList('trackers', list).map((tier) =>
    typeof tier === 'string' ? [tier] : [...checkTexts('trackers', tier)],
  );
}

function withoutEmpty(tiers: readonly string[][]): string[][] {
  return tiers.filter((tier) => tier.length > 0);
}

/** The new value of `url-list`; empty where the webseeds stay the same. */
export function webseedChanges({ webseeds }: Torrent, changes: TorrentChanges): Changed {
  const { urlList } = changes;
  const addWebseeds = checkList('addWebseeds', changes.addWebseeds ?? []);
  const removeWebseeds = checkTexts('removeWebseeds', changes.removeWebseeds ?? []);
  if (urlList === undefined && addWebseeds.length === 0 && removeWebseeds.length === 0) return new Map();
  checkUrls('webseeds', [...checkList('urlList', urlList ?? []), ...addWebseeds]);
  const kept = (urlList === undefined ? webseeds : (urlList ?? [])).filter((url) => !removeWebseeds.includes(url));
  const changed = [...new Set([...kept, ...addWebseeds])];
  if (urlList === undefined && JSON.stringify(changed) === JSON.stringify(webseeds)) return new Map();
  return new Map([['url-list', changed.length > 0 ? changed : null]]);
}
