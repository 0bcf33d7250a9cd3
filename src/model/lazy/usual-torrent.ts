/** Makes torrents whose files are known to be valid: their lists are decoded when they are first accessed. */
import { type LimitName, NO_LIMITS } from '../../bencode/limits.ts';
import { type BencodeMap, type BencodeValue, RawBencode } from '../../bencode/value.ts';
import { INFO, TORRENT } from '../codec.ts';
import { infodictDiscriminator, type TorrentVersion } from '../discriminator.ts';
import { decodeFields, type Field } from '../field.ts';
import { decodeRaw } from '../files-codec.ts';
import { Issues } from '../issues.ts';
import type { PieceLayers } from '../piece-layers.ts';
import type { ValidationContext } from '../profile.ts';
import { readOnly } from '../read-only.ts';
import { type DecodedInfo, exposedInfo } from '../torrent/info-decode.ts';
import { decodeTopLevelWithoutLayers, type TopLevelFields } from '../torrent/top-level.ts';
import type { Torrent } from '../torrent/torrent.ts';
import { type ContentTotals, TorrentBase } from '../torrent/torrent-base.ts';
import type { FlatFile } from './flat-tree.ts';
import { defineLazy, once } from './lazy.ts';

/** A torrent whose lists of files are valid and of the usual form. */
export interface UsualTorrent {
  version: TorrentVersion;
  /** The whole torrent, which nobody else can change. */
  bytes: Uint8Array;
  /** The raw `info` within them. */
  infoBytes: Uint8Array;
  /** The decoded torrent, whose lists of files are {@link RawBencode}. */
  map: BencodeMap;
  totals: ContentTotals;
  context: ValidationContext;
  limits: Readonly<Record<LimitName, number>>;
}

/** The fields of a usual torrent but for its lists, and a collection of what is wrong with them. */
export interface UsualFields {
  infoMap: BencodeMap;
  info: DecodedInfo;
  issues: Issues;
}

/** Makes a torrent; null where decoding it may find an issue. @param check Applies the other rules, and may decode piece layers. */
export function usualTorrent(
  { version, bytes, infoBytes, map, totals, context, limits }: UsualTorrent,
  check: (fields: UsualFields) => PieceLayers | 'unusual' | null,
): Torrent | null {
  const infoMap = map.get('info') as BencodeMap;
  const [files, tree, layers] = [infoMap.get('files'), infoMap.get('file tree'), map.get('piece layers')];
  // Unknown keys of a draft may have any name, also that of a list of files, and `name.utf-8` must equal a name in the tree.
  const areRaw = [files, tree].every((one: unknown) => one === undefined || one instanceof RawBencode);
  if (!areRaw || infoMap.has('name.utf-8') || infodictDiscriminator(infoMap) !== version) return null;

  const issues = new Issues('default', limits);
  const fields = decodeTopLevelWithoutLayers(map, issues);
  const info = issues.within('info', () => decodeFields(infoMap, INFO_WITHOUT_FILES, issues)) as DecodedInfo;
  const decodedLayers = check({ infoMap, info, issues });
  if (decodedLayers === 'unusual' || !issues.isEmpty) return null;

  const lists = { info, files, tree, layers } as unknown as UsualLists;
  const all = { ...fields, pieceLayers: decodedLayers };
  return lazyTorrent({ version, bytes, infoBytes, totals, context }, all, lists);
}

/** The lists of files as bencode, and the fields of `info` beside them. */
export interface UsualLists {
  info: DecodedInfo;
  files: RawBencode | undefined;
  tree: RawBencode | undefined;
  /** Anything else if the piece layers are decoded. */
  layers: RawBencode | undefined;
}

/** Makes a torrent of fields that are known to be valid. */
export function lazyTorrent(
  known: Pick<UsualTorrent, 'version' | 'bytes' | 'infoBytes' | 'totals' | 'context'>,
  fields: TopLevelFields,
  { info, files, tree, layers }: UsualLists,
): Torrent {
  const { version, bytes, infoBytes, totals, context } = known;
  const flat = tree ? once(() => decodeValid<FlatFile[]>(INFO.fileTree, tree)) : null;
  const list = files && (() => decodeValid(INFO.files, files));
  const all = { ...fields, info: exposedInfo(info, version, flat, list) };
  if (layers instanceof RawBencode)
    defineLazy(all, 'pieceLayers', () => readOnly(decodeValid(TORRENT.pieceLayers, decodeRaw(layers.bytes))));
  return new TorrentBase(version, all as never, {
    bytes,
    infoBytes,
    flat,
    totals,
    warnings: [],
    context,
  }) as Torrent;
}

const pending = (key: string) => ({ key, decode: () => [] });

/** The fields of an info dictionary, with empty lists in place of the files. */
const INFO_WITHOUT_FILES = { ...INFO, files: pending('files'), fileTree: pending('file tree') };

/** Decodes a value that is known to be valid. */
function decodeValid<T>(field: Pick<Field<T>, 'decode'>, value: BencodeValue | RawBencode): T {
  return field.decode(value as BencodeValue, new Issues('default', NO_LIMITS)) as T;
}
