/** Finds what is wrong with an edit: its name, trackers and other URLs, and what it should remove but the torrent does not have. */
import { type Finding, warning } from '../create/findings/findings.ts';
import { findingsOfName } from '../create/findings/name-findings.ts';
import { personalFindings } from '../create/findings/scan-findings.ts';
import { privateFindings, trackerFindings } from '../create/findings/tracker-findings.ts';
import { shown } from '../errors/errors.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { latin1Bytes, utf8Text } from '../platform/node.ts';
import { urlKey } from '../text/urls.ts';
import type { TorrentChanges } from './changes.ts';
import { entriesOf } from './splice.ts';

/** The findings about the changes that led from one torrent to another. */
export function editFindings(before: Torrent, after: Torrent, changes: TorrentChanges): Finding[] {
  const { trackers, addTrackers, urlList, addWebseeds, httpseeds, updateUrl, removeTrackers, removeWebseeds } = changes;
  const fields = {
    trackers: [trackers ?? [], addTrackers ?? []].flat(2),
    urlList: [urlList ?? [], addWebseeds ?? []].flat(),
    httpseeds: [httpseeds ?? []].flat(),
  };
  const old = new Set(ofPrivacy(before).map(({ message }) => message));
  const known = [before.announce ?? '', ...(before.announceList ?? []).flat(), ...fields.trackers];
  const { bytes, infoBytes } = TorrentBase.bytesOf(before);
  const { name, extra, infoExtra } = changes;
  return [
    ...(name === undefined ? [] : findingsOfName(name)),
    ...trackerFindings({ fields, info: { updateUrl } }),
    ...ofPrivacy(after).filter(({ message }) => !old.has(message)),
    ...absent(removeTrackers, known, 'tracker'),
    ...absent(removeWebseeds, [...before.webseeds, ...fields.urlList], 'webseed'),
    ...absent(removedKeys(extra), extra ? keysIn(bytes, infoBytes) : [], 'key'),
    ...absent(removedKeys(infoExtra), infoExtra ? keysIn(infoBytes) : [], 'key'),
  ];
}

const removedKeys = (extra: TorrentChanges['extra'] = {}) => Object.keys(extra).filter((key) => extra[key] === null);
const keysIn = (bytes: Uint8Array, info?: Uint8Array) =>
  entriesOf(bytes, info).list.map(({ key }) => utf8Text(latin1Bytes(key)));

function ofPrivacy({ info, flatTrackers, nodes }: Torrent): Finding[] {
  const ofPrivate = info.private ? privateFindings(flatTrackers, nodes?.length) : [];
  return [...ofPrivate, ...personalFindings(info.private, flatTrackers)];
}

function absent(removed: readonly string[] | undefined, known: readonly string[], noun: string): Finding[] {
  const keyOf = noun === 'key' ? String : urlKey;
  const keys = new Set(known.map(keyOf));
  const advice = noun === 'key' ? '' : 'metainfo show lists those that it has.';
  const missing = (removed ?? []).filter((url) => !keys.has(keyOf(url)));
  return missing.map((url) =>
    warning('not_in_torrent', url, `The torrent does not have the ${noun} ${shown(url)}.`, { advice }),
  );
}
