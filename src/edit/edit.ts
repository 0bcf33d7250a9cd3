/** Edits the fields of a torrent that do not describe its content. */
import { requireUrls } from '../create/draft-fields.ts';
import { type Finding, warning } from '../create/findings/findings.ts';
import { findingsOfName } from '../create/findings/name-findings.ts';
import { personalFindings, webseedSecrets } from '../create/findings/secret-findings.ts';
import { privateFindings, trackerFindings } from '../create/findings/tracker-findings.ts';
import { shown, ValidationError } from '../errors/errors.ts';
import { Callback, checkArgument, checkOptions, Flag, type OptionStructs, Unchecked } from '../errors/guard.ts';
import { Issues } from '../model/issues.ts';
import { AnyTorrent, type ReadOptions, type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { latin1Bytes, utf8Text } from '../platform/node.ts';
import { hostKey, shownUrl } from '../text/urls.ts';
import { checkedChanges } from './change-values.ts';
import { infoChanges, type TorrentChanges, topChanges } from './changes.ts';
import { entriesOf, replaceFields } from './replace-fields.ts';
import { allTrackers, isAmong, replacedIn } from './url-changes.ts';

/** Options of {@link edit}. The result is validated in `context`. */
export interface EditOptions extends Pick<ReadOptions, 'context'> {
  /**
   * Refuse changes that would change the infohash.
   *
   * @default false
   */
  keepInfohash?: boolean;
  /**
   * Called for each warning: a tracker or other URL that cannot work, a name that clients change, or a removed or replaced text or key that the
   * torrent does not have. If it throws, `edit` fails with that error.
   *
   * @default warnings are not reported
   */
  onWarning?: ((warning: Finding) => unknown) | undefined;
}

const EDIT: OptionStructs<EditOptions> = { keepInfohash: Flag, onWarning: Callback, context: Unchecked };

/**
 * Changes fields of a torrent and returns the new torrent. All other bytes stay as they are, and no file is read.
 *
 * @param torrent The torrent, which stays as it is.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an unknown field; `ERR_INFOHASH` when `keepInfohash` forbids a change
 * @throws {ValidationError} for invalid values, each under the name of its field; when the result is not a valid torrent
 * @example
 * ```ts
 * import { edit, Torrent } from 'metainfo';
 *
 * const torrent = await Torrent.read('album.torrent');
 * const edited = edit(torrent, { addTrackers: ['udp://tracker.example:6969/announce'], comment: null });
 * await edited.write('album.torrent', { force: true });
 * ```
 */
export function edit(torrent: Torrent, changes: TorrentChanges, options: EditOptions = {}): Torrent {
  checkArgument('torrent', torrent, AnyTorrent);
  const checked = checkedChanges(changes);
  const { keepInfohash, onWarning, context } = checkOptions(options, EDIT, { example: '{ keepInfohash: true }' });
  const replaced = {
    trackers: replacedIn([allTrackers(torrent), checked.trackers ?? []].flat(2), checked.replaceTrackers),
    webseeds: replacedIn([torrent.webseeds, checked.urlList ?? []].flat(2), checked.replaceWebseeds),
  };
  const issues = new Issues();
  requireUrls(['replaceTrackers'], replaced.trackers.made, issues);
  requireUrls(['replaceWebseeds'], replaced.webseeds.made, issues);
  if (issues.hasErrors) throw new ValidationError(issues.finish(), 'edit');
  const [info, top] = [infoChanges(torrent, checked), topChanges(torrent, checked)];
  const edited = replaceFields(torrent, { info, top, keepInfohash, context });
  if (onWarning) for (const finding of editFindings(torrent, edited, { ...checked, replaced })) onWarning(finding);
  return edited;
}

/** The findings about the changes that led from one torrent to another. */
function editFindings(
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
  if (noun === KEY) return removed.filter((key) => !known.includes(key)).map((key) => notIn(key, noun));
  const others = removed.filter((text) => !known.some(isAmong([text])));
  return others.map((text) => notIn(text, hostKey(text) === null ? noun : `${noun.replace('the', 'a')} of the host`));
}

function notIn(text: string, noun: string): Finding {
  const advice = noun === KEY ? '' : 'metainfo show lists what it has.';
  return warning('not_in_torrent', shownUrl(text), `The torrent does not have ${noun} ${shown(text)}.`, { advice });
}
