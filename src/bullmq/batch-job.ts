/** One job of a batch: creates, verifies or validates some torrents. */
import path from 'node:path';
import { any, array, boolean, integer, is, min, nullable, pattern, type Struct, string, type } from 'superstruct';
import { DEFAULT_LIMITS } from '../bencode/limits.ts';
import { TorrentCreate } from '../create/draft.ts';
import type { TorrentCreateInput } from '../create/draft-input.ts';
import { holdBeneath } from '../disk/beneath.ts';
import { readWithin } from '../disk/read-file.ts';
import { syncFolder } from '../disk/write-file.ts';
import { throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { isPermanent } from '../errors/permanent.ts';
import { forEachConcurrently } from '../hash/for-each-concurrently.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { Torrent } from '../model/torrent/torrent.ts';
import { parseJson } from '../parts/plan-text.ts';
import type { PartStore, StoredName } from '../parts/store.ts';
import { verify } from '../verify/verify.ts';
import { notInStore, textOf } from './failures.ts';
import type { IndexedData, WorkerContext } from './jobs.ts';
import { contentAt, outputAt, type Roots, withoutFolders } from './roots.ts';
import { writeOnce } from './write-once.ts';

/** The operation of a batch. */
export type BatchOperation = 'create' | 'verify' | 'validate';

/** The fields of a draft that an item of a batch may have: those that are plain data and lead nowhere on disk. */
export type BatchFields = Pick<
  TorrentCreateInput,
  | 'announce'
  | 'announceList'
  | 'attributes'
  | 'collections'
  | 'comment'
  | 'createdBy'
  | 'hidden'
  | 'httpseeds'
  | 'info'
  | 'nodes'
  | 'pieceLength'
  | 'similar'
  | 'skipUnreadable'
  | 'symlinks'
  | 'trackers'
  | 'urlList'
>;

const FIELDS: readonly (keyof BatchFields)[] = [
  'announce',
  'announceList',
  'attributes',
  'collections',
  'comment',
  'createdBy',
  'hidden',
  'httpseeds',
  'info',
  'nodes',
  'pieceLength',
  'similar',
  'skipUnreadable',
  'symlinks',
  'trackers',
  'urlList',
];

/** A torrent to create. */
export interface CreateItem {
  /** The content: `NAME/path`. */
  path: string;
  /** The torrent file: `NAME/path`. */
  output: string;
  /**
   * The version of the torrent.
   *
   * @default 'hybrid'
   */
  version?: TorrentVersion;
  /** Other fields of the torrent, as JSON holds them. */
  fields?: BatchFields;
  /**
   * Replace the output.
   *
   * @default false
   */
  force?: boolean;
}

/** Content to verify. */
export interface VerifyItem {
  /** The torrent file: `NAME/path`. */
  torrent: string;
  /** The content: `NAME/path`. */
  path: string;
}

/** A torrent file to validate. */
export interface ValidateItem {
  /** The torrent file: `NAME/path`. */
  torrent: string;
}

/** The items of each operation. */
export interface BatchItems {
  /** Torrents to create. */
  create: CreateItem;
  /** Content to verify. */
  verify: VerifyItem;
  /** Torrent files to validate. */
  validate: ValidateItem;
}

/** The result of an item. */
export interface ItemResult {
  /** The index of the item in the batch. */
  item: number;
  /** Whether the torrent was made, or is valid, or all of its content is good. */
  ok: boolean;
  /** The code and message of the failure; null if there was none. A verification that finds damage has none either. */
  error: string | null;
  /** The v1 infohash; null if it is unknown or if the torrent has none. */
  infohashV1: string | null;
  /** The v2 infohash; null if it is unknown or if the torrent has none. */
  infohashV2: string | null;
  /** `verify`: bytes of content in good pieces. */
  goodBytes?: number;
  /** `verify`: bytes of content. */
  totalSize?: number;
}

/** The items of a job, as the store has them. */
export interface StoredItems {
  operation: BatchOperation;
  /** The index of the first item in the batch. */
  first: number;
  items: unknown[];
}

/** The results of a job: null for items that have none yet. */
export type StoredResults = (ItemResult | null)[];

/** Small torrents that are processed at once: enough to keep the threads busy. */
const ITEMS_AT_ONCE = 16;

/** How a job of a batch runs. */
interface BatchContext extends WorkerContext {
  signal: AbortSignal;
  /** Failures that may pass are the results of their items, too: nobody tries again. */
  isLastAttempt: boolean;
}

/** The context of the items of a job. */
interface JobContext extends BatchContext {
  /** Folders of written torrents, and the root of each. */
  written: Map<string, string>;
}

/**
 * Runs a job of a batch, and stores the results. One failing item does not end the others: if its failure may pass, the job fails when all
 * others have ended, and its next attempt runs only that item.
 */
export async function runBatchJob(
  { plan: id, index }: IndexedData,
  context: BatchContext,
): Promise<{ ok: number; failed: number }> {
  const { store, signal } = context;
  const jobContext: JobContext = { ...context, written: new Map() };
  const stored = await storedItems(store, id, index);
  if (!stored) throw notInStore(`the items ${index} of ${id}`);
  const { operation, first, items } = stored;
  const earlier = await storedResults(store, id, index);
  const results: StoredResults = items.map((_, i) => earlier?.[i] ?? null);
  const failures: unknown[] = [];
  await forEachConcurrently(items, { concurrency: ITEMS_AT_ONCE }, async (item, i) => {
    if (results[i] || signal.aborted) return;
    results[i] = await resultOf(operation, item, first + i, jobContext).catch((error: unknown) => {
      failures.push(error);
      return null;
    });
  });
  const synced = [...jobContext.written].map(([folder, beneath]) =>
    holdBeneath(folder, { beneath }, (held) => syncFolder(held)),
  );
  await Promise.allSettled(synced);
  // A worker that was taken for dead may have ended some of them, too.
  const others = await storedResults(store, id, index);
  const merged = results.map((result, i) => result ?? others?.[i] ?? null);
  if (merged.some((result) => result !== null))
    await store.put(id, `results-${index}`, Buffer.from(JSON.stringify(merged)));
  throwIfAborted(signal);
  if (failures.length > 0) throw failures[0];
  const ok = results.filter((result) => result?.ok).length;
  return { ok, failed: results.length - ok };
}

/**
 * The items of a job; null if the store does not have them. They are checked when they run.
 *
 * @throws {MetainfoError} `ERR_PLAN`
 */
export function storedItems(store: PartStore, id: string, index: number): Promise<StoredItems | null> {
  return storedObject(store, id, `items-${index}`, ITEMS as Struct<StoredItems, unknown>);
}

/**
 * The results of a job; null if the store does not have them.
 *
 * @throws {MetainfoError} `ERR_PLAN`
 */
export function storedResults(store: PartStore, id: string, index: number): Promise<StoredResults | null> {
  return storedObject(store, id, `results-${index}`, RESULTS as Struct<StoredResults, unknown>);
}

const ITEMS = type({ operation: string(), first: min(integer(), 0), items: array(any()) });
const RESULTS = array(
  nullable(
    type({
      item: min(integer(), 0),
      ok: boolean(),
      error: nullable(string()),
      infohashV1: nullable(pattern(string(), /^[0-9a-f]{40}$/)),
      infohashV2: nullable(pattern(string(), /^[0-9a-f]{64}$/)),
    }),
  ),
);

async function storedObject<T>(
  store: PartStore,
  id: string,
  name: StoredName,
  struct: Struct<T, unknown>,
): Promise<T | null> {
  const bytes = await store.get(id, name);
  if (!bytes) return null;
  const found = parseJson(bytes, `The object ${name} of ${id} in the part store`);
  if (is(found, struct)) return found;
  throw new MetainfoError('ERR_PLAN', `The object ${name} of ${id} in the part store is malformed.`);
}

/** @throws {unknown} a failure that may pass, unless this is the last attempt */
async function resultOf(
  operation: BatchOperation,
  item: unknown,
  index: number,
  context: JobContext,
): Promise<ItemResult> {
  const nothing = { infohashV1: null, infohashV2: null };
  try {
    return { item: index, error: null, ...nothing, ...(await runItem(operation, Object(item), context)) };
  } catch (error) {
    if (context.signal.aborted || !(context.isLastAttempt || isPermanent(error))) throw error;
    return { item: index, ok: false, error: await withoutFolders(textOf(error), context.roots), ...nothing };
  }
}

type Outcome = Pick<ItemResult, 'ok'> & Partial<ItemResult>;

async function runItem(
  operation: BatchOperation,
  item: Record<string, unknown>,
  context: JobContext,
): Promise<Outcome> {
  switch (operation) {
    case 'create':
      return create(item as unknown as CreateItem, context);
    case 'verify':
      return verifyItem(item as unknown as VerifyItem, context);
    case 'validate':
      return validate(item as unknown as ValidateItem, context);
    default:
      throw new MetainfoError('ERR_INVALID_ARGUMENT', `unknown operation ${shown(operation)} of a batch.`);
  }
}

async function create(
  { path: place, output, version = 'hybrid', fields: given, force = false }: CreateItem,
  { roots, written, threads, memoryLimit, signal }: JobContext,
): Promise<Outcome> {
  const { path: pathRoot, beneath } = await contentAt(roots, place);
  const target = await outputAt(roots, output);
  const fields = given ?? {};
  if (typeof fields !== 'object' || Array.isArray(fields))
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `fields of an item must be an object, not ${shown(fields)}.`);
  const unknown = Object.keys(fields).find((key) => !FIELDS.includes(key as keyof BatchFields));
  if (unknown !== undefined)
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `an item of a batch cannot have the field ${shown(unknown)}.`);
  // A root has its own name in torrents. Most drafts need no info for that, and are checked faster.
  const name = path.posix.basename(place);
  const info = name === path.basename(pathRoot) ? fields.info : { name, ...Object(fields.info) };
  const draft = new TorrentCreate({ ...fields, ...(info && { info }), pathRoot });
  // Without `force`, no file is replaced.
  const replaced = force ? target.path : null;
  const torrent = await draft.generate({ version, threads, memoryLimit, output: replaced, beneath, signal });
  await writeOnce(torrent, target.path, { force: force === true, durableName: false, beneath: target.beneath });
  written.set(path.dirname(target.path), target.beneath);
  const { infohashV1, infohashV2 } = torrent;
  return { ok: true, infohashV1, infohashV2 };
}

async function verifyItem(
  { torrent: file, path: place }: VerifyItem,
  { roots, threads, memoryLimit, signal }: JobContext,
): Promise<Outcome> {
  const torrent = Torrent.fromBytes(await torrentBytes(roots, file));
  const { path: content, beneath } = await contentAt(roots, place);
  const { ok, goodBytes, totalSize } = await verify(torrent, content, { threads, memoryLimit, beneath, signal });
  const { infohashV1, infohashV2 } = torrent;
  return { ok, goodBytes, totalSize, infohashV1, infohashV2 };
}

async function validate({ torrent: file }: ValidateItem, { roots }: JobContext): Promise<Outcome> {
  const { torrent, infohash, issues } = Torrent.inspect(await torrentBytes(roots, file));
  const [first] = issues.filter(({ severity }) => severity === 'error');
  const error = first ? `ERR_VALIDATION: ${first.path.join('.')}: ${first.message}` : null;
  return { ok: torrent !== null, error, infohashV1: infohash.v1, infohashV2: infohash.v2 };
}

/** The bytes of a torrent file. A FIFO would keep the worker waiting. */
async function torrentBytes(roots: Roots, place: string): Promise<Uint8Array> {
  const { path: file, beneath } = await contentAt(roots, place);
  return readWithin(file, DEFAULT_LIMITS.bytes, { onlyFiles: true, beneath });
}
