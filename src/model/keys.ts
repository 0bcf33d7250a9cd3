/**
 * The keys of a torrent that do not describe its content: a row for each. Every layer derives its part from the rows and their kinds:
 * structs, drafts, edits, JSON, printed lines. The options of the command are the rows of src/cli/options/key-options.ts.
 */
import type { Struct } from 'superstruct';
import { DateTime, Flag } from '../errors/guard.ts';
import type { Field } from './field.ts';
import { type DhtNode, Infohash, list, maybe, ReadNode, Text, TextList, Url } from './primitives.ts';
import { date, infohashList, nodes, privateFlag, shownText, text, textList, url, urlList } from './value-fields.ts';

/** The values of each kind of key, as a torrent has them. */
export interface Values {
  text: string;
  flag: boolean;
  date: Date;
  url: string;
  urls: readonly string[];
  texts: readonly string[];
  infohashes: readonly Uint8Array[];
  nodes: readonly DhtNode[];
}

/** The kind of a key's values, which decides how they are checked, stored and shown. */
export type Kind = keyof Values;

/** The values that callers may give for each kind. */
export interface GivenValues extends Omit<Values, 'infohashes'> {
  infohashes: readonly (Uint8Array | string)[];
}

/** A key that callers set. */
export interface Key<K extends Kind> extends Field<Values[K]> {
  kind: K;
  /** The word for it in printed lines, in the singular, where that is not the key itself. */
  label?: string;
}

/** Keys by their properties. */
export type Keys = Readonly<Record<string, Key<Kind>>>;

const key = <K extends Kind>(kind: K, field: Field<Values[K]>, label?: string): Key<K> => ({
  ...field,
  kind,
  ...(label !== undefined && { label }),
});

/** The keys beside `info`. */
export const TOP = {
  /** A comment for people. */
  comment: key('text', shownText('comment')),
  /** The program that made the torrent. */
  createdBy: key('text', shownText('created by')),
  /** When the torrent was made, to the second. */
  creationDate: key('date', date('creation date'), 'created'),
  /** Webseeds (BEP 19). */
  urlList: key('urls', urlList('url-list')),
  /** HTTP seeds: URLs of scripts that serve pieces (BEP 17). */
  httpseeds: key('urls', urlList('httpseeds'), 'httpseed'),
  /** DHT nodes to start from, as `[host, port]` (BEP 5). */
  nodes: key('nodes', nodes, 'node'),
} satisfies Keys;

/** The keys of `info`: another value gives the same files another infohash. Drafts and edits take them beside `info` too. */
export const IN_INFO = {
  /** The name of the file or folder. */
  name: key('text', { ...text('name'), lenient: false }),
  /** Whether only the trackers may announce peers (BEP 27). */
  private: key('flag', privateFlag),
  /** The source tag: a different one gives the same files a different infohash. */
  source: key('text', text('source')),
  /** Infohashes of torrents that may hold the same files, 20 or 32 bytes each (BEP 38). */
  similar: key('infohashes', infohashList('similar'), 'similar torrent'),
  /** Names of collections whose torrents may hold the same files (BEP 38). */
  collections: key('texts', textList('collections'), 'collection'),
  /** The URL of a newer torrent (BEP 39). */
  updateUrl: key('url', url('update-url'), 'feed'),
} satisfies Keys;

/** All keys that callers set, by their properties. */
export const KEYS = { ...TOP, ...IN_INFO };

/** A struct for each kind. */
export type Structs = { readonly [K in Kind]: Struct<Values[K], unknown> };

/** The structs of values as a torrent has them. */
export const READ: Structs = {
  text: Text,
  flag: Flag,
  date: DateTime,
  url: Url,
  urls: list(Url),
  texts: TextList,
  infohashes: list(Infohash),
  nodes: list(ReadNode),
};

/** The properties of rows whose kind is one of these. */
export const namesOfKind = (rows: Keys, ...kinds: readonly Kind[]): string[] =>
  Object.keys(rows).filter((name) => kinds.includes((rows[name] as Key<Kind>).kind));

/** A struct for each row: every key may be absent or null. */
export function structsOf<T extends Keys>(rows: T, structs: Structs) {
  const entries = Object.entries(rows).map(([name, { kind }]) => [name, maybe(structs[kind] as Struct)]);
  return Object.fromEntries(entries) as {
    [P in keyof T]: Struct<(T[P] extends Key<infer K> ? Values[K] : never) | null | undefined, unknown>;
  };
}
