/** Assembles the torrent of a layout and its digests. */
import { encode, encodeParts } from '../bencode/encode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import { type Encodable, RawBencode } from '../bencode/value.ts';
import { toHex } from '../errors/errors.ts';
import { inSlices, joinInSlices } from '../jobs/slices.ts';
import { libtorrentName } from '../layout/libtorrent-names.ts';
import { TORRENT } from '../model/codec.ts';
import { HashList } from '../model/hash-list.ts';
import { createdTorrent, type EncodedTorrent, type LazyPath } from '../model/lazy/created-torrent.ts';
import type { PieceLayers } from '../model/piece-layers.ts';
import { fromOwnBytes, type Torrent } from '../model/torrent/torrent.ts';
import { encodedFileList, encodedFileTree, hasPlainEntries } from './file-list.ts';
import type { TorrentDigests } from './hash-layout.ts';
import type { SizedLayout } from './torrent-layout.ts';

/** The keys of a torrent that describe its files. */
export interface ContentKeys {
  /** Values of `info` by key; null for a key that the version does not have. */
  info: Map<string, Encodable | null>;
  /** The value of `piece layers`; null in v1. */
  pieceLayers: Encodable | null;
}

/** How {@link assemble} makes a torrent. */
export interface AssembleOptions {
  /** The v1 file list of the layout, encoded, if that is at hand. */
  fileList?: RawBencode | null;
  /** Whether engines of this package have just made all digests: then they need no check. */
  isHashedHere?: boolean;
}

/** Makes the torrent of a layout and its digests. */
export async function assemble(
  layout: SizedLayout,
  digests: TorrentDigests,
  { fileList, isHashedHere = false }: AssembleOptions = {},
): Promise<Torrent> {
  const content = await contentKeys(layout, digests, fileList === undefined ? await encodedFileList(layout) : fileList);
  const bytes = await joinInSlices(encodeParts(withContent(layout, content)));
  const known = isHashedHere ? await knownValues(layout, content) : null;
  // Limits are for untrusted input. `warn` has reported what other readers will refuse.
  if (!known) return fromOwnBytes(bytes, { limits: NO_LIMITS });
  return createdTorrent({ version: layout.version, bytes, ...known });
}

/** Gives {@link createdTorrent} its facts about a layout with valid hashes; null if its files need a check. */
export async function knownValues(
  layout: SizedLayout,
  content: ContentKeys,
): Promise<Pick<EncodedTorrent, 'encoded' | 'totals'> | null> {
  if (!hasPlainEntries(layout.files) || hasNameless(layout)) return null;
  return { encoded: encodedSizes(content), totals: await totalsOf(layout) };
}

/** Whether libtorrent has no name for the only file: that is an issue of the torrent. */
function hasNameless({ files }: SizedLayout): boolean {
  return files.length === 1 && libtorrentName(files.at(0)?.path.at(-1) ?? '') === '';
}

/** The torrent of a layout as bencode. */
export function withContent({ otherFields }: SizedLayout, content: ContentKeys): Map<string, Encodable> {
  const torrent = new Map<string, Encodable>(otherFields);
  const info = new Map<string, Encodable>(torrent.get('info') as ReadonlyMap<string, Encodable>);
  for (const [key, value] of content.info) if (value !== null) info.set(key, value);
  if (content.pieceLayers) torrent.set('piece layers', content.pieceLayers);
  return torrent.set('info', info);
}

/** The sizes of the encoded values that a torrent decodes when they are first accessed. */
export function encodedSizes({ info, pieceLayers }: ContentKeys): EncodedTorrent['encoded'] {
  const sizes = new Map<LazyPath, number>();
  const add = (path: LazyPath, value: Encodable | null | undefined) => {
    if (value instanceof RawBencode) sizes.set(path, value.bytes.length);
  };
  add('info/files', info.get('files'));
  add('info/file tree', info.get('file tree'));
  add('piece layers', pieceLayers);
  return sizes;
}

async function totalsOf({ files, pieceLength }: SizedLayout): Promise<EncodedTorrent['totals']> {
  const { lengths } = files;
  let pieces = 0;
  await inSlices(lengths.length, (first, end) => {
    for (let i = first; i < end; i += 1) pieces += Math.ceil((lengths[i] as number) / pieceLength);
  });
  return { files: files.length, bytes: files.totalLength, pieces };
}

/** The keys of a torrent that describe its files, from a layout and its digests. */
export async function contentKeys(
  layout: SizedLayout,
  { v1, v2 }: TorrentDigests,
  fileList: RawBencode | null,
): Promise<ContentKeys> {
  const { files, pieceLength } = layout;
  const fileTree = v2 ? await encodedFileTree(files, v2.roots) : null;
  const layers = v2 ? await pieceLayersOf(files.lengths, v2, pieceLength) : null;
  return keysOf(layout, { pieces: v1 ?? null, fileList, fileTree, layers });
}

/** The hashes of a layout, and its lists of files as bencode. */
interface Content {
  pieces: Uint8Array | null;
  fileList: RawBencode | null;
  fileTree: RawBencode | null;
  layers: PieceLayers | null;
}

export function keysOf({ version, isSingleFile, files, pieceLength }: SizedLayout, content: Content): ContentKeys {
  const { pieces, fileList, fileTree, layers } = content;
  const info = new Map<string, Encodable | null>([
    ['file tree', fileTree],
    ['files', fileList],
    ['length', isSingleFile && version !== 'v2' ? files.totalLength : null],
    ['meta version', fileTree && 2],
    ['piece length', pieceLength],
    ['pieces', pieces],
  ]);
  return { info, pieceLayers: fileTree && layers && new RawBencode(encode(TORRENT.pieceLayers.encode(layers))) };
}

/** The piece layers of the files that are longer than a piece, by pieces root. */
export async function pieceLayersOf(
  lengths: Float64Array,
  { roots, layers }: NonNullable<TorrentDigests['v2']>,
  pieceLength: number,
): Promise<Map<string, HashList>> {
  const found = new Map<string, HashList>();
  // Each file has at least two pieces.
  if (layers.length === 0) return found;
  let start = 0;
  await inSlices(lengths.length, (first, end) => {
    for (let i = first; i < end; i += 1) {
      const length = lengths[i] as number;
      if (length <= pieceLength) continue;
      const next = start + Math.ceil(length / pieceLength) * 32;
      found.set(toHex(roots.subarray(i * 32, (i + 1) * 32)), new HashList(layers.subarray(start, next), 32, true));
      start = next;
    }
  });
  return found;
}
