/** Objects of queues in a part store, as JSON: nobody trusts the server of a queue, so jobs hold nothing but their names. */
import { createHash } from 'node:crypto';
import { MetainfoError, type PartStore, type StoredName } from 'metainfo';
import * as s from 'superstruct';
import type { ItemResult } from './batch-job.ts';
import { notInStore, refused, shown } from './failures.ts';
import type { JoinData } from './jobs.ts';

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

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an object that is too large */
export async function storeObject(store: PartStore, id: string, name: StoredName, object: object): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(object));
  if (bytes.length > MAX_BYTES) throw refused(`the object ${name} has more than 16 MiB: use fewer items a job`);
  await store.put(id, name, bytes);
}

/**
 * The items of a job; null if the store does not have them. They are checked when they run.
 *
 * @throws {MetainfoError} `ERR_PLAN`
 */
export function storedItems(store: PartStore, id: string, index: number): Promise<StoredItems | null> {
  return storedObject(store, id, `items-${index}`, ITEMS as s.Struct<StoredItems, unknown>);
}

/**
 * The results of a job; null if the store does not have them.
 *
 * @param stored The items of the job: each must have its own result.
 * @throws {MetainfoError} `ERR_PLAN`
 */
export function storedResults(
  store: PartStore,
  id: string,
  index: number,
  { first, items }: Pick<StoredItems, 'first' | 'items'>,
): Promise<StoredResults | null> {
  const own = s.refine(RESULTS, 'results', (results) => {
    const isOwn = (result: (typeof results)[number], i: number) =>
      result === null ||
      (result.item === first + i && !(result.ok && (result.error !== null || result.goodBytes !== result.totalSize)));
    return results.length === items.length && results.every(isOwn);
  });
  return storedObject(store, id, `results-${index}`, own as s.Struct<StoredResults, unknown>);
}

async function storedObject<T>(
  store: PartStore,
  id: string,
  name: StoredName,
  struct: s.Struct<T, unknown>,
): Promise<T | null> {
  const bytes = await store.get(id, name);
  return bytes && parsedObject(bytes, `The object ${name} of ${id}`, struct);
}

/** @throws {MetainfoError} `ERR_PLAN` */
function parsedObject<T>(bytes: Uint8Array, what: string, struct: s.Struct<T, unknown>): T {
  try {
    const found: unknown = bytes.length > MAX_BYTES ? null : JSON.parse(Buffer.from(bytes).toString());
    if (s.is(found, struct)) return found;
  } catch {}
  throw new MetainfoError('ERR_PLAN', `${what} in the part store is malformed.`);
}

/** The output of a join is kept under its hash, because job data stay small. */
const REQUEST = s.type({
  /** `NAME/path` of the torrent file. */
  output: s.string(),
  /** Whether to replace a file. */
  force: s.boolean(),
});

/** Where the torrent of a plan goes. */
export type JoinRequest = s.Infer<typeof REQUEST>;

/** Stores a request, and returns its hash: the SHA-256 of its text, in hexadecimal. */
export async function storeRequest(plan: string, { output, force }: JoinRequest, store: PartStore): Promise<string> {
  const text = JSON.stringify({ output, force });
  const request = hashOf(text);
  await store.put(plan, `join-${request}`, Buffer.from(text));
  return request;
}

/**
 * Reads a request.
 *
 * @throws {MetainfoError} `ERR_QUEUE` if it is not in the store; `ERR_PLAN` if it is malformed, or not the request of that hash
 */
export async function requestOf(
  { plan, request }: Pick<JoinData, 'plan' | 'request'>,
  store: PartStore,
): Promise<JoinRequest> {
  const bytes = await store.get(plan, `join-${request}`);
  if (!bytes) throw notInStore(`the output of the plan ${plan}`);
  if (hashOf(bytes) !== request)
    throw new MetainfoError('ERR_PLAN', `The part store has another output for the plan ${plan}.`);
  return parsedObject(bytes, `The output of the plan ${plan}`, REQUEST);
}

function hashOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
