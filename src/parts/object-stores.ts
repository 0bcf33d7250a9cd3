/** Part stores in S3 and on web servers. Loads the code for them when it is needed. */

import { checkArgument, checkOptions, invalidArgument, Text } from '../errors/guard.ts';
import { parseS3Url, S3, type S3Options } from '../sources/s3-file.ts';
import { PATIENCE } from '../sources/web-retries.ts';
import { parseWebUrl } from '../sources/web-url.ts';
import { urlBelow } from '../text/urls.ts';
import { type PartStore, partKey } from './store.ts';

/**
 * A part store in a bucket of Amazon S3, or of another store with the same interface. It needs the package aws4fetch, which signs
 * requests: `npm install aws4fetch`. A failed request is repeated after growing waits.
 *
 * @param url `s3://bucket/prefix`. Keys are the prefix, a slash and the path of {@link partKey}.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, also for missing credentials or a missing aws4fetch; its functions throw `ERR_HTTP`
 * @example
 * ```ts
 * import { s3Store } from 'metainfo';
 *
 * const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
 * const store = s3Store('s3://jobs/parts', { endpoint: 'http://127.0.0.1:9', credentials, retries: 0 });
 * const error = await store.get('0'.repeat(64), 0).catch((reason: unknown) => reason);
 * console.log((error as { code: string }).code);
 * ```
 *
 * ```text
 * ERR_HTTP
 * ```
 */
export function s3Store(url: string, options: S3Options = {}): PartStore {
  const checked = checkOptions(options, S3, { example: "{ region: 'eu-west-1' }" });
  const { bucket, key: prefix } = parseS3Url(url);
  const start = prefix === '' ? '' : `${prefix}/`;
  const targetOf = async (key: string) => {
    const { s3Target } = await import('../sources/s3-objects.ts');
    return s3Target({ bucket, key }, checked);
  };
  return {
    ...storeWith((key) => targetOf(`${start}${key}`)),
    list: async function* (planId, name) {
      const { listBucket } = await import('./remote-objects.ts');
      const below = planId === undefined ? '' : name === undefined ? `${planId}/` : partKey(planId, name);
      yield* listBucket(await targetOf(''), start, below);
    },
  };
}

/** The options of {@link webStore}. */
export interface WebStoreOptions {
  /**
   * Milliseconds after which a server that sends nothing, or less than 1 KiB, is treated as stalled.
   *
   * @default 30_000
   */
  idleTimeout?: number | undefined;
  /**
   * How often a request is repeated if the connection fails, or if the server is busy (429, 503 and other 5xx).
   *
   * @default 4
   */
  retries?: number | undefined;
}

/**
 * A part store on a web server that takes PUT: nginx or Apache with WebDAV, or a program of yours. The server must replace objects as a
 * whole, and make folders. A server without DELETE keeps all objects.
 *
 * @param url A URL of http or https, to which the path of {@link partKey} is appended. Credentials in it are sent to its server only,
 *   and are in no message.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`; its functions throw `ERR_HTTP`
 * @example
 * ```ts
 * import { webStore } from 'metainfo';
 *
 * const store = webStore('http://127.0.0.1:9/parts/', { retries: 0 });
 * const error = await store.get('0'.repeat(64), 0).catch((reason: unknown) => reason);
 * console.log((error as { code: string }).code);
 * ```
 *
 * ```text
 * ERR_HTTP
 * ```
 */
export function webStore(url: string | URL, options: WebStoreOptions = {}): PartStore {
  const checked = checkOptions(options, PATIENCE, { example: '{ retries: 2 }' });
  const text = url instanceof URL ? url.href : checkArgument('url', url, Text);
  // The URL may be a password.
  const below = /^https?:/i.test(text) ? urlBelow(text, ['x']) : null;
  if (below === null)
    throw invalidArgument(
      'the URL of a store is not of the form https://HOST/PATH/, without a query (?) and fragment (#)',
    );
  const { href, authorization } = parseWebUrl(below);
  return storeWith(async (key) => {
    const { webTarget } = await import('./remote-objects.ts');
    return webTarget({ href: href.replace(/x$/, key), authorization }, checked);
  });
}

type Target = import('../sources/web-retries.ts').WebTarget;

/** The store whose objects have a target of requests each. */
function storeWith(targetOf: (key: string) => Promise<Target>): PartStore {
  const remote = () => import('./remote-objects.ts');
  return {
    get: async (planId, name, most) => (await remote()).getObject(await targetOf(partKey(planId, name)), name, most),
    put: async (planId, name, bytes) => (await remote()).putObject(await targetOf(partKey(planId, name)), bytes),
    delete: async (planId, name) => (await remote()).deleteObject(await targetOf(partKey(planId, name))),
  };
}
