/** Requests to S3-compatible stores: their URLs, signatures and refusals. */

import { createHash } from 'node:crypto';
import { MetainfoError } from '../errors/errors.ts';
import { invalidArgument } from '../errors/guard.ts';
import { parseUrl } from '../text/urls.ts';
import { type AwsSettings, awsSettings, loadPackage } from './aws-settings.ts';
import type { S3FileOptions, S3Options, S3Place } from './s3-file.ts';
import {
  patienceOf,
  type Refused,
  type UnsignedRequest,
  type WebAnswer,
  type WebTarget,
  webError,
} from './web-retries.ts';
import { openTarget, type WebFile } from './web-source.ts';
import { isWeb, nameIn } from './web-url.ts';

/** Opens an object as a range reader. */
export async function openS3File(place: S3Place, options: S3FileOptions): Promise<WebFile> {
  const target = await s3Target(place, options);
  const { name: url = '' } = target;
  return { url, name: nameIn(new URL(target.href).pathname), ...(await openTarget(target, options.signal)) };
}

/**
 * The target of requests for an object, or for a bucket if the key is empty.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a wrong endpoint or region
 */
export async function s3Target({ bucket, key }: S3Place, options: S3Options): Promise<WebTarget> {
  const settings = await awsSettings(options);
  const { region = DEFAULT_REGION, endpoint } = settings;
  const below = key === '' ? '' : `/${key}`;
  const target: WebTarget = {
    href: bucketUrl(bucket, region, endpoint) + below.split('/').map(encodeURIComponent).join('/'),
    name: `s3://${bucket}${below}`,
    authorization: null,
    ...patienceOf(options),
    sign: (request) => signed(request, { ...settings, region }, target),
    refusalOf: (answer) => refusalOf(target, answer),
  };
  return target;
}

const DEFAULT_REGION = 'us-east-1';
const REGION = /^[a-z0-9-]{1,40}$/;

function bucketUrl(bucket: string, region: string, endpoint: string | null): string {
  // The region is a part of the host.
  if (!REGION.test(region)) throw invalidArgument('the region of S3 is not a name such as eu-west-1');
  if (endpoint !== null) {
    const url = parseUrl(endpoint);
    if (!url || !isWeb(url.protocol) || url.username !== '' || url.password !== '' || url.search + url.hash !== '')
      throw invalidArgument('the endpoint of S3 is not a URL such as http://127.0.0.1:9000 without credentials');
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}/${bucket}`;
  }
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  // A certificate covers no name with more dots, and no host has capitals.
  return /^[a-z0-9-]{3,63}$/.test(bucket) ? `https://${bucket}.${host}` : `https://${host}/${bucket}`;
}

/** Signs a request with aws4fetch. A body is signed too, so that no proxy can change it. */
async function signed(
  { method, url, headers, body }: UnsignedRequest,
  { region, credentials }: AwsSettings & { region: string },
  target: WebTarget,
): Promise<Record<string, string>> {
  const { AwsV4Signer } = await loadPackage<typeof import('aws4fetch')>('aws4fetch').catch((cause: unknown) => {
    throw invalidArgument('S3 needs a package that is not installed: npm install aws4fetch, beside metainfo', {
      cause,
    });
  });
  const { accessKeyId, secretAccessKey, sessionToken } = Object(
    await credentials().catch((error: unknown) => {
      if (error instanceof MetainfoError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw webError(target, `the option credentials gave no keys (${reason})`, error);
    }),
  );
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string')
    throw invalidArgument('credentials must have an accessKeyId and a secretAccessKey');
  const sha256 = createHash('sha256')
    .update(body ?? '')
    .digest('hex');
  const signer = new AwsV4Signer({
    method,
    url,
    headers: { ...headers, 'x-amz-content-sha256': sha256 },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: 's3',
    region,
  });
  return Object.fromEntries((await signer.sign()).headers);
}

/** Bytes of the body of a refusal that are read. */
const MOST_REASON = 65_536;
/** The statuses that those who read an object expect. */
const EXPECTED = [404, 412, 416];
/** Refusals that pass. */
const TEMPORARY = ['RequestTimeout', 'SlowDown', 'OperationAborted', 'ConditionalRequestConflict'];

async function refusalOf(target: WebTarget, answer: WebAnswer): Promise<Refused | null> {
  const { status } = answer;
  if (status < 300) return null;
  const text = Buffer.from((await answer.bodyUpTo(MOST_REASON)) ?? '').toString();
  const code = elementOf(text, 'Code') ?? '';
  // Web servers have a header for an empty object.
  if (status === 416 && elementOf(text, 'ActualObjectSize') === '0') answer.headers.set('content-range', 'bytes */0');
  if (EXPECTED.includes(status) && code !== 'NoSuchBucket') return null;
  const region = answer.headers.get('x-amz-bucket-region') ?? elementOf(text, 'Region') ?? '';
  const advice = adviceFor(status, code, REGION.test(region) ? region : null);
  const error = webError(target, `the store answers with status ${status}${code && ` (${code})`}: ${advice}`);
  return { error, isTemporary: TEMPORARY.includes(code) };
}

/** The text of the first element of a name, by default one whose text is a word. */
export function elementOf(xml: string, name: string, text = '[\\w-]{1,64}'): string | null {
  return new RegExp(`<${name}>(${text})</${name}>`).exec(xml)?.[1] ?? null;
}

/** The codes of a wrong region. */
const ELSEWHERE = /Redirect$|^AuthorizationHeaderMalformed$|^IllegalLocationConstraintException$/;

function adviceFor(status: number, code: string, region: string | null): string {
  if (ELSEWHERE.test(code) || (status >= 300 && status < 400))
    return region
      ? `the bucket is in another region: set AWS_REGION=${region}`
      : 'the bucket is elsewhere: check AWS_REGION and AWS_ENDPOINT_URL';
  if (Object.hasOwn(ADVICE, code)) return ADVICE[code] as string;
  return status === 401 || status === 403 ? (ADVICE['AccessDenied'] as string) : OTHERWISE;
}

const KEYS = 'check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_PROFILE';
const OTHERWISE = 'check the bucket and AWS_ENDPOINT_URL, or try again later';
/** The advice for a code of S3. */
const ADVICE: Readonly<Record<string, string>> = {
  AccessDenied:
    'allow the keys s3:GetObject, s3:PutObject and s3:DeleteObject, and s3:ListBucket, without which S3 denies access to missing objects',
  AllAccessDisabled: KEYS,
  ExpiredToken: 'the session token has expired: get new keys',
  InvalidAccessKeyId: KEYS,
  InvalidObjectState: 'the object is archived: restore it first',
  InvalidToken: KEYS,
  NoSuchBucket: 'the bucket does not exist: create it, or check its name and AWS_ENDPOINT_URL',
  RequestTimeTooSkewed: "this machine's clock is wrong by more than 15 minutes: set it",
  SignatureDoesNotMatch: KEYS,
};
