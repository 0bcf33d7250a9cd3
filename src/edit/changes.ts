/** The changes that `edit` makes, and their form as keys and values of a torrent. */
import { type Encodable, RawBencode, toKey } from '../bencode/value.ts';
import { shown, ValidationError } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { INFO, TORRENT } from '../model/codec.ts';
import { keysOf } from '../model/field.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import type { DhtNode } from '../model/primitives.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { toInfohash } from '../model/value-fields.ts';
import { ENTROPY_KEY, entropyText } from '../text/entropy.ts';
import { storedUrl } from '../text/urls.ts';
import { CONTENT_KEYS } from './replace-fields.ts';
import { entriesOf } from './splice.ts';
import { trackerChanges, webseedChanges } from './url-changes.ts';

/** A replacement of a text in URLs. */
export interface TextReplacement {
  /** The text to replace, such as a host or a passkey. */
  readonly from: string;
  /** The new text. */
  readonly to: string;
}

/** Fields to change. Absent fields stay as they are; null removes a field. */
export interface TorrentChanges {
  /** Replaces all trackers. A flat list puts each in its own tier; a list of lists gives the tiers (BEP 12). */
  trackers?: readonly string[] | readonly (readonly string[])[] | null;
  /** Appends trackers that the torrent does not have yet, each in its own tier, or as tiers. */
  addTrackers?: readonly string[] | readonly (readonly string[])[];
  /** Removes trackers from all tiers. URLs that differ in the case of the host or in the default port are the same. */
  removeTrackers?: readonly string[];
  /**
   * Replaces a text, such as a host or a passkey, in all trackers that have it, one replacement after the other. It applies after
   * `removeTrackers` and before `addTrackers`. Of URLs that become equal, the first one stays.
   */
  replaceTrackers?: readonly TextReplacement[];
  /** Replaces all webseeds (BEP 19). */
  urlList?: readonly string[] | null;
  /** Appends webseeds that the torrent does not have yet. */
  addWebseeds?: readonly string[];
  /** Removes webseeds. */
  removeWebseeds?: readonly string[];
  /** Replaces a text in webseeds, like `replaceTrackers`. It does not change `httpseeds`. */
  replaceWebseeds?: readonly TextReplacement[];
  /** URLs of scripts that serve pieces over HTTP (BEP 17). */
  httpseeds?: readonly string[] | null;
  /** Nodes through which a client joins the DHT, as `[host, port]` (BEP 5). */
  nodes?: readonly DhtNode[] | null;
  /** Free text. */
  comment?: string | null;
  /** The program that made the torrent. */
  createdBy?: string | null;
  /** Stored in whole seconds. */
  creationDate?: Date | null;
  /** Other keys beside `info`, with bencode values. `similar` and `collections` may stand here too (BEP 38). */
  extra?: Readonly<Record<string, Encodable | null>>;

  // The fields below are in `info`: they change the infohash.
  /** The name of the file or folder. */
  name?: string;
  /** Whether peers may come from the trackers only (BEP 27). False keeps a `private` of 0, which means the same. */
  private?: boolean | null;
  /** Source tag, such as the name of a tracker: it gives the same files a different infohash. */
  source?: string | null;
  /** Infohashes of torrents that may hold the same files (BEP 38): 20 or 32 bytes, or hexadecimal. */
  similar?: readonly (Uint8Array | string)[] | null;
  /** Names of collections that the torrent belongs to (BEP 38). */
  collections?: readonly string[] | null;
  /** URL that serves a newer version of the torrent (BEP 39). */
  updateUrl?: string | null;
  /** Sets the key `entropy` to a random text, instead of that of `infoExtra`: another infohash for the same content. */
  entropy?: boolean;
  /** Other keys of `info`, with bencode values, but none that describes the content. */
  infoExtra?: Readonly<Record<string, Encodable | null>>;
}

/** The fields of an edit that have other names than those of a torrent. */
const OTHER_NAMES: Readonly<Record<string, keyof TorrentChanges>> = {
  announce: 'trackers',
  announceList: 'trackers',
  nameUtf8: 'name',
};
/** A torrent may have these beside `info` and in it. The fields set them in `info`. */
const { similar: _1, collections: _2, ...TOP } = TORRENT;

type Changed = Map<string, Encodable | null>;

/** The changed keys beside `info`. */
export function topChanges(torrent: Torrent, changes: TorrentChanges): Changed {
  const { comment, createdBy, creationDate, httpseeds, nodes, extra = {} } = changes;
  const top: Changed = new Map();
  for (const [key, value] of Object.entries(extra)) {
    requireExtra('extra', key, ['info', 'piece layers'], TOP);
    top.set(toKey(key), value);
  }
  if (comment !== undefined) setText(top, 'comment', comment);
  if (createdBy !== undefined) setText(top, 'created by', createdBy);
  if (creationDate !== undefined)
    top.set('creation date', creationDate === null ? null : Math.floor(creationDate.getTime() / 1000));
  setList(top, 'httpseeds', httpseeds?.map(storedUrl) ?? httpseeds);
  setList(top, 'nodes', nodes);
  for (const [key, value] of trackerChanges(torrent, changes)) top.set(key, value);
  for (const [key, value] of webseedChanges(torrent, changes)) top.set(key, value);
  return top;
}

/** The changed keys of `info`. */
export function infoChanges(torrent: Torrent, changes: TorrentChanges): Changed {
  const { name, source, similar, collections, updateUrl, infoExtra = {} } = changes;
  const info: Changed = new Map();
  for (const [key, value] of Object.entries(infoExtra)) {
    requireExtra('infoExtra', key, CONTENT_KEYS, INFO);
    info.set(toKey(key), value);
  }
  if (name !== undefined) setName(torrent, name, info);
  const own = torrent.info;
  // False where the torrent is public already changes nothing, whether it has the key or not.
  if (changes.private === null || (changes.private === false && own.private)) info.set('private', null);
  else if (changes.private) info.set('private', 1);
  if (source !== undefined) info.set('source', source);
  // An empty list means the same as none.
  if (collections?.length || own.collections?.length) setList(info, 'collections', collections);
  if (similar?.length || own.similar?.length)
    setList(info, 'similar', similar?.map((hash) => toInfohash(hash) as Uint8Array) ?? similar);
  if (updateUrl !== undefined) info.set('update-url', updateUrl === null ? null : storedUrl(updateUrl));
  if (changes.entropy) info.set(ENTROPY_KEY, entropyText());
  return info;
}

function requireExtra(
  option: 'extra' | 'infoExtra',
  key: string,
  contentKeys: readonly string[],
  fields: object,
): void {
  const property = keysOf(fields).get(key)?.property;
  const problem = contentKeys.includes(key)
    ? 'describes the content: update it instead'
    : property && `has its own field: ${OTHER_NAMES[property] ?? property}`;
  if (problem) throw invalidArgument(`${option} cannot hold ${key}, which ${problem}`, { option: { [option]: null } });
}

/** Also removes the `.utf-8` key that old creators wrote: clients would show that instead. */
function setText(top: Changed, key: string, value: string | null): void {
  top.set(key, value).set(`${key}.utf-8`, null);
}

/** Sets a list whose key and field have the same name. An empty list removes the key. */
function setList(dictionary: Changed, key: string, list: readonly Encodable[] | null | undefined): void {
  if (list !== undefined) dictionary.set(key, list?.length ? list : null);
}

/** Sets the name, also in the file tree of a single-file torrent, whose only key it is (BEP 52). */
function setName(torrent: Torrent, name: string, info: Changed): void {
  info.set('name', name);
  // Clients would show the old `name.utf-8` instead.
  if (torrent.info.nameUtf8 != null) info.set('name.utf-8', null);
  const tree = entriesOf(TorrentBase.bytesOf(torrent).infoBytes).list.find(({ key }) => key === 'file tree')?.value;
  const [only, ...others] = tree ? entriesOf(tree).list : [];
  const hasList = (torrent.info as Partial<InfoDictV1>).files != null;
  if (torrent.torrentVersion === 'v1' || hasList || !only || others.length > 0) return;
  // A folder that has the same name as the torrent stays: only a file has the empty key (BEP 52).
  if (entriesOf(only.value).list[0]?.key !== '') return;
  const isSingle = [torrent.info.name, torrent.info.nameUtf8].some((own) => own != null && toKey(own) === only.key);
  if (isSingle) info.set('file tree', new Map([[toKey(name), new RawBencode(only.value)]]));
  else if (only.key === toKey(name)) {
    const message = `the torrent cannot have the name of its only file, ${shown(name)}: clients would mistake it for a single-file torrent`;
    throw new ValidationError([{ code: 'single_file_folder', severity: 'error', path: ['name'], message }], 'edit');
  }
}
