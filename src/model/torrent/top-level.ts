/** Decodes the fields of a torrent beside `info`: trackers, comment, piece layers and so on. */
import type { BencodeMap } from '../../bencode/value.ts';
import { isUtf8 } from '../../platform/node.ts';
import { INFO, TORRENT, TORRENT_V1 } from '../codec.ts';
import type { TorrentVersion } from '../discriminator.ts';
import { decodeFields, type Field } from '../field.ts';
import type { Issues } from '../issues.ts';

/** The fields of a torrent beside `info`: null where the key is absent. `extra` has the keys that the model does not know. */
export type TopLevelFields = { [P in keyof typeof TORRENT]: Decoded<(typeof TORRENT)[P]> | null } & {
  extra: BencodeMap;
};

type Decoded<F> = F extends Field<infer T> ? T : never;

/** A key that is known, but decoded elsewhere. */
export const skipped = (key: string) => ({ key, decode: () => undefined });

const TOP_LEVEL = { ...TORRENT, info: skipped('info') };
const TOP_LEVEL_V1 = { ...TORRENT_V1, info: TOP_LEVEL.info };
const WITHOUT_LAYERS = { ...TOP_LEVEL, pieceLayers: skipped(TORRENT.pieceLayers.key) };

/** The keys that count in `info` only. */
export const INFO_ONLY: ReadonlySet<string> = new Set(
  Object.entries(INFO).flatMap(([name, { key }]) => (name in TORRENT ? [] : [key])),
);

/** Warns of keys whose place is in `info`: a torrent that is private beside it is public for every client. */
function warnOfMisplaced<T extends TopLevelFields>(fields: T, issues: Issues): T {
  for (const key of fields.extra.keys())
    if (INFO_ONLY.has(key)) issues.add('misplaced', [key], `${key} has no effect beside info`, 'warning');
  return fields;
}

/** Decodes every key beside `info`. */
export function decodeTopLevel(map: BencodeMap, version: TorrentVersion | null, issues: Issues): TopLevelFields {
  return decodeWith(version === 'v1' ? TOP_LEVEL_V1 : TOP_LEVEL, map, issues);
}

/** Decodes every key beside `info` and `piece layers`; `pieceLayers` is null. */
export function decodeTopLevelWithoutLayers(map: BencodeMap, issues: Issues): TopLevelFields {
  return decodeWith(WITHOUT_LAYERS, map, issues);
}

function decodeWith(fields: object, map: BencodeMap, issues: Issues): TopLevelFields {
  const decoded = decodeFields(issues.rules.isExact ? map : withUtf8Texts(map), fields, issues);
  return warnOfMisplaced({ ...noFields(), ...decoded } as TopLevelFields, issues);
}

/** As in libtorrent, the texts in UTF-8 that old creators wrote beside those in another encoding come first. */
function withUtf8Texts(map: BencodeMap): BencodeMap {
  let texts = map;
  for (const { key } of [TORRENT.comment, TORRENT.createdBy]) {
    const utf8 = map.get(`${key}.utf-8`);
    if (utf8 instanceof Uint8Array && isUtf8(utf8)) texts = new Map(texts).set(key, utf8);
  }
  return texts;
}

/** No fields: a function, because `extra` must be a new Map for each torrent. */
export const noFields = () => ({ ...NULLS, extra: new Map() });

const NULLS = Object.fromEntries(Object.keys(TORRENT).map((name) => [name, null]));
