/** Reads, writes, deletes and lists the objects of a part store over HTTP. */
import { elementOf } from '../sources/s3-objects.ts';
import {
  patienceOf,
  type Refused,
  refusal,
  request,
  type WebAnswer,
  type WebTarget,
  webError,
} from '../sources/web-retries.ts';
import type { WebStoreOptions } from './object-stores.ts';
import { mostBytes, parsePartKey, type StoredName, type StoredObject, tooLong } from './store.ts';

/** The target of requests to a web server. */
export function webTarget(where: Pick<WebTarget, 'href' | 'authorization'>, options: WebStoreOptions): WebTarget {
  return { ...where, ...patienceOf(options), refusalOf: (answer) => refusalOf(where, answer) };
}

const MISSING = [404, 410];
const NO_METHOD = [405, 501];

function refusalOf(target: Pick<WebTarget, 'href'>, answer: WebAnswer): Refused | null {
  const { status } = answer;
  if (status < 300 || MISSING.includes(status)) return null;
  const hasMethod = !NO_METHOD.includes(status);
  if (hasMethod && status !== 409) return { error: refusal(target, answer), isTemporary: status >= 500 };
  const advice = hasMethod
    ? 'let it make missing folders (nginx: create_full_put_path on)'
    : 'a part store must take GET and PUT';
  return { error: webError(target, `the server answers with status ${status}: ${advice}`), isTemporary: false };
}

/** The bytes of an object; null if there is none. */
export function getObject(target: WebTarget, name: StoredName, most?: number): Promise<Uint8Array | null> {
  return request(target, {}, async ({ status, bodyUpTo, ...answer }) => {
    if (MISSING.includes(status)) return null;
    if (status !== 200) throw refusal(target, { status, ...answer });
    const limit = mostBytes(name, most);
    const bytes = await bodyUpTo(limit);
    if (bytes) return bytes;
    throw tooLong(name, target.name ?? target.href, () =>
      webError(target, `the server sends more than the ${limit} bytes that the object can have`),
    );
  });
}

/** Writes an object. */
export function putObject(target: WebTarget, body: Uint8Array): Promise<void> {
  return request(target, { method: 'PUT', body }, async (answer) => {
    if (answer.status >= 300) throw refusal(target, answer);
  });
}

/** Deletes an object, if it is there and if the server deletes objects at all. */
export async function deleteObject(target: WebTarget): Promise<void> {
  const refusalOf = (answer: WebAnswer) =>
    NO_METHOD.includes(answer.status) ? null : (target.refusalOf?.(answer) ?? null);
  await request({ ...target, refusalOf }, { method: 'DELETE' }, async () => {});
}

/** Bytes of a page of a listing: a thousand keys of a kilobyte, with their XML. */
const MAX_PAGE = 2 ** 22;
/** Pages that may be nearly empty, as in a bucket with versions of deleted objects. Others have ten keys and more, on average. */
const MAX_SPARSE_PAGES = 1000;
const MIN_KEYS = 10;

/** A page of a listing: all keys, the objects that are ours, and the token of the next page, if there is one. */
type Page = { keys: string[]; objects: StoredObject[]; next: string | null };

/** Keys of a full page. */
const FULL_PAGE = 1000;

/** Lists the objects of a bucket below two prefixes: after a full page by the first digits of plans, at once. Throws `ERR_HTTP`. */
export async function* listBucket(bucket: WebTarget, prefix: string, below: string): AsyncGenerator<StoredObject> {
  const first = await listPage(bucket, prefix, { below, token: null });
  if (first.next === null || below !== '' || first.keys.length < FULL_PAGE) {
    for await (const objects of listPages(bucket, prefix, { below, first })) yield* objects;
    return;
  }
  const lists = [...'0123456789abcdef'].map((digit) => listPages(bucket, prefix, { below: digit }));
  const next = (list: (typeof lists)[number]) => list.next().then((page) => ({ list, page }));
  const running = new Map(lists.map((list) => [list, next(list)]));
  while (running.size > 0) {
    const { list, page } = await Promise.race(running.values());
    if (page.done) running.delete(list);
    else running.set(list, next(list));
    yield* page.value ?? [];
  }
}

async function* listPages(
  bucket: WebTarget,
  prefix: string,
  { below, first }: { below: string; first?: Page },
): AsyncGenerator<StoredObject[]> {
  // Comparing each page with the last one whose number is a power of two finds every cycle, however long it is.
  let earlier: Page | null = null;
  let keys = 0;
  for (let pages = 1, token: string | null = null; ; pages += 1) {
    const page: Page = (pages === 1 && first) || (await listPage(bucket, prefix, { below, token }));
    keys += page.keys.length;
    yield page.objects;
    token = page.next;
    if (token === null) return;
    // Stores differ in the order of keys, but none lists a key twice.
    if (earlier?.next === token || (page.keys.length > 0 && earlier?.keys[0] === page.keys[0]))
      throw webError(bucket, 'the store lists the same objects again and again');
    if (pages > MAX_SPARSE_PAGES + keys / MIN_KEYS)
      throw webError(bucket, `the store lists only ${keys} objects on ${pages} pages, and does not come to an end`);
    if (Number.isInteger(Math.log2(pages))) earlier = page;
  }
}

async function listPage(
  bucket: WebTarget,
  prefix: string,
  { below, token }: { below: string; token: string | null },
): Promise<Page> {
  const more = token !== null && { 'continuation-token': token };
  const query = new URLSearchParams({ 'list-type': '2', prefix: prefix + below, ...more }).toString();
  // The signature has %20 for a space.
  const xml = await request(bucket, { url: `${bucket.href}?${query.replaceAll('+', '%20')}` }, async (answer) => {
    const bytes = answer.status === 200 ? await answer.bodyUpTo(MAX_PAGE) : new Uint8Array();
    if (!bytes) throw webError(bucket, `the store sends a page of more than ${MAX_PAGE} bytes`);
    const text = Buffer.from(bytes).toString();
    if (text.includes('<ListBucketResult')) return text;
    throw webError(bucket, `the store does not list its objects (status ${answer.status})`);
  });
  const page: Page = { keys: [], objects: [], next: textOf(xml, 'NextContinuationToken') };
  // One pass: an expression would look for the end of each element again and again.
  for (const part of xml.split('</Contents>').slice(0, -1)) {
    const content = part.slice(part.lastIndexOf('<Contents>'));
    const key = textOf(content, 'Key');
    if (key === null) continue;
    page.keys.push(key);
    const found = key.startsWith(prefix + below) ? parsePartKey(key.slice(prefix.length)) : null;
    const size = Number(textOf(content, 'Size'));
    const mtimeMs = Date.parse(textOf(content, 'LastModified') ?? '');
    if (found && !Number.isNaN(mtimeMs) && Number.isSafeInteger(size)) page.objects.push({ ...found, size, mtimeMs });
  }
  return page;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const ENTITY = /&(?:(amp|lt|gt|quot|apos)|#(x[0-9a-f]{1,5}|[0-9]{1,6}));/gi;

/** The text of an element; null if there is none. It is a copy, because a slice would keep the whole page in memory. */
function textOf(xml: string, name: string): string | null {
  const text = elementOf(xml, name, '[^<]*')?.replace(ENTITY, (_, entity: string, code: string) =>
    code === undefined
      ? (ENTITIES[entity.toLowerCase()] as string)
      : String.fromCodePoint(Number(code.replace(/^x/i, '0x'))),
  );
  return text === undefined ? null : Buffer.from(text).toString();
}
