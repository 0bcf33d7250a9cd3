import { validate } from 'superstruct';
import { BencodeError, decode } from '../bencode/decode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import { type BencodeMap, type BencodeValue, type Encodable, RawBencode, toKey } from '../bencode/value.ts';
import { passTimes } from '../create/file-times.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { argument, Flag, Given, type OptionStructs, options, Unchecked } from '../errors/guard.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { DhtNode } from '../model/primitives.ts';
import { AnyTorrent, fromOwnBytes, type ReadOptions, type Torrent } from '../model/torrent.ts';
import { toInfohash } from '../model/value-fields.ts';
import { type Entries, type Entry, entriesOf, joined, splice } from './splice.ts';

/** What is to be different. What is not named stays; null takes it away. */
export interface TorrentChanges {
  /** All trackers: a flat list puts each in a tier of its own; a list of lists gives the tiers (BEP 12). */
  trackers?: readonly string[] | readonly (readonly string[])[] | null;
  /** Trackers that are not there yet, after the others: each in a tier of its own, or as tiers. */
  addTrackers?: readonly string[] | readonly (readonly string[])[];
  /** Trackers to take out of all tiers; what is not there is passed over. */
  removeTrackers?: readonly string[];
  /** All webseeds (BEP 19). */
  urlList?: readonly string[] | null;
  /** Webseeds that are not there yet, after the others. */
  addWebseeds?: readonly string[];
  /** Webseeds to take out. */
  removeWebseeds?: readonly string[];
  /** Scripts that give pieces over HTTP (BEP 17). */
  httpseeds?: readonly string[] | null;
  /** Nodes of the DHT to begin with (BEP 5). */
  nodes?: readonly DhtNode[] | null;
  /** Text for people. */
  comment?: string | null;
  /** The program that made it. */
  createdBy?: string | null;
  /** To the second. */
  creationDate?: Date | null;
  /** Other keys beside `info`, with bencode values: `similar` and `collections` too, which may stand there (BEP 38). */
  extra?: Readonly<Record<string, Encodable | null>>;

  // These are in `info`: they change the infohash.
  /** The name of the file or folder. */
  name?: string;
  /** Whether only its trackers may tell of peers (BEP 27). */
  private?: boolean | null;
  /** Where it is shared: another one gives another infohash of the same files. */
  source?: string | null;
  /** Infohashes of torrents that may hold the same files (BEP 38): 20 or 32 bytes, or their hexadecimal. */
  similar?: readonly (Uint8Array | string)[] | null;
  /** Names of collections that it belongs to (BEP 38). */
  collections?: readonly string[] | null;
  /** Where a newer torrent can be asked for (BEP 39). */
  updateUrl?: string | null;
  /** Other keys of `info`, but none that describes the content. */
  infoExtra?: Readonly<Record<string, Encodable | null>>;
}

/** What {@link edit} may change, and how the result is checked. */
export interface EditOptions extends Pick<ReadOptions, 'context'> {
  /** Refuse what would change the infohash; default false. */
  keepInfohash?: boolean;
}

const EDIT: OptionStructs<EditOptions> = { keepInfohash: Flag, context: Unchecked };
/** Each is checked where it is used. */
const CHANGES: OptionStructs<TorrentChanges> = {
  trackers: Unchecked,
  addTrackers: Unchecked,
  removeTrackers: Unchecked,
  urlList: Unchecked,
  addWebseeds: Unchecked,
  removeWebseeds: Unchecked,
  httpseeds: Unchecked,
  nodes: Unchecked,
  comment: Unchecked,
  createdBy: Unchecked,
  creationDate: Unchecked,
  extra: Unchecked,
  name: Unchecked,
  private: Unchecked,
  source: Unchecked,
  similar: Unchecked,
  collections: Unchecked,
  updateUrl: Unchecked,
  infoExtra: Unchecked,
};

/** Keys that say what the content is: another value needs other hashes. */
const CONTENT = ['file tree', 'files', 'length', 'meta version', 'piece length', 'pieces'];
/** Keys that have a field of their own here. */
const OF_INFO = ['collections', 'name', 'name.utf-8', 'private', 'similar', 'source', 'update-url'];
const OF_TORRENT = [
  ...['announce', 'announce-list', 'comment', 'created by', 'creation date', 'httpseeds', 'nodes', 'url-list'],
];

/**
 * A torrent with some things changed. Everything else stays byte for byte, and no file is read.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for values that cannot be; `ERR_INFOHASH` when `keepInfohash` is asked
 *   for and cannot be
 * @throws {ValidationError} when the result would be no valid torrent
 */
export function edit(torrent: Torrent, changes: TorrentChanges, given: EditOptions = {}): Torrent {
  argument('torrent', torrent, AnyTorrent);
  const checked = options(argument('changes', changes, Given), CHANGES, {
    name: 'changes',
    example: "{ comment: 'x' }",
  });
  const edited = replaced(torrent, {
    info: infoChanges(torrent, checked),
    top: topChanges(torrent, checked),
    ...options(given, EDIT, { example: '{ keepInfohash: true }' }),
  });
  passTimes(torrent, edited);
  return edited;
}

/** A torrent without what is about files. */
export function besideFiles(torrent: Torrent): Map<string, Encodable> {
  const pick = ({ list }: Entries, without: readonly string[]) =>
    new Map<string, Encodable>(
      list.flatMap(({ key, value }) => (without.includes(key) ? [] : [[key, decoded(value)]])),
    );
  const info = pick(entriesOf(torrent.infoBytes), CONTENT);
  return pick(entriesOf(torrent.bencode(), torrent.infoBytes), ['info', 'piece layers']).set('info', info);
}

interface Replacements extends EditOptions {
  /** By key; null takes it away. */
  info: ReadonlyMap<string, Encodable | null>;
  /** Those beside `info`. */
  top: Map<string, Encodable | null>;
}

/** A torrent with other values of some keys; see {@link edit}. */
export function replaced(torrent: Torrent, { info, top, keepInfohash = false, context }: Replacements): Torrent {
  if (info.size > 0) {
    const bytes = joined(splice(entriesOf(torrent.infoBytes), info));
    const same = Buffer.compare(bytes, torrent.infoBytes) === 0;
    if (keepInfohash && !same) {
      const message = `Another ${[...info.keys()].join(' or ')} gives another infohash, and so another swarm.`;
      throw new MetainfoError('ERR_INFOHASH', message);
    }
    if (!same) top.set('info', new RawBencode(bytes));
  }
  const before = torrent.bencode();
  const entries = entriesOf(before, torrent.infoBytes);
  const after = splice(entries, top);
  // What stands after a torrent's end is no part of it, and stays there too.
  const bytes = joined(after, before.subarray(entries.end));
  const isOfContent = top.has('info') || top.has('piece layers');
  const quick = isOfContent ? null : withOthers(torrent, after, { bytes, context });
  return quick ?? fromOwnBytes(bytes, { context, limits: NO_LIMITS });
}

/**
 * The torrent of these entries without another look at `info` and the layers, which are what they were and may be large.
 * Null when something else is not canonical: only a reading of the whole tells what that makes of the rest.
 */
function withOthers(
  torrent: Torrent,
  entries: readonly Entry[],
  { bytes, context }: { bytes: Uint8Array; context: EditOptions['context'] },
): Torrent | null {
  const map: BencodeMap = new Map();
  let [at, infoStart] = [1, 0];
  try {
    for (const { key, whole, value } of entries) {
      const start = at + whole.length - value.length;
      at += whole.length;
      if (key === 'info') infoStart = start;
      const isKept = key === 'info' || key === 'piece layers';
      const own = bytes.subarray(start, at);
      map.set(key, isKept ? own : decode(own, { limits: NO_LIMITS }).value);
    }
  } catch (error) {
    if (error instanceof BencodeError) return null;
    throw error;
  }
  return torrent.withTopLevel(map, { bytes, infoStart, context }) as Torrent | null;
}

/** One key that differs between two torrents. */
export interface Difference {
  /** On disk; of `info` with `info.` before it. */
  key: string;
  /** Decoded; undefined where there is none. */
  before: unknown;
  /** The same of the other torrent. */
  after: unknown;
}

/** The keys in which two torrents differ, in their order. */
export function differences(before: Torrent, after: Torrent): Difference[] {
  argument('before', before, AnyTorrent);
  argument('after', after, AnyTorrent);
  const compare = (prefix: string, one: Entries, other: Entries): Difference[] => {
    // Of keys that come twice, the first counts.
    const byKey = ({ list }: Entries) => new Map(list.toReversed().map(({ key, value }) => [key, value]));
    const [old, now] = [byKey(one), byKey(other)];
    return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
      const [a, b] = [old.get(key), now.get(key)];
      if ((key === 'info' && prefix === '') || (a && b && Buffer.compare(a, b) === 0)) return [];
      return [{ key: prefix + key, before: a && decoded(a), after: b && decoded(b) }];
    });
  };
  const top = compare('', entriesOf(before.bencode(), before.infoBytes), entriesOf(after.bencode(), after.infoBytes));
  // Most of a large torrent, and most often the same.
  if (sameInfo(before, after)) return top;
  return [...top, ...compare('info.', entriesOf(before.infoBytes), entriesOf(after.infoBytes))];
}

/** Whether two torrents have the same infohashes. */
export function sameInfo(before: Torrent, after: Torrent): boolean {
  return Buffer.compare(before.infoBytes, after.infoBytes) === 0;
}

function decoded(bytes: Uint8Array): BencodeValue {
  return decode(bytes, { tolerant: true, limits: NO_LIMITS }).value;
}

function topChanges(torrent: Torrent, changes: TorrentChanges): Map<string, Encodable | null> {
  const { comment, createdBy, creationDate, httpseeds, nodes, extra = {} } = changes;
  const top = new Map<string, Encodable | null>();
  for (const [key, value] of Object.entries(extra)) {
    if (key === 'info' || key === 'piece layers') throw refuse(`extra cannot hold ${key}: it says what the content is`);
    if (OF_TORRENT.includes(key)) throw refuse(`extra cannot hold ${key}: it has a field of its own`);
    top.set(toKey(key), value);
  }
  if (comment !== undefined) setText(top, 'comment', comment === null ? null : textOf('comment', comment));
  if (createdBy !== undefined) setText(top, 'created by', createdBy === null ? null : textOf('createdBy', createdBy));
  if (creationDate !== undefined) top.set('creation date', creationDate === null ? null : secondsOf(creationDate));
  setList(top, 'httpseeds', httpseeds, (url) => urlOf('httpseeds', url));
  setList(top, 'nodes', nodes, nodeOf);
  const tiers = newTiers(torrent, changes);
  if (tiers) {
    const { announce } = torrent;
    // Unless it goes itself, it stays, even where the list replaces it (BEP 12).
    const gone = changes.trackers !== undefined || announce === null || isOneOf(announce, changes.removeTrackers);
    top.set('announce', gone ? (tiers[0]?.[0] ?? null) : announce);
    top.set('announce-list', tiers.flat().length > (gone ? 1 : 0) ? tiers : null);
  }
  const webseeds = newWebseeds(torrent, changes);
  if (webseeds) top.set('url-list', webseeds.length > 0 ? webseeds : null);
  return top;
}

/** What an old creator wrote beside it would be shown instead. */
function setText(top: Map<string, Encodable | null>, key: string, value: string | null): void {
  top.set(key, value).set(`${key}.utf-8`, null);
}

/** A list whose key and field have one name; an empty one takes the key away. */
function setList<T>(
  dictionary: Map<string, Encodable | null>,
  key: string,
  list: readonly T[] | null | undefined,
  encode: (item: T) => Encodable,
): void {
  if (list === undefined) return;
  dictionary.set(key, list === null || listOf(key, list).length === 0 ? null : list.map(encode));
}

function isOneOf(url: string, urls: readonly string[] = []): boolean {
  return urls.some((one) => one.trim() === url.trim());
}

/** A tracker in a tier of its own, or a tier (BEP 12). */
type Tier = string | readonly string[];

function newTiers({ announce, announceList }: Torrent, changes: TorrentChanges): string[][] | null {
  const { trackers } = changes;
  const addTrackers = listOf<Tier>('addTrackers', changes.addTrackers ?? []);
  const removeTrackers = textsOf('removeTrackers', changes.removeTrackers ?? []);
  if (trackers === undefined && addTrackers.length === 0 && removeTrackers.length === 0) return null;
  const asTiers = (list: readonly Tier[]) =>
    listOf('trackers', list).map((tier) => (typeof tier === 'string' ? [tier] : [...textsOf('trackers', tier)]));
  const listed = announceList?.some((tier) => tier.length > 0) ? announceList : [announce === null ? [] : [announce]];
  const kept = trackers === undefined ? listed : asTiers(trackers ?? []);
  const gone = new Set(removeTrackers.map((url) => url.trim()));
  const tiers = kept.map((tier) => tier.filter((url) => !gone.has(url.trim())));
  const there = new Set(tiers.flat().map((url) => url.trim()));
  for (const tier of asTiers(addTrackers)) tiers.push(tier.filter((url) => !there.has(url) && there.add(url)));
  requireUrls('trackers', [...asTiers(trackers ?? []), ...asTiers(addTrackers)].flat());
  const left = tiers.filter((tier) => tier.length > 0);
  // What was not there cannot go, and what is there need not come.
  const isSame =
    trackers === undefined && JSON.stringify(left) === JSON.stringify(listed.filter((tier) => tier.length > 0));
  return isSame && !(announce !== null && isOneOf(announce, removeTrackers)) ? null : left;
}

function newWebseeds({ webseeds }: Torrent, changes: TorrentChanges): string[] | null {
  const { urlList } = changes;
  const addWebseeds = listOf('addWebseeds', changes.addWebseeds ?? []);
  const removeWebseeds = textsOf('removeWebseeds', changes.removeWebseeds ?? []);
  if (urlList === undefined && addWebseeds.length === 0 && removeWebseeds.length === 0) return null;
  requireUrls('webseeds', [...listOf('urlList', urlList ?? []), ...addWebseeds]);
  const kept = (urlList === undefined ? webseeds : (urlList ?? [])).filter((url) => !removeWebseeds.includes(url));
  const left = [...new Set([...kept, ...addWebseeds])];
  return urlList === undefined && JSON.stringify(left) === JSON.stringify(webseeds) ? null : left;
}

function infoChanges(torrent: Torrent, changes: TorrentChanges): Map<string, Encodable | null> {
  const { name, source, similar, collections, updateUrl, infoExtra = {} } = changes;
  const info = new Map<string, Encodable | null>();
  for (const [key, value] of Object.entries(infoExtra)) {
    if (CONTENT.includes(key)) throw refuse(`infoExtra cannot hold ${key}: another one needs other hashes`);
    if (OF_INFO.includes(key)) throw refuse(`infoExtra cannot hold ${key}: it has a field of its own`);
    info.set(toKey(key), value);
  }
  if (name !== undefined) rename(torrent, name, info);
  if (changes.private !== undefined) info.set('private', isTrue('private', changes.private) ? 1 : null);
  if (source !== undefined) info.set('source', source === null ? null : textOf('source', source));
  setList(info, 'collections', collections, (one) => textOf('collections', one));
  setList(info, 'similar', similar, infohashOf);
  if (updateUrl !== undefined) info.set('update-url', updateUrl === null ? null : urlOf('updateUrl', updateUrl));
  return info;
}

/** A file alone has its name in the tree too (BEP 52). */
function rename(torrent: Torrent, name: string, info: Map<string, Encodable | null>): void {
  const problem =
    typeof name !== 'string'
      ? 'no text'
      : (unsafeComponent(name) ?? (name.isWellFormed() ? null : 'half a surrogate pair'));
  if (problem) throw refuse(`${problem} cannot be the name of a torrent`);
  info.set('name', name);
  // It would be shown instead.
  if (torrent.info.nameUtf8 != null) info.set('name.utf-8', null);
  const tree = entriesOf(torrent.infoBytes).list.find(({ key }) => key === 'file tree')?.value;
  const [only, ...others] = tree ? entriesOf(tree).list : [];
  const hasList = (torrent.info as Partial<InfoDictV1>).files != null;
  if (torrent.torrentVersion === 'v1' || hasList || !only || others.length > 0) return;
  // A folder may have the torrent's name; a file has a leaf.
  if (entriesOf(only.value).list[0]?.key !== '') return;
  const isSingle = [torrent.info.name, torrent.info.nameUtf8].some((own) => own != null && toKey(own) === only.key);
  if (isSingle) info.set('file tree', new Map([[toKey(name), new RawBencode(only.value)]]));
  else if (only.key === toKey(name))
    throw refuse(`the only file of a folder is called ${shown(name)}: it would be the torrent`);
}

function listOf<T>(field: string, list: readonly T[]): readonly T[] {
  if (Array.isArray(list)) return list;
  throw refuse(`${field} must be a list, not ${shown(list)}`);
}

function textsOf(field: string, list: readonly string[]): readonly string[] {
  return listOf(field, list).map((one) => textOf(field, one));
}

function textOf(field: string, value: string): string {
  if (typeof value === 'string' && value.isWellFormed()) return value;
  throw refuse(`${field} must be text, not ${shown(value)}`);
}

function isTrue(field: string, value: boolean | null): boolean {
  if (value === null || typeof value === 'boolean') return value === true;
  throw refuse(`${field} must be true or false, not ${shown(value)}`);
}

function secondsOf(date: Date): number {
  const seconds = date instanceof Date ? Math.floor(date.getTime() / 1000) : Number.NaN;
  if (Number.isSafeInteger(seconds)) return seconds;
  throw refuse(`creationDate must be a valid Date, not ${shown(date)}`);
}

function infohashOf(hash: Uint8Array | string): Uint8Array {
  const bytes = toInfohash(hash);
  if (bytes) return bytes;
  throw refuse(`similar must hold infohashes of 20 or 32 bytes, or their hexadecimal, not ${shown(hash)}`);
}

function nodeOf(node: DhtNode): DhtNode {
  const [error] = validate(node, DhtNode);
  if (!error) return node;
  throw refuse(`nodes: ${error.message}`);
}

function requireUrls(field: string, urls: readonly string[]): void {
  for (const url of urls) urlOf(field, url);
}

function urlOf(field: string, url: string): string {
  if (typeof url === 'string' && URL.canParse(url)) return url;
  throw refuse(`${field} must be URLs, not ${shown(url)}`);
}

function refuse(problem: string): MetainfoError {
  return new MetainfoError('ERR_INVALID_ARGUMENT', `${problem}.`);
}
