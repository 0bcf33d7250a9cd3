/** Finds what is wrong with an edit: its name, trackers and other URLs, and what it should remove but the torrent does not have. */
import { toKey } from '../bencode/value.ts';
import { type Finding, warning } from '../create/findings/findings.ts';
import { findingsOfName } from '../create/findings/name-findings.ts';
import { privateFindings, trackerFindings } from '../create/findings/tracker-findings.ts';
import { shown } from '../errors/errors.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { urlKey } from '../text/urls.ts';
import type { TorrentChanges } from './changes.ts';
import { type Entries, entriesOf } from './splice.ts';

/** The findings about the changes that led from one torrent to another. */
export function editFindings(before: Torrent, after: Torrent, changes: TorrentChanges): Finding[] {
  const { trackers, addTrackers, urlList, addWebseeds, httpseeds, updateUrl, removeTrackers, removeWebseeds } = changes;
  const fields = {
    trackers: [trackers ?? [], addTrackers ?? []].flat(2),
    urlList: [urlList ?? [], addWebseeds ?? []].flat(),
    httpseeds: [httpseeds ?? []].flat(),
  };
  const [old, now] = [before, after].map(ofPrivate) as [Finding[], Finding[]];
  const known = [before.announce ?? '', ...(before.announceList ?? []).flat(), ...fields.trackers];
  const { bytes, infoBytes } = TorrentBase.bytesOf(before);
  return [
    ...trackerFindings({ fields, info: { updateUrl } }),
    ...now.filter(({ code }) => old.every((finding) => finding.code !== code)),
    ...absent(removeTrackers, known, 'tracker'),
    ...absent(removeWebseeds, [...before.webseeds, ...fields.urlList], 'webseed'),
    ...absentKeys(changes.extra, () => entriesOf(bytes, infoBytes)),
    ...absentKeys(changes.infoExtra, () => entriesOf(infoBytes)),
    ...(changes.name === undefined ? [] : findingsOfName(changes.name)),
  ];
}

function ofPrivate({ info, flatTrackers, nodes }: Torrent): Finding[] {
  return info.private ? privateFindings(flatTrackers, nodes?.length ?? 0) : [];
}

function absent(removed: readonly string[] | undefined, known: readonly string[], noun: string): Finding[] {
  const keys = new Set(known.map(urlKey));
  return (removed ?? []).filter((url) => !keys.has(urlKey(url))).map((url) => notInTorrent(url, noun));
}

/** @param entries Splits the dictionary that should have the keys. */
function absentKeys(extra: TorrentChanges['extra'] = {}, entries: () => Entries): Finding[] {
  const removed = Object.keys(extra).filter((key) => extra[key] === null);
  const known = new Set((removed.length > 0 ? entries().list : []).map(({ key }) => key));
  return removed.filter((key) => !known.has(toKey(key))).map((key) => notInTorrent(key, 'key'));
}

function notInTorrent(what: string, noun: string): Finding {
  const message = `The torrent does not have the ${noun} ${shown(what)}.`;
  const advice = noun === 'key' ? '' : 'metainfo show lists those that it has.';
  return warning('not_in_torrent', what, message, { advice });
}
