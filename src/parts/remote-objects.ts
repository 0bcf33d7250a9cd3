/** Reads, writes, deletes and lists the objects of a part store over HTTP. */
import { elementOf } from '../create/sources/s3-objects.ts';
import {
  patienceOf,
  type Refused,
  refusal,
  request,
  type WebAnswer,
  type WebTarget,
  webError,
} from '../create/sources/web-retries.ts';
import type { WebStoreOptions } from './object-stores.ts';
import { mostBytes, parsePartKey, type StoredName, type StoredObject, tooLong } from './store.ts';

/** The target of requests to a web server. */
export function webTarget(where: Pick<WebTarget, 'href' | 'authorization'>, options: WebStoreOptions): WebTarget {
  return { ...where, ...patienceOf(options), refused: (answer) => refused(where, answer) };
}

const MISSING = [404, 410];
/** The statuses of servers without a method. */
const NO_METHOD = [405, 501];

function refused(target: Pick<WebTarget, 'href'>, answer: WebAnswer): Refused | null {
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
  const refused = (answer: WebAnswer) =>
    NO_METHOD.includes(answer.status) ? null : (target.refused?.(answer) ?? null);
  await request({ ...target, refused }, { method: 'DELETE' }, async () => {});
}

/** Bytes of a page of a listing: a thousand keys of a kilobyte, with their XML. */
const MAX_PAGE = 2 ** 22;
/** Any text of an XML element. */
const TEXT = '[^<]*';

/**
 * Lists the objects of a bucket whose keys begin with a prefix.
 *
 * @param bucket The target for the bucket.
 * @throws {MetainfoError} `ERR_HTTP`
 */
export async function* listBucket(bucket: WebTarget, prefix: string): AsyncGenerator<StoredObject> {
  let token: string | null = null;
  do {
    const query: string = new URLSearchParams({
      'list-type': '2',
      prefix,
      ...(token !== null && { 'continuation-token': token }),
    }).toString();
    // The signature has %20 for a space.
    const page = await listPage(bucket, `${bucket.href}?${query.replaceAll('+', '%20')}`);
    for (const [, content = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const key = unescaped(elementOf(content, 'Key', TEXT) ?? '');
      const found = key.startsWith(prefix) ? parsePartKey(key.slice(prefix.length)) : null;
      const size = Number(elementOf(content, 'Size', TEXT));
      const mtimeMs = Date.parse(elementOf(content, 'LastModified', TEXT) ?? '');
      if (found && !Number.isNaN(mtimeMs) && Number.isSafeInteger(size)) yield { ...found, size, mtimeMs };
    }
    const next: string | null = elementOf(page, 'NextContinuationToken', TEXT);
    if (next === token && next !== null) throw webError(bucket, 'the store lists the same objects again and again');
    token = next === null ? null : unescaped(next);
  } while (token !== null);
}

function listPage(bucket: WebTarget, url: string): Promise<string> {
  return request(bucket, { url }, async (answer) => {
    const bytes = answer.status === 200 ? await answer.bodyUpTo(MAX_PAGE) : null;
    const text = bytes && Buffer.from(bytes).toString();
    if (text?.includes('<ListBucketResult')) return text;
    throw webError(bucket, `the store does not list its objects (status ${answer.status})`);
  });
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:(amp|lt|gt|quot|apos)|#(x[0-9a-f]{1,5}|[0-9]{1,6}));/gi, (_, name: string, code: string) =>
    code === undefined
      ? (ENTITIES[name.toLowerCase()] as string)
      : String.fromCodePoint(Number(code.replace(/^x/i, '0x'))),
  );
}
