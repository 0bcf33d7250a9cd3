/** Plans of torrents as plain data: another machine can hash their parts, and the parts can be joined to the torrent. */
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { encode } from '../bencode/encode.ts';
import type { BencodeMap } from '../bencode/value.ts';
import type { Draft } from '../create/draft-fields.ts';
import { adviceFor } from '../create/findings/reader-limits.ts';
import { SizesOf } from '../create/findings/torrent-sizes.ts';
import { announcedLayout } from '../create/generate.ts';
import { GENERATE, type GenerateOptions } from '../create/options.ts';
import { isBlob, isStream, type RangeReader } from '../create/sources/source-data.ts';
import { sourceFiles } from '../create/sources/sources.ts';
import { checkVersion, hasAllSizes, type LaidOutFile, type SizedLayout } from '../create/torrent-layout.ts';
import { componentsWithin } from '../disk/path-within.ts';
import { nanosecondsText, STAT_NUMBERS, statFiles } from '../disk/stat-files.ts';
import { throwIfAborted, untilAbort } from '../errors/cancel.ts';
import { fromSystemError, MetainfoError } from '../errors/errors.ts';
import { expected, invalidArgument, type OptionStructs, orNull } from '../errors/guard.ts';
import { checkedResources } from '../hash/hash-request.ts';
import { jobLimiter } from '../jobs/job-limiter.ts';
import type { PadNames } from '../layout/padding.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { flattenTree } from '../model/file-tree.ts';
import { exactBytes } from '../text/format.ts';
import { countParts, wholePartSize } from './split-into-parts.ts';

/** The format of a {@link TorrentPlan}. */
export const TORRENT_PLAN = 'metainfo-torrent-plan-1';

/**
 * The plan of a torrent as plain data, split into parts: `JSON.stringify` and `JSON.parse` keep it. {@link hashPart} hashes a part
 * of it on any machine that can read the files, and {@link joinParts} makes the torrent.
 */
export interface TorrentPlan {
  /** The format of the plan. */
  format: typeof TORRENT_PLAN;
  /** The SHA-256 of all other properties, in hexadecimal: of their JSON text in this order, without white space. */
  id: string;
  /** The path root when the torrent was planned: absolute, without links. */
  root: string;
  /** The version of the torrent. */
  version: TorrentVersion;
  /** The name of the torrent. */
  name: string;
  /** Whether the torrent is a single file instead of a folder. */
  isSingleFile: boolean;
  /** Bytes. */
  pieceLength: number;
  /** How the v1 file list is padded; null for no pad files. */
  padding: PlannedPadding | null;
  /** Bytes of content of a part at most, apart from the rest of a piece: whole pieces. */
  partSize: number;
  /** The number of parts. */
  parts: number;
  /** Bytes of all files. */
  totalSize: number;
  /** The torrent without the keys that describe its files: bencode in base64. */
  torrent: string;
  /** The files, as columns. */
  files: TorrentPlanFiles;
}

/** The files of a {@link TorrentPlan} in the order of the torrent: the same index of each list is the same file. */
export interface TorrentPlanFiles {
  /** The path from the root of the torrent, with `/`. */
  path: string[];
  /** Bytes. */
  length: number[];
  /** When the content changed last: nanoseconds since 1970, as decimal text; null for a file that is not on disk. */
  mtimeNs: (string | null)[];
  /** When the content or the status changed last, in the same way. No program can set it back. */
  ctimeNs: (string | null)[];
  /** Where a file is on disk if a link leads to it: the path from the root, with `/`. By the index of the file. */
  diskPath: Record<string, string>;
  /** The files that are not on disk but objects behind range readers. By the index of the file. */
  objects: Record<string, PlannedObject>;
  /** Other keys of files. By the index of the file. */
  keys: Record<string, PlannedKeys>;
}

/** A file of a {@link TorrentPlan} that is not on disk. */
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
  symlinkPath?: string[];
  /** Unknown keys in the file tree: bencode in base64. */
  extra?: string;
  /** Keys of the entry in the v1 file list. */
  listed?: PlannedListKeys;
}

/** The pad files of a {@link TorrentPlan}. */
export interface PlannedPadding {
  /** Whether a pad file follows the last file too. */
  tailPad: boolean;
  /** How pad files are named. */
  padNames: PadNames;
}

/** The keys of a file in the v1 file list, besides its path and length. */
export interface PlannedListKeys {
  /** BEP 47 flags. */
  attr?: string;
  /** The path to show (`path.utf-8`). */
  pathUtf8?: string[];
  /** The target of a symbolic link. */
  symlinkPath?: string[];
  /** Unknown keys: bencode in base64. */
  extra?: string;
}

/** The options of a plan that is split into parts. */
export interface TorrentPlanOptions extends GenerateOptions {
  /**
   * Bytes of content of a part: rounded up to whole pieces. Null means 4 GiB. A part of a gigabyte takes about a second to hash, and
   * its digests are 20 to 52 bytes for each piece. A plan has at most 1,048,576 parts.
   */
  partSize: number | null;
}

/** The structs of {@link TorrentPlanOptions}. */
export const PLAN_IN_PARTS: OptionStructs<TorrentPlanOptions> = {
  ...GENERATE,
  partSize: orNull(
    expected<number>('a whole number of at least 1', (size) => Number.isSafeInteger(size) && (size as number) > 0),
  ),
};

/** The default part size, in bytes. */
const PART_SIZE = 4 * 2 ** 30;

/** The most bytes that a planned torrent may have: clients read far less, and one process must join and hold it. */
const MAX_TORRENT_BYTES = 1e9;

/**
 * Plans a torrent for {@link hashPart} and {@link joinParts}. See {@link TorrentCreate.plan}.
 *
 * @throws {MetainfoError} the errors of a creation before it hashes; `ERR_TOO_LARGE` for a torrent of more than 1 GB;
 *   `ERR_LINK_OUTSIDE` for content outside the path root; `ERR_INVALID_ARGUMENT` for sources that only this process can read
 */
export function torrentPlanOf(draft: Draft, options: TorrentPlanOptions): Promise<TorrentPlan> {
  return jobLimiter.run(options.signal, async (slot) => {
    const { partSize, signal } = options;
    // Fail for bad options before the scan.
    checkedResources(options, checkVersion(options.version), availableParallelism());
    requireNoHashes(draft);
    const sources = sourceFiles(draft.fields.sources ?? []);
    requireReaders(sources);
    const plan = await announcedLayout(draft, { ...options, slot, sources });
    if (!hasAllSizes(plan)) throw memoryOnly(plan.files.pathAt(plan.files.lengths.findIndex(Number.isNaN)));
    requireSameLengths(draft, plan);
    await requireModestSize(plan);
    const root = await untilAbort(signal, realRoot(draft));
    const files = await filesOf(plan, root, signal);
    return withId(planFields(plan, { root, files, partSize: partSize ?? PART_SIZE }));
  });
}

/** The real path of the path root; for sources alone, the path root itself, from which nothing is read. */
async function realRoot({ pathRoot }: Draft): Promise<string> {
  return realpath(pathRoot).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return pathRoot;
    throw fromSystemError(error, pathRoot, 'read');
  });
}

type PlanFields = Omit<TorrentPlan, 'id'>;

function planFields(
  plan: SizedLayout,
  { root, files, partSize: given }: Pick<TorrentPlan, 'root' | 'files' | 'partSize'>,
): PlanFields {
  const { version, name, isSingleFile, pieceLength, padding, paddedFiles, otherFields } = plan;
  const { lengths, totalLength } = plan.files;
  const partSize = wholePartSize(given, pieceLength);
  const { tailPad = true, padNames = 'libtorrent' } = padding ?? {};
  return {
    format: TORRENT_PLAN,
    root,
    version,
    name,
    isSingleFile,
    pieceLength,
    padding: padding && { tailPad, padNames },
    partSize,
    parts: countParts({ version, pieceLength, lengths, paddedFiles, partSize }),
    totalSize: totalLength,
    torrent: base64(encode(new Map(otherFields))),
    files,
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

async function withId(fields: PlanFields): Promise<TorrentPlan> {
  const { format, ...rest } = fields;
  return { format, id: await planId(fields), ...rest };
}

/** The same plan with another root, and so with another id: for queues, whose workers have roots with names. */
export async function withRoot({ id: _, ...plan }: TorrentPlan, root: string): Promise<TorrentPlan> {
  return withId({ ...plan, root });
}

/** Rows of a column in one piece of JSON text. */
const ROWS_AT_ONCE = 4096;

/**
 * The JSON text of a plan in pieces: the text of many files may be longer than a string can be. The order of the keys is fixed, so
 * equal plans have equal texts.
 */
export function* planText({ files, ...fields }: TorrentPlan | PlanFields): Generator<string> {
  const { path, length, mtimeNs, ctimeNs, diskPath, objects, keys } = files;
  const { format, root, version, name, isSingleFile, pieceLength, padding, partSize, parts, totalSize, torrent } =
    fields;
  const id = 'id' in fields ? { id: fields.id } : {};
  const pads = padding && { tailPad: padding.tailPad, padNames: padding.padNames };
  const head = {
    format,
    ...id,
    root,
    version,
    name,
    isSingleFile,
    pieceLength,
    padding: pads,
    partSize,
    parts,
    totalSize,
  };
  yield `${JSON.stringify({ ...head, torrent }).slice(0, -1)},"files":{`;
  for (const [key, column] of Object.entries({ path, length, mtimeNs, ctimeNs })) {
    yield `"${key}":[`;
    for (let first = 0; first < column.length; first += ROWS_AT_ONCE)
      yield `${first > 0 ? ',' : ''}${JSON.stringify(column.slice(first, first + ROWS_AT_ONCE)).slice(1, -1)}`;
    yield '],';
  }
  yield `${JSON.stringify({ diskPath, objects, keys }).slice(1)}}`;
}

/** The id of a plan. */
export async function planId(plan: TorrentPlan | PlanFields): Promise<string> {
  const hash = createHash('sha256');
  const { id: _, ...fields } = plan as TorrentPlan;
  let turned = performance.now();
  for (const text of planText(fields)) {
    hash.update(text);
    if (performance.now() - turned < 10) continue;
    await new Promise(setImmediate);
    turned = performance.now();
  }
  return hash.digest('hex');
}

/** Hashes and sizes that a draft expects are compared with the content: only {@link generate} does that. */
function requireNoHashes({ info, fields }: Draft): void {
  const { pieces, fileTree } = info;
  const hasRoots = fileTree && flattenTree(fileTree).some(({ piecesRoot }) => piecesRoot != null);
  if (!pieces && !fields.pieceLayers && !hasRoots) return;
  throw invalidArgument('a draft with hashes cannot be planned in parts: leave the hashes out, or call generate');
}

function requireSameLengths({ info: { files, fileTree, length } }: Draft, plan: SizedLayout): void {
  const listed = [...(files ?? []), ...flattenTree(fileTree ?? new Map())];
  if (listed.length === 0 && length == null) return;
  const lengths = new Map(listed.map(({ path, length: each }) => [path.join('/'), each]));
  for (const file of plan.files) {
    const path = file.path.join('/');
    const expected = listed.length > 0 ? lengths.get(path) : length;
    if (expected === undefined || expected === null || expected === file.length) continue;
    const message = `The draft expects ${expected} bytes in ${path}, but it has ${file.length}: leave the length out, or restore the file.`;
    throw new MetainfoError('ERR_HASH_MISMATCH', message, { path });
  }
}

function requireReaders(sources: readonly { path: string[]; data?: Uint8Array; stream?: object }[]): void {
  const local = sources.find(({ stream }) => !stream || isStream(stream) || 'getReader' in stream || isBlob(stream));
  if (local) throw memoryOnly(local.path.join('/'));
}

function memoryOnly(path: string): MetainfoError {
  const message = `${path}: only files on disk and range readers can be planned in parts, because other machines must read them.`;
  return new MetainfoError('ERR_INVALID_ARGUMENT', message, { path });
}

async function requireModestSize(plan: SizedLayout): Promise<void> {
  const sizes = new SizesOf(plan);
  const { bytes } = await sizes.torrent();
  if (bytes <= MAX_TORRENT_BYTES) return;
  const { advice } = await adviceFor(sizes, { name: 'bytes', max: MAX_TORRENT_BYTES });
  const message = `The torrent would have ${exactBytes(bytes)}, and plans for parts allow 1 GB. ${advice}`;
  throw new MetainfoError('ERR_TOO_LARGE', message);
}

async function filesOf(plan: SizedLayout, root: string, signal: AbortSignal | undefined): Promise<TorrentPlanFiles> {
  const columns: TorrentPlanFiles = {
    path: [],
    length: Array.from(plan.files.lengths),
    mtimeNs: [],
    ctimeNs: [],
    diskPath: {},
    objects: {},
    keys: {},
  };
  let batch: [file: LaidOutFile, index: number][] = [];
  const flush = async () => {
    throwIfAborted(signal);
    await addTimes(batch, columns);
    batch = [];
  };
  let index = 0;
  for (const file of plan.files) {
    columns.path.push(file.path.join('/'));
    columns.mtimeNs.push(null);
    columns.ctimeNs.push(null);
    addKeys(file, index, columns);
    if (file.diskPath !== undefined) {
      addDiskPath(file, { index, root, columns });
      batch.push([file, index]);
      if (batch.length === ROWS_AT_ONCE) await flush();
    } else if (file.stream) columns.objects[index] = objectOf(file.stream as Partial<RangeReader>);
    index += 1;
  }
  await flush();
  return columns;
}

/** Reads the times of files, which must be as the scan found them. */
async function addTimes(batch: readonly [LaidOutFile, number][], columns: TorrentPlanFiles): Promise<void> {
  const numbers = await statFiles(batch.map(([{ diskPath }]) => ({ real: diskPath as string })));
  for (const [i, [file, index]] of batch.entries()) {
    const [errno, , size, mtimeMs = 0, ctimeMs = 0, , , mtime = 0, ctime = 0] = numbers.subarray(i * STAT_NUMBERS);
    if (errno !== 0 || size !== file.length || mtimeMs !== file.mtimeMs) {
      const path = file.diskPath as string;
      throw new MetainfoError('ERR_FILE_CHANGED', `${path} changed while it was planned.`, { path });
    }
    columns.mtimeNs[index] = nanosecondsText(mtimeMs, mtime);
    columns.ctimeNs[index] = nanosecondsText(ctimeMs, ctime);
  }
}

function addDiskPath(
  { path, diskPath }: LaidOutFile,
  { index, root, columns }: { index: number; root: string; columns: TorrentPlanFiles },
): void {
  const within = componentsWithin(root, diskPath as string);
  if (!within) {
    const message = `${diskPath} is outside ${root}: plans for parts hold only files in the path root. Copy it, or leave the link out.`;
    throw new MetainfoError('ERR_LINK_OUTSIDE', message, { path: diskPath });
  }
  const real = within.join('/');
  if (real !== path.join('/')) columns.diskPath[index] = real;
}

function objectOf({ etag, url }: Partial<RangeReader> & { url?: unknown }): PlannedObject {
  return { etag: typeof etag === 'string' ? etag : null, url: typeof url === 'string' ? url : null };
}

function addKeys({ attr, symlinkPath, extra, listed }: LaidOutFile, index: number, { keys }: TorrentPlanFiles): void {
  if (attr === undefined && !symlinkPath && !extra && !listed) return;
  const bencoded = (map: BencodeMap | null | undefined) => (map ? { extra: base64(encode(map)) } : {});
  keys[index] = {
    ...(attr !== undefined && { attr }),
    ...(symlinkPath && { symlinkPath }),
    ...bencoded(extra),
    ...(listed && {
      listed: {
        ...(listed.attr != null && { attr: listed.attr }),
        ...(listed.pathUtf8 && { pathUtf8: listed.pathUtf8 }),
        ...(listed.symlinkPath && { symlinkPath: listed.symlinkPath }),
        ...bencoded(listed.extra),
      },
    }),
  };
}
