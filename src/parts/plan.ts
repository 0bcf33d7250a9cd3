/** Plans for parts: the files of a hash job or a torrent as plain data, split into parts that other machines can hash. */
import { createHash } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { PadNames } from '../layout/padding.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { autoPartSize, type PartTable, splitIntoParts, wholePartSize } from './split-into-parts.ts';

/** The format of a {@link PartsPlan}. */
export const PARTS_PLAN = 'metainfo-plan-1';

/**
 * A plan as plain data, split into parts: `JSON.stringify` and `JSON.parse` keep it. {@link hashPart} hashes a part of it on any machine
 * that can read the files.
 */
export interface PartsPlan {
  /** The format of the plan. */
  format: typeof PARTS_PLAN;
  /** The SHA-256 of all other properties, in hexadecimal: of their JSON text in this order, without white space. */
  id: string;
  /** In the plan of a {@link partsEngine}: random, so that no stored part is taken for one of another hash job. Null in a torrent's plan. */
  nonce: string | null;
  /** The folder or file that the paths are relative to: where it was planned, or the name that workers know it by. */
  root: string;
  /** The version of the torrent. */
  version: TorrentVersion;
  /** Bytes. */
  pieceLength: number;
  /** How many files, from the first on, have their last v1 piece filled up with zeros. */
  paddedFiles: number;
  /** Bytes of content of a part at most, apart from the rest of a piece: whole pieces. */
  partSize: number;
  /** The number of parts. */
  parts: number;
  /** Bytes of all files. */
  totalSize: number;
  /** The torrent without its files; null in the plan of a {@link partsEngine}. */
  torrent: PlannedTorrent | null;
  /** The files, as columns. */
  files: PlanFiles;
}

/** The plan of a torrent: {@link joinParts} makes the torrent from its hashed parts. */
export interface TorrentPlan extends PartsPlan {
  /** The torrent without its files. */
  torrent: PlannedTorrent;
}

/** The torrent of a {@link TorrentPlan}, without its files. */
export interface PlannedTorrent {
  /** The name of the torrent. */
  name: string;
  /** Whether the torrent is a single file instead of a folder. */
  isSingleFile: boolean;
  /** How the v1 file list is padded: whether a pad file follows the last file too, and how pad files are named. Null for no pad files. */
  padding: { tailPad: boolean; padNames: PadNames } | null;
  /** The torrent without the keys that describe its files: bencode in base64. */
  bencode: string;
}

/** The files of a {@link PartsPlan} in the order of the torrent: the same index of each list is the same file. */
export interface PlanFiles {
  /** The path from the root, with `/`; null for a pad file. */
  path: (string | null)[];
  /** Bytes of content. */
  length: number[];
  /** When the content changed last, in milliseconds since 1970; null if that is not checked. */
  mtimeMs: (number | null)[];
  /** When the content or the status changed last, in the same way. No program can set it back. */
  ctimeMs: (number | null)[];
  /** Where the content starts in its file, and the bytes of the file, if it is not the whole file. By the index of the file. */
  shares: Record<string, { offset: number; size: number }>;
  /** Where a file is on disk if a link leads to it: the path from the root, with `/`. By the index of the file. */
  diskPath: Record<string, string>;
  /** The files that are not on disk but objects behind range readers. By the index of the file. */
  objects: Record<string, PlannedObject>;
  /** Other keys of files in the torrent. By the index of the file. */
  keys: Record<string, PlannedKeys>;
}

/** The files of a plan that has none yet. */
export function noFiles(): PlanFiles {
  return { path: [], length: [], mtimeMs: [], ctimeMs: [], shares: {}, diskPath: {}, objects: {}, keys: {} };
}

/** A file of a {@link PartsPlan} that is not on disk. */
export interface PlannedObject {
  /** Its entity tag; null if it has none, so that only its size tells a replaced object. */
  etag: string | null;
  /** Where it is; null if the range reader does not say. */
  url: string | null;
}

/** The keys of a file besides its path and length. */
export interface PlannedKeys {
  /** BEP 47 flags. */
  attr?: string;
  /** The target of a stored symbolic link, from the root of the torrent (BEP 47). */
  symlinkPath?: readonly string[];
  /** Unknown keys in the file tree, or in the entry of the v1 file list: bencode in base64. */
  extra?: string;
  /** Keys of the entry in the v1 file list, with the path to show (`path.utf-8`). */
  listed?: Omit<PlannedKeys, 'listed'> & { pathUtf8?: readonly string[] };
}

/** The files of a plan, split into parts. */
export interface SplitPlan extends Pick<PartsPlan, 'version' | 'pieceLength' | 'paddedFiles' | 'files'> {
  /** Bytes of each file. A pad file of a v2 plan counts as empty. */
  lengths: Float64Array;
  parts: PartTable;
}

/** Splits the files of a plan into parts, at most `most`. Throws `ERR_TOO_LARGE`. */
export function splitPlan(plan: Omit<SplitPlan, 'lengths' | 'parts'> & { partSize: number }, most?: number): SplitPlan {
  const { version, pieceLength, paddedFiles, partSize, files } = plan;
  const lengths = lengthsOf(plan);
  const parts = splitIntoParts({ version, pieceLength, lengths, paddedFiles, partSize }, most);
  return { version, pieceLength, paddedFiles, files, lengths, parts };
}

function lengthsOf({ version, files }: Pick<PartsPlan, 'version' | 'files'>): Float64Array {
  return Float64Array.from(files.length, (bytes, i) => (version === 'v2' && files.path[i] === null ? 0 : bytes));
}

/** A plan before it is split. */
export interface NewPlan extends Omit<PartsPlan, 'format' | 'id' | 'nonce' | 'parts' | 'partSize' | 'totalSize'> {
  nonce: string | null | Promise<string>;
  partSize: number | 'auto';
}

/** Makes a plan for about so many workers: splits it at once, and computes its id. Throws `ERR_TOO_LARGE`. */
export function newPlan(fields: NewPlan, workers?: number): { split: SplitPlan; plan: Promise<PartsPlan> } {
  const { version, pieceLength, paddedFiles, files, partSize: given } = fields;
  const size = given === 'auto' ? autoPartSize({ pieceLength, lengths: lengthsOf(fields), workers }) : given;
  const partSize = wholePartSize(size, pieceLength);
  const split = splitPlan({ version, pieceLength, paddedFiles, files, partSize });
  const totalSize = files.length.reduce((sum, length) => sum + length, 0);
  const plan = { ...fields, format: PARTS_PLAN, id: '', partSize, parts: split.parts.count, totalSize } as const;
  return { split, plan: Promise.resolve(fields.nonce).then((nonce) => withId({ ...plan, nonce })) };
}

/** A plan with the id that belongs to it, and its properties in their order. */
export async function withId(plan: PartsPlan): Promise<PartsPlan> {
  const { format, nonce, root, version, pieceLength, paddedFiles, partSize, parts, totalSize } = plan;
  const { name, isSingleFile, padding, bencode } = plan.torrent ?? {};
  const pads = padding && { tailPad: padding.tailPad, padNames: padding.padNames };
  const torrent = plan.torrent && { name, isSingleFile, padding: pads, bencode };
  const sizes = { version, pieceLength, paddedFiles, partSize, parts, totalSize };
  const head = { nonce, root, ...sizes, torrent: torrent as PlannedTorrent | null };
  const { path, length, mtimeMs, ctimeMs, shares, diskPath, objects, keys } = plan.files;
  const files = { path, length, mtimeMs, ctimeMs, shares, diskPath, objects, keys };
  const hash = createHash('sha256');
  hash.update(`${JSON.stringify({ format, ...head }).slice(0, -1)},"files":`);
  let turned = performance.now();
  for (const text of textOf(files)) {
    hash.update(text);
    if (performance.now() - turned < 10) continue;
    await nextRound();
    turned = performance.now();
  }
  return { format, id: hash.update('}').digest('hex'), ...head, files };
}

const ROWS_AT_ONCE = 4096;

/** The JSON text of columns in pieces: that of many files takes a while. */
function* textOf(files: PlanFiles): Generator<string> {
  let before = '{';
  for (const [key, column] of Object.entries(files)) {
    yield `${before}"${key}":`;
    before = ',';
    if (!Array.isArray(column)) yield JSON.stringify(column);
    else {
      for (let first = 0; first < column.length; first += ROWS_AT_ONCE)
        yield `${first > 0 ? ',' : '['}${JSON.stringify(column.slice(first, first + ROWS_AT_ONCE)).slice(1, -1)}`;
      yield column.length > 0 ? ']' : '[]';
    }
  }
  yield '}';
}
