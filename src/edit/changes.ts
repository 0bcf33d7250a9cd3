/** The changes that `edit` makes, and their form as keys and values of a torrent. */
import { type Encodable, RawBencode, toKey } from '../bencode/value.ts';
import { storedValue } from '../create/other-fields.ts';
import { type MetainfoError, optionText, shown, ValidationError } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { INFO, TORRENT } from '../model/codec.ts';
import { keysOf } from '../model/field.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { type GivenValues, IN_INFO, type Key, type Keys, type Kind, TOP } from '../model/keys.ts';
import { INFO_ONLY } from '../model/torrent/top-level.ts';
import { type Torrent, TorrentBase } from '../model/torrent/torrent.ts';
import { ENTROPY_KEY, entropyText } from '../text/entropy.ts';
import { CONTENT_KEYS, entriesOf } from './replace-fields.ts';
import { trackerChanges, webseedChanges } from './url-changes.ts';

/** A replacement of a text in URLs. */
export interface TextReplacement {
  /** The text to replace, such as a host or a passkey. */
  readonly from: string;
  /** The new text. */
  readonly to: string;
}

type KeyChanges<T> = { [P in keyof T]?: T[P] extends Key<infer K> ? GivenValues[K] | null : never };

/** Fields to change. Absent fields stay as they are; null removes a field, and so does an empty text. */
export interface TorrentChanges extends KeyChanges<typeof TOP>, KeyChanges<Omit<typeof IN_INFO, 'name'>> {
  /** Replaces all trackers. A flat list puts each in its own tier; a list of lists gives the tiers (BEP 12). */
  trackers?: readonly string[] | readonly (readonly string[])[] | null;
  /** Appends trackers that the torrent does not have yet, each in its own tier, or as tiers. */
  addTrackers?: readonly string[] | readonly (readonly string[])[];
  /**
   * Removes trackers from all tiers. URLs that differ in the case of the host or in the default port are the same. A host such as
   * `old.example` or `old.example:6969` stands for all trackers on it.
   */
  removeTrackers?: readonly string[];
  /**
   * Replaces a text, such as a host or a passkey, in all trackers that have it, one replacement after the other. It applies after
   * `removeTrackers` and before `addTrackers`. Of URLs that become equal, the first one stays.
   */
  replaceTrackers?: readonly TextReplacement[];
  /** Replaces all webseeds (BEP 19). */
  urlList?: readonly string[] | null;
  /** Another word for `urlList`. */
  webseeds?: readonly string[] | null;
  /** Appends webseeds that the torrent does not have yet. */
  addWebseeds?: readonly string[];
  /** Removes webseeds, like `removeTrackers`. */
  removeWebseeds?: readonly string[];
  /** Replaces a text in webseeds, like `replaceTrackers`. It does not change `httpseeds`. */
  replaceWebseeds?: readonly TextReplacement[];
  /** Other keys beside `info`, with bencode values. `similar` and `collections` may stand here too (BEP 38). */
  extra?: Readonly<Record<string, Encodable | null>>;

  // The fields below are in `info`: they change the infohash.
  /** The name of the file or folder. */
  name?: string;
  /** Whether peers may come from the trackers only (BEP 27). False removes the key, but keeps a `private` of 0, which means the same. */
  private?: boolean | null;
  /** Infohashes of torrents that may hold the same files (BEP 38): 20 or 32 bytes, or hexadecimal. */
  similar?: readonly (Uint8Array | string)[] | null;
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
const { similar: _1, collections: _2, ...BESIDE_INFO } = TORRENT;

type Changed = Map<string, Encodable | null>;

/** The changed keys beside `info`. */
export function topChanges(torrent: Torrent, changes: TorrentChanges): Changed {
  const { extra = {} } = changes;
  const top: Changed = new Map();
  for (const [key, value] of Object.entries(extra)) {
    requireExtra('extra', key, ['info', 'piece layers'], BESIDE_INFO);
    if (value !== null && INFO_ONLY.has(key)) throw onlyInInfo(key);
    top.set(toKey(key), value);
  }
  for (const [name, row] of rowsOf(TOP)) {
    const value = changes[name];
    if (value === undefined || name === 'urlList') continue;
    top.set(row.key, changedValue(row, value));
    // Clients would show the key that old creators wrote instead.
    if (row.kind === 'text') top.set(`${row.key}.utf-8`, null);
  }
  for (const [key, value] of trackerChanges(torrent, changes)) top.set(key, value);
  for (const [key, value] of webseedChanges(torrent, changes)) top.set(key, value);
  return top;
}

/** The changed keys of `info`. */
export function infoChanges(torrent: Torrent, changes: TorrentChanges): Changed {
  const { name, infoExtra = {} } = changes;
  const info: Changed = new Map();
  for (const [key, value] of Object.entries(infoExtra)) {
    requireExtra('infoExtra', key, CONTENT_KEYS, INFO);
    info.set(toKey(key), value);
  }
  if (name !== undefined) setName(torrent, name, info);
  for (const [property, row] of rowsOf(IN_INFO)) {
    const [value, own] = [changes[property], torrent.info[property]];
    if (value === undefined || property === 'name') continue;
    // An empty list means the same as none, and false as no key: they change nothing where the torrent has neither a value.
    const changesNothing = Array.isArray(value ?? own) ? isEmpty(value) && isEmpty(own) : value === false && !own;
    if (!changesNothing) info.set(row.key, value === false ? null : changedValue(row, value));
  }
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

function onlyInInfo(key: string): MetainfoError {
  const option = { extra: null, ...(key === 'private' ? { private: true as const } : { [key]: 'TEXT' }) };
  const advice = ['name', 'private', 'source'].includes(key)
    ? `use ${Object.entries(option)
        .slice(1)
        .map(([name, value]) => optionText(name, value))}`
    : 'it cannot be set alone';
  return invalidArgument(`extra cannot hold ${key}, which has no effect beside info: ${advice}`, { option });
}

const rowsOf = <T extends Keys>(rows: T) => Object.entries(rows) as [keyof T, Key<Kind>][];
const isEmpty = (value: unknown): boolean => value == null || (Array.isArray(value) && value.length === 0);

/** A changed value as the torrent has it; null for an empty list, which removes the key. */
function changedValue(row: Key<Kind>, given: unknown): Encodable | null {
  if (isEmpty(given)) return null;
  const value = storedValue(row, given);
  return row.encode ? row.encode(value as never) : (value as Encodable);
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
