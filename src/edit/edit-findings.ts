/** Finds what is wrong with an edit: its trackers and other URLs, and what it should remove but the torrent does not have. */
import { type Finding, warning } from '../create/findings/findings.ts';
import { privateFindings, trackerFindings } from '../create/findings/tracker-findings.ts';
import { shown } from '../errors/errors.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { urlKey } from '../text/urls.ts';
import type { TorrentChanges } from './changes.ts';

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
  return [
    ...trackerFindings({ fields, info: { updateUrl } }),
    ...now.filter(({ code }) => old.every((finding) => finding.code !== code)),
    ...absent(removeTrackers, known, 'tracker'),
    ...absent(removeWebseeds, [...before.webseeds, ...fields.urlList], 'webseed'),
  ];
}

function ofPrivate({ info, flatTrackers, nodes }: Torrent): Finding[] {
  return info.private ? privateFindings(flatTrackers, nodes?.length ?? 0) : [];
}

function absent(removed: readonly string[] | undefined, known: readonly string[], noun: string): Finding[] {
  const keys = new Set(known.map(urlKey));
  const missing = (removed ?? []).filter((url) => !keys.has(urlKey(url)));
  return missing.map((url) => {
    const message = `The torrent does not have the ${noun} ${shown(url)}.`;
    return warning('not_in_torrent', url, message, { advice: 'metainfo show lists those that it has.' });
  });
}
