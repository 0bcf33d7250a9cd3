/** Decodes the fields of a torrent beside `info`: trackers, comment, piece layers and so on. */
import type { BencodeMap } from '../../bencode/value.ts';
import { TORRENT } from '../codec.ts';
import { decodeFields } from '../field.ts';
import type { Issues } from '../issues.ts';
import type { PieceLayers } from '../piece-layers.ts';
import type { DhtNode } from '../primitives.ts';

/** The fields of a torrent beside `info`: null where the key is absent. */
export interface TopLevelFields {
  announce: string | null;
  announceList: string[][] | null;
  comment: string | null;
  createdBy: string | null;
  creationDate: Date | null;
  pieceLayers: PieceLayers | null;
  urlList: string[] | null;
  httpseeds: string[] | null;
  nodes: DhtNode[] | null;
  similar: Uint8Array[] | null;
  collections: string[] | null;
  /** Keys that the model does not know. */
  extra: BencodeMap;
}

/** A key that is known, but decoded elsewhere. */
export const skipped = (key: string) => ({ key, decode: () => undefined, encode: () => 0 });

const TOP_LEVEL = { ...TORRENT, info: skipped('info') };
const WITHOUT_LAYERS = { ...TOP_LEVEL, pieceLayers: skipped(TORRENT.pieceLayers.key) };

/** Decodes every key beside `info`. */
export function decodeTopLevel(map: BencodeMap, issues: Issues): TopLevelFields {
  return { ...noFields(), ...decodeFields(map, TOP_LEVEL, issues) };
}

/** Decodes every key beside `info` and `piece layers`; `pieceLayers` is null. */
export function decodeTopLevelWithoutLayers(map: BencodeMap, issues: Issues): TopLevelFields {
  return { ...noFields(), ...decodeFields(map, WITHOUT_LAYERS, issues) };
}

/** A function, because `extra` must be a new Map for each torrent. */
const noFields = (): TopLevelFields => ({
  announce: null,
  announceList: null,
  comment: null,
  createdBy: null,
  creationDate: null,
  pieceLayers: null,
  urlList: null,
  httpseeds: null,
  nodes: null,
  similar: null,
  collections: null,
  extra: new Map(),
});
