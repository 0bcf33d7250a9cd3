/** Magnet links: decoding and formatting (BEP 9, BEP 53). */
import type { IssueCode } from '../errors/codes.ts';
import { type Issue, MetainfoError, shown, ValidationError } from '../errors/errors.ts';
import {
  checkArgument,
  checkOptions,
  expected,
  Given,
  isListOf,
  List,
  type OptionStructs,
  oneOf,
  orNull,
  readSafely,
  Size,
  Text,
  Unchecked,
} from '../errors/guard.ts';
import { hexBytes, utf8Text } from '../platform/node.ts';

/** The address where a peer listens. */
export interface PeerAddress {
  /** A host name or an IP address; IPv6 without brackets. */
  host: string;
  /** The port, from 1 to 65535. */
  port: number;
}

/** The parameters of a magnet link (BEP 9, BEP 53). */
export interface Magnet {
  /** `xt=urn:btih`: the v1 infohash, 40 lower-case hexadecimal digits. */
  infohashV1: string | null;
  /** `xt=urn:btmh`: the v2 infohash, 64 lower-case hexadecimal digits (BEP 52). */
  infohashV2: string | null;
  /** `dn`: the name to show until the metadata is downloaded. */
  displayName: string | null;
  /** `xl`: the size of the content in bytes. */
  length: number | null;
  /** `tr`: tracker URLs. */
  trackers: string[];
  /** `ws`: webseed URLs (BEP 19). */
  webseeds: string[];
  /** `as`: URLs where the torrent file may be (acceptable sources). */
  acceptableSources: string[];
  /** `xs`: URLs where the torrent file is (exact sources). */
  exactSources: string[];
  /** `x.pe`: peers to connect to. */
  peers: PeerAddress[];
  /**
   * `so`: the files to download, as ranges of indexes with first and last (BEP 53); null for all files. Pad files have indexes too:
   * `torrent.selectFiles` returns the indexes of paths.
   */
  selectOnly: [first: number, last: number][] | null;
  /** All other parameters, percent-decoded, in their order. */
  extra: [key: string, value: string][];
  /** The issues of parameters that were ignored or repaired. {@link formatMagnet} does not use them. */
  warnings: readonly Issue[];
}

/** Options of {@link parseMagnet}. */
export interface ParseMagnetOptions {
  /**
   * How strict it is. `default`: only the infohash is required, and an invalid parameter becomes a warning. `strict`: every issue is an
   * error. `compat`: also accepts a second infohash of the same version, which replaces the first one, as in libtorrent.
   *
   * @default { profile: 'default' }
   */
  context?: {
    /** The profile. */
    profile?: 'default' | 'strict' | 'compat';
  };
}

const OPTIONS: OptionStructs<ParseMagnetOptions> = { context: Given };
const CONTEXT = { profile: oneOf('default', 'strict', 'compat') };
type Profile = typeof CONTEXT.profile.TYPE;

/** Longer links are rejected. */
const MAX_CHARACTERS = 2 ** 20;
/** Further issues are counted, but not listed. */
const MAX_ISSUES = 1000;
/** The most ranges of `so`. */
const MAX_RANGES = 100_000;
/** The highest file index of `so`: more than any torrent has files. */
const MAX_INDEX = 2 ** 31 - 1;

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
/** The multihash of SHA-256: function 0x12, 0x20 bytes (BEP 52). */
const MULTIHASH = '1220';

type LinkFields = Omit<Magnet, 'warnings'>;

/** A parameter with its place in the link. */
interface Parameter {
  key: string;
  value: string;
  /** The offset in the link, in characters. */
  offset: number;
}

/** Collects the issues of a link. */
class IssueList {
  /** The severity of issues of the parameters that a link need not have. */
  readonly optional: Issue['severity'];
  /** The severity of what libtorrent forgives. */
  readonly forgiven: Issue['severity'];
  readonly #listed: Record<Issue['severity'], Issue[]> = { error: [], warning: [] };
  #unlisted = 0;

  constructor(profile: Profile = 'default') {
    this.optional = profile === 'strict' ? 'error' : 'warning';
    this.forgiven = profile === 'compat' ? 'warning' : 'error';
  }

  add(
    { key, offset }: Pick<Parameter, 'key' | 'offset'>,
    code: Extract<IssueCode, `magnet${string}`>,
    message: string,
    severity = this.optional,
  ): void {
    const list = this.#listed[severity];
    // Not from ISSUE_CODES, whose texts would double the size of a bundle that only reads links.
    const spec = code === 'magnet_select' ? 'BEP 53' : 'BEP 9';
    if (list.length === MAX_ISSUES) this.#unlisted += 1;
    else list.push({ code, severity, path: key === '' ? [] : [key], message, spec, offset });
  }

  get hasErrors(): boolean {
    return this.#listed.error.length > 0;
  }

  /** The issues of a valid link. Throws {@link ValidationError} when there are errors. */
  finish(): Issue[] {
    const { error, warning } = this.#listed;
    const issues = [...error, ...warning];
    const message = `and ${this.#unlisted} more`;
    if (this.#unlisted > 0)
      issues.push({ code: 'too_many_issues', severity: this.hasErrors ? 'error' : 'warning', path: [], message });
    if (this.hasErrors) throw new ValidationError(issues, 'magnet link');
    return issues;
  }
}

/**
 * Decodes a magnet link (BEP 9, BEP 53). Keys may have numbers (`tr.1`) and any letter case. A `+` is a space. Only the infohash
 * is required: invalid parameters are left out, and `warnings` tells of them. Whitespace around the link is ignored.
 *
 * @param uri The link: `magnet:?xt=...`.
 * @throws {ValidationError} when `uri` is not a magnet link or has no valid infohash; in the strict profile also for any other
 *   invalid parameter. Each issue has the `offset` of its parameter in the link, in characters.
 *
 * @example
 * ```ts
 * import { parseMagnet } from 'metainfo';
 *
 * const magnet = parseMagnet('magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=album&so=0,2-4');
 * console.log(magnet.displayName, magnet.selectOnly); // album [ [ 0, 0 ], [ 2, 4 ] ]
 * ```
 */
export function parseMagnet(uri: string, options: ParseMagnetOptions = {}): Magnet {
  const { context } = checkOptions(options, OPTIONS, { example: "{ context: { profile: 'strict' } }" });
  const { profile } = checkOptions(context, CONTEXT, { name: 'context', example: "{ profile: 'strict' }" });
  const issues = new IssueList(profile);
  const start = { key: '', offset: 0 };
  const link = typeof uri === 'string' ? uri.trim() : '';
  if (!/^magnet:\?/i.test(link))
    issues.add(start, 'magnet', `expected a link that begins with magnet:?, got ${shown(uri)}`, 'error');
  else if (link.length > MAX_CHARACTERS)
    issues.add(start, 'magnet', `expected at most ${MAX_CHARACTERS} characters, got ${link.length}`, 'error');
  issues.finish();

  const magnet = emptyMagnet();
  for (const parameter of parametersOf(link, issues)) readParameter(parameter, magnet, issues);
  if (magnet.infohashV1 === null && magnet.infohashV2 === null && !issues.hasErrors)
    issues.add(start, 'magnet_hash', 'expected xt=urn:btih:HASH or xt=urn:btmh:HASH, got neither', 'error');
  return { ...magnet, warnings: issues.finish() };
}

function emptyMagnet(): LinkFields {
  const lists = { trackers: [], webseeds: [], acceptableSources: [], exactSources: [], peers: [], extra: [] };
  return { infohashV1: null, infohashV2: null, displayName: null, length: null, selectOnly: null, ...lists };
}

/** Splits a link into its parameters. Leaves out those that are not percent-encoded UTF-8, unless they are only shown. */
function* parametersOf(uri: string, issues: IssueList): Generator<Parameter> {
  let offset = 'magnet:?'.length;
  for (const part of uri.slice(offset).split('&')) {
    const at = part.indexOf('=');
    const [rawKey, raw] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
    const [key, value] = [decoded(rawKey), decoded(raw)];
    if (key === null || value === null) {
      const problem = `expected percent-encoded UTF-8, got ${shown(part)}`;
      issues.add({ key: rawKey, offset }, 'magnet_escape', problem);
      if (key !== null && (/^dn(\.\d+)?$/i.test(key) || !KNOWN.test(key))) yield { key, value: repaired(raw), offset };
    } else if (part !== '') yield { key, value, offset };
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

/** Decodes the escapes of a text: a bare % stays, and bytes that are not UTF-8 become replacement characters. */
function repaired(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/(%[\da-f]{2})+/gi, (escapes) => utf8Text(hexBytes(escapes.replaceAll('%', ''))));
}

const KNOWN = /^((xt|tr|ws|as|xs|dn)(\.\d+)?|xl|x\.pe|so)$/i;

/** The list that each key adds to. */
const LISTS = { tr: 'trackers', ws: 'webseeds', as: 'acceptableSources', xs: 'exactSources' } as const;
const LIST_KEYS = Object.entries(LISTS);

function readParameter(parameter: Parameter, magnet: LinkFields, issues: IssueList): void {
  const { value } = parameter;
  const key = parameter.key.toLowerCase().replace(/^(xt|tr|ws|as|xs|dn)\.\d+$/, '$1');
  switch (key) {
    case 'xt':
      readHash(parameter, magnet, issues);
      return;
    case 'dn':
      magnet.displayName ??= value;
      return;
    case 'tr':
    case 'ws':
    case 'as':
    case 'xs':
      if (value !== '') magnet[LISTS[key]].push(value);
      return;
    case 'xl':
      magnet.length ??= parseWhole(value, Number.MAX_SAFE_INTEGER);
      if (magnet.length === null)
        issues.add(parameter, 'magnet_length', `expected a size in bytes, got ${shown(value)}`);
      return;
    case 'x.pe': {
      const peer = parsePeer(value);
      if (peer) magnet.peers.push(peer);
      else issues.add(parameter, 'magnet_peer', `expected HOST:PORT, got ${shown(value)}`);
      return;
    }
    case 'so':
      readRanges(parameter, magnet, issues);
      return;
    default:
      magnet.extra.push([parameter.key, value]);
  }
}

function readHash(parameter: Parameter, magnet: LinkFields, issues: IssueList): void {
  const [, urn, hash] = /^urn:(btih|btmh):(.*)$/is.exec(parameter.value) ?? [];
  if (urn === undefined || hash === undefined) {
    // The infohash of another network, such as eDonkey.
    magnet.extra.push([parameter.key, parameter.value]);
    return;
  }
  const isV1 = urn.toLowerCase() === 'btih';
  const infohash = isV1 ? parseHashV1(hash) : parseHashV2(hash);
  const expected = isV1 ? '40 hexadecimal or 32 base32 characters' : `${MULTIHASH} and 64 hexadecimal digits`;
  if (infohash === null) {
    issues.add(parameter, 'magnet_hash', `expected ${expected}, got ${shown(hash)}`, 'error');
    return;
  }
  const name = isV1 ? 'infohashV1' : 'infohashV2';
  if (magnet[name] !== null && magnet[name] !== infohash) {
    const problem = `expected the infohash of one torrent, got another: ${infohash}`;
    issues.add(parameter, 'magnet_hash', problem, issues.forgiven);
  }
  magnet[name] = infohash;
}

function parseHashV1(hash: string): string | null {
  if (/^[0-9a-f]{40}$/i.test(hash)) return hash.toLowerCase();
  if (!/^[a-z2-7]{32}$/i.test(hash)) return null;
  let bits = 0n;
  for (const digit of hash.toLowerCase()) bits = bits * 32n + BigInt(BASE32.indexOf(digit));
  return bits.toString(16).padStart(40, '0');
}

function parseHashV2(hash: string): string | null {
  return /^1220[0-9a-f]{64}$/i.test(hash) ? hash.slice(MULTIHASH.length).toLowerCase() : null;
}

function parseWhole(text: string, max: number): number | null {
  const value = Number(text);
  return /^\d{1,16}$/.test(text) && value <= max ? value : null;
}

/** Parses the value of `x.pe`; returns null if it is not HOST:PORT. */
export function parsePeer(text: string): PeerAddress | null {
  const [, bracketed, plain, portText = ''] = /^(?:\[([0-9a-f:.%]+)\]|([^\s:[\]/]+)):(\d{1,5})$/i.exec(text) ?? [];
  const [host, port] = [bracketed ?? plain, parseWhole(portText, 65_535)];
  if (host === undefined || !port) return null;
  return bracketed !== undefined && !bracketed.includes(':') ? null : { host, port };
}

/** Reads the value of `so`. Like libtorrent, leaves out the ranges that are invalid. */
function readRanges(parameter: Parameter, magnet: LinkFields, issues: IssueList): void {
  const parts = parameter.value.split(',');
  const known = magnet.selectOnly ?? [];
  const ranges = parts.length > MAX_RANGES - known.length ? [null] : parts.map(parseRange);
  const valid = ranges.filter((range) => range !== null);
  if (valid.length < ranges.length) {
    const problem = `expected indexes such as 0,2,4-7, got ${shown(parameter.value)}`;
    issues.add(parameter, 'magnet_select', problem);
  }
  for (const range of valid) known.push(range);
  if (known.length > 0) magnet.selectOnly = known;
}

function parseRange(text: string): [number, number] | null {
  const [, first = '', last = first] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  const [from, to] = [parseWhole(first, MAX_INDEX), parseWhole(last, MAX_INDEX)];
  return from === null || to === null || from > to ? null : [from, to];
}

/**
 * Formats a magnet link. {@link parseMagnet} returns the same parameters from it.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when there is no infohash, or a value that a link cannot hold, such as port 0
 *
 * @example
 * ```ts
 * import { formatMagnet } from 'metainfo';
 *
 * const infohashV1 = 'c12fe1c06bba254a9dc9f519b335aa7c1367a88a';
 * console.log(formatMagnet({ infohashV1, displayName: 'an album' }));
 * // magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a&dn=an%20album
 * ```
 */
export function formatMagnet(magnet: Partial<Magnet>): string {
  const checked = checkOptions(checkArgument('magnet', magnet, Given), MAGNET, {
    name: 'magnet',
    example: "{ infohashV1: '...' }",
  });
  return readSafely('magnet', () => {
    try {
      return formatChecked(checked);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw magnetError('the magnet link would be longer than a string can be');
    }
  });
}

const isStrings = (value: unknown) => isListOf(value, (text) => typeof text === 'string');
const Strings = orNull(expected<readonly string[]>('a list of strings', isStrings));
const Name = orNull(Text);

/** The types of the parameters. Their values are checked when they are written. */
export const MAGNET: OptionStructs<Partial<Magnet>> = {
  infohashV1: Name,
  infohashV2: Name,
  displayName: Name,
  length: orNull(Size),
  trackers: Strings,
  webseeds: Strings,
  acceptableSources: Strings,
  exactSources: Strings,
  peers: orNull(List),
  selectOnly: orNull(List),
  extra: orNull(expected('a list of pairs of strings', (value) => isListOf(value, isStrings))),
  warnings: Unchecked,
};

function formatChecked(magnet: Partial<Magnet>): string {
  const { infohashV1, infohashV2, displayName, length, selectOnly, peers, extra } = magnet;
  const parameters: string[] = [];
  const add = (key: string, value: string) => parameters.push(`${encode(key)}=${encode(value)}`);
  if (infohashV1 != null) parameters.push(`xt=urn:btih:${checked(infohashV1, parseHashV1, 'infohashV1')}`);
  if (infohashV2 != null)
    parameters.push(
      `xt=urn:btmh:${MULTIHASH}${checked(infohashV2, (hash) => parseHashV2(MULTIHASH + hash), 'infohashV2')}`,
    );
  if (parameters.length === 0) throw magnetError('a magnet link needs infohashV1 or infohashV2');
  if (displayName != null) add('dn', displayName);
  if (length != null)
    parameters.push(`xl=${checked(String(length), (text) => parseWhole(text, Number.MAX_SAFE_INTEGER), 'length')}`);
  for (const [key, name] of LIST_KEYS) for (const url of magnet[name] ?? []) add(key, url);
  for (const { host, port } of peers ?? []) {
    const text = peerText({ host, port });
    checked(text, parsePeer, 'a peer');
    // Clients leave these characters unescaped, which keeps the address readable.
    parameters.push(`x.pe=${encode(text).replaceAll('%3A', ':').replaceAll('%5B', '[').replaceAll('%5D', ']')}`);
  }
  if (selectOnly) {
    const text = selectText(selectOnly);
    const isValid = selectOnly.length <= MAX_RANGES && text.split(',').every(parseRange);
    parameters.push(`so=${checked(text, () => (isValid ? text : null), 'selectOnly')}`);
  }
  for (const [key, value] of extra ?? []) {
    const isKnown = KNOWN.test(key) && !(/^xt/i.test(key) && !/^urn:bt[im]h:/i.test(value));
    if (isKnown) throw magnetError(`extra cannot hold ${shown(key)}: it has a field of its own`);
    add(key, value);
  }
  return `magnet:?${parameters.join('&')}`;
}

/** Formats a peer as the value of `x.pe`. */
export function peerText({ host, port }: PeerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Formats file ranges as the value of `so` (BEP 53). */
export function selectText(ranges: NonNullable<Magnet['selectOnly']>): string {
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function checked<T>(text: string, read: (text: string) => T | null, what: string): T {
  const value = read(text);
  if (value === null) throw magnetError(`${what} cannot be ${shown(text)} in a magnet link`);
  return value;
}

function magnetError(problem: string): MetainfoError {
  return new MetainfoError('ERR_INVALID_ARGUMENT', `${problem}.`);
}
