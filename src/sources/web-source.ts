/** Web objects as sources: reads a file on a web server with range requests, and finds out if it is replaced meanwhile. */
import type { MetainfoError } from '../errors/errors.ts';
import { Callback, checkOptions, type OptionStructs, Signal } from '../errors/guard.ts';
import type { RangeReader } from './source-data.ts';
import { PATIENCE, patienceOf, refusal, request, type WebAnswer, type WebTarget, webError } from './web-retries.ts';
import { parseWebUrl } from './web-url.ts';

/** The options of {@link webFile}. */
export interface WebFileOptions {
  /**
   * Milliseconds after which a server that sends nothing, or less than 1 KiB, is treated as stalled. If it does not answer the
   * first request in that time, `webFile` fails; later requests are repeated.
   *
   * @default 30_000
   */
  idleTimeout?: number | undefined;
  /**
   * How often a request is repeated if the connection fails, or if the server is busy (429, 503 and other 5xx). The waits are
   * those that the server asks for, at most a minute each; else 0.5 s, 1 s, 2 s and so on.
   *
   * @default 4
   */
  retries?: number | undefined;
  /** Cancels the first request. Later requests are cancelled with the job that reads the source. */
  signal?: AbortSignal | undefined;
  /** Called before a redirect is followed. It may throw a {@link MetainfoError} to refuse it. */
  onRedirect?: ((to: URL) => void) | undefined;
}

/** A file on a web server: a range reader for the `data` of a source. */
export interface WebFile extends RangeReader {
  /** The given URL without credentials and fragment: the webseed of its torrent (BEP 19). */
  url: string;
  /** The URL that has answered, after all redirects. */
  finalUrl: string;
  /** The last segment of the URL's path, percent-decoded; null if a torrent cannot have it as its name. */
  name: string | null;
  /** The entity tag of the file; null if the server sends none. A weak one starts with `W/`. */
  etag: string | null;
  /** The header `Last-Modified`; null if the server sends none. */
  lastModified: string | null;
  /**
   * How a replaced file is found out: by its strong entity tag, by its date, which misses changes within a second, or not at
   * all unless its size changes.
   */
  validator: 'etag' | 'last-modified' | null;
}

/** Bytes of a request: few requests for a large file, and little memory. */
const REQUEST_SIZE = 4 * 2 ** 20;

const WEB: OptionStructs<WebFileOptions> = { ...PATIENCE, signal: Signal, onRedirect: Callback };

/**
 * Asks a web server for the size of a file, and makes a range reader of it. Each range is requested on condition that the file is
 * the same as in the first answer (`If-Match`, or `If-Unmodified-Since`), and each answer is checked against its request.
 *
 * Its reads fail with `ERR_FILE_CHANGED` if the file was replaced, and with `ERR_HTTP` for any other answer that cannot be used.
 *
 * @param url A URL of http or https. Credentials in it are sent to its server only, and are in no message and no torrent.
 * @throws {MetainfoError} `ERR_HTTP` if the server cannot be reached, refuses the request, or does not support range requests;
 *   `ERR_INVALID_ARGUMENT`
 * @throws {AbortError} if the signal fires; its reason is the `cause`
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import type { AddressInfo } from 'node:net';
 * import { TorrentCreate, webFile } from 'metainfo';
 *
 * const content = Buffer.alloc(50_000, 'film');
 * const server = createServer(({ headers }, response) => {
 *   const [first, last] = (headers.range as string).slice(6).split('-').map(Number) as [number, number];
 *   response.writeHead(206, { etag: '"1"', 'content-range': `bytes ${first}-${last}/${content.length}` });
 *   response.end(content.subarray(first, last + 1));
 * });
 * await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
 *
 * const film = await webFile(`http://127.0.0.1:${(server.address() as AddressInfo).port}/my%20film.mkv`);
 * const draft = new TorrentCreate({ sources: [{ path: film.name ?? 'film', data: film }], urlList: [film.url] });
 * const torrent = await draft.generate();
 * console.log(torrent.name, torrent.totalSize, film.etag, film.validator);
 * server.close();
 * server.closeAllConnections();
 * ```
 *
 * ```text
 * my film.mkv 50000 "1" etag
 * ```
 */
export async function webFile(url: string, options: WebFileOptions = {}): Promise<WebFile> {
  const checked = checkOptions(options, WEB, { example: '{ retries: 2 }' });
  const { signal, onRedirect } = checked;
  const { href, authorization, name } = parseWebUrl(url);
  const target: WebTarget = { href, authorization, ...patienceOf(checked), onRedirect };
  return { url: href, name, ...(await openTarget(target, signal)) };
}

/** Asks for the first byte of a web object, and makes a range reader of it. */
export async function openTarget(
  target: WebTarget,
  signal: AbortSignal | undefined,
): Promise<Omit<WebFile, 'url' | 'name'>> {
  const { href } = target;
  const found = await request(target, { headers: { range: 'bytes=0-0' }, signal, isFirst: true }, (answer) =>
    probe(target, answer),
  );
  let { finalUrl } = found;
  const read = async (offset: number, length: number, cancel: AbortSignal): Promise<Uint8Array> => {
    const headers = { range: `bytes=${offset}-${offset + length - 1}`, ...conditionOf(found) };
    const range = { offset, length };
    const from = (start: string) =>
      request(target, { url: start, headers, signal: cancel }, async (answer) => {
        if (start !== href && EXPIRED.includes(answer.status)) return null;
        requireRange(target, found, { answer, range });
        const bytes = await answer.body(length);
        finalUrl = answer.url;
        return bytes;
      });
    // A redirect may lead to a URL that is valid for a few minutes only: then start from the given URL again.
    return (await from(finalUrl)) ?? ((await from(href)) as Uint8Array);
  };
  return { ...found, requestSize: REQUEST_SIZE, read };
}

/** The statuses of a URL that is no longer valid. */
const EXPIRED = [400, 401, 403, 404, 410];

/** The description of a file in the first answer. */
type Found = Pick<WebFile, 'size' | 'finalUrl' | 'etag' | 'lastModified' | 'validator'>;

/** Reads the answer to the request of the first byte. */
async function probe(target: WebTarget, answer: WebAnswer): Promise<Found> {
  const { status, headers, url } = answer;
  const size = status === 206 ? sizeIn(target, answer) : isEmpty(answer) ? 0 : null;
  if (size === null) {
    if (status === 200 || status === 416) throw noRanges(target, 'does not support range requests');
    throw refusal(target, answer);
  }
  requireIdentity(target, headers);
  if (status === 206) await answer.body(1);
  const etag = headers.get('etag');
  const lastModified = headers.get('last-modified');
  const isStrong = etag !== null && /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag);
  const validator = isStrong ? 'etag' : lastModified ? 'last-modified' : null;
  return { size, finalUrl: url, etag, lastModified, validator };
}

/** An empty file has no first byte: servers answer with the whole of nothing, or refuse the range. */
function isEmpty({ status, headers }: WebAnswer): boolean {
  if (status === 200) return headers.get('content-length') === '0';
  return status === 416 && /^bytes \*\/0$/i.test(headers.get('content-range')?.trim() ?? '');
}

function sizeIn(target: WebTarget, { headers }: WebAnswer): number {
  const range = contentRange(headers);
  if (range?.total === null) throw noRanges(target, 'does not tell the size of the file');
  if (range?.first === 0 && range.last === 0 && range.total > 0) return range.total;
  throw wrongRange(target, headers, 'bytes 0-0');
}

/** @throws {MetainfoError} unless an answer is the requested range of the file that was found first */
function requireRange(
  target: WebTarget,
  found: Found,
  { answer, range: { offset, length } }: { answer: WebAnswer; range: { offset: number; length: number } },
): void {
  const { status, headers } = answer;
  if (status === 412 || status === 416) throw replaced(target, `the server answers with status ${status}`);
  if (status === 404 || status === 410) throw replaced(target, 'the server no longer has it');
  if (status === 200) throw noRanges(target, 'ignores a range request');
  if (status !== 206) throw refusal(target, answer);
  requireIdentity(target, headers);
  requireSame(target, found, headers);
  const range = contentRange(headers);
  const last = offset + length - 1;
  if (range?.total != null && range.total !== found.size)
    throw replaced(target, `its size changed from ${found.size} to ${range.total} bytes`);
  if (range?.first !== offset || range.last !== last)
    throw wrongRange(target, headers, `bytes ${offset}-${last}/${found.size}`);
  const sent = headers.get('content-length');
  if (sent !== null && Number(sent) !== length)
    throw webError(target, `the server announces ${shortened(sent)} bytes for a range of ${length}`);
}

function requireSame(target: WebTarget, found: Found, headers: Headers): void {
  const etag = headers.get('etag');
  if (etag !== found.etag)
    throw replaced(target, `its ETag changed from ${shortened(found.etag)} to ${shortened(etag)}`);
  const lastModified = headers.get('last-modified');
  // Servers behind one name may have files of different dates but equal strong tags.
  if (found.validator !== 'etag' && lastModified !== found.lastModified)
    throw replaced(target, `its date changed from ${shortened(found.lastModified)} to ${shortened(lastModified)}`);
}

function requireIdentity(target: WebTarget, headers: Headers): void {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  const problem = `the server compresses the file (Content-Encoding: ${shortened(encoding)}) although it was asked not to`;
  throw webError(target, `${problem}: ${INSTEAD}`);
}

function conditionOf({ validator, etag, lastModified }: Found): Record<string, string> {
  if (validator === 'etag') return { 'if-match': etag as string };
  return validator === 'last-modified' ? { 'if-unmodified-since': lastModified as string } : {};
}

/** The parts of `Content-Range: bytes 0-9/100`, with a total of null for `*`; null if it is missing or malformed. */
function contentRange(headers: Headers): { first: number; last: number; total: number | null } | null {
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(headers.get('content-range')?.trim() ?? '');
  if (!match) return null;
  const [first, last, total] = match.slice(1).map(Number) as [number, number, number];
  if (![first, last].every(Number.isSafeInteger)) return null;
  if (match[3] === '*') return { first, last, total: null };
  return Number.isSafeInteger(total) ? { first, last, total } : null;
}

/** The advice for a server that cannot serve ranges. */
export const INSTEAD = 'download the file, create the torrent from the disk, and add the URL as a webseed';

function noRanges(target: WebTarget, problem: string): MetainfoError {
  return webError(target, `the server ${problem}: ${INSTEAD}`);
}

function wrongRange(target: WebTarget, headers: Headers, expected: string): MetainfoError {
  const got = shortened(headers.get('content-range'));
  return webError(target, `the server gives Content-Range: ${got} instead of ${expected}: ${INSTEAD}`);
}

function replaced(target: WebTarget, how: string): MetainfoError {
  const problem = `the file was replaced while it was read (${how}): create the torrent again`;
  return webError(target, problem, undefined, 'ERR_FILE_CHANGED');
}

/** A header for a message. */
function shortened(header: string | null): string {
  if (header === null) return 'none';
  return header.length > 80 ? `${header.slice(0, 77)}...` : header;
}
