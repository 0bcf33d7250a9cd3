/** A torrent as plain data for `JSON.stringify` and `metainfo show --json`. */
import { type Issue, toHex } from '../../errors/errors.ts';
import type { TorrentVersion } from '../discriminator.ts';
import { type IN_INFO, KEYS, type Key, type Keys, type Kind, type TOP, type Values } from '../keys.ts';
import { bencodeJson, unknownKeys, unknownKeysOfFiles } from '../unknown-keys.ts';
import type { Torrent } from './torrent.ts';

type Value<K extends Kind> = Values[K] | null | undefined;

/** The values of each kind of key as JSON: null and an empty list where it is absent. */
const JSON_OF = {
  text: (value: Value<'text'>) => value ?? null,
  flag: (value: Value<'flag'>) => value ?? false,
  date: (value: Value<'date'>) => value?.toISOString() ?? null,
  url: (value: Value<'url'>) => value ?? null,
  urls: (value: Value<'urls'>) => value ?? [],
  texts: (value: Value<'texts'>) => value ?? [],
  infohashes: (value: Value<'infohashes'>): readonly string[] => (value ?? []).map(toHex),
  nodes: (value: Value<'nodes'>) => value ?? [],
} satisfies { readonly [K in Kind]: (value: Value<K>) => unknown };

type JsonKeys<T> = { [P in keyof T]: T[P] extends Key<infer K> ? ReturnType<(typeof JSON_OF)[K]> : never };

/** A torrent as JSON: plain data, hashes in hexadecimal. */
export interface TorrentJson extends JsonKeys<Omit<typeof TOP, 'urlList'>>, JsonKeys<typeof IN_INFO> {
  /** `v1`, `v2` or `hybrid`. */
  version: TorrentVersion;
  /** The name of the file or folder. */
  name: string;
  /** In hexadecimal; null for a version that the torrent does not have. */
  infohash: {
    /** SHA-1; null for v2. */
    v1: string | null;
    /** SHA-256; null for v1. */
    v2: string | null;
  };
  /** Bytes. */
  pieceLength: number;
  /** The number of pieces. */
  pieces: number;
  /** The files in the order of the torrent, without pad files. */
  files: {
    /** The path below the torrent's root, with `/`. */
    path: string;
    /** Bytes. */
    length: number;
  }[];
  /** Bytes of content, without pad files. */
  totalSize: number;
  /** The tracker URLs, without duplicates. */
  trackers: readonly string[];
  /** The same trackers in tiers (BEP 12). */
  tiers: readonly (readonly string[])[];
  /** The webseed URLs, without duplicates (BEP 19). */
  webseeds: readonly string[];
  /** Infohashes of similar torrents, in hexadecimal (BEP 38). */
  similar: readonly string[];
  /** ISO 8601. */
  creationDate: string | null;
  /**
   * Keys that this library has no name for, at every level; those in `info` are part of the infohash. In paths and values, bytes that are not UTF-8 are `hex:` and hexadecimal digits, and so is text that begins
   * with `hex:` or `int:`; integers beyond 2^53 are `int:` and decimal digits.
   */
  unknownKeys: {
    /** Keys, list indexes, and the path of a file of a v2 tree. */
    path: (string | number)[];
    /** Its value. */
    value: unknown;
  }[];
  /** Issues that did not make the torrent invalid. */
  warnings: readonly Issue[];
}

/** The JSON form of a torrent. */
export function torrentJson(torrent: Torrent): TorrentJson {
  const { info } = torrent;
  return {
    version: torrent.torrentVersion,
    name: torrent.name,
    infohash: { v1: torrent.infohashV1, v2: torrent.infohashV2 },
    pieceLength: info.pieceLength,
    pieces: torrent.nPieces,
    files: torrent.files.map(({ path, length }) => ({ path, length })),
    totalSize: torrent.totalSize,
    trackers: torrent.flatTrackers,
    tiers: tiersOf(torrent),
    webseeds: torrent.webseeds,
    ...(Object.fromEntries([...hintsOf(torrent), ...plainValuesOf(torrent, KEYS)]) as JsonKeys<
      Omit<typeof KEYS, 'name' | 'urlList'>
    >),
    unknownKeys: [...unknownKeys(torrent), ...unknownKeysOfFiles(torrent)].map(({ path, value }) => ({
      path,
      value: bencodeJson(value),
    })),
    warnings: torrent.warnings,
  };
}

/** A property, its value as JSON, and its row. */
type KeyValue = readonly [name: string, value: unknown, row: Key<Kind>];

/** The values of the kinds that every reader shows, but the name. */
export const plainValuesOf = (torrent: Torrent, rows: Keys): KeyValue[] =>
  valuesOf(torrent, rows, ({ kind }) => PLAIN.includes(kind));

/** The values that few torrents have: lists and the URL of a newer torrent, but not the webseeds. */
export const hintsOf = (torrent: Torrent): KeyValue[] => valuesOf(torrent, KEYS, ({ kind }) => !PLAIN.includes(kind));

const PLAIN: readonly Kind[] = ['text', 'flag', 'date'];

function valuesOf(torrent: Torrent, rows: Keys, isWanted: (row: Key<Kind>) => boolean): KeyValue[] {
  const entries = Object.entries(rows).filter(([, row]) => isWanted(row) && row !== KEYS.name && row !== KEYS.urlList);
  // A torrent joins the lists that it has in `info` and beside it.
  const { info } = torrent;
  return entries.map(([name, row]) => [
    name,
    JSON_OF[row.kind]((name in torrent ? torrent : info)[name as never]),
    row,
  ]);
}

/** The trackers in tiers: trimmed and without duplicates, as in `flatTrackers`. */
export function tiersOf({ announceList, flatTrackers }: Torrent): string[][] {
  const left = new Set(flatTrackers);
  const tiers = (announceList ?? []).map((tier) => tier.map((url) => url.trim()).filter((url) => left.delete(url)));
  // Only `announce` is left, and only without a list.
  return [...tiers.filter((tier) => tier.length > 0), ...[...left].map((url) => [url])];
}
