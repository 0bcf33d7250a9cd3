/** One job of a batch: creates, verifies or validates some torrents. */
import path from 'node:path';
import {
  isPermanent,
  Torrent,
  TorrentCreate,
  type TorrentCreateInput,
  TorrentFields,
  type TorrentVersion,
  ValidationError,
  verify,
} from 'metainfo';
import { notInStore, refused, shown, textOf } from './failures.ts';
import type { IndexedData, WorkerContext } from './jobs.ts';
import {
  contentAt,
  isBeneathRoot,
  outputAt,
  requireMounted,
  requireRootsOf,
  type SeenFolders,
  withoutFolders,
} from './roots.ts';
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

/** How a job of a batch is started. */
interface BatchJobContext extends WorkerContext {
  signal: AbortSignal;
  /** Failures that may pass are the results of their items, too: nobody tries again. */
  isLastAttempt: boolean;
  /** Whether a job that names unknown roots fails as a whole, before its first item, so that another worker takes it. */
  needsRoots: boolean;
}

/** How the items of a job run. */
interface BatchContext extends BatchJobContext {
  seen: SeenFolders;
}

/**
 * Runs a job of a batch, and stores the results. One failing item does not end the others: if its failure may pass, the job fails when all
 * others have ended, and its next attempt runs only that item.
 */
export async function runBatchJob(
  { plan: id, index }: IndexedData,
  given: BatchJobContext,
): Promise<{ ok: number; failed: number }> {
  const context: BatchContext = { ...given, seen: new Map() };
  const { store, signal } = context;
  const stored = await storedItems(store, id, index);
  if (!stored) throw notInStore(`the items ${index} of ${id}`);
  const { operation, first, items } = stored;
  if (context.needsRoots) requireRootsOf(context.roots, items.flatMap(placesOf));
  // A forged result could call damaged content good. The torrents of other operations are read by those who use them.
  const others = async () => (operation === 'verify' ? null : storedResults(store, id, index, stored));
  const earlier = await others();
  const results: StoredResults = items.map((_, i) => earlier?.[i] ?? null);
  const failures: unknown[] = [];
  const run = async ([i, item]: [number, unknown]) => {
    if (results[i] || signal.aborted) return;
    results[i] = await resultOf(operation, item, first + i, context).catch((error: unknown) => {
      failures.push(error);
      return null;
    });
  };
  const entries = items.entries();
  const lane = async () => {
    for (const entry of entries) await run(entry);
  };
  await Promise.all(Array.from({ length: ITEMS_AT_ONCE }, lane));
  // A worker that was taken for dead may have ended some of them, too.
  const later = await others();
  const merged = results.map((result, i) => result ?? later?.[i] ?? null);
  if (merged.some((result) => result !== null)) await storeObject(store, id, `results-${index}`, merged);
  throwIfAborted(signal);
  if (failures.length > 0) throw failures[0];
  const ok = results.filter((result) => result?.ok).length;
  return { ok, failed: results.length - ok };
}

/** @throws {unknown} a failure that may pass, unless this is the last attempt */
async function resultOf(
  operation: BatchOperation,
  item: unknown,
  index: number,
  context: BatchContext,
): Promise<ItemResult> {
  const nothing = { infohashV1: null, infohashV2: null };
  try {
    return { item: index, error: null, ...nothing, ...(await runItem(operation, item, context)) };
  } catch (cause) {
    // Where a root is gone, another worker may have it.
    const error = await requireMounted(context.roots, placesOf(item)).then(
      () => cause,
      (gone: unknown) => gone,
    );
    if (context.signal.aborted || !(context.isLastAttempt || isPermanent(error))) throw error;
    return { item: index, ok: false, error: await withoutFolders(textOf(error), context.roots), ...nothing };
  }
}

/** The places on disk that an item names. A torrent or output that is only the name of a root is none. */
export function placesOf(item: unknown): unknown[] {
  const { path: content, output, torrent } = Object(item) as Record<string, unknown>;
  return [content, ...[output, torrent].filter(isBeneathRoot)];
}

type Outcome = Pick<ItemResult, 'ok'> & Partial<ItemResult>;

async function runItem(operation: BatchOperation, item: unknown, context: BatchContext): Promise<Outcome> {
  checkItem(operation, item);
  if (operation === 'create') return create(item as CreateItem, context);
  if (operation === 'verify') return verifyItem(item as VerifyItem, context);
  return validate(item as ValidateItem, context);
}

type ItemChecks<Item> = {
  readonly [Field in keyof Item]-?: readonly [fits: (value: unknown) => boolean, what: string];
};

const isText = (value: unknown) => typeof value === 'string';
const isVersion = (value: unknown) => value === undefined || ['v1', 'v2', 'hybrid'].includes(value as string);
const isFields = (value: unknown) => value == null || (typeof value === 'object' && !Array.isArray(value));
const isFlag = (value: unknown) => value === undefined || typeof value === 'boolean';

/** Checked by hand: with structs, that took as long as encoding the torrents. */
const ITEM_CHECKS: { readonly [Operation in BatchOperation]: ItemChecks<BatchItems[Operation]> } = {
  create: {
    path: [isText, 'a string'],
    output: [isText, 'a string'],
    version: [isVersion, 'v1, v2 or hybrid'],
    fields: [isFields, 'an object'],
    force: [isFlag, 'true or false'],
  },
  verify: { torrent: [isText, 'a string'], path: [isText, 'a string'] },
  validate: { torrent: [isText, 'a string'] },
};

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an item that the store has damaged */
function checkItem(operation: BatchOperation, item: unknown): void {
  if (item === null || typeof item !== 'object') throw refused(`item ${shown(item)}: expected an object`);
  const given = item as Record<string, unknown>;
  for (const [field, [fits, what]] of Object.entries(ITEM_CHECKS[operation]))
    if (!fits(given[field])) throw refused(`item ${field}: expected ${what}, not ${shown(given[field])}`);
}

async function create(
  { path: place, output, version = 'hybrid', fields: given, force = false }: CreateItem,
  { roots, threads, memoryLimit, signal, seen }: BatchContext,
): Promise<Outcome> {
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
  const torrent = await draft.generate({ version, threads, memoryLimit, outputPath: replaced, beneath, signal });
  await writeOnce(torrent, target.path, { force, beneath: target.beneath });
  const { infohashV1, infohashV2 } = torrent;
  return { ok: true, infohashV1, infohashV2 };
}

async function verifyItem(
  { torrent: file, path: place }: VerifyItem,
  { roots, threads, memoryLimit, signal, seen }: BatchContext,
): Promise<Outcome> {
  const from = await contentAt(roots, file, seen);
  const torrent = await Torrent.read(from.path, { beneath: from.beneath, signal });
  const { path: content, beneath } = await contentAt(roots, place, seen);
  const { ok, goodBytes, totalSize } = await verify(torrent, content, { threads, memoryLimit, beneath, signal });
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
