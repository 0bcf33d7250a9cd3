import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import nodePath from 'node:path';
import { type WatchOptions, watch, workOf } from '../create/run.ts';
import { layerRoots, raisedRoot } from '../digest/merkle.ts';
import { fromSystemError, MetainfoError, shown, throwIfAborted, toHex } from '../errors.ts';
import type { Engine } from '../hash/engine.ts';
import { nativeEngine } from '../hash/native.ts';
import {
  type Digests,
  type HashPlan,
  layerCount,
  type PlanFile,
  planResources,
  type ResourceOptions,
} from '../hash/plan.ts';
import { firstUnaligned, isPadFile } from '../layout/padding.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import type { Torrent } from '../model/torrent.ts';
import { type Found, inventory, look } from './inventory.ts';

/** Of one file: `partial` has the right size and is wrong somewhere; `unreadable` is there and cannot be read. */
export type FileStatus = 'complete' | 'partial' | 'missing' | 'wrong-size' | 'unreadable';

export interface VerifiedFile {
  /** From the torrent's root, with `/`. */
  path: string;
  status: FileStatus;
  /** Bytes that the torrent says it has. */
  length: number;
  /** Bytes of it in good pieces. */
  goodBytes: number;
  /** Why it is `unreadable`. */
  problem?: string;
}

export interface VerifyReport {
  /** Whether every file is complete. */
  ok: boolean;
  files: VerifiedFile[];
  /** Ranges of pieces that are wrong or not all there, first and last. v2: counted through all files in order. */
  badPieces: [first: number, last: number][];
  /** Files in the folder that the torrent does not know, with `/`. */
  extraFiles: string[];
  goodBytes: number;
  totalSize: number;
  /** With `fast`, how many pieces were looked at; null: all. */
  sampledPieces: number | null;
  /** A bit a piece, the first is the highest of the first byte, as clients exchange it (BEP 3): 1 is good. */
  bitfield: Uint8Array;
}

export interface VerifyOptions extends ResourceOptions, WatchOptions {
  /** Of a hybrid, only one of its descriptions; default both, in one read. */
  only?: 'v1' | 'v2' | null | undefined;
  /**
   * Look at sizes and at some pieces only: the first and last of every file, and others all over. The rest of what is
   * there counts as good. Default false.
   */
  fast?: boolean | undefined;
  /** Default: the native one. */
  engine?: Engine | undefined;
}

/** A file of the torrent and what is there of it. */
export interface Checked {
  path: string;
  length: number;
  found: Found | null;
  /** Bytes from its start that are there to be read. */
  there: number;
  /** Where it begins on the axis: of v1, or the pieces of v2 in a row. */
  start: number;
  root: Uint8Array | null;
}

/** Something on the axis of pieces. */
interface Item {
  start: number;
  length: number;
  /** Null: a pad. */
  file: Checked | null;
}

/** Failures that are of one file: the others can still be verified. */
const OF_A_FILE = [
  'ERR_FILE_CHANGED',
  'ERR_NOT_FOUND',
  'ERR_UNREADABLE',
  'ERR_READ',
  'ERR_NOT_A_FILE',
  'ERR_LINK_LOOP',
];
const MOST_RETRIES = 100;

/**
 * Whether data on disk is that of a torrent, and what is not. Every piece is read once; nothing outside of the folder is
 * opened. A file that is missing or short moves nothing: what is after it is looked for where it belongs.
 *
 * @param path The folder of the files, or the file of a torrent of one file (or the folder that it is in).
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE` for `path` itself; `ERR_INVALID_ARGUMENT`; `ERR_ABORTED`
 */
export async function verify(torrent: Torrent, path: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { only = null, engine = nativeEngine(), signal } = options;
  throwIfAborted(signal);
  const kind = kindOf(torrent, only);
  const resources = planResources(options, kind, availableParallelism());
  const { files, extraFiles } = await filesOf(torrent, path, signal);
  const items = kind === 'v2' ? rowOf(files, torrent.info.pieceLength) : listOf(torrent, files);
  for (let attempt = 0; ; attempt += 1) {
    try {
      const checked = await check(torrent, items, { kind, engine, resources, options });
      return reportOf(torrent, files, items, { ...checked, extraFiles });
    } catch (error) {
      const { code = '', path: about } = error as Partial<MetainfoError>;
      const file = files.find(({ found }) => found && 'diskPath' in found && found.diskPath === about);
      if (!file || !OF_A_FILE.includes(code) || attempt === MOST_RETRIES) throw error;
      leaveOut(file, (error as Error).message);
      // What else cannot be read need not be found out one by one.
      if (attempt === 0) await leaveOutUnreadable(files);
    }
  }
}

function leaveOut(file: Checked, problem: string): void {
  file.found = { problem };
  file.there = 0;
}

async function leaveOutUnreadable(files: readonly Checked[]): Promise<void> {
  for (const file of files) {
    const { found } = file;
    if (!found || !('diskPath' in found)) continue;
    await access(found.diskPath, constants.R_OK).catch((error: unknown) => {
      leaveOut(file, fromSystemError(error, found.diskPath, 'read').message);
    });
  }
}

function kindOf({ torrentVersion }: Torrent, only: VerifyOptions['only']): HashPlan['kind'] {
  if (only === null || only === undefined) return torrentVersion;
  if (only !== 'v1' && only !== 'v2')
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `only must be v1 or v2, not ${shown(only)}.`);
  if (torrentVersion === 'hybrid' || torrentVersion === only) return only;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `A ${torrentVersion} torrent has no ${only} description.`);
}

export async function filesOf(torrent: Torrent, path: string, signal: AbortSignal | undefined) {
  const status = await stat(path).catch((error: unknown) => {
    throw fromSystemError(error, path, 'read');
  });
  if (!status.isDirectory() && torrent.nFiles > 1)
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `${path} is a file, and the torrent has ${torrent.nFiles}.`, {
      path,
    });
  const names = namesOf(torrent);
  // Beside a file that was named outright nothing matters.
  const only = status.isDirectory() ? null : nodePath.basename(path);
  const wanted = new Set(only === null ? names : [only]);
  const { found: there, unreadable } =
    only === null
      ? await inventory(path, wanted, signal)
      : { found: new Map<string, Found | null>([[only, await look(path)]]), unreadable: [] };
  const files = torrent.files.map(({ path: name, length, attr, piecesRoot: root }, i): Checked => {
    const onDisk = only ?? (names[i] as string);
    let found = there.get(onDisk) ?? null;
    const hidden = found ? undefined : unreadable.find(({ folder }) => onDisk.startsWith(folder));
    if (hidden) found = { problem: hidden.problem };
    // A symbolic link has no content of its own, wherever it leads (BEP 47).
    if (found && attr?.includes('l')) found = { diskPath: '', size: length, mtimeMs: 0 };
    else if (found && 'folder' in found) found = { problem: 'a folder' };
    const size = found && 'size' in found ? found.size : 0;
    return { path: name, length, found, there: Math.min(size, length), start: 0, root };
  });
  const extraFiles = [...there.keys()].filter((name) => !wanted.has(name)).sort();
  return { files, extraFiles };
}

/** As the torrent says it, where that is safe to look for; of a hostile torrent the safe paths. */
function namesOf(torrent: Torrent): string[] {
  const paths = torrent.files.map(({ path }) => path);
  const isSafe = (path: string) => path.split('/').every((part) => unsafeComponent(part) === null);
  if (paths.every(isSafe)) return paths;
  const { safePaths } = torrent;
  return paths.map((path, i) => (isSafe(path) ? path : (safePaths[i] as string)));
}

/** v2: every file begins with a piece. */
function rowOf(files: readonly Checked[], pieceLength: number): Item[] {
  let start = 0;
  return files.map((file) => {
    file.start = start;
    start += Math.ceil(file.length / pieceLength) * pieceLength;
    return { start: file.start, length: file.length, file };
  });
}

/** v1 and hybrid: the list, pads among it. */
function listOf(torrent: Torrent, files: readonly Checked[]): Item[] {
  const info = torrent.info as InfoDictV1;
  const list = info.files ?? [{ length: info.length as number, path: [info.name] }];
  const byPath = new Map(files.map((file) => [file.path, file]));
  let start = 0;
  // v1 lists come in the order of torrent.files; hybrids may have their empty files elsewhere.
  const inOrder = files.values();
  return list.map((entry) => {
    const isPad = isPadFile(entry);
    const named = torrent.torrentVersion === 'hybrid' && info.files;
    const file = isPad ? null : ((named ? byPath.get(entry.path.join('/')) : inOrder.next().value) ?? null);
    const item = { start, length: entry.length, file };
    if (file) file.start = start;
    start += entry.length;
    return item;
  });
}

interface Context {
  kind: HashPlan['kind'];
  engine: Engine;
  resources: ReturnType<typeof planResources>;
  options: VerifyOptions;
}

/** What pieces were found to be. */
interface Pieces {
  /** A byte each: 1 is good. */
  good: Uint8Array;
  sampledPieces: number | null;
}

async function check(torrent: Torrent, items: readonly Item[], context: Context): Promise<Pieces> {
  const { pieceLength } = torrent.info;
  const last = items.at(-1);
  const end = last ? last.start + last.length : 0;
  const good = new Uint8Array(Math.ceil(end / pieceLength));
  const there = runsOf(items, good.length, pieceLength, end);
  const runs = context.options.fast ? sampleOf(there, items, pieceLength) : there;
  const aligned =
    context.kind !== 'hybrid' ||
    firstUnaligned(
      items.map(({ length, file }) => ({ length, path: [file?.path ?? ''], attr: file ? '' : 'p' })),
      pieceLength,
    ) < 0;
  const { kind } = context;
  const slices = slicesOf(items, runs, { pieceLength, end });
  if (slices.length > 0) {
    const files = slices.map(({ plan }) => plan);
    const plan: HashPlan = { files, kind: aligned ? kind : 'v1', pieceLength, onMissing: 'fail', ...context.resources };
    const totalBytes = slices.reduce((sum, { file, plan: { length } }) => sum + (file ? length : 0), 0);
    const nameOf = (index: number) => slices[index]?.file?.path ?? '';
    const digests = await watch(() => workOf(context.engine.start(plan), { totalBytes, nameOf }), context.options);
    if (kind !== 'v2') compareV1(torrent, runs, digests, good);
    if (plan.kind !== 'v1') compareV2(torrent, slices, digests, { good, first: kind === 'v2' });
  }
  if (!aligned) await checkV2Too(torrent, items, good, context);
  if (runs === there) return { good, sampledPieces: null };
  const sampled = new Set(runs.map(([piece]) => piece));
  for (const [from, to] of there)
    for (let piece = from; piece < to; piece += 1) if (!sampled.has(piece)) good[piece] = 1;
  return { good, sampledPieces: sampled.size };
}

/** A hybrid whose files begin anywhere is read once for each description: what v2 finds wrong is wrong as a file. */
async function checkV2Too(torrent: Torrent, items: readonly Item[], good: Uint8Array, context: Context): Promise<void> {
  const { pieceLength } = torrent.info;
  const content = items.filter(({ file, length }) => file && length > 0);
  const row = rowOf(
    content.map(({ file }) => ({ ...(file as Checked) })),
    pieceLength,
  );
  const { good: found } = await check(torrent, row, { ...context, kind: 'v2' });
  for (const [i, { start, length }] of row.entries()) {
    const own = found.subarray(start / pieceLength, Math.ceil((start + length) / pieceLength));
    const item = content[i] as Item;
    if (!own.includes(0)) continue;
    good.fill(0, Math.floor(item.start / pieceLength), Math.ceil((item.start + item.length) / pieceLength));
  }
}

/** Pieces of a sample beside those at the ends of files. */
const SAMPLES = 100;

/** Of runs of pieces, single ones: those at the ends of files, and some at equal distances. */
function sampleOf(runs: readonly [number, number][], items: readonly Item[], pieceLength: number): [number, number][] {
  const wanted = new Set<number>();
  for (const { start, length, file } of items) {
    if (!file || length === 0) continue;
    wanted.add(Math.floor(start / pieceLength)).add(Math.floor((start + length - 1) / pieceLength));
  }
  const count = runs.reduce((sum, [from, to]) => sum + to - from, 0);
  const step = Math.max(1, Math.ceil(count / SAMPLES));
  const sample: [number, number][] = [];
  let at = 0;
  for (const [from, to] of runs) {
    for (let piece = from; piece < to; piece += 1, at += 1)
      if (at % step === 0 || wanted.has(piece)) sample.push([piece, piece + 1]);
  }
  return sample;
}

/** Runs of pieces, first and past the last, of which every byte is there. */
function runsOf(items: readonly Item[], pieces: number, pieceLength: number, end: number): [number, number][] {
  const runs: [number, number][] = [];
  let from = 0;
  const close = (to: number) => {
    if (to > from) runs.push([from, to]);
  };
  for (const { start, length, file } of items) {
    if (!file || file.there >= length) continue;
    // In v2 a piece ends with its file.
    close(Math.max(from, Math.floor((start + file.there) / pieceLength)));
    from = Math.max(from, Math.ceil(Math.min(end, start + length) / pieceLength));
  }
  close(pieces);
  return runs;
}

/** A part of a file, or a pad, in a run of whole pieces. */
interface Slice {
  plan: PlanFile;
  file: Checked | null;
  /** Where it begins in the file. */
  offset: number;
}

function slicesOf(
  items: readonly Item[],
  runs: readonly [number, number][],
  { pieceLength, end }: { pieceLength: number; end: number },
): Slice[] {
  const slices: Slice[] = [];
  let at = 0;
  for (const [firstPiece, pastPiece] of runs) {
    const [from, to] = [firstPiece * pieceLength, Math.min(pastPiece * pieceLength, end)];
    // Both are in order: what ends before this run ends before all that follow.
    while (at < items.length && (items[at] as Item).start + (items[at] as Item).length <= from) at += 1;
    for (let i = at; i < items.length && (items[i] as Item).start < to; i += 1) {
      const { start, length, file } = items[i] as Item;
      const [first, past] = [Math.max(from, start), Math.min(to, start + length)];
      if (past <= first) continue;
      const found = file?.found as Extract<Found, { size: number }> | null | undefined;
      const [offset, size] = [first - start, past - first];
      const plan = found
        ? { path: found.diskPath, offset, length: size, size: found.size, mtimeMs: found.mtimeMs }
        : { path: null, offset: 0, length: size, size, mtimeMs: Number.NaN };
      slices.push({ plan, file, offset });
    }
  }
  return slices;
}

function compareV1(torrent: Torrent, runs: readonly [number, number][], { v1 }: Digests, good: Uint8Array): void {
  const expected = (torrent.info as InfoDictV1).pieces.bytes;
  let at = 0;
  for (const [from, to] of runs) {
    for (let piece = from; piece < to; piece += 1, at += 20) {
      if (
        Buffer.compare((v1 as Uint8Array).subarray(at, at + 20), expected.subarray(piece * 20, piece * 20 + 20)) === 0
      )
        good[piece] = 1;
    }
  }
}

interface V2Result {
  good: Uint8Array;
  /** Whether v2 alone says what is good; else it must agree with v1. */
  first: boolean;
}

function compareV2(torrent: Torrent, slices: readonly Slice[], { v2 }: Digests, { good, first }: V2Result): void {
  const { pieceLength } = torrent.info;
  const { roots, layers } = v2 as NonNullable<Digests['v2']>;
  let at = 0;
  for (const [i, { file, plan, offset }] of slices.entries()) {
    if (!file) continue;
    const count = layerCount(plan, pieceLength);
    const alone = roots.subarray(i * 32, i * 32 + 32);
    // The end of a longer file is as high as the pieces before it.
    const raised = count === 0 && file.length > pieceLength;
    const blocks = Math.ceil(plan.length / BLOCK_SIZE);
    const piece = raised ? raisedRoot(alone, blocks, pieceLength / BLOCK_SIZE) : alone;
    const computed = count > 0 ? layers.subarray(at, at + count * 32) : piece;
    at += count * 32;
    const root = file.root as Uint8Array;
    const layer = file.length > pieceLength ? torrent.pieceLayers?.get(toHex(root))?.bytes : root;
    // A torrent without its layers (compat) cannot tell of pieces, but of a whole file.
    const isWhole = offset === 0 && plan.length === file.length;
    const isSame = !layer && isWhole && Buffer.compare(layerRoots([computed], pieceLength / BLOCK_SIZE), root) === 0;
    if (!layer && !isWhole && !first) continue;
    for (let k = 0; k * 32 < computed.length; k += 1) {
      const hash = computed.subarray(k * 32, k * 32 + 32);
      const from = (offset / pieceLength + k) * 32;
      const same = layer ? Buffer.compare(hash, layer.subarray(from, from + 32)) === 0 : isSame;
      const index = (file.start + offset) / pieceLength + k;
      good[index] = same && (first || good[index] === 1) ? 1 : 0;
    }
  }
}

function reportOf(
  torrent: Torrent,
  files: readonly Checked[],
  items: readonly Item[],
  { good, sampledPieces, extraFiles }: Pieces & { extraFiles: string[] },
): VerifyReport {
  const { pieceLength } = torrent.info;
  const goodBytes = new Map<Checked, number>();
  for (const { start, length, file } of items) {
    if (!file) continue;
    let sum = 0;
    for (let piece = Math.floor(start / pieceLength); piece * pieceLength < start + length; piece += 1) {
      const [from, to] = [Math.max(start, piece * pieceLength), Math.min(start + length, (piece + 1) * pieceLength)];
      if (good[piece] === 1) sum += to - from;
    }
    goodBytes.set(file, sum);
  }
  const verified = files.map((file) => statusOf(file, goodBytes.get(file) ?? 0));
  return {
    ok: verified.every(({ status }) => status === 'complete'),
    files: verified,
    badPieces: badRuns(good),
    extraFiles,
    goodBytes: verified.reduce((sum, file) => sum + file.goodBytes, 0),
    totalSize: torrent.totalSize,
    sampledPieces,
    bitfield: bitfieldOf(good),
  };
}

function statusOf({ path, length, found }: Checked, goodBytes: number): VerifiedFile {
  const file = { path, length, goodBytes };
  if (!found) return { ...file, status: 'missing' };
  if (!('size' in found))
    return { ...file, status: 'unreadable', problem: 'problem' in found ? found.problem : 'a folder' };
  if (found.size !== length) return { ...file, status: 'wrong-size' };
  return { ...file, status: goodBytes === length ? 'complete' : 'partial' };
}

function badRuns(good: Uint8Array): [number, number][] {
  const runs: [number, number][] = [];
  for (let piece = 0; piece < good.length; piece += 1) {
    if (good[piece] === 1) continue;
    const run = runs.at(-1);
    if (run && run[1] === piece - 1) run[1] = piece;
    else runs.push([piece, piece]);
  }
  return runs;
}

function bitfieldOf(good: Uint8Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(good.length / 8));
  for (const [piece, one] of good.entries())
    if (one === 1) bits[piece >> 3] = (bits[piece >> 3] as number) | (0x80 >> (piece & 7));
  return bits;
}
