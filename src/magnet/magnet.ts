import type { IssueCode } from '../errors/codes.ts';
import { type Issue, MetainfoError, shown, ValidationError } from '../errors/errors.ts';
import {
  checkArgument,
  checkOptions,
  expected,
  Given,
  List,
  type OptionStructs,
  orNull,
  readSafely,
  Size,
  Text,
} from '../errors/guard.ts';

/** Where a peer listens. */
export interface PeerAddress {
  /** A name or an address; IPv6 without brackets. */
  host: string;
  /** 1 to 65535. */
  port: number;
}

/** What a magnet link says (BEP 9, BEP 53). */
export interface Magnet {
  /** SHA-1 of the infodict, 40 hexadecimal digits (`urn:btih`). */
  infohashV1: string | null;
  /** SHA-256 of the infodict, 64 hexadecimal digits (`urn:btmh`, BEP 52). */
  infohashV2: string | null;
  /** `dn`: a name to show until the metadata is there. */
  displayName: string | null;
  /** `xl`: bytes of content. */
  length: number | null;
  /** `tr`. */
  trackers: string[];
  /** `ws`: webseeds (BEP 19). */
  webseeds: string[];
  /** `as`: where the torrent file may be. */
  acceptableSources: string[];
  /** `xs`: where the torrent file is. */
  exactSources: string[];
  /** `x.pe`. */
  peers: PeerAddress[];
  /**
   * `so`: ranges of indexes of files to download, first and last (BEP 53); null for all. Clients count pads:
   * `torrent.selectFiles` gives the indexes of paths.
   */
  selectOnly: [first: number, last: number][] | null;
  /** All other parameters, decoded, in order. */
  extra: [key: string, value: string][];
}

/** More is no link. */
const MOST_CHARACTERS = 2 ** 20;
/** More are counted, not listed. */
const MOST_ISSUES = 1000;
/** Ranges of `so`, and the highest index: more than any torrent has files. */
const MOST_RANGES = 100_000;
const MOST_INDEX = 2 ** 31 - 1;

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
/** The multihash of SHA-256: function 0x12, 0x20 bytes (BEP 52). */
const MULTIHASH = '1220';

/** A parameter with its place, for whoever has to mend it. */
interface Parameter {
  key: string;
  value: string;
  /** In characters of the link. */
  offset: number;
}

class Problems {
  readonly list: Issue[] = [];
  #unlisted = 0;

  add({ key, offset }: Pick<Parameter, 'key' | 'offset'>, code: IssueCode, message: string, spec = 'BEP 9'): null {
    if (this.list.length === MOST_ISSUES) this.#unlisted += 1;
    else this.list.push({ code, severity: 'error', path: key === '' ? [] : [key], message, spec, offset });
    return null;
  }

  /** @throws {ValidationError} when there are any */
  throwIfAny(): void {
    if (this.list.length === 0) return;
    const more = `and ${this.#unlisted} more`;
    const rest: Issue = { code: 'too_many_issues', severity: 'error', path: [], message: more };
    throw new ValidationError(this.#unlisted > 0 ? [...this.list, rest] : this.list, 'magnet link');
  }
}

/**
 * Reads a magnet link. Keys may be numbered (`tr.1`), in any case; `+` is a blank.
 *
 * @throws {ValidationError} with every parameter that is wrong, and where in the link it is (`offset`, in characters)
 */
export function parseMagnet(uri: string): Magnet {
  const problems = new Problems();
  const start = { key: '', offset: 0 };
  if (typeof uri !== 'string' || !/^magnet:\?/i.test(uri))
    problems.add(start, 'magnet', `expected a link that begins with magnet:?, got ${shown(uri)}`);
  else if (uri.length > MOST_CHARACTERS)
    problems.add(start, 'magnet', `expected at most ${MOST_CHARACTERS} characters, got ${uri.length}`);
  problems.throwIfAny();

  const magnet = empty();
  for (const parameter of parametersOf(uri, problems)) read(parameter, magnet, problems);
  const named = problems.list.some(({ code }) => code === 'magnet_hash');
  if (magnet.infohashV1 === null && magnet.infohashV2 === null && !named)
    problems.add(start, 'magnet_hash', 'expected xt=urn:btih:HASH or xt=urn:btmh:HASH, got neither');
  problems.throwIfAny();
  return magnet;
}

function empty(): Magnet {
  const lists = { trackers: [], webseeds: [], acceptableSources: [], exactSources: [], peers: [], extra: [] };
  return { infohashV1: null, infohashV2: null, displayName: null, length: null, selectOnly: null, ...lists };
}

function* parametersOf(uri: string, problems: Problems): Generator<Parameter> {
  let offset = 'magnet:?'.length;
  for (const part of uri.slice(offset).split('&')) {
    const at = part.indexOf('=');
    const [rawKey, raw] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    const [key, value] = [decoded(rawKey), decoded(raw)];
    if (key === null || value === null)
      problems.add({ key: rawKey, offset }, 'magnet_escape', `expected UTF-8 in %XX, got ${shown(part)}`);
    else if (part !== '') yield { key, value, offset };
    offset += part.length + 1;
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'));
  } catch {
    return null;
  }
}

const KNOWN = /^((xt|tr|ws|as|xs|dn)(\.\d+)?|xl|x\.pe|so)$/i;

/** The lists that a key fills. */
const LISTS = { tr: 'trackers', ws: 'webseeds', as: 'acceptableSources', xs: 'exactSources' } as const;

function read(parameter: Parameter, magnet: Magnet, problems: Problems): void {
  const { value } = parameter;
  const key = parameter.key.toLowerCase().replace(/^(xt|tr|ws|as|xs|dn)\.\d+$/, '$1');
  switch (key) {
    case 'xt':
      readHash(parameter, magnet, problems);
      return;
    case 'dn':
      magnet.displayName ??= value;
      return;
    case 'tr':
    case 'ws':
    case 'as':
    case 'xs':
      // An empty one says nothing.
      if (value !== '') magnet[LISTS[key]].push(value);
      return;
    case 'xl':
      magnet.length ??= wholeOf(value, Number.MAX_SAFE_INTEGER);
      if (magnet.length === null)
        problems.add(parameter, 'magnet_length', `expected a size in bytes, got ${shown(value)}`);
      return;
    case 'x.pe': {
      const peer = parsePeer(value);
      if (peer) magnet.peers.push(peer);
      else problems.add(parameter, 'magnet_peer', `expected HOST:PORT, got ${shown(value)}`);
      return;
    }
    case 'so': {
      magnet.selectOnly ??= [];
      const ranges = rangesOf(value, MOST_RANGES - magnet.selectOnly.length);
      if (ranges) for (const one of ranges) magnet.selectOnly.push(one);
      else problems.add(parameter, 'magnet_select', `expected indexes as in 0,2,4-7, got ${shown(value)}`, 'BEP 53');
      return;
    }
    default:
      magnet.extra.push([parameter.key, value]);
  }
}

function readHash(parameter: Parameter, magnet: Magnet, problems: Problems): void {
  const [, kind, hash] = /^urn:(btih|btmh):(.*)$/is.exec(parameter.value) ?? [];
  if (kind === undefined || hash === undefined) {
    // Of another network.
    magnet.extra.push([parameter.key, parameter.value]);
    return;
  }
  const isV1 = kind.toLowerCase() === 'btih';
  const found = isV1 ? v1Of(hash) : v2Of(hash);
  const expected = isV1 ? '40 hexadecimal digits or 32 of base32' : `${MULTIHASH} and 64 hexadecimal digits`;
  if (found === null) {
    problems.add(parameter, 'magnet_hash', `expected ${expected}, got ${shown(hash)}`, isV1 ? 'BEP 9' : 'BEP 52');
    return;
  }
  const name = isV1 ? 'infohashV1' : 'infohashV2';
  if (magnet[name] !== null && magnet[name] !== found)
    problems.add(parameter, 'magnet_hash', `expected one torrent, got another infohash: ${found}`);
  magnet[name] ??= found;
}

function v1Of(hash: string): string | null {
  if (/^[0-9a-f]{40}$/i.test(hash)) return hash.toLowerCase();
  if (!/^[a-z2-7]{32}$/i.test(hash)) return null;
  let bits = 0n;
  for (const digit of hash.toLowerCase()) bits = bits * 32n + BigInt(BASE32.indexOf(digit));
  return bits.toString(16).padStart(40, '0');
}

function v2Of(hash: string): string | null {
  return /^1220[0-9a-f]{64}$/i.test(hash) ? hash.slice(MULTIHASH.length).toLowerCase() : null;
}

function wholeOf(text: string, most: number): number | null {
  const value = Number(text);
  return /^\d{1,16}$/.test(text) && value <= most ? value : null;
}

/** A peer as `x.pe` has it: null for any other text. */
export function parsePeer(text: string): PeerAddress | null {
  const [, bracketed, plain, portText = ''] = /^(?:\[([0-9a-f:.%]+)\]|([^\s:[\]/]+)):(\d{1,5})$/i.exec(text) ?? [];
  const [host, port] = [bracketed ?? plain, wholeOf(portText, 65_535)];
  if (host === undefined || !port) return null;
  return bracketed !== undefined && !bracketed.includes(':') ? null : { host, port };
}

function rangesOf(text: string, most = MOST_RANGES): [number, number][] | null {
  const parts = text.split(',');
  if (parts.length > most) return null;
  const ranges: [number, number][] = [];
  for (const part of parts) {
    const [, first = '', last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    const [from, to] = [wholeOf(first, MOST_INDEX), wholeOf(last, MOST_INDEX)];
    if (from === null || to === null || from > to) return null;
    ranges.push([from, to]);
  }
  return ranges;
}

/**
 * A magnet link. What it says is what {@link parseMagnet} reads from it.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for what such a link cannot say: no infohash, a port of 0
 */
export function formatMagnet(magnet: Partial<Magnet>): string {
  const checked = checkOptions(checkArgument('magnet', magnet, Given), MAGNET, {
    name: 'magnet',
    example: "{ infohashV1: '...' }",
  });
  return readSafely('magnet', () => {
    try {
      return linkOf(checked);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw refuse('the magnet link would be longer than a string can be');
    }
  });
}

const isTexts = (value: unknown) => Array.isArray(value) && value.every((text) => typeof text === 'string');
const Texts = orNull(expected<readonly string[]>('a list of texts', isTexts));
const Name = orNull(Text);

/** What a link can say, of each field its type: the values are checked as they are written. */
export const MAGNET: OptionStructs<Partial<Magnet>> = {
  infohashV1: Name,
  infohashV2: Name,
  displayName: Name,
  length: orNull(Size),
  trackers: Texts,
  webseeds: Texts,
  acceptableSources: Texts,
  exactSources: Texts,
  peers: orNull(List),
  selectOnly: orNull(List),
  extra: orNull(expected('a list of pairs of texts', (value) => Array.isArray(value) && value.every(isTexts))),
};

function linkOf(magnet: Partial<Magnet>): string {
  const { infohashV1, infohashV2, displayName, length, trackers, webseeds, selectOnly, peers, extra } = magnet;
  const parameters: string[] = [];
  const add = (key: string, value: string) => parameters.push(`${encode(key)}=${encode(value)}`);
  if (infohashV1 != null) parameters.push(`xt=urn:btih:${checked(infohashV1, v1Of, 'infohashV1')}`);
  if (infohashV2 != null)
    parameters.push(`xt=urn:btmh:${MULTIHASH}${checked(infohashV2, (hash) => v2Of(MULTIHASH + hash), 'infohashV2')}`);
  if (parameters.length === 0) throw refuse('a magnet link needs infohashV1 or infohashV2');
  if (displayName != null) add('dn', displayName);
  if (length != null)
    parameters.push(`xl=${checked(String(length), (text) => wholeOf(text, Number.MAX_SAFE_INTEGER), 'length')}`);
  for (const url of trackers ?? []) add('tr', url);
  for (const url of webseeds ?? []) add('ws', url);
  for (const url of magnet.acceptableSources ?? []) add('as', url);
  for (const url of magnet.exactSources ?? []) add('xs', url);
  for (const { host, port } of peers ?? []) {
    const text = peerText({ host, port });
    checked(text, parsePeer, 'a peer');
    // Legible, as clients write it.
    parameters.push(`x.pe=${encode(text).replaceAll('%3A', ':').replaceAll('%5B', '[').replaceAll('%5D', ']')}`);
  }
  if (selectOnly) {
    const text = selectText(selectOnly);
    checked(text, rangesOf, 'selectOnly');
    parameters.push(`so=${text}`);
  }
  for (const [key, value] of extra ?? []) {
    const isKnown = KNOWN.test(key) && !(/^xt/i.test(key) && !/^urn:bt[im]h:/i.test(value));
    if (isKnown) throw refuse(`extra cannot hold ${shown(key)}: it has a field of its own`);
    add(key, value);
  }
  return `magnet:?${parameters.join('&')}`;
}

/** A peer as `x.pe` has it. */
export function peerText({ host, port }: PeerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Ranges of files as `so` has them (BEP 53). */
export function selectText(ranges: NonNullable<Magnet['selectOnly']>): string {
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function checked<T>(text: string, read: (text: string) => T | null, what: string): T {
  const value = read(text);
  if (value === null) throw refuse(`${what} cannot be ${shown(text)} in a magnet link`);
  return value;
}

function refuse(problem: string): MetainfoError {
  return new MetainfoError('ERR_INVALID_ARGUMENT', `${problem}.`);
}
