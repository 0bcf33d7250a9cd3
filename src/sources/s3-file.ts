/** Objects of S3-compatible stores as sources. Loads the code for them when it is needed. */
import { checkOptions, expected, invalidArgument, type OptionStructs, Signal, Text } from '../errors/guard.ts';
import { PATIENCE } from './web-retries.ts';
import type { WebFile } from './web-source.ts';

/** The keys that sign requests to S3. */
export interface S3Credentials {
  /** The id of the key. */
  accessKeyId: string;
  /** The secret of the key. */
  secretAccessKey: string;
  /** The token of temporary keys. */
  sessionToken?: string | undefined;
}

/** How to reach an S3-compatible store. */
export interface S3Options {
  /**
   * The region of the bucket.
   *
   * @default AWS_REGION, AWS_DEFAULT_REGION, the profile in ~/.aws/config, else 'us-east-1'
   */
  region?: string | undefined;
  /**
   * The URL of a store that is not Amazon's, such as `http://127.0.0.1:9000`. Its buckets are the first folders of paths.
   *
   * @default AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile in ~/.aws/config, else Amazon
   */
  endpoint?: string | undefined;
  /**
   * The keys, or a function that gives them for each request, such as a provider of the AWS SDK.
   *
   * @default AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else the profile AWS_PROFILE in ~/.aws/credentials
   */
  credentials?: S3Credentials | (() => S3Credentials | Promise<S3Credentials>) | undefined;
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

/** The options of {@link s3File}. */
export interface S3FileOptions extends S3Options {
  /** Cancels the first request. Later requests are cancelled with the job that reads the source. */
  signal?: AbortSignal | undefined;
}

/** A place in a bucket. */
export interface S3Place {
  bucket: string;
  /** Without a slash at its ends. */
  key: string;
}

/** The struct of every option of {@link S3Options}. */
export const S3: OptionStructs<S3Options> = {
  region: Text,
  endpoint: Text,
  credentials: expected('credentials, or a function that gives them', (value) => Object(value) === value),
  ...PATIENCE,
};

/** Parses `s3://bucket/key`. Throws `ERR_INVALID_ARGUMENT` without the URL, which may have credentials. */
export function parseS3Url(url: unknown): S3Place {
  const [, bucket, rest = ''] =
    /^s3:\/\/([A-Za-z0-9][\w.-]{1,254})(?:\/(.*))?$/s.exec(typeof url === 'string' ? url : '') ?? [];
  if (bucket === undefined)
    throw invalidArgument(
      'the URL is not of the form s3://BUCKET/PREFIX, with the name of a bucket: keys belong into the environment',
    );
  const key = rest.replace(/^\/+|\/+$/g, '');
  // URLs cannot have such folders, not even with escapes.
  if (key.split('/').some((segment) => segment === '.' || segment === '..' || (segment === '' && key !== '')))
    throw invalidArgument(`s3://${bucket} has no key with empty folders, . or ..`);
  return { bucket, key };
}

/**
 * Asks an S3-compatible store for the size of an object, and makes a range reader of it, as {@link webFile} does for the web. It needs
 * the package aws4fetch, which signs requests: `npm install aws4fetch`.
 *
 * Its reads fail with `ERR_FILE_CHANGED` if the object was replaced.
 *
 * @param url `s3://bucket/key`.
 * @throws {MetainfoError} `ERR_HTTP` if the store cannot be reached or refuses the request; `ERR_INVALID_ARGUMENT`, also for missing
 *   credentials or a missing aws4fetch
 * @throws {AbortError} if the signal fires; its reason is the `cause`
 * @example
 * ```ts
 * import { s3File } from 'metainfo';
 *
 * const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
 * const options = { endpoint: 'http://127.0.0.1:9', credentials, retries: 0 };
 * const error = await s3File('s3://films/film.mkv', options).catch((reason: unknown) => reason);
 * console.log((error as { code: string }).code);
 * ```
 *
 * ```text
 * ERR_HTTP
 * ```
 */
export async function s3File(url: string, options: S3FileOptions = {}): Promise<WebFile> {
  const checked = checkOptions(options, { ...S3, signal: Signal }, { example: "{ region: 'eu-west-1' }" });
  const place = parseS3Url(url);
  if (place.key === '') throw invalidArgument(`s3://${place.bucket} is a bucket: give the URL of an object`);
  const { openS3File } = await import('./s3-objects.ts');
  return openS3File(place, checked);
}
