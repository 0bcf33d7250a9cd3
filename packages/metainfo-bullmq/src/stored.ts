/** Objects of queues in a part store, as JSON: nobody trusts the server of a queue, so jobs hold nothing but their names. */
import { MetainfoError, type PartStore, type StoredName } from 'metainfo';
import * as s from 'superstruct';
import type { ItemResult } from './batch-job.ts';
import { refused, shown } from './failures.ts';
import type { IndexedData, JoinData } from './jobs.ts';
import { seal, unseal } from './seals.ts';

/** Bytes of an object. A value of three bytes takes up to 64 bytes of memory. */
const MAX_BYTES = 2 ** 24;

/** The results of a job: null for items that have none yet. */
export type StoredResults = (ItemResult | null)[];

const ITEMS = s.type({
  operation: s.enums(['create', 'verify', 'validate']),
  /** The index of the first item in the batch. */
  first: s.min(s.integer(), 0),
  items: s.array(s.unknown()),
});
/** The items of a job. */
export type StoredItems = s.Infer<typeof ITEMS>;

const RESULTS = s.array(
  s.nullable(
    s.type({
      item: s.min(s.integer(), 0),
      ok: s.boolean(),
      error: s.nullable(s.string()),
      infohashV1: s.nullable(s.pattern(s.string(), /^[0-9a-f]{40}$/)),
      infohashV2: s.nullable(s.pattern(s.string(), /^[0-9a-f]{64}$/)),
      goodBytes: s.optional(s.min(s.integer(), 0)),
      totalSize: s.optional(s.min(s.integer(), 0)),
    }),
  ),
);

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for anything but a part store */
export function requireStore(store: PartStore): PartStore {
  if (typeof store?.get === 'function' && typeof store?.put === 'function') return store;
  throw refused(`store must be a part store, such as folderStore('parts'), not ${shown(store)}`);
}

/** Seals an object for a job if its JSON text has few characters, else stores it. Throws `ERR_INVALID_ARGUMENT` for too many. */
export async function storeObject(
  store: PartStore,
  id: string,
  name: StoredName,
  text: string,
  most = 0,
): Promise<string | undefined> {
  if (text.length <= most) return seal(store, `${id}/${name}`, text);
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_BYTES) throw refused(`the object ${name} has more than 16 MiB: use fewer items a job`);
  await store.put(id, name, bytes);
  return undefined;
}

/** The items of a job, which are checked when they run; null if the store does not have them. Throws `ERR_PLAN`. */
export function storedItems(
  store: PartStore,
  { plan, index, sealed }: Pick<IndexedData, 'plan' | 'index' | 'sealed'>,
): Promise<StoredItems | null> {
  return storedObject(store, plan, `items-${index}`, ITEMS, sealed);
}

const BATCH = s.type({
  /** The SHA-256 of the operation and the items. */
  digest: s.string(),
  cancelled: s.boolean(),
  /** All lists of roots that jobs have. */
  roots: s.array(s.array(s.string())),
  /** The list of roots and the number of items of each job. */
  jobs: s.array(s.tuple([s.min(s.integer(), 0), s.min(s.integer(), 0)])),
});

/** The jobs of a batch, as the store keeps them. */
export type StoredBatch = s.Infer<typeof BATCH>;

/** The jobs of a batch; null if the store does not have them. Throws `ERR_PLAN`. */
export function storedBatch(store: PartStore, id: string): Promise<StoredBatch | null> {
  return storedObject(store, id, 'batch', BATCH);
}

/** The results of a job, one for each of its items; null if the store does not have them. Throws `ERR_PLAN`. */
export function storedResults(
  store: PartStore,
  id: string,
  index: number,
  { first, count, sealed }: { first: number; count: number; sealed?: string | undefined },
): Promise<StoredResults | null> {
  const own = s.refine(RESULTS, 'results', (results) => {
    const isOwn = (result: (typeof results)[number], i: number) =>
      result === null ||
      (result.item === first + i && !(result.ok && (result.error !== null || result.goodBytes !== result.totalSize)));
    return results.length === count && results.every(isOwn);
  });
  return storedObject(store, id, `results-${index}`, own as s.Struct<StoredResults, unknown>, sealed);
}

/** An object that is sealed or in the store; null if the store does not have it. Throws `ERR_PLAN` if it is malformed. */
async function storedObject<T, S>(
  store: PartStore,
  id: string,
  name: StoredName,
  struct: s.Struct<T, S>,
  sealed?: string | undefined,
): Promise<T | null> {
  const bytes = await (sealed === undefined ? store.get(id, name) : unseal(store, `${id}/${name}`, sealed));
  if (!bytes) return null;
  try {
    const found: unknown = bytes.length > MAX_BYTES ? null : JSON.parse(Buffer.from(bytes).toString());
    if (s.is(found, struct)) return found;
  } catch {}
  throw new MetainfoError('ERR_PLAN', `The object ${name} of ${id} in the part store is malformed.`);
}

const REQUEST = s.type({
  /** `NAME/path` of the torrent file. */
  output: s.string(),
  /** Whether to replace a file. */
  force: s.boolean(),
  /** The plan as JSON, if it is short: else it is in the store. */
  plan: s.optional(s.string()),
});

/** Where the torrent of a plan goes. */
export type JoinRequest = s.Infer<typeof REQUEST>;

/** Seals a request for the data of its job. */
export function sealRequest(plan: string, request: JoinRequest, store: PartStore): Promise<string> {
  return seal(store, `${plan}/request`, JSON.stringify(request));
}

/** Opens the request of a job. Throws `ERR_PLAN`, and the errors of {@link unseal}. */
export async function requestOf(
  { plan, sealed }: Pick<JoinData, 'plan' | 'sealed'>,
  store: PartStore,
): Promise<JoinRequest> {
  return (await storedObject(store, plan, 'request', REQUEST, sealed)) as JoinRequest;
}
