/** A torrent as plain data for `JSON.stringify` and `metainfo show --json`. */
import { type Issue, toHex } from '../../errors/errors.ts';
import type { TorrentVersion } from '../discriminator.ts';
import type { DhtNode } from '../primitives.ts';
import type { Torrent } from './torrent.ts';

/** A torrent as JSON: plain data, hashes in hexadecimal. */
export interface TorrentJson {
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
  /** HTTP seeds (BEP 17). */
  httpseeds: readonly string[];
  /** DHT nodes (BEP 5). */
  nodes: readonly DhtNode[];
  /** Infohashes of similar torrents, in hexadecimal (BEP 38). */
  similar: readonly string[];
  /** Collections that the torrent belongs to (BEP 38). */
  collections: readonly string[];
  /** The URL of a newer torrent (BEP 39). */
  updateUrl: string | null;
  /** Free text. */
  comment: string | null;
  /** The program that created the torrent. */
  createdBy: string | null;
  /** ISO 8601. */
  creationDate: string | null;
  /** Whether only the trackers may announce peers (BEP 27). */
  private: boolean;
  /** The source tag: a different one gives a different infohash. */
  source: string | null;
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
    httpseeds: torrent.httpseeds ?? [],
    nodes: torrent.nodes ?? [],
    similar: torrent.similar.map(toHex),
    collections: torrent.collections,
    updateUrl: info.updateUrl ?? null,
    comment: torrent.comment,
    createdBy: torrent.createdBy,
    creationDate: torrent.creationDate?.toISOString() ?? null,
    private: info.private ?? false,
    source: info.source ?? null,
    warnings: torrent.warnings,
  };
}

/** The trackers in tiers: trimmed and without duplicates, as in `flatTrackers`. */
export function tiersOf({ announceList, flatTrackers }: Torrent): string[][] {
  const left = new Set(flatTrackers);
  const tiers = (announceList ?? []).map((tier) => tier.map((url) => url.trim()).filter((url) => left.delete(url)));
  // Only `announce` is left, and only without a list.
  return [...tiers.filter((tier) => tier.length > 0), ...[...left].map((url) => [url])];
}
