/** One job of a batch: creates, verifies or validates some torrents. */
import path from 'node:path';
import type { Job } from 'bullmq';
import {
  AbortError,
  isPermanent,
  Torrent,
  TorrentCreate,
  type TorrentCreateInput,
  TorrentFields,
  type TorrentVersion,
  ValidationError,
  verify,
} from 'metainfo';
import { cancelledError, notInStore, OtherWorkerError, refused, shown, textOf, UnseenError } from './failures.ts';
import { type IndexedData, indexedData, isLastAttempt, type JobContext, type WorkerContext } from './jobs.ts';
import { judged, touching } from './passing.ts';
import {
  contentAt,
  isBeneathRoot,
  outputAt,
  requireMounted,
  requireRootsOf,
  type SeenFolders,
  withoutFolders,
} from './roots.ts';
import { CANCELLED, PROGRESS_MS } from './settings.ts';
import { type StoredResults, storedItems, storedResults, storeObject } from './stored.ts';
import { throwIfAborted } from './with-deadline.ts';
import { writeOnce } from './write-once.ts';

/** The operation of a batch. */
export type BatchOperation = 'create' | 'verify' | 'validate';

/** Fields of a draft that no torrent has. */
const DRAFT_ONLY = [
  'attributes',
  'hidden',
  'pieceLength',
  'skipUnreadable',
  'symlinks',
  'systemFiles',
  'trackers',
] as const;
/** Fields of a torrent whose values JSON does not have. */
const NOT_JSON = ['creationDate', 'extra', 'pieceLayers'] as const;

/** The fields of a draft that an item of a batch may have: those that are plain data and lead nowhere on disk. */
export type BatchFields = Pick<
  TorrentCreateInput,
  Exclude<keyof TorrentFields, (typeof NOT_JSON)[number]> | (typeof DRAFT_ONLY)[number]
>;

const FIELDS = new Set<string>([...Object.keys(TorrentFields.schema), ...DRAFT_ONLY]);
for (const name of NOT_JSON) FIELDS.delete(name);

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

/** Small torrents that are processed at once: two groups of outputs, so that one can be hashed while the other is synced. */
const ITEMS_AT_ONCE = 128;

/** Characters of the error of an item. Results of a full job must fit into an object of the store. */
const MAX_ERROR = 1000;

/** Characters of items or results that a job holds itself: longer ones are in the store. */
export const MAX_INLINE = 4096;

/** Runs a job of a batch, until somebody cancels the batch. */
export async function runBatch(job: Job, { signal, context, ...rest }: JobContext): Promise<object> {
  const unwanted = new AbortController();
  const look = (now: Pick<Job, 'progress'> | undefined) => {
    if (now?.progress === CANCELLED) unwanted.abort();
  };
  look(job);
  const ask = () => context.queues.batches.getJob(job.id as string).then(look, () => {});
  const watch = setInterval(() => void ask(), PROGRESS_MS).unref();
  const how = { ...rest, isFirst: job.attemptsStarted <= 1, isLastAttempt: isLastAttempt(job) };
  const stop = AbortSignal.any([signal, unwanted.signal]);
  try {
    return await runBatchJob(indexedData(job.data), { ...context, ...how, signal: stop });
  } catch (error) {
    throw unwanted.signal.aborted && error instanceof AbortError ? cancelledError() : error;
  } finally {
    clearInterval(watch);
  }
}

interface BatchContext extends WorkerContext, Pick<JobContext, 'signal' | 'touch' | 'isFinal'> {
  /** Whether no earlier attempt may have stored results. */
  isFirst?: boolean;
  /** Failures that may pass are the results of their items, too: nobody tries again. */
  isLastAttempt: boolean;
  seen: SeenFolders;
}

/** Runs a job of a batch, and stores the results. If failures of some items may pass, its next attempt runs only those. */
export async function runBatchJob(
  data: IndexedData,
  given: Omit<BatchContext, 'seen'>,
): Promise<{ ok: number; failed: number; sealed?: string }> {
  const context: BatchContext = { ...given, seen: new Map() };
  const { store, signal, isFirst } = context;
  const { plan: id, index } = data;
  const stored = await storedItems(store, data);
  if (!stored) throw notInStore(`the items ${index} of ${id}`);
  const { operation, first, items } = stored;
  try {
    requireRootsOf(context.roots, items.flatMap(placesOf));
  } catch (error) {
    // Else its items have this failure.
    if (!(await context.isFinal(error as OtherWorkerError))) throw error;
  }
  // A forged result could call damaged content good. The torrents of other operations are read by those who use them.
  const job = { first, count: items.length };
  const others = async () => (operation === 'verify' ? null : storedResults(store, id, index, job));
  const earlier = isFirst ? null : await others();
  const results: StoredResults = items.map((_, i) => earlier?.[i] ?? null);
  const failures: unknown[] = [];
  const run = async ([i, item]: [number, unknown]) => {
    if (results[i] || signal.aborted) return;
    results[i] = await resultOf(operation, item, first + i, context).catch((error: unknown) => {
      failures.push(error);
      return null;
    });
    context.touch();
  };
  const entries = items.entries();
  const lane = async () => {
    for (const entry of entries) await run(entry);
  };
  await Promise.all(Array.from({ length: ITEMS_AT_ONCE }, lane));
  if (results.includes(null)) {
    // A worker that was taken for dead may have ended some of them, too.
    const later = await others();
    const merged = results.map((result, i) => result ?? later?.[i] ?? null);
    if (merged.some((result) => result !== null))
      await storeObject(store, id, `results-${index}`, JSON.stringify(merged));
    throwIfAborted(signal);
    throw failures[0];
  }
  const ok = results.filter((result) => result?.ok).length;
  const most = data.sealed ? MAX_INLINE : 0;
  const sealed = await storeObject(store, id, `results-${index}`, JSON.stringify(results), most);
  if (earlier && sealed) await store.delete?.(id, `results-${index}`);
  return { ok, failed: results.length - ok, ...(sealed && { sealed }) };
}

/** The result of an item. Throws a failure that may pass, unless this is the last attempt. */
async function resultOf(
  operation: BatchOperation,
  item: unknown,
  index: number,
  context: BatchContext,
): Promise<ItemResult> {
  const nothing = { infohashV1: null, infohashV2: null };
  try {
    checkItem(operation, item);
    const outcome = await RUN[operation](item as never, context);
    return { item: index, error: null, ...nothing, ...outcome };
  } catch (cause) {
    const error = await judged(cause, context, placesOf(item));
    // Missing content is what a verification finds.
    const isFound = error instanceof UnseenError && operation !== 'create';
    const isFinal = error instanceof OtherWorkerError ? isFound || (await context.isFinal(error)) : isPermanent(error);
    const isLast = context.isLastAttempt && !(error instanceof OtherWorkerError);
    if (context.signal.aborted || !(isFinal || isLast)) throw error;
    const text = (await withoutFolders(textOf(error), context.roots)).slice(0, MAX_ERROR);
    return { item: index, ok: false, error: text, ...nothing };
  }
}

/** The places on disk that an item names. A torrent or output that is only the name of a root is none. */
export function placesOf(item: unknown): unknown[] {
  const { path: content, output, torrent } = Object(item) as Record<string, unknown>;
  return [content, ...[output, torrent].filter(isBeneathRoot)];
}

type Outcome = Pick<ItemResult, 'ok'> & Partial<ItemResult>;

/** Characters of an item as JSON. */
export const MAX_ITEM = 2 ** 20;

/** Whether a value is right for a field of an item, and the words for what it expects. */
type ItemCheck = readonly [fits: (value: unknown) => boolean, what: string];

const TEXT: ItemCheck = [(value) => typeof value === 'string', 'a string'];

/** Checked by hand: with structs, that took as long as encoding the torrents. */
const ITEM_CHECKS: { readonly [Operation in BatchOperation]: Record<keyof BatchItems[Operation], ItemCheck> } = {
  create: {
    path: TEXT,
    output: TEXT,
    version: [(value) => [undefined, 'v1', 'v2', 'hybrid'].includes(value as string), 'v1, v2 or hybrid'],
    fields: [(value) => value == null || (typeof value === 'object' && !Array.isArray(value)), 'an object'],
    force: [(value) => [undefined, true, false].includes(value as boolean), 'true or false'],
  },
  verify: { torrent: TEXT, path: TEXT },
  validate: { torrent: TEXT },
};

/** Throws `ERR_INVALID_ARGUMENT` for an item that the store has damaged. */
function checkItem(operation: BatchOperation, item: unknown): void {
  if (item === null || typeof item !== 'object') throw refused(`item ${shown(item)}: expected an object`);
  const given = item as Record<string, unknown>;
  if ('tooLong' in given) throw refused(`the item has ${given['tooLong']} characters of JSON: at most ${MAX_ITEM}`);
  for (const [field, [fits, what]] of Object.entries(ITEM_CHECKS[operation]))
    if (!fits(given[field])) throw refused(`item ${field}: expected ${what}, not ${shown(given[field])}`);
}

async function create(
  { path: place, output, version = 'hybrid', fields: given, force = false }: CreateItem,
  context: BatchContext,
): Promise<Outcome> {
  const { roots, threads, memoryLimit, signal, touch, seen } = context;
  const { path: pathRoot, beneath } = await contentAt(roots, place, seen);
  const target = await outputAt(roots, output, seen);
  const fields = given ?? {};
  const unknown = Object.keys(fields).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) throw refused(`an item of a batch cannot have the field ${shown(unknown)}`);
  // A root has its own name in torrents. Most drafts need no info for that, and are checked faster.
  const name = path.posix.basename(place);
  const info = name === path.basename(pathRoot) ? fields.info : { name, ...Object(fields.info) };
  const draft = new TorrentCreate({ ...fields, ...(info && { info }), pathRoot });
  // Without `force`, no file is replaced.
  const replaced = force ? target.path : null;
  const resources = { threads, memoryLimit, onProgress: touching(touch) };
  const torrent = await draft.generate({ version, ...resources, outputPath: replaced, beneath, signal });
  await requireMounted(context, [output], { mayBeEmpty: true });
  await writeOnce(torrent, target.path, { force, beneath: target.beneath });
  const { infohashV1, infohashV2 } = torrent;
  return { ok: true, infohashV1, infohashV2 };
}

async function verifyItem({ torrent: file, path: place }: VerifyItem, context: BatchContext): Promise<Outcome> {
  const { roots, threads, memoryLimit, signal, touch, seen } = context;
  const from = await contentAt(roots, file, seen);
  const torrent = await Torrent.read(from.path, { beneath: from.beneath, signal });
  const { path: content, beneath } = await contentAt(roots, place, seen);
  const options = { threads, memoryLimit, onProgress: touching(touch), beneath, signal };
  const { ok, goodBytes, totalSize } = await verify(torrent, content, options);
  // Content may be missing here only.
  if (!ok && goodBytes === 0) await requireMounted(context, [place]);
  const { infohashV1, infohashV2 } = torrent;
  return { ok, goodBytes, totalSize, infohashV1, infohashV2 };
}

async function validate({ torrent: file }: ValidateItem, { roots, signal, seen }: BatchContext): Promise<Outcome> {
  const { path: from, beneath } = await contentAt(roots, file, seen);
  try {
    const { infohashV1, infohashV2 } = await Torrent.read(from, { beneath, signal });
    return { ok: true, infohashV1, infohashV2 };
  } catch (error) {
    const [first] = error instanceof ValidationError ? error.issues : [];
    if (!first) throw error;
    return { ok: false, error: `ERR_VALIDATION: ${first.path.join('.')}: ${first.message}` };
  }
}

const RUN = { create, verify: verifyItem, validate };
