/** Sends requests to a web server: follows redirects, notices a server that stalls, and tries again what may work later. */

import { setTimeout as sleep } from 'node:timers/promises';
import { AbortError, onAbort, throwIfAborted } from '../errors/cancel.ts';
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError } from '../errors/errors.ts';
import { type OptionStructs, Size } from '../errors/guard.ts';
import { concatBytes } from '../platform/node.ts';
import { printable } from '../text/printable.ts';
import { parseUrl } from '../text/urls.ts';
import { ignoreFailure } from './source-data.ts';
import type { WebFileOptions } from './web-source.ts';
import { isWeb, type WebUrl } from './web-url.ts';

/** A web object, and how patient its requests are. */
export interface WebTarget extends Pick<WebUrl, 'href' | 'authorization'> {
  /** The milliseconds in which a server must send {@link MIN_PROGRESS} bytes, or the whole rest. */
  idleTimeout: number;
  /** How often a request is repeated. */
  retries: number;
  onRedirect?: ((to: URL) => void) | undefined;
  /** The name of the target in messages; by default, the URL. */
  name?: string | undefined;
  /**
   * Gives the headers that prove who asks: anew for each attempt, because signatures expire. Then no redirect is followed.
   *
   * @throws {MetainfoError}
   */
  sign?: ((request: UnsignedRequest) => Promise<Record<string, string>>) | undefined;
  /** Tells why a server refuses a request; null for an answer that the caller reads. */
  refusalOf?: ((answer: WebAnswer) => Refused | null | Promise<Refused | null>) | undefined;
}

/** The options that say how patient requests are. */
type PatienceOptions = Pick<WebFileOptions, 'idleTimeout' | 'retries'>;

/** The structs of {@link PatienceOptions}. */
export const PATIENCE: OptionStructs<PatienceOptions> = { idleTimeout: Size, retries: Size };

/** Milliseconds: a longer timer would fire at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** The patience of a target, with defaults. */
export function patienceOf({
  idleTimeout = 30_000,
  retries = 4,
}: PatienceOptions): Pick<WebTarget, 'idleTimeout' | 'retries'> {
  return { idleTimeout: Math.min(Math.max(1, idleTimeout), MAX_TIMER), retries };
}

/** A request before it is signed. */
export interface UnsignedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

/** A refusal that the target can explain. */
export interface Refused {
  error: MetainfoError;
  /** Whether the same request may work later. */
  isTemporary: boolean;
}

/** The answer of a server. */
export interface WebAnswer {
  status: number;
  headers: Headers;
  /** The URL that answered, after all redirects. */
  url: string;
  /** Reads the whole body. Throws `ERR_HTTP` if it does not have exactly `length` bytes. */
  body(length: number): Promise<Uint8Array>;
  /** Reads a body of unknown length; null if it has more than `most` bytes. */
  bodyUpTo(most: number): Promise<Uint8Array | null>;
}

/** Bytes: a server that sends fewer within the idle timeout is treated as stalled. */
const MIN_PROGRESS = 1024;
/** Bytes of a millisecond: an upload may take the idle timeout, and the time for its bytes at this rate. */
const MIN_UPLOAD = 32;
const MAX_REDIRECTS = 10;
const REDIRECTS = [301, 302, 303, 307, 308];
/** The statuses of servers that may answer later. */
const LATER = [408, 429, 500, 502, 503, 504];
/** Milliseconds before the first repetition, if the server names no time; each further wait is twice as long. */
const FIRST_WAIT = 500;
/** Milliseconds: no server is waited for longer. */
const MAX_WAIT = 60_000;
/** Errors of a network that are the same a moment later. */
const FINAL_ERRORS =
  /^(ENOTFOUND|ECONNREFUSED|bad port|HPE_|ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

/** Such errors pass when a server starts again: worth a wait for those who would lose their work. */
const RESTARTING = /^(ENOTFOUND|ECONNREFUSED)$/;

/** The error of a web object. Texts of the server in its message are escaped, as they may control a terminal. */
export function webError(
  { href, name = href }: Pick<WebTarget, 'href' | 'name'>,
  problem: string,
  cause?: unknown,
  code: MetainfoErrorCode = 'ERR_HTTP',
): MetainfoError {
  return new MetainfoError(code, printable(`${name}: ${problem}.`), { path: name, cause });
}

/** An error that may be gone later, and the wait that the server asks for. */
class Temporary extends Error {
  readonly error: MetainfoError;
  readonly afterMs: number | null;

  constructor(error: MetainfoError, afterMs: number | null = null) {
    super(error.message);
    this.error = error;
    this.afterMs = afterMs;
  }
}

/** A request, as the callers of {@link request} describe it. */
interface RequestOptions {
  url?: string;
  method?: 'GET' | 'PUT' | 'DELETE';
  headers?: Record<string, string>;
  body?: Uint8Array;
  signal?: AbortSignal | undefined;
  isFirst?: boolean;
}

/**
 * Sends a request, again if it fails for a moment, and lets `use` read the answer.
 *
 * @param url Where to start: the URL of the target, or where it redirected to before.
 * @param isFirst Whether it is the first request for the target. It is not sent again if the server does not answer at all: the
 *   caller has read nothing yet, and would wait for minutes.
 * @throws {MetainfoError} `ERR_HTTP`, and what `use` throws
 * @throws {AbortError} when the signal fires
 */
export async function request<T>(
  target: WebTarget,
  options: RequestOptions,
  use: (answer: WebAnswer) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  for (let failures = 0; ; failures += 1) {
    throwIfAborted(signal);
    try {
      return await exchange(target, options, use);
    } catch (error) {
      throwIfAborted(signal);
      if (!(error instanceof Temporary)) throw error;
      const wait = error.afterMs ?? FIRST_WAIT * 2 ** failures * (1 + Math.random() / 4);
      if (failures >= target.retries || wait > MAX_WAIT) throw error.error;
      await sleep(wait, undefined, { signal }).catch(() => throwIfAborted(signal));
    }
  }
}

/** One request, its redirects and its answer. */
async function exchange<T>(
  target: WebTarget,
  { url = target.href, method = 'GET', headers: sent = {}, body: upload, signal, isFirst }: RequestOptions,
  use: (answer: WebAnswer) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const removeListener = onAbort(signal, () => controller.abort());
  const patience = target.idleTimeout + Math.ceil((upload?.length ?? 0) / MIN_UPLOAD);
  const watchdog = new Watchdog(Math.min(patience, MAX_TIMER), () => controller.abort());
  let response: Response | null = null;
  try {
    const answered = await follow(target, { url, method, headers: sent, body: upload }, controller.signal);
    response = answered.response;
    watchdog.received(MIN_PROGRESS);
    const { status } = response;
    // A target may correct them.
    const headers = new Headers(response.headers);
    const answer = { status, headers, url: answered.url, ...bodyOf(target, response, watchdog) };
    const refused = await target.refusalOf?.(answer);
    if (refused?.isTemporary || LATER.includes(status))
      throw new Temporary(refused?.error ?? refusal(target, response), retryAfter(headers));
    if (refused) throw refused.error;
    return await use(answer);
  } catch (error) {
    if (signal?.aborted) throw new AbortError(signal);
    if (watchdog.hasFired) throw stalled(target, isFirst && response === null);
    throw fromNetworkError(target, error, method === 'PUT');
  } finally {
    watchdog.stop();
    removeListener();
    // A body that was not read to its end would keep its connection.
    if (response?.body && !response.bodyUsed) ignoreFailure(() => response?.body?.cancel());
    controller.abort();
  }
}

/** Follows redirects of reading requests. The credentials go to the server of the given URL only. */
async function follow(
  target: WebTarget,
  { url: start, method, headers, body }: UnsignedRequest,
  signal: AbortSignal,
): Promise<{ response: Response; url: string }> {
  const { href, authorization } = target;
  const { origin } = new URL(href);
  let url = start;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const isOwn = new URL(url).origin === origin;
    const signed = await target.sign?.({ method, url, headers, body });
    const response = await fetch(url, {
      // A compressed body has other bytes. fetch adds the header to requests of ranges.
      headers: {
        ...(headers['range'] === undefined && { 'accept-encoding': 'identity' }),
        ...headers,
        ...signed,
        ...(isOwn && authorization !== null && { authorization }),
      },
      method,
      // Cast because fetch takes no bytes in shared memory, which nobody gives.
      ...(body && { body: body as Uint8Array<ArrayBuffer> }),
      redirect: 'manual',
      signal,
    });
    if (signed || !REDIRECTS.includes(response.status)) return { response, url };
    ignoreFailure(() => response.body?.cancel());
    if (method !== 'GET') throw webError(target, `the server redirects a ${method}: give the URL that it leads to`);
    url = redirected(target, url, response.headers.get('location'));
  }
  throw webError(target, `the server redirects more than ${MAX_REDIRECTS} times`);
}

/** Where a redirect leads to, without credentials. */
function redirected(target: WebTarget, from: string, location: string | null): string {
  const to = location === null ? null : parseUrl(location, from);
  if (!to) throw webError(target, 'the server redirects without saying where to');
  if (!isWeb(to.protocol)) throw webError(target, `the server redirects to the scheme ${to.protocol}`);
  if (to.protocol === 'http:' && from.startsWith('https:'))
    throw webError(
      target,
      `the server redirects from https to http (${to.host}), where anyone could change the content`,
    );
  target.onRedirect?.(to);
  to.username = '';
  to.password = '';
  to.hash = '';
  return to.href;
}

/** Reads the body of an answer. */
function bodyOf(target: WebTarget, { body }: Response, watchdog: Watchdog): Pick<WebAnswer, 'body' | 'bodyUpTo'> {
  /** Gives each chunk to `take`, with its offset. Returns the bytes; null if there are more than `most`. */
  const read = async (most: number, take: (chunk: Uint8Array, at: number) => void): Promise<number | null> => {
    let filled = 0;
    // Cast because the types of undici and of node:stream/web differ.
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      if (filled + chunk.length > most) return null;
      take(chunk, filled);
      filled += chunk.length;
      watchdog.received(chunk.length);
    }
    return filled;
  };
  return {
    body: async (length) => {
      const bytes = new Uint8Array(length);
      const filled = await read(length, (chunk, at) => bytes.set(chunk, at));
      if (filled === length) return bytes;
      if (filled === null) throw webError(target, `the server sends more than the ${length} bytes that were asked for`);
      throw new Temporary(webError(target, `the server sent ${filled} of ${length} bytes`));
    },
    bodyUpTo: async (most) => {
      const chunks: Uint8Array[] = [];
      const filled = await read(most, (chunk) => chunks.push(chunk));
      return filled === null ? null : concatBytes(chunks);
    },
  };
}

/** The error of a status that is neither success nor a redirect. */
export function refusal(
  target: Pick<WebTarget, 'href' | 'name'>,
  { status, headers }: Pick<WebAnswer, 'status' | 'headers'>,
): MetainfoError {
  const after = headers.get('retry-after');
  const hint =
    status === 401 || status === 403
      ? ': it may need credentials, written as USER:PASSWORD@ before the host'
      : status === 404 || status === 410
        ? ': check the URL'
        : LATER.includes(status)
          ? `: try again later${after === null ? '' : ` (Retry-After: ${after.slice(0, 40)})`}`
          : '';
  return webError(target, `the server answers with status ${status}${hint}`);
}

/** The milliseconds of `Retry-After`: seconds, or a date. */
function retryAfter(headers: Headers): number | null {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** @param isFirst Whether the server has not answered at all to the first request: then it is not sent again. */
function stalled(target: WebTarget, isFirst: boolean | undefined): MetainfoError | Temporary {
  const seconds = target.idleTimeout / 1000;
  if (!isFirst) return new Temporary(webError(target, `the server sent nothing, or next to nothing, for ${seconds} s`));
  return webError(target, `${new URL(target.href).host} did not answer within ${seconds} s: try again later`);
}

/** fetch reports network errors as a TypeError; its cause is the error of the system. */
function fromNetworkError(target: WebTarget, error: unknown, isPatient: boolean): unknown {
  if (error instanceof MetainfoError || error instanceof Temporary) return error;
  const cause = (error as Error).cause ?? error;
  const { code, message } = cause as NodeJS.ErrnoException;
  // Node's HTTP parser keeps the raw answer there.
  Reflect.deleteProperty(Object(cause), 'data');
  const failure = webError(target, `the connection failed (${code ?? message})`, cause);
  const isFinal = FINAL_ERRORS.test(code ?? message) && !(isPatient && RESTARTING.test(code ?? message));
  return isFinal ? failure : new Temporary(failure);
}

/** Fires if too few bytes arrive in a while: a server that sends single bytes must not keep a job forever. */
class Watchdog {
  hasFired = false;
  #bytes = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(milliseconds: number, fire: () => void) {
    this.#timer = setInterval(() => {
      const isSlow = this.#bytes < MIN_PROGRESS;
      this.#bytes = 0;
      if (!isSlow) return;
      this.hasFired = true;
      fire();
    }, milliseconds);
  }

  received(bytes: number): void {
    this.#bytes += bytes;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
