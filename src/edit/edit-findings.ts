/** Finds what is wrong with an edit: its name, trackers and other URLs, and what it should remove but the torrent does not have. */
import { type Finding, warning } from '../create/findings/findings.ts';
import { findingsOfName } from '../create/findings/name-findings.ts';
import { personalFindings, webseedSecrets } from '../create/findings/secret-findings.ts';
import { privateFindings, trackerFindings } from '../create/findings/tracker-findings.ts';
import { shown } from '../errors/errors.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { latin1Bytes, utf8Text } from '../platform/node.ts';
import { shownUrl, urlKey } from '../text/urls.ts';
import type { TorrentChanges } from './changes.ts';
import { entriesOf } from './replace-fields.ts';
import { allTrackers, type replacedIn } from './url-changes.ts';

/** The findings about the changes that led from one torrent to another. */
export function editFindings(
  before: Torrent,
  after: Torrent,
  changes: TorrentChanges & { replaced: Record<'trackers' | 'webseeds', ReturnType<typeof replacedIn>> },
): Finding[] {
  const { trackers, addTrackers, urlList, addWebseeds, httpseeds, updateUrl, removeTrackers, removeWebseeds } = changes;
  const { replaced } = changes;
  const fields = {
    trackers: [trackers ?? [], replaced.trackers.made, addTrackers ?? []].flat(2),
    urlList: [urlList ?? [], replaced.webseeds.made, addWebseeds ?? []].flat(),
    httpseeds: [httpseeds ?? []].flat(),
  };
  const old = new Set(ofPrivacy(before).map(({ message }) => message));
  const known = [...allTrackers(before), ...fields.trackers];
  const { bytes, infoBytes } = TorrentBase.bytesOf(before);
  const { name, extra, infoExtra } = changes;
  return [
    ...(name === undefined ? [] : findingsOfName(name)),
    ...trackerFindings({ fields, info: { updateUrl } }),
    ...ofPrivacy(after).filter(({ message }) => !old.has(message)),
    ...absent(removeTrackers, known, 'the tracker'),
    ...replaced.trackers.absent.map((text) => notIn(text, 'a tracker with')),
    ...absent(removeWebseeds, [...before.webseeds, ...fields.urlList], 'the webseed'),
    ...replaced.webseeds.absent.map((text) => notIn(text, 'a webseed with')),
    ...absent(removedKeys(extra), extra ? keysIn(bytes, infoBytes) : [], KEY),
    ...absent(removedKeys(infoExtra), infoExtra ? keysIn(infoBytes) : [], KEY),
  ];
}

const KEY = 'the key';
const removedKeys = (extra: TorrentChanges['extra'] = {}) => Object.keys(extra).filter((key) => extra[key] === null);
const keysIn = (bytes: Uint8Array, info?: Uint8Array) =>
  entriesOf(bytes, info).list.map(({ key }) => utf8Text(latin1Bytes(key)));

function ofPrivacy({ info, flatTrackers, nodes, webseeds, httpseeds }: Torrent): Finding[] {
  const ofPrivate = info.private ? privateFindings(flatTrackers, nodes?.length) : [];
  const secrets = webseedSecrets(info.private, [...webseeds, ...(httpseeds ?? [])]);
  return [...ofPrivate, ...personalFindings(info.private, flatTrackers), ...secrets];
}

function absent(removed: readonly string[] = [], known: readonly string[], noun: string): Finding[] {
  const keyOf = noun === KEY ? String : urlKey;
  const keys = new Set(known.map(keyOf));
  return removed.filter((url) => !keys.has(keyOf(url))).map((url) => notIn(url, noun));
}

function notIn(text: string, noun: string): Finding {
  const advice = noun === KEY ? '' : 'metainfo show lists what it has.';
  return warning('not_in_torrent', shownUrl(text), `The torrent does not have ${noun} ${shown(text)}.`, { advice });
}
