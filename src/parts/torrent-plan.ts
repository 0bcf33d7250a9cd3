/** Plans torrents for parts: other machines can hash the parts, and they can be joined to the torrent. */
import { realpath } from 'node:fs/promises';
import { encode } from '../bencode/encode.ts';
import { TorrentCreate } from '../create/draft.ts';
import type { Draft } from '../create/draft-fields.ts';
import { adviceFor } from '../create/findings/reader-limits.ts';
import { SizesOf } from '../create/findings/torrent-sizes.ts';
import { announcedLayout } from '../create/generate.ts';
import type { ReuseOptions } from '../create/known/known.ts';
import { type GenerateOptions, WITHOUT_REUSE } from '../create/options.ts';
import { checkVersion, hasAllSizes, type LaidOutFile, type SizedLayout } from '../create/torrent-layout.ts';
import { componentsWithin } from '../disk/path-within.ts';
import { throwIfAborted, untilAbort } from '../errors/cancel.ts';
import { MetainfoError } from '../errors/errors.ts';
import {
  type Checked,
  checkArgument,
  checkOptions,
  expected,
  invalidArgument,
  type OptionStructs,
  orNull,
  Path,
} from '../errors/guard.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { isByteStream } from '../hash/byte-stream.ts';
import { checkedResources } from '../hash/hash-request.ts';
import type { Slot } from '../hash/limiter.ts';
import { jobLimiter } from '../jobs/job-limiter.ts';
import { inSlices } from '../jobs/slices.ts';
import { factsOfLayout, type Job, track } from '../jobs/track.ts';
import type { FileItem } from '../model/file-item.ts';
import { flattenTree } from '../model/file-tree.ts';
import { isBlob, type RangeReader } from '../sources/source-data.ts';
import { type SourceFile, sourceFiles } from '../sources/sources.ts';
import { exactBytes } from '../text/format.ts';
import { type NewPlan, newPlan, noFiles, type PlanFiles, type PlannedObject, type TorrentPlan } from './plan.ts';
import { Count, PartSize } from './split-into-parts.ts';

/** The options of {@link planParts}. */
export interface PlanPartsOptions extends Omit<GenerateOptions, keyof ReuseOptions> {
  /**
   * Bytes of content of a part: rounded up to whole pieces. A part of a gigabyte takes about a second to hash, and its digests are 20 to
   * 52 bytes for each piece. A plan has at most 1,048,576 parts. `auto` chooses by the content and `workers`: the same content has the
   * same parts.
   *
   * @default 'auto'
   */
  partSize?: number | 'auto' | null | undefined;
  /**
   * For the part size `auto`: about how many workers hash the plan at once. Give the same number each time, because plans with other
   * parts are other plans: a queue does not attach to them, and stored parts are hashed again.
   *
   * @default 256
   */
  workers?: number | null | undefined;
  /**
   * The name by which other machines know the path root, such as `NAME/path` for the workers of a queue.
   *
   * @default the path root: absolute, without links
   */
  root?: string | undefined;
}

const PLAN_PARTS: OptionStructs<PlanPartsOptions> = {
  ...WITHOUT_REUSE,
  partSize: orNull(PartSize),
  workers: orNull(Count),
  root: Path,
};
const AnyDraft = expected<TorrentCreate>('a TorrentCreate', (draft) => draft instanceof TorrentCreate);

/** The most bytes that a planned torrent may have: clients read far less, and one process must join and hold it. */
const MAX_TORRENT_BYTES = 1e9;

/**
 * Plans a torrent in parts, which other machines can hash ({@link hashPart}, {@link joinParts}). No content is read. Every problem is
 * an error, and the torrent file may have at most 1 GB.
 *
 * @param draft The draft of the torrent. Its content is files on disk and range readers.
 * @throws {MetainfoError} the errors of {@link TorrentCreate.generate} before it hashes; `ERR_TOO_LARGE` for a torrent of more than
 *   1 GB; `ERR_LINK_OUTSIDE` for content outside the path root; `ERR_INVALID_ARGUMENT` for sources that only this process can read
 * @throws {AbortError} if the signal fires; its reason is the `cause`
 * @example
 * ```ts
 * import path from 'node:path';
 * import { planParts, TorrentCreate } from 'metainfo';
 *
 * const draft = new TorrentCreate({ pathRoot: path.resolve('album') });
 * const { id, parts, partSize } = await planParts(draft, { partSize: 2 ** 30 });
 * console.log(id, parts, partSize);
 * ```
 */
export async function planParts(draft: TorrentCreate, options: PlanPartsOptions = {}): Promise<TorrentPlan> {
  checkArgument('draft', draft, AnyDraft);
  const checked = checkOptions(options, PLAN_PARTS, { example: '{ partSize: 2 ** 30 }' });
  return track('planParts', (job) => jobLimiter.run(checked.signal, (slot) => planInSlot(draft, checked, job, slot)));
}

type Options = Checked<PlanPartsOptions>;

async function planInSlot(draft: Draft, checked: Options, job: Job, slot: Slot): Promise<TorrentPlan> {
  job.begin();
  const { partSize, workers, root: name, signal, ...layoutOptions } = checked;
  // Fail for bad options before the scan.
  checkedResources(checked, checkVersion(checked.version));
  requireNoHashes(draft);
  const sources = sourceFiles(draft.fields.sources ?? []);
  requireReaders(sources);
  const layout = await announcedLayout(draft, { ...layoutOptions, signal, slot, sources });
  if (!hasAllSizes(layout)) throw memoryOnly(layout.files.pathAt(layout.files.lengths.findIndex(Number.isNaN)));
  requireSameLengths(draft, layout);
  await requireModestSize(layout);
  job.describe(factsOfLayout(layout));
  const root = await untilAbort(signal, realRoot(draft));
  const { version, pieceLength, paddedFiles, isSingleFile, padding, otherFields } = layout;
  const fields: NewPlan = {
    nonce: null,
    root: name ?? root,
    version,
    pieceLength,
    paddedFiles,
    partSize: partSize ?? 'auto',
    torrent: { name: layout.name, isSingleFile, padding, bencode: base64(encode(new Map(otherFields))) },
    files: await filesOf(layout, root, signal),
  };
  return (await newPlan(fields, workers ?? undefined).plan) as TorrentPlan;
}

/** The real path of the path root; for sources alone, the path root itself, from which nothing is read. */
async function realRoot({ pathRoot }: Draft): Promise<string> {
  return realpath(pathRoot).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return pathRoot;
    throw fromSystemError(error, pathRoot, 'read');
  });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
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

function requireReaders(sources: readonly SourceFile[]): void {
  const local = sources.find(({ stream, saveTo }) => !stream || saveTo || isByteStream(stream) || isBlob(stream));
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

async function filesOf(layout: SizedLayout, root: string, signal: AbortSignal | undefined): Promise<PlanFiles> {
  const length = Array.from(layout.files.lengths);
  const columns = { ...noFiles(), length };
  await inSlices(length.length, (first, end) => {
    throwIfAborted(signal);
    for (let index = first; index < end; index += 1) {
      const file = layout.files.at(index) as LaidOutFile;
      columns.path.push(file.path.join('/'));
      columns.mtimeMs.push(file.mtimeMs ?? null);
      columns.ctimeMs.push(file.ctimeMs ?? null);
      addKeys(file, index, columns);
      if (file.diskPath !== undefined) addDiskPath(file, index, root, columns);
      else if (file.stream) columns.objects[index] = objectOf(file.stream as Partial<RangeReader>);
    }
  });
  return columns;
}

function addDiskPath({ path, diskPath }: LaidOutFile, index: number, root: string, columns: PlanFiles): void {
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

function addKeys({ attr, symlinkPath, extra, listed }: LaidOutFile, index: number, { keys }: PlanFiles): void {
  if (attr === undefined && !symlinkPath && !extra && !listed) return;
  const own = ({ attr, pathUtf8, symlinkPath, extra }: { [Key in keyof FileItem]?: FileItem[Key] | undefined }) => ({
    ...(attr != null && { attr }),
    ...(pathUtf8 && { pathUtf8 }),
    ...(symlinkPath && { symlinkPath }),
    ...(extra && { extra: base64(encode(extra)) }),
  });
  keys[index] = { ...own({ attr, symlinkPath, extra }), ...(listed && { listed: own(listed) }) };
}
