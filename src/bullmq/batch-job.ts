/** One job of a batch: creates, verifies or validates some torrents. */
import path from 'node:path';
import { DEFAULT_LIMITS } from '../bencode/limits.ts';
import { TorrentCreate } from '../create/draft.ts';
import type { TorrentCreateInput } from '../create/draft-input.ts';
import { readWithin } from '../disk/read-file.ts';
import { syncFolder } from '../disk/write-file.ts';
import { throwIfAborted } from '../errors/cancel.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { isPermanent } from '../errors/permanent.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { Torrent } from '../model/torrent.ts';
import { verify } from '../verify/verify.ts';
import { textOf } from './failures.ts';
import { contentAt, type KnownFolders, outputAt } from './roots.ts';
import type { WorkerContext } from './workers.ts';
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

/** The data of a job of a batch. */
export interface BatchJob {
  plan: string;
  index: number;
}

/** The items of a job, as the store has them. */
export interface StoredItems {
  operation: BatchOperation;
  /** The index of the first item in the batch. */
  first: number;
  items: unknown[];
}

/** Small torrents that are worked off at once: enough to keep the threads busy. */
const ITEMS_AT_ONCE = 16;

/** The context of the items of a job. */
interface JobContext extends WorkerContext {
  signal: AbortSignal;
  known: KnownFolders;
  /** Folders of written torrents. */
  written: Set<string>;
}

/** Works off a job of a batch, and stores the results. One failing item does not end the others. */
export async function runBatchJob(
  { plan: id, index }: BatchJob,
  context: WorkerContext & { signal: AbortSignal },
): Promise<{ ok: number; failed: number }> {
  const { store, signal } = context;
  const jobContext: JobContext = { ...context, known: new Map(), written: new Set() };
  const stored = await store.get(id, `items-${index}`);
  if (!stored) throw new MetainfoError('ERR_NOT_FOUND', `The part store does not have the items ${index} of ${id}.`);
  const { operation, first, items } = JSON.parse(Buffer.from(stored).toString()) as StoredItems;
  const results: ItemResult[] = [];
  const queue = items.entries();
  const lane = async () => {
    for (const [i, item] of queue) {
      throwIfAborted(signal);
      results[i] = await resultOf(operation, item, first + i, jobContext);
    }
  };
  await Promise.all(Array.from({ length: Math.min(ITEMS_AT_ONCE, items.length) }, lane));
  await Promise.all([...jobContext.written].map(syncFolder));
  await store.put(id, `results-${index}`, Buffer.from(JSON.stringify(results)));
  const ok = results.filter((result) => result.ok).length;
  return { ok, failed: results.length - ok };
}

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
    // The whole job is tried again: what was done before is done the same way.
    if (context.signal.aborted || !isPermanent(error)) throw error;
    return { item: index, ok: false, error: textOf(error), ...nothing };
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
  { path: place, output, version = 'hybrid', fields = {}, force = false }: CreateItem,
  { roots, known, written, threads, memoryLimit, signal }: JobContext,
): Promise<Outcome> {
  const pathRoot = await contentAt(roots, place, known);
  const target = await outputAt(roots, output, known);
  const unknown = Object.keys(fields).find((key) => !FIELDS.includes(key as keyof BatchFields));
  if (unknown !== undefined)
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `an item of a batch cannot have the field ${shown(unknown)}.`);
  // The name comes from the place, even if that is a link. Most drafts need no info for that, and are checked faster.
  const name = path.posix.basename(place);
  const info = name === path.basename(pathRoot) ? fields.info : { name, ...Object(fields.info) };
  const draft = new TorrentCreate({ ...fields, ...(info && { info }), pathRoot });
  // Without `force`, no file is replaced.
  const torrent = await draft.generate({ version, threads, memoryLimit, output: force ? target : null, signal });
  await writeOnce(torrent, target, { force: force === true, durableName: false });
  written.add(path.dirname(target));
  const { infohashV1, infohashV2 } = torrent;
  return { ok: true, infohashV1, infohashV2 };
}

async function verifyItem(
  { torrent: file, path: place }: VerifyItem,
  { roots, known, threads, memoryLimit, signal }: JobContext,
): Promise<Outcome> {
  const torrent = await Torrent.read(await contentAt(roots, file, known), { signal });
  const { ok, goodBytes, totalSize } = await verify(torrent, await contentAt(roots, place, known), {
    threads,
    memoryLimit,
    signal,
  });
  const { infohashV1, infohashV2 } = torrent;
  return { ok, goodBytes, totalSize, infohashV1, infohashV2 };
}

async function validate({ torrent: file }: ValidateItem, { roots, known }: JobContext): Promise<Outcome> {
  const bytes = await readWithin(await contentAt(roots, file, known), DEFAULT_LIMITS.bytes);
  const { torrent, infohash, issues } = Torrent.inspect(bytes);
  const [first] = issues.filter(({ severity }) => severity === 'error');
  const error = first ? `ERR_VALIDATION: ${first.path.join('.')}: ${first.message}` : null;
  return { ok: torrent !== null, error, infohashV1: infohash.v1, infohashV2: infohash.v2 };
}
