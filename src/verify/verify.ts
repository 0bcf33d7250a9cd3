import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import nodePath from 'node:path';
import { untilAbort } from '../errors/cancel.ts';
import { fromSystemError, MetainfoError, requirePath, shown, toHex } from '../errors/errors.ts';
import { argument, Flag, type OptionStructs, options, Unchecked } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { AnyEngine, type Engine } from '../hash/engine.ts';
import { layerRoots, raisedRoot } from '../hash/merkle.ts';
import {
  type Digests,
  type HashPlan,
  layerCount,
  planResources,
  RESOURCES,
  type ResourceOptions,
} from '../hash/plan.ts';
import type { Slot } from '../jobs/limiter.ts';
import { jobLimiter, LARGE_JOB, WATCH, type WatchOptions, watch, workOf } from '../jobs/watch.ts';
import { BLOCK_SIZE } from '../layout/piece-length.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { AnyTorrent, type Torrent } from '../model/torrent.ts';
import { type Found, inventory, look } from './inventory.ts';
import {
  type Axis,
  type Checked,
  fileAt,
  isAligned,
  listOf,
  type Run,
  rowOf,
  runsOf,
  type Slices,
  sampleOf,
  slicesOf,
} from './piece-map.ts';

/** Of one file: `partial` has the right size and is wrong somewhere; `unreadable` is there and cannot be read. */
export type FileStatus = 'complete' | 'partial' | 'missing' | 'wrong-size' | 'unreadable';

/** A file of the torrent, and what of it is on the disk. */
export interface VerifiedFile {
  /** From the torrent's root, with `/`. */
  path: string;
  /** Whether it is all there. */
  status: FileStatus;
  /** Bytes that the torrent says it has. */
  length: number;
  /** Bytes of it in good pieces. */
  goodBytes: number;
  /** Why it is `unreadable`. */
  problem?: string;
}

/** What {@link verify} found. */
export interface VerifyReport {
  /** Whether every file is complete. */
  ok: boolean;
  /** In the torrent's order, pads left out. */
  files: VerifiedFile[];
  /** Ranges of pieces that are wrong or not all there, first and last. v2: counted through all files in order. */
  badPieces: [first: number, last: number][];
  /** Files in the folder that the torrent does not know, with `/`. */
  extraFiles: string[];
  /** Bytes of content in good pieces. */
  goodBytes: number;
  /** Bytes of content, pads left out. */
  totalSize: number;
  /** With `fast`, how many pieces were looked at; null: all. */
  sampledPieces: number | null;
  /** A bit a piece, the first is the highest of the first byte, as clients exchange it (BEP 3): 1 is good. */
  bitfield: Uint8Array;
}

/** What {@link verify} looks at, and how. */
export interface VerifyOptions extends ResourceOptions, WatchOptions {
  /** Of a hybrid, only one of its descriptions; default both, in one read. */
  only?: 'v1' | 'v2' | null | undefined;
  /**
   * Look at sizes and at some pieces only: the first and last of every file, and others all over. The rest of what is
   * there counts as good. Default false.
   */
  fast?: boolean | undefined;
  /** Default: the one that METAINFO_ENGINE names; else the native one, or where that does not load `nodeEngine()`. */
  engine?: Engine | undefined;
}

const VERIFY: OptionStructs<VerifyOptions> = {
  // Checked where it is used, beside the torrent.
  only: Unchecked,
  fast: Flag,
  engine: AnyEngine,
  ...RESOURCES,
  ...WATCH,
};

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
export async function verify(torrent: Torrent, path: string, given: VerifyOptions = {}): Promise<VerifyReport> {
  argument('torrent', torrent, AnyTorrent);
  requirePath(path);
  const checked = options(given, VERIFY);
  return jobLimiter.run(checked.signal, (slot) => verifyInTurn(torrent, path, checked, slot));
}

async function verifyInTurn(torrent: Torrent, path: string, options: VerifyOptions, slot: Slot): Promise<VerifyReport> {
  const { only = null, engine = defaultEngine(), signal } = options;
  const version = versionOf(torrent, only);
  const resources = planResources(options, version, availableParallelism());
  const { files, extraFiles } = await untilAbort(signal, filesOf(torrent, path, { signal, slot }));
  if (torrent.totalSize > LARGE_JOB) slot.end();
  const axis = version === 'v2' ? rowOf(files, torrent.info.pieceLength) : listOf(torrent, files);
  for (let attempt = 0; ; attempt += 1) {
    try {
      const checked = await check(torrent, files, axis, { version, engine, resources, options });
      return reportOf(torrent, files, axis, { ...checked, extraFiles });
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

function versionOf({ torrentVersion }: Torrent, only: VerifyOptions['only']): HashPlan['version'] {
  if (only === null || only === undefined) return torrentVersion;
  if (only !== 'v1' && only !== 'v2')
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `only must be v1 or v2, not ${shown(only)}.`);
  if (torrentVersion === 'hybrid' || torrentVersion === only) return only;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `A ${torrentVersion} torrent has no ${only} description.`);
}

export async function filesOf(
  torrent: Torrent,
  path: string,
  watching: { signal: AbortSignal | undefined; slot?: Slot },
) {
  requirePath(path);
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
  const { found, extraFiles, unreadable } =
    only === null
      ? await inventory(path, new Set(names), watching)
      : { found: new Map<string, Found>([[only, await look(await realpath(path))]]), extraFiles: [], unreadable: [] };
  const files = torrent.files.map(({ path: name, length, attr, piecesRoot: root }, i): Checked => {
    const onDisk = only ?? (names[i] as string);
    let there = found.get(onDisk) ?? null;
    const hidden = there ? undefined : unreadable.find(({ folder }) => onDisk.startsWith(folder));
    if (hidden) there = hidden.why;
    // A symbolic link has no content of its own, wherever it leads (BEP 47).
    if (there && attr?.includes('l')) there = { diskPath: '', size: length, mtimeMs: 0, ctimeMs: 0 };
    else if (there && 'folder' in there) there = { problem: 'a folder' };
    const size = there && 'size' in there ? there.size : 0;
    return { path: name, length, found: there, there: Math.min(size, length), root };
  });
  return { files, extraFiles: extraFiles.sort() };
}

/** As the torrent says it, where that is safe to look for; of a hostile torrent the safe paths. */
function namesOf(torrent: Torrent): string[] {
  const paths = torrent.files.map(({ path }) => path);
  // Of a path that is not safe it would have warned.
  if (torrent.warnings.length === 0) return paths;
  const isSafe = (path: string) => path.split('/').every((part) => unsafeComponent(part) === null);
  if (paths.every(isSafe)) return paths;
  const { safePaths } = torrent;
  return paths.map((path, i) => (isSafe(path) ? path : (safePaths[i] as string)));
}

interface Context {
  version: HashPlan['version'];
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

async function check(torrent: Torrent, files: readonly Checked[], axis: Axis, context: Context): Promise<Pieces> {
  const { version, engine, resources, options } = context;
  const { pieceLength } = axis;
  const good = new Uint8Array(axis.pieces);
  const there = runsOf(axis, files);
  const runs = options.fast ? sampleOf(there, axis) : there;
  const aligned = version !== 'hybrid' || isAligned(axis);
  const slices = slicesOf(axis, files, runs);
  if (slices.plan.length > 0) {
    const plan: HashPlan = {
      files: slices.plan,
      version: aligned ? version : 'v1',
      pieceLength,
      onMissing: 'fail',
      ...resources,
    };
    const totalBytes = slices.plan.reduce((sum, { path, length }) => sum + (path === null ? 0 : length), 0);
    const nameOf = (index: number) => fileAt(axis, files, slices.items[index] as number)?.path ?? '';
    const digests = await watch(() => workOf(engine.start(plan), { totalBytes, nameOf }), options);
    if (version !== 'v2') compareV1(torrent, runs, digests, good);
    if (plan.version !== 'v1') compareV2(torrent, files, { axis, slices }, digests, { good, first: version === 'v2' });
  }
  if (!aligned) await checkV2Too(torrent, files, { axis, good }, context);
  if (runs === there) return { good, sampledPieces: null };
  const sampled = new Set(runs.map(([piece]) => piece));
  for (const [from, to] of there)
    for (let piece = from; piece < to; piece += 1) if (!sampled.has(piece)) good[piece] = 1;
  return { good, sampledPieces: sampled.size };
}

/** A hybrid whose files begin anywhere is read once for each description: what v2 finds wrong is wrong as a file. */
async function checkV2Too(
  torrent: Torrent,
  files: readonly Checked[],
  { axis, good }: { axis: Axis; good: Uint8Array },
  context: Context,
): Promise<void> {
  const { pieceLength } = axis;
  const row = rowOf(files, pieceLength);
  const { good: found } = await check(torrent, files, row, { ...context, version: 'v2' });
  let at = 0;
  for (const [i, start] of axis.starts.entries()) {
    if (axis.files[i] === -1) continue;
    const [length, first] = [axis.lengths[i] as number, (row.starts[at] as number) / pieceLength];
    at += 1;
    if (!found.subarray(first, first + Math.ceil(length / pieceLength)).includes(0)) continue;
    good.fill(0, Math.floor(start / pieceLength), Math.ceil((start + length) / pieceLength));
  }
}

/** Whether a hash is the same at two places. */
function isSame(size: 20 | 32, [a, aAt]: [Uint8Array, number], [b, bAt]: [Uint8Array, number]): boolean {
  for (let i = 0; i < size; i += 1) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}

function compareV1(torrent: Torrent, runs: readonly Run[], { v1 }: Digests, good: Uint8Array): void {
  const expected = (torrent.info as InfoDictV1).pieces.bytes;
  const hashes = v1 as Uint8Array;
  let at = 0;
  for (const [from, to] of runs) {
    const size = (to - from) * 20;
    if (Buffer.compare(hashes.subarray(at, at + size), expected.subarray(from * 20, to * 20)) === 0)
      good.fill(1, from, to);
    else {
      for (let piece = from; piece < to; piece += 1)
        good[piece] = isSame(20, [hashes, at + (piece - from) * 20], [expected, piece * 20]) ? 1 : 0;
    }
    at += size;
  }
}

interface V2Result {
  good: Uint8Array;
  /** Whether v2 alone says what is good; else it must agree with v1. */
  first: boolean;
}

function compareV2(
  torrent: Torrent,
  files: readonly Checked[],
  { axis, slices }: { axis: Axis; slices: Slices },
  { v2 }: Digests,
  { good, first }: V2Result,
): void {
  const { pieceLength } = axis;
  const { roots, layers } = v2 as NonNullable<Digests['v2']>;
  let at = 0;
  for (const [i, plan] of slices.plan.entries()) {
    const item = slices.items[i] as number;
    const file = fileAt(axis, files, item);
    if (!file) continue;
    const { length } = plan;
    const { offset } = plan as { offset: number };
    const count = layerCount(plan, pieceLength);
    const root = file.root as Uint8Array;
    const layer = file.length > pieceLength ? torrent.pieceLayers?.get(toHex(root))?.bytes : root;
    let [hashes, from] = count > 0 ? [layers, at] : [roots, i * 32];
    at += count * 32;
    // The end of a longer file is as high as the pieces before it.
    if (count === 0 && file.length > pieceLength) {
      const alone = roots.subarray(from, from + 32);
      [hashes, from] = [raisedRoot(alone, Math.ceil(length / BLOCK_SIZE), pieceLength / BLOCK_SIZE), 0];
    }
    const pieces = Math.max(1, count);
    // A torrent without its layers (compat) cannot tell of pieces, but of a whole file.
    const isWhole = offset === 0 && length === file.length;
    if (!layer && !isWhole && !first) continue;
    const isRight =
      !layer &&
      isWhole &&
      Buffer.compare(layerRoots([hashes.subarray(from, from + pieces * 32)], pieceLength / BLOCK_SIZE), root) === 0;
    for (let k = 0; k < pieces; k += 1) {
      const same = layer ? isSame(32, [hashes, from + k * 32], [layer, (offset / pieceLength + k) * 32]) : isRight;
      const piece = ((axis.starts[item] as number) + offset) / pieceLength + k;
      good[piece] = same && (first || good[piece] === 1) ? 1 : 0;
    }
  }
}

function reportOf(
  torrent: Torrent,
  files: readonly Checked[],
  { pieceLength, starts, lengths, files: at }: Axis,
  { good, sampledPieces, extraFiles }: Pieces & { extraFiles: string[] },
): VerifyReport {
  const goodBytes = new Float64Array(files.length);
  for (let i = 0; i < at.length; i += 1) {
    if (at[i] === -1) continue;
    const start = starts[i] as number;
    const end = start + (lengths[i] as number);
    let sum = 0;
    for (let piece = Math.floor(start / pieceLength); piece * pieceLength < end; piece += 1) {
      const [from, to] = [Math.max(start, piece * pieceLength), Math.min(end, (piece + 1) * pieceLength)];
      if (good[piece] === 1) sum += to - from;
    }
    goodBytes[at[i] as number] = sum;
  }
  const verified = files.map((file, i) => verifiedFile(file, goodBytes[i] as number));
  return {
    ok: verified.every(({ status }) => status === 'complete'),
    files: verified,
    badPieces: badRuns(good),
    extraFiles,
    goodBytes: goodBytes.reduce((sum, bytes) => sum + bytes, 0),
    totalSize: torrent.totalSize,
    sampledPieces,
    bitfield: bitfieldOf(good),
  };
}

function verifiedFile({ path, length, found }: Checked, goodBytes: number): VerifiedFile {
  const verified = (status: FileStatus): VerifiedFile => ({ path, length, goodBytes, status });
  if (!found) return verified('missing');
  if (!('size' in found))
    return { ...verified('unreadable'), problem: 'problem' in found ? found.problem : 'a folder' };
  if (found.size !== length) return verified('wrong-size');
  return verified(goodBytes === length ? 'complete' : 'partial');
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
  for (let piece = 0; piece < good.length; piece += 1)
    if (good[piece] === 1) bits[piece >> 3] = (bits[piece >> 3] as number) | (0x80 >> (piece & 7));
  return bits;
}
