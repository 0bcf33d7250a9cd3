/** Parsers of option values, and the groups of options that several commands share. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_LIMITS, type LimitName, type Limits } from '../../bencode/limits.ts';
import type { BencodeValue } from '../../bencode/value.ts';
import type { CacheChoice } from '../../create/options.ts';
import { homeFolder } from '../../disk/home-folder.ts';
import type { Replacement } from '../../edit/url-changes.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { MAX_THREADS } from '../../hash/hash-request.ts';
import type { PadNames } from '../../layout/padding.ts';
import { BLOCK_SIZE } from '../../layout/piece-length.ts';
import { parsePeer } from '../../magnet/magnet.ts';
import type { DhtNode } from '../../model/primitives.ts';
import type { ValidationContext } from '../../model/profile.ts';
import type { ReadOptions } from '../../model/torrent/torrent.ts';
import { exactBytes } from '../../text/format.ts';
import { decoderOf } from '../../text/name-bytes.ts';
import { parseDate } from './date.ts';
import { valueOfJson } from './json-value.ts';
import { placeholderProblem } from './output-template.ts';

/** Refuses the value of an option with a reason. Commander adds the name of the option. */
function refuse(reason: string): never {
  throw new InvalidArgumentError(reason);
}

/** Parses `auto`, bytes such as `16384`, `512KiB`, `1M`, or an exponent of two: a number from 14 to 31. */
export function parsePieceLength(text: string): number | 'auto' {
  if (text === 'auto') return text;
  const wanted = 'Expected auto, a size such as 1MiB, or an exponent from 14 to 31.';
  const bytes = powerFrom(text) ?? bytesFrom(text) ?? refuse(wanted);
  if (!Number.isInteger(Math.log2(bytes))) refuse('Expected a power of two, such as 1MiB.');
  // A number of bytes that is meant to be an exponent.
  return /^\d+$/.test(text) && bytes < 14 ? refuse(wanted) : bytes;
}

/** Piece lengths by the size of the content, in bytes: each is for content of at most so many bytes. */
export type LengthsBySize = readonly (readonly [size: number, length: number | 'auto'])[];

/** Parses piece lengths by the size of the content, such as `1GiB=1MiB,8GiB=4MiB`. */
export function parsePieceLengths(text: string): LengthsBySize {
  const lengths = text.split(',').map((entry) => {
    const [size = '', length = '', ...rest] = entry.split('=').map((one) => one.trim());
    if (length === '' || rest.length > 0) refuse('Expected SIZE=LENGTH, such as 1GiB=1MiB,8GiB=4MiB.');
    try {
      return [parsePositiveSize(size), parsePieceLength(length)] as const;
    } catch (error) {
      return refuse(`${entry.trim()}: ${(error as Error).message}`);
    }
  });
  lengths.sort(([a], [b]) => a - b);
  const twice = lengths.find(([size], i) => size === lengths[i + 1]?.[0]);
  return twice ? refuse(`Expected one piece length for content of ${exactBytes(twice[0])}.`) : lengths;
}

/** The piece length that a list gives for content of so many bytes. */
export const lengthBySize = (lengths: LengthsBySize, totalSize: number): number | 'auto' =>
  lengths.find(([size]) => totalSize <= size)?.[1] ?? 'auto';

/** Parses the longest or shortest piece length: as {@link parsePieceLength}, but any size of at least 16 KiB. */
export function parseMaxPieceLength(text: string): number {
  const bytes = powerFrom(text) ?? parseSize(text);
  return bytes >= BLOCK_SIZE ? bytes : refuse('Expected at least 16KiB.');
}

/** Two to the power of an exponent from 14 to 31; null for any other text. As bytes, no piece is that short. */
function powerFrom(text: string): number | null {
  const exponent = /^\d\d$/.test(text) ? Number(text) : 0;
  return exponent >= 14 && exponent <= 31 ? 2 ** exponent : null;
}

/** Parses bytes such as `16384`, `512KiB`, `1M`. */
export function parseSize(text: string): number {
  return bytesFrom(text) ?? refuse('Expected a size such as 64MiB.');
}

/** Parses a size of at least one byte. */
export function parsePositiveSize(text: string): number {
  return parseSize(text) || refuse('Expected a size such as 16GiB.');
}

/** A part size, or `auto` for one that suits the content. */
export function parsePartSize(text: string): number | 'auto' {
  return text === 'auto' ? text : parseSize(text) || refuse('Expected a size such as 16GiB, or auto.');
}

/** Makes a parser of whole numbers. */
const wholeNumber =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    return refuse(`Expected a whole number ${range}.`);
  };

/** Parses the index of a part. */
export const parseIndex: (text: string) => number = wholeNumber(0);
export const parseCount: (text: string) => number = wholeNumber(1);
/** Parses the priority of a torrent in a queue. */
export const parsePriority: (text: string) => number = wholeNumber(1, 1000);
export const parseThreads: (text: string) => number = wholeNumber(1, MAX_THREADS);

function bytesFrom(text: string): number | null {
  const match = /^(\d+)\s*(?:(k|m|g|t)(?:i?b)?|bytes?|b)?$/i.exec(text);
  if (!match) return null;
  const bytes = Number(match[1]) * 1024 ** ['', 'k', 'm', 'g', 't'].indexOf((match[2] ?? '').toLowerCase());
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** The places that a part store can be in, for the help of options. */
export const STORE = 'a folder, s3://BUCKET/PREFIX or a URL';

const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `500ms`, `30s`, `5m`, `1h` or `7d` to milliseconds; a bare number is seconds. */
export function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9})(ms|s|m|h|d)?$/.exec(text) ?? [];
  return number === undefined
    ? refuse('Expected a duration such as 30s, 5m or 7d.')
    : Number(number) * (DURATIONS[unit] as number);
}

/** Parses a duration for a deletion, which must have a unit: a bare number may be meant as days. */
export function parseAge(text: string): number {
  return /^\d+$/.test(text) ? refuse('Expected a duration with its unit, such as 12h or 7d.') : parseDuration(text);
}

/** The path with the home folder for `~`: no shell expands that in a configuration file, in a list of jobs or after `=`. */
function withHome(text: string): string {
  if (!/^~(?=[\\/]|$)/.test(text)) return text;
  return path.join(homeFolder() ?? refuse('There is no home folder for ~.'), text.slice(1));
}

/** Makes a parser of paths. An empty one would mean the current folder. */
const pathParser = (expected: string) => (text: string) => withHome(text || refuse(`Expected ${expected}.`));

export const parseFolder: (text: string) => string = pathParser('a folder');
export const parseFile: (text: string) => string = pathParser('a file');
const parseTorrents = pathParser('a torrent or a folder of torrents');
const parsePlace = pathParser(STORE);

/** Takes a part store as it is written. Only its opening checks a URL: the message of a wrong value repeats it with its credentials. */
export function parseStore(text: string): string {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : parsePlace(text);
}

/** A folder that has a name on all machines. */
export interface NamedRoot {
  name: string;
  folder: string;
}

/** Appends to the list of a repeatable option in place: copies of it would take quadratic time. An empty one may be a shared default. */
export function appended<T>(list: T[], value: T): T[] {
  if (list.length === 0) return [value];
  list.push(value);
  return list;
}

/** Appends one named folder: `NAME=PATH`. */
export function collectRoot(text: string, before: NamedRoot[] = []): NamedRoot[] {
  const [, name = '', folder = ''] = /^([A-Za-z0-9_.-]{1,64})=(.+)$/s.exec(text) ?? [];
  if (name === '') refuse('Expected NAME=PATH, such as media=/srv/media.');
  return appended(before, { name, folder: withHome(folder) });
}

/** Parses an output, which may be a template. */
export function parseOutput(text: string): string {
  const problem = placeholderProblem(text);
  return problem === undefined ? parseFile(text) : refuse(problem);
}

/** Another key of a torrent and its value. */
export interface ExtraKey {
  /** Whether the key is in the info dictionary, so that it changes the infohash. */
  isInfo: boolean;
  key: string;
  value: BencodeValue;
}

/** Appends one key: `KEY=TEXT` or `KEY:=JSON`, with `info.` before a key of the info dictionary. */
export function collectKey(text: string, before: ExtraKey[] = []): ExtraKey[] {
  const equals = Math.max(0, text.indexOf('='));
  const isInfo = text.startsWith('info.');
  const isJson = text[equals - 1] === ':';
  const key = text.slice(isInfo ? 5 : 0, isJson ? equals - 1 : equals);
  if (key === '') refuse('Expected KEY=TEXT or KEY:=JSON, such as publisher=me or info.x:=1.');
  const value = text.slice(equals + 1);
  return appended(before, { isInfo, key, value: isJson ? valueOfJson(value, refuse) : Buffer.from(value) });
}

/** Takes the name of the only preset. */
export function parsePreset(text: string, before?: string): string {
  return before === undefined ? text : refuse(`Expected one preset, but ${before} is given too.`);
}

/** Appends one replacement: `OLD=NEW`, where `\=` stands for an equals sign. */
export function collectReplacement(text: string, before: Replacement[] = []): Replacement[] {
  const parts = text.split(/(?<!\\)=/).map((part) => part.replaceAll('\\=', '='));
  const [from = '', to] = parts;
  if (parts.length > 2) refuse('Expected one = between OLD and NEW: write \\= for each that belongs to a URL.');
  if (from === '' || to === undefined) refuse('Expected OLD=NEW, such as old.example=new.example.');
  return appended(before, { from, to });
}

/** Appends one value of a repeatable option. */
export function collect(text: string, before?: string[] | false): string[] {
  return appended(before || [], text);
}

/** Appends the path of torrents to reuse. */
export function collectTorrents(text: string, before: string[] = []): string[] {
  return appended(before, parseTorrents(text));
}

/** Appends tiers of trackers: those of a text as {@link tiersOfText}, or of a file after `@`. */
export function collectTier(text: string, before: string[][] = []): string[][] {
  const tiers = text.startsWith('@') ? tiersOfFile(parseFile(text.slice(1))) : tiersOfText(text);
  return tiers.reduce(appended<string[]>, before);
}

/**
 * Tiers of trackers. Lines are one URL each, and blank lines begin a new tier. A text of one line is a tier of URLs and aliases with commas
 * between them. A comma within a URL belongs to it: no URL begins there.
 */
export function tiersOfText(text: string): string[][] {
  const lines = text.split(/\r\n?|\n/).map((line) => line.trim());
  if (lines.length === 1) {
    const urls = text.split(/,(?=\s*[a-z][a-z\d+.-]*:\/\/)/i);
    return [urls.flatMap((one) => (one.includes('/') ? [one] : one.split(','))).map((one) => one.trim())];
  }
  const tiers: string[][] = [[]];
  for (const line of lines) {
    if (line === '') tiers.push([]);
    else if (!line.startsWith('#')) tiers.at(-1)?.push(line);
  }
  return tiers.filter((tier) => tier.length > 0);
}

/** The tiers of a list of trackers. A line end makes it a list even if it has one line. */
function tiersOfFile(file: string): string[][] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return refuse((fromSystemError(error, file, 'read') as Error).message);
  }
  const tiers = tiersOfText(`${text.replace(/^\uFEFF/, '')}\n`);
  return tiers.length > 0 ? tiers : refuse(`${file} has no trackers.`);
}

/** Appends one DHT node: `host:port` or `[IPv6]:port`. */
export function collectNode(text: string, before: DhtNode[] = []): DhtNode[] {
  const { host, port } = parsePeer(text) ?? refuse('Expected HOST:PORT, such as router.example:6881.');
  return appended(before, [host, port]);
}

/** The parsers by the form of their values in a configuration file. The other parsers make lists. */
export const PARSERS: Readonly<
  Record<'text' | 'length' | 'lengths' | 'size' | 'count' | 'date' | 'tiers', readonly unknown[]>
> = {
  text: [undefined, parseFile, parseFolder, parseOutput],
  length: [parsePieceLength],
  lengths: [parsePieceLengths],
  size: [parseSize, parsePositiveSize, parseMaxPieceLength],
  count: [parseCount, parseThreads],
  date: [parseDate],
  tiers: [collectTier],
};

/** Adds one safety limit, such as `files=2000000` or `bytes=2GiB`. */
function collectLimit(text: string, before: Limits = {}): Limits {
  const [name = '', value = ''] = text.split('=', 2);
  const limit = bytesFrom(value);
  if (Object.hasOwn(DEFAULT_LIMITS, name) && limit !== null) return { ...before, [name as LimitName]: limit };
  return refuse(`Expected NAME=NUMBER; the names are ${Object.keys(DEFAULT_LIMITS).join(', ')}.`);
}

function parseEncoding(text: string): string {
  return decoderOf(text) ? text : refuse('Expected an encoding such as gbk, shift_jis or latin1.');
}

/** The options of every command that reads torrents. */
export interface ProfileOptions {
  strict?: boolean;
  compat?: boolean;
  padding?: NonNullable<ValidationContext['padding']>;
  limit?: Limits;
  encoding?: string;
  /** Whether folders of torrents are given; undefined if the command takes none. */
  each?: boolean;
  /** A list of more files. */
  fromFile?: string;
}

/** Adds the options of {@link ProfileOptions} to a command. */
export function profileOptions(command: Command): Command {
  return command
    .optionsGroup('Validation of the torrent:')
    .addOption(
      new Option('--strict', 'strict profile: also check padding, pad file names and canonical bencode').conflicts(
        'compat',
      ),
    )
    .option('--compat', 'compat profile: accept everything that libtorrent 2.0 accepts, with warnings')
    .addOption(
      new Option('--padding <mode>', 'whether files must start at a piece boundary; forbid refuses pad files').choices([
        'default',
        'ignore',
        'strict',
        'forbid',
      ]),
    )
    .addOption(
      new Option('--encoding <name>', 'compat profile; names that are not UTF-8 are in this encoding, such as gbk')
        .argParser(parseEncoding)
        .implies({ compat: true })
        .conflicts('strict'),
    )
    .option(
      '--limit <name=number>',
      'safety limits for untrusted torrents, such as bytes=2GiB or files=1000 (repeatable)',
      collectLimit,
    );
}

/** The library options for reading a torrent. */
export function readOptionsOf(options: ProfileOptions): ReadOptions {
  return { context: contextOf(options), limits: options.limit };
}

/** The validation context of a command: its profile and padding rule. */
export function contextOf({ strict, compat, padding, encoding }: ProfileOptions): ValidationContext {
  const profile = strict ? 'strict' : compat ? 'compat' : 'default';
  return { profile, ...(padding && { padding }), ...(encoding !== undefined && { encoding }) };
}

/** The options of every command that hashes files. */
export interface HashingOptions {
  threads?: number;
  memoryLimit?: number;
}

/** Adds the options of {@link HashingOptions} to a command. */
export function hashingOptions(command: Command): Command {
  return command
    .optionsGroup('Speed and memory:')
    .option('--threads <n>', 'number of hashing threads (default: one per CPU core)', parseThreads)
    .option('--memory-limit <size>', 'memory for all buffers (default: 64MiB per thread)', parseSize);
}

/** The options of every command that writes a torrent. */
export interface OutputOptions {
  output?: string;
  force?: boolean;
}

/** Adds the options of {@link OutputOptions} to a command that changes a torrent. */
export function changedOutputOptions(command: Command, fallback = 'in place'): Command {
  return command
    .optionsGroup('Output:')
    .option(
      '-o, --output <file>',
      `where to write the result: a file, a folder or -; {name} and so on as in create (default: ${fallback})`,
      parseOutput,
    )
    .option('--force', 'replace the output if it exists');
}

/** The options of every command that prints progress and a summary. */
export interface SummaryOptions {
  quiet?: boolean;
  json?: boolean;
}

/** Adds the options of {@link SummaryOptions} to a command. */
export function summaryOptions(command: Command): Command {
  return command
    .optionsGroup('Output:')
    .option('-q, --quiet', 'print no progress and no summary')
    .option('--json', 'print one JSON object instead of the summary');
}

/** The option of every command that adds pad files. */
export interface PadNamesOptions {
  padNames?: PadNames;
}

/** The option of {@link PadNamesOptions}. */
export const padNamesOption = (): Option =>
  new Option('--pad-names <names>', 'how pad files are named').choices(['auto', 'libtorrent', 'unique']);

/** The options of every command that can use the cache of hashes. */
export interface CacheOptions {
  cache?: boolean;
  cacheDir?: string;
}

/** Adds the options of {@link CacheOptions} to a command. */
export function cacheOptions(command: Command): Command {
  return command
    .optionsGroup('Speed and memory:')
    .option('--cache', "remember file hashes in the user's cache folder, and do not read unchanged files again")
    .option('--cache-dir <folder>', 'like --cache, but with this cache folder', parseFolder);
}

/** The library option `cache`. */
export function cacheOf({ cache, cacheDir }: CacheOptions): CacheChoice {
  if (cacheDir !== undefined) return path.resolve(cacheDir);
  return cache ? 'auto' : false;
}

/** The cache folder given by the user, which can be inside the content. */
export function cacheFolders({ cacheDir }: CacheOptions): string[] {
  return cacheDir ? [path.resolve(cacheDir)] : [];
}

/** The options of every command that takes a plan in parts. */
export interface PartsOptions {
  parts: string;
  root?: string;
  contentUrl?: string;
  allowHost?: string[];
}

/** Adds the argument and the options of {@link PartsOptions} to a command. Nobody trusts the URLs of a plan. */
export function partsOptions(command: Command, folder: string): Command {
  return command
    .argument('<plan>', 'the file that metainfo plan --part-size wrote, or - for standard input')
    .requiredOption('--parts <store>', `${folder}: ${STORE}`, parseStore)
    .option('--root <path>', 'where the planned file or folder is on this machine (default: as planned)', parseFolder)
    .option('--content-url <url>', 'read the planned files below this URL (s3:// or https://) instead', parseStore)
    .option('--allow-host <host>', 'a host that the plan may read web objects from (repeatable)', collect);
}
