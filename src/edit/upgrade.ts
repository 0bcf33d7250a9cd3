import { availableParallelism } from 'node:os';
import { LimitError, type Limits, limitsOf } from '../bencode/limits.ts';
import type { Encodable } from '../bencode/value.ts';
import { rememberTimes } from '../create/file-times.ts';
import { GENERATE, type GenerateOptions, withoutDoubt } from '../create/generate.ts';
import { type Outline, warn } from '../create/warnings.ts';
import { requireNoInput } from '../disk/output.ts';
import { hashingCancelled, untilAbort } from '../errors/cancel.ts';
import { MetainfoError, requirePath, toHex } from '../errors/errors.ts';
import { checkArgument, checkOptions, type OptionStructs, Unchecked } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import type { Engine } from '../hash/engine.ts';
import { type FileDigests, joinTrees, splitDigests } from '../hash/file-digests.ts';
import { alignedPlanFiles, memoryPlanFile, padPlanFile, splitPlanFiles } from '../hash/file-plan.ts';
import { readPlanned } from '../hash/node.ts';
import { type Digests, type HashJob, type HashPlan, type PlanFile, planResources } from '../hash/plan.ts';
import { allocPrivate } from '../hash/private-buffer.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import type { Slot } from '../jobs/limiter.ts';
import { deletedSinceScan, type RunningJob, WATCH, watch } from '../jobs/watch.ts';
import { compareV2 } from '../layout/order.ts';
import { padNamesOf, padsIn, withPads } from '../layout/padding.ts';
import { BLOCK_SIZE, checkPieceLength, powerOfTwoWithin } from '../layout/piece-length.ts';
import { TORRENT } from '../model/codec.ts';
import type { FileItem } from '../model/file-item.ts';
import type { FlatFile } from '../model/file-tree.ts';
import { encodeFileList, encodeFlatTree } from '../model/files-codec.ts';
import { HashList } from '../model/hash-list.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { AnyTorrent, type ReadOptions, type Torrent } from '../model/torrent.ts';
import type { DiskFile } from '../verify/inventory.ts';
import { type MatchedFile, matchFiles } from '../verify/torrent-files.ts';
import { replaceFields, withoutContent } from './replace-fields.ts';

/** How {@link upgrade} reads, and how the result is checked. */
export interface UpgradeOptions
  extends Pick<
      GenerateOptions,
      'engine' | 'threads' | 'memoryLimit' | 'signal' | 'onProgress' | 'progress' | 'onWarning' | 'output' | 'padNames'
    >,
    Pick<ReadOptions, 'context' | 'limits'> {}

const UPGRADE: OptionStructs<UpgradeOptions> = {
  engine: GENERATE.engine,
  threads: GENERATE.threads,
  memoryLimit: GENERATE.memoryLimit,
  onWarning: GENERATE.onWarning,
  output: GENERATE.output,
  padNames: GENERATE.padNames,
  context: Unchecked,
  limits: Unchecked,
  ...WATCH,
};

/** A hybrid of a v1 torrent. */
export interface Upgraded {
  /** The hybrid. */
  torrent: Torrent;
  /** Bytes of content that were read: each of them once. */
  bytesRead: number;
}

/**
 * A hybrid torrent of the files of a v1 torrent. They are read once, and held against the v1 pieces in the same read. What
 * is not about files stays byte for byte; the infohash is another one, for files must begin with pieces (BEP 52).
 *
 * @param path The folder of the files, or the file of a torrent of one file (or the folder that it is in).
 * @throws {MetainfoError} `ERR_HASH_MISMATCH` when the files are not those of the torrent, with all that differ; where some
 *   cannot be read the code of the first, such as `ERR_UNREADABLE`, with all that is wrong;
 *   `ERR_LIMIT` when it needs more padding than `limits` allow; `ERR_INVALID_ARGUMENT` when it is no v1 torrent;
 *   `ERR_PIECE_LENGTH` when no hybrid can have its piece length
 */
export async function upgrade(torrent: Torrent, path: string, given: UpgradeOptions = {}): Promise<Upgraded> {
  checkArgument('torrent', torrent, AnyTorrent);
  requirePath(path);
  const checked = checkOptions(given, UPGRADE);
  return jobLimiter.run(checked.signal, (slot) => upgradeInTurn(torrent, path, checked, slot));
}

async function upgradeInTurn(torrent: Torrent, path: string, options: UpgradeOptions, slot: Slot): Promise<Upgraded> {
  const { torrentVersion, info } = torrent;
  if (torrentVersion !== 'v1')
    throw new MetainfoError(
      'ERR_INVALID_ARGUMENT',
      `A ${torrentVersion} torrent is none that can be upgraded: only v1.`,
    );
  const { pieceLength } = info;
  checkPieceLength(pieceLength, 'hybrid');
  const { signal } = options;
  const { files: checked } = await untilAbort(signal, matchFiles(torrent, path, { signal, slot }));
  if (torrent.totalSize > LARGE_JOB_BYTES) slot.end();
  requireAll(checked);
  const content = contentOf(torrent, checked);
  requirePadding(content, pieceLength, options.limits);
  await requireNoInput(
    options.output,
    content.map(({ plan, item: { length } }) => ({ diskPath: plan?.path as string | undefined, length })),
  );
  const hybrid = hybridOf(torrent, content, options);
  await warn(hybrid, options);
  const digests = await watch(() => new Upgrade(torrent, content, options), options).catch((error) => {
    throw deletedSinceScan(error);
  });
  const bytesRead = content.reduce((sum, { item: { length } }) => sum + length, 0);
  return { torrent: asHybrid(torrent, { content, digests, list: hybrid.list }, options), bytesRead };
}

/** Small files with large pieces: the pads between them may be more than anybody can hash. */
function requirePadding(content: readonly Content[], pieceLength: number, limits: Limits | undefined): void {
  const { padding: most } = limitsOf(limits);
  const missing = ({ item: { length } }: Content) => (pieceLength - (length % pieceLength)) % pieceLength;
  const padding = content.length > 1 ? content.reduce((sum, file) => sum + missing(file), 0) : 0;
  if (padding > most) throw new LimitError('padding', most);
}

/** A file of the torrent, in its order. */
interface Content {
  item: FileItem;
  /** Null: a symbolic link, which has no content. */
  plan: PlanFile | null;
  ctimeMs: number;
  /** Bytes of pads after it, in the old torrent. */
  padding: number;
}

const MOST_SHOWN = 5;

/** All that cannot be read, is missing or has another size, at once. */
function requireAll(files: readonly MatchedFile[]): void {
  const wrong: string[] = [];
  const failures = new Set<MetainfoError>();
  for (const { path, length, onDisk } of files) {
    if (!onDisk) wrong.push(`${path} is missing`);
    else if ('size' in onDisk) {
      if (onDisk.size !== length) wrong.push(`${path} has ${onDisk.size} bytes, not ${length}`);
    } else if (onDisk.error) failures.add(onDisk.error);
    else wrong.push(`${path} is ${onDisk.problem}`);
  }
  const [failure] = failures;
  // What the system does not give may well be the file of the torrent.
  if (failure) {
    const { code, path } = failure;
    const problems = [...Array.from(failures, ({ message }) => message.replace(/\.$/, '')), ...wrong];
    const message = `The files cannot all be read: ${listed(problems, String)}.`;
    throw new MetainfoError(code, message, { ...(path !== undefined && { path }), cause: failure });
  }
  if (wrong.length > 0) throw mismatch(listed(wrong, String));
}

function mismatch(problems: string): MetainfoError {
  return new MetainfoError('ERR_HASH_MISMATCH', `The files are not those of the torrent: ${problems}.`);
}

function listed<T>(problems: readonly T[], textOf: (problem: T) => string): string {
  const more = problems.length > MOST_SHOWN ? `, and ${problems.length - MOST_SHOWN} more` : '';
  return `${problems.slice(0, MOST_SHOWN).map(textOf).join('; ')}${more}`;
}

function contentOf(torrent: Torrent, checked: readonly MatchedFile[]): Content[] {
  const info = torrent.info as InfoDictV1;
  const list = info.files ?? [{ length: info.length as number, path: [torrent.name] }];
  const isPad = padsIn<FileItem>(list, info.pieceLength);
  const content: Content[] = [];
  for (const entry of list) {
    if (isPad(entry)) {
      const before = content.at(-1);
      if (before) before.padding += entry.length;
      else throw new MetainfoError('ERR_INVALID_ARGUMENT', 'The torrent begins with padding.');
      continue;
    }
    const { pathUtf8, ...item } = entry as FileItem;
    const { onDisk } = checked[content.length] as MatchedFile;
    const { diskPath, size, mtimeMs, ctimeMs } = onDisk as DiskFile;
    const isLink = item.attr?.includes('l') ?? false;
    content.push({
      item: { ...item, path: pathUtf8 ?? item.path },
      plan: isLink ? null : { path: diskPath, offset: 0, length: item.length, size, mtimeMs },
      ctimeMs,
      padding: 0,
    });
  }
  return content;
}

/** Part of a file, from the start of a piece, and where it is in a segment. */
interface Part {
  file: Content;
  offset: number;
  length: number;
  at: number;
}

/** What is read at once, in bytes: files, and parts of files. */
const SEGMENT = 8 * 2 ** 20;
const FILES_AT_ONCE = 16;

/**
 * Reads content in segments of memory. Each is hashed twice: as pieces of the hybrid, which begin with the files, and as
 * those of the v1 torrent, which go through them.
 */
class Upgrade implements RunningJob<FileDigests[]> {
  readonly done: Promise<FileDigests[]>;
  readonly #content: readonly Content[];
  readonly #pieceLength: number;
  /** Of the v1 torrent. */
  readonly #expected: Uint8Array;
  readonly #engine: Engine;
  readonly #resources: ReturnType<typeof planResources>;
  readonly #segmentSize: number;
  readonly #running = new Set<HashJob>();
  readonly #digests = new Map<Content, { parts: FileDigests[]; sizes: number[] }>();
  readonly #badPieces: number[] = [];
  /** How many of the v1 pieces are in a job, and what the next one begins with. */
  #pieces = 0;
  #rest: Uint8Array = new Uint8Array();
  #failure: { error: unknown } | null = null;
  readonly #totalBytes: number;
  #bytes = 0;
  #file = '';

  constructor({ info }: Torrent, content: readonly Content[], options: UpgradeOptions) {
    const { pieceLength, pieces } = info as InfoDictV1;
    this.#content = content;
    this.#totalBytes = content.reduce((sum, { item }) => sum + item.length, 0);
    this.#pieceLength = pieceLength;
    this.#expected = pieces.bytes;
    this.#engine = options.engine ?? defaultEngine();
    const resources = planResources(options, 'hybrid', availableParallelism());
    // Two segments, and a piece that goes from one to the next; a quarter is for those who hash.
    const limit = options.memoryLimit ?? Math.max(resources.memoryLimit, 4 * pieceLength);
    if (4 * pieceLength > limit) {
      const least = 4 * pieceLength;
      const message = `There must be room for four pieces: memoryLimit must be at least ${least}, not ${limit}.`;
      throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
    }
    const size = Math.max(pieceLength, Math.min(SEGMENT, powerOfTwoWithin(limit / 4)));
    // A piece may be said to be longer than all that there is.
    this.#segmentSize = Math.min(
      size,
      content.reduce((sum, { item }) => sum + item.length, 0),
    );
    const threads = Math.max(1, resources.threads - 1);
    this.#resources = planResources({ threads, memoryLimit: Math.max(BLOCK_SIZE, limit / 8) }, 'hybrid', threads);
    this.done = this.#run();
  }

  progress(): ReturnType<RunningJob<unknown>['progress']> {
    const queued = [...this.#running].map((job) => job.progress().queued);
    return {
      bytes: this.#bytes,
      totalBytes: this.#totalBytes,
      file: this.#file,
      queued: queued.length > 0 ? Math.min(...queued) : 0,
    };
  }

  cancel(): void {
    this.#fail(hashingCancelled());
  }

  #fail(error: unknown): void {
    // What comes after the first failure is how the others were stopped.
    this.#failure ??= { error };
    for (const job of this.#running) job.cancel();
  }

  async #run(): Promise<FileDigests[]> {
    const segments = this.#segments();
    const buffers = [0, 1].map(() => this.#buffer());
    const hashing: Promise<void>[] = [];
    for (const [i, parts] of segments.entries()) {
      await hashing[i - 2];
      if (!this.#failure) await this.#read(parts, buffers[i % 2] as Buffer).catch((error) => this.#fail(error));
      if (this.#failure) break;
      const done = this.#hash(parts, buffers[i % 2] as Buffer, i === segments.length - 1);
      hashing.push(done.catch((error) => this.#fail(error)));
    }
    // The buffers are in use until then.
    await Promise.all(hashing);
    if (this.#failure) throw (this.#failure as { error: unknown }).error;
    const bad = this.#badPieces.sort((a, b) => a - b);
    if (bad.length > 0) throw mismatch(listed(bad, (piece) => this.#nameOf(piece)));
    return this.#content.map((file) => this.#whole(file));
  }

  #buffer(): Buffer {
    try {
      return allocPrivate(this.#segmentSize);
    } catch (cause) {
      const message = `There is no memory for pieces of ${this.#pieceLength} bytes.`;
      throw new MetainfoError('ERR_NO_MEMORY', message, { cause });
    }
  }

  /** Files, one after the other; those that do not fit are cut where a piece of theirs begins. */
  #segments(): Part[][] {
    const segments: Part[][] = [];
    let parts: Part[] = [];
    let filled = 0;
    for (const file of this.#content) {
      const { length: size } = file.item;
      for (let offset = 0; offset < size || (offset === 0 && size === 0); ) {
        const room = this.#segmentSize - filled;
        const length = size - offset <= room ? size - offset : room - (room % this.#pieceLength);
        if (length > 0 || size === 0) parts.push({ file, offset, length, at: filled });
        filled += length;
        offset += length;
        if (size === 0) break;
        if (offset === size) continue;
        segments.push(parts);
        parts = [];
        filled = 0;
      }
    }
    return [...segments, parts];
  }

  async #read(parts: readonly Part[], segment: Buffer): Promise<void> {
    for (let i = 0; i < parts.length && !this.#failure; i += FILES_AT_ONCE) {
      const some = parts.slice(i, i + FILES_AT_ONCE);
      const reading = some.map(async ({ file: { item, plan }, offset, length, at }) => {
        if (!plan) return;
        this.#file = item.path.join('/');
        await readPlanned({ ...plan, offset, length }, segment.subarray(at, at + length));
        this.#bytes += length;
      });
      // Also when one fails: until the others are done, their files are open and the segment is written to.
      await Promise.allSettled(reading);
      await Promise.all(reading);
    }
  }

  async #hash(parts: readonly Part[], segment: Buffer, isLast: boolean): Promise<void> {
    const aligned = parts.map(({ file, offset, length, at }) => ({
      plan: memoryPlanFile(segment, at, length),
      isPadded: this.#content.length > 1 && offset + length === file.item.length,
    }));
    // Before it is waited: the next segment may be done before this one.
    const places = parts.map(({ file, length }) => this.#place(file, length));
    const row = this.#row(parts, segment, isLast);
    const first = this.#pieces;
    this.#pieces += Math.ceil(bytesOf(row) / this.#pieceLength);
    const [hybrid, v1] = await Promise.all([
      this.#job(alignedPlanFiles(aligned, this.#pieceLength), 'hybrid', this.#resources.threads),
      row.length > 0 ? this.#job(row, 'v1', 1) : { v1: new Uint8Array() },
    ]);
    const each = splitDigests(aligned, hybrid, { version: 'hybrid', pieceLength: this.#pieceLength });
    for (const [i, put] of places.entries()) put(each[i] as FileDigests);
    this.#compare(v1.v1 as Uint8Array, first);
  }

  /** Where the digests of the next part of a file belong. */
  #place(file: Content, length: number): (digests: FileDigests) => void {
    const { parts, sizes } = this.#digests.get(file) ?? { parts: [], sizes: [] };
    this.#digests.set(file, { parts, sizes });
    const index = sizes.push(length) - 1;
    return (digests) => {
      parts[index] = digests;
    };
  }

  /** What is there of the v1 axis, in whole pieces: with what was left before, and all of it at the end. */
  #row(parts: readonly Part[], segment: Buffer, isLast: boolean): PlanFile[] {
    const row = parts.flatMap(({ file, offset, length, at }) => {
      const isEnd = offset + length === file.item.length;
      return [memoryPlanFile(segment, at, length), ...(isEnd && file.padding > 0 ? [padPlanFile(file.padding)] : [])];
    });
    const all = [memoryPlanFile(this.#rest), ...row].filter(({ length }) => length > 0);
    const bytes = bytesOf(all);
    const [whole, rest] = splitPlanFiles(all, isLast ? bytes : bytes - (bytes % this.#pieceLength));
    this.#rest = Buffer.concat(
      rest.map(({ data, offset, length }) => data?.subarray(offset, offset + length) ?? Buffer.alloc(length)),
    );
    return whole;
  }

  #compare(pieces: Uint8Array, first: number): void {
    for (let at = 0; at < pieces.length; at += 20) {
      const expected = this.#expected.subarray(first * 20 + at, first * 20 + at + 20);
      if (Buffer.compare(pieces.subarray(at, at + 20), expected) !== 0) this.#badPieces.push(first + at / 20);
    }
  }

  async #job(files: PlanFile[], version: HashPlan['version'], threads: number): Promise<Digests> {
    const plan: HashPlan = {
      files,
      version,
      pieceLength: this.#pieceLength,
      onMissing: 'fail',
      ...this.#resources,
      threads,
    };
    const job = this.#engine.start(plan);
    this.#running.add(job);
    if (this.#failure) job.cancel();
    try {
      return await job.done;
    } finally {
      this.#running.delete(job);
    }
  }

  /** What the parts of a file hash to together. */
  #whole(file: Content): FileDigests {
    const { parts, sizes } = this.#digests.get(file) as { parts: FileDigests[]; sizes: number[] };
    const tree = joinTrees(parts, sizes, { pieceLength: this.#pieceLength, segmentSize: this.#pieceLength });
    return { ...tree, pieces: Buffer.concat(parts.map(({ pieces }) => pieces)) };
  }

  #nameOf(piece: number): string {
    let end = 0;
    const file = this.#content.find(({ item: { length }, padding }) => {
      end += length + padding;
      return piece * this.#pieceLength < end;
    });
    return `piece ${piece} (in ${file?.item.path.join('/')}) is wrong`;
  }
}

function bytesOf(files: readonly PlanFile[]): number {
  return files.reduce((sum, { length }) => sum + length, 0);
}

/** What is known of the hybrid before its hashes. */
function hybridOf(torrent: Torrent, content: readonly Content[], { padNames }: UpgradeOptions): Outline {
  const { pieceLength, files: listed } = torrent.info as InfoDictV1;
  const files = content.map(({ item }) => item).sort((a, b) => compareV2(a.path, b.path));
  const names = padNames ?? padNamesOf(listed ?? []);
  const list = listed ? withoutDoubt(withPads(files, pieceLength, { padNames: names })) : null;
  const { name } = torrent;
  return { version: 'hybrid', single: !listed, name, pieceLength, list, files, beside: withoutContent(torrent) };
}

/** The torrent as a hybrid. */
function asHybrid(
  torrent: Torrent,
  { content, digests, list }: { content: readonly Content[]; digests: readonly FileDigests[]; list: Outline['list'] },
  options: UpgradeOptions,
): Torrent {
  const each = content.map((file, index) => ({ ...file, ...(digests[index] as FileDigests) }));
  const sorted = each.sort((a, b) => compareV2(a.item.path, b.item.path));
  const pieceLayers = new Map<string, HashList>();
  for (const { root, layer } of sorted)
    if (root && layer.length > 0) pieceLayers.set(toHex(root), new HashList(layer, 32));
  const flat = sorted.map(({ item: { length, path, attr, symlinkPath }, root }): FlatFile => {
    return { length, path, piecesRoot: root, ...(attr && { attr }), ...(symlinkPath && { symlinkPath }) };
  });
  const info = new Map<string, Encodable | null>([
    ['file tree', encodeFlatTree(flat)],
    ['files', list && encodeFileList(list)],
    ['meta version', 2],
    // As it is shown: what an old creator wrote beside it would be another name in v2.
    ['name', torrent.name],
    ['name.utf-8', null],
    ['pieces', Buffer.concat(sorted.map(({ pieces }) => pieces))],
  ]);
  const top = new Map<string, Encodable | null>([['piece layers', TORRENT.pieceLayers.encode(pieceLayers)]]);
  const hybrid = replaceFields(torrent, { info, top, ...options });
  rememberTimes(
    hybrid,
    sorted.map(({ plan, ctimeMs }) => (plan ? { mtimeMs: plan.mtimeMs, ctimeMs } : {})),
  );
  return hybrid;
}
