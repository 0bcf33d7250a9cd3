/** Makes the torrent of bytes that a creation has just encoded, without decoding its files again. */
import { decodeTrusted } from '../../bencode/decode.ts';
import { NO_LIMITS } from '../../bencode/limits.ts';
import { type BencodeMap, type BencodeValue, RawBencode } from '../../bencode/value.ts';
import { INFO, TORRENT } from '../codec.ts';
import { infodictDiscriminator, type TorrentVersion } from '../discriminator.ts';
import { decodeFields, type Field } from '../field.ts';
import { decodeRaw } from '../files-codec.ts';
import { Issues } from '../issues.ts';
import { defineLazy, once } from '../lazy.ts';
import { readOnly } from '../read-only.ts';
import { checkKeys } from '../rules/rules.ts';
import { type DecodedInfo, exposedInfo } from './info-decode.ts';
import { decodeTopLevelWithoutLayers, type TopLevelFields } from './top-level.ts';
import { fromOwnBytes, type Torrent } from './torrent.ts';
import { type ContentTotals, TorrentBase } from './torrent-base.ts';

/** The paths of the values that are decoded when they are first accessed. */
export type LazyPath = 'info/files' | 'info/file tree' | 'piece layers';

/** A torrent that was just encoded. It has a name, and a piece length that its version may have. */
export interface EncodedTorrent {
  version: TorrentVersion;
  /** The whole torrent, which nobody else can change. */
  bytes: Uint8Array;
  /**
   * The size of the encoded value at each {@link LazyPath} that the torrent has, in bytes. Those values must be valid: names are
   * safe, paths differ, and the hashes fit the sizes of the files.
   */
  encoded: ReadonlyMap<LazyPath, number>;
  totals: ContentTotals;
}

/**
 * The torrent that `Torrent.fromBytes` makes of the same bytes. Its lists of files are decoded when they are first accessed;
 * all other fields are checked now. A torrent with anything unusual in those is decoded as a whole.
 *
 * @throws as {@link fromOwnBytes}
 */
export function createdTorrent(created: EncodedTorrent): Torrent {
  const decoded = decodeUsual(created);
  // Limits are for untrusted input.
  return decoded ? usualTorrent(created, decoded) : fromOwnBytes(created.bytes, { limits: NO_LIMITS });
}

/** The fields of a torrent without anything unusual, and its lists of files as bencode. */
export interface UsualFields {
  /** The fields beside `info` and `piece layers`. */
  fields: TopLevelFields;
  /** The fields of `info` without the files. */
  info: DecodedInfo;
  /** The raw `info` within the bytes of the torrent. */
  infoBytes: Uint8Array;
  files: RawBencode | undefined;
  tree: RawBencode | undefined;
  layers: RawBencode | undefined;
}

/** Decodes all but the lists of files; null where decoding those too may find an issue. */
function decodeUsual({ version, bytes, encoded, totals }: EncodedTorrent): UsualFields | null {
  // The name of its only file, which is in the tree, may be one that libtorrent removes.
  if (version === 'v2' && totals.files === 1) return null;
  const { value, errors, span } = decodeTrusted(bytes, {
    span: 'info',
    tolerant: true,
    limits: NO_LIMITS,
    encoded,
  });
  const torrent = value as BencodeMap;
  const infoMap = torrent.get('info') as BencodeMap;
  const lists = [infoMap.get('files'), infoMap.get('file tree'), torrent.get('piece layers')] as unknown[];
  // Unknown keys of a draft may have any name, also that of a list of files, and `name.utf-8` must equal a name in the tree.
  const areEncoded = lists.every((one) => one === undefined || one instanceof RawBencode);
  const isUsual = areEncoded && !infoMap.has('name.utf-8');
  if (errors.length > 0 || !span || !isUsual || infodictDiscriminator(infoMap) !== version) return null;

  const issues = new Issues('default', NO_LIMITS);
  const fields = decodeTopLevelWithoutLayers(torrent, issues);
  const info = issues.within('info', () => decodeFields(infoMap, INFO_WITHOUT_FILES, issues)) as DecodedInfo;
  const has = (key: string) => infoMap.has(key);
  checkKeys({ version, info, has, isPad: () => false, layers: undefined, flat: null, context: {}, issues });
  if (!issues.isEmpty) return null;
  const [files, tree, layers] = lists as UsualFields['files'][];
  return { fields, info, infoBytes: bytes.subarray(span.start, span.end), files, tree, layers };
}

/** The torrent of bytes whose fields are known. */
export function usualTorrent(
  { version, bytes, totals }: Omit<EncodedTorrent, 'encoded'>,
  { fields, info, infoBytes, files, tree, layers }: UsualFields,
): Torrent {
  const flat = tree ? once(() => decodeValid(INFO.fileTree, tree)) : null;
  const list = files && (() => decodeValid(INFO.files, files));
  const all = { info: exposedInfo(info, version, flat, list), ...fields };
  if (layers) defineLazy(all, 'pieceLayers', () => readOnly(decodeValid(TORRENT.pieceLayers, decodeRaw(layers.bytes))));
  const validated = { bytes, infoBytes, flat, totals, warnings: [], context: {} };
  return new TorrentBase(version, all as never, validated) as Torrent;
}

const pending = (key: string) => ({ key, decode: () => [] });

/** The fields of an info dictionary, with empty lists in place of the files. */
const INFO_WITHOUT_FILES = { ...INFO, files: pending('files'), fileTree: pending('file tree') };

/** Decodes a value that is known to be valid. */
function decodeValid<T>(field: Pick<Field<T>, 'decode'>, value: BencodeValue | RawBencode): T {
  return field.decode(value as BencodeValue, new Issues('default', NO_LIMITS)) as T;
}
