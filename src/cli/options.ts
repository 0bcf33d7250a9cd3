import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_LIMITS, type LimitName, type Limits } from '../bencode/limits.ts';
import type { CacheChoice } from '../create/cache.ts';
import { MAX_THREADS } from '../hash/plan.ts';
import { parsePeer } from '../magnet/magnet.ts';
import type { ValidationContext } from '../model/issues.ts';
import type { DhtNode } from '../model/primitives.ts';
import type { ReadOptions } from '../model/torrent.ts';

// Each parses the text of one option, and refuses it with the reason: commander adds the option's name.

/** `auto`, or bytes such as `16384`, `512KiB`, `1M`. */
export function parsePieceLength(text: string): number | 'auto' {
  if (text === 'auto') return text;
  const bytes = sizeOf(text);
  if (bytes === null) throw new InvalidArgumentError('Expected auto, or a size such as 1MiB.');
  if (!Number.isInteger(Math.log2(bytes))) throw new InvalidArgumentError('Expected a power of two, such as 1MiB.');
  return bytes;
}

/** Bytes such as `16384`, `512KiB`, `1M`. */
export function parseSize(text: string): number {
  const bytes = sizeOf(text);
  if (bytes === null) throw new InvalidArgumentError('Expected a size such as 64MiB.');
  return bytes;
}

function sizeOf(text: string): number | null {
  const match = /^(\d+)\s*(?:([kmg])(?:i?b)?|b)?$/i.exec(text);
  if (!match) return null;
  return Number(match[1]) * 1024 ** ' kmg'.indexOf((match[2] ?? ' ').toLowerCase());
}

/** `now`, seconds since 1970, or ISO 8601. */
export function parseDate(text: string): Date {
  const date = text === 'now' ? new Date() : new Date(/^-?\d+$/.test(text) ? Number(text) * 1000 : text);
  if (Number.isNaN(date.getTime())) throw new InvalidArgumentError('Expected now, seconds since 1970, or ISO 8601.');
  return date;
}

export function parseThreads(text: string): number {
  const threads = Number(text);
  if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS)
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_THREADS}.`);
  return threads;
}

/** A folder; an empty name would be the current one. */
export function parseFolder(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected a folder.');
  return text;
}

/** One value of an option that may be repeated. */
export function collect(text: string, before?: string[] | false): string[] {
  return [...(before || []), text];
}

/** One tier of trackers; commas part its URLs. */
export function collectTier(text: string, before: string[][] = []): string[][] {
  return [...before, text.split(',').map((url) => url.trim())];
}

/** One node of the DHT, as `host:port` or `[IPv6]:port`. */
export function collectNode(text: string, before: DhtNode[] = []): DhtNode[] {
  const peer = parsePeer(text);
  if (peer) return [...before, [peer.host, peer.port]];
  throw new InvalidArgumentError('Expected HOST:PORT, such as router.example:6881.');
}

/** The options of every command that reads torrents. */
export interface ProfileOptions {
  strict?: boolean;
  compat?: boolean;
  padding?: NonNullable<ValidationContext['padding']>;
  limit?: Limits;
}

/** The option of every command that pads. */
export const padNamesOption = (): Option =>
  new Option('--pad-names <names>', 'how pad files are named: libtorrent, or unique for no name twice').choices([
    'libtorrent',
    'unique',
  ]);

/** One limit of what a torrent may have, as `files=2000000` or `bytes=2GiB`. */
function collectLimit(text: string, before: Limits = {}): Limits {
  const [name = '', value = ''] = text.split('=', 2);
  const most = sizeOf(value);
  if (Object.hasOwn(DEFAULT_LIMITS, name) && most !== null) return { ...before, [name as LimitName]: most };
  throw new InvalidArgumentError(`Expected NAME=NUMBER, of ${Object.keys(DEFAULT_LIMITS).join(', ')}.`);
}

export function profileOptions(command: Command): Command {
  return command
    .addOption(new Option('--strict', 'ask for padding, names of pads and canonical bencode too').conflicts('compat'))
    .option('--compat', 'take what libtorrent 2.0 takes, with warnings')
    .addOption(
      new Option('--padding <mode>', "whether files must start at a piece's start").choices([
        'default',
        'ignore',
        'strict',
        'forbid',
      ]),
    )
    .option(
      '--limit <name=number>',
      'how much a torrent may have, such as bytes=2GiB or files=1000 (repeatable)',
      collectLimit,
    );
}

/** How a torrent is to be read. */
export function readOptionsOf(options: ProfileOptions): ReadOptions {
  return { context: contextOf(options), limits: options.limit };
}

export function contextOf({ strict, compat, padding }: ProfileOptions): ValidationContext {
  return { profile: strict ? 'strict' : compat ? 'compat' : 'default', ...(padding && { padding }) };
}

/** The options of every command that may use the cache of hashes. */
export interface CacheOptions {
  cache?: boolean;
  cacheDir?: string;
}

export function cacheOptions(command: Command): Command {
  return command
    .option('--cache', 'keep what files hash to, and do not read them again while they are the same')
    .option('--cache-dir <folder>', "the same, in this folder (default: the user's cache folder)", parseFolder);
}

export function cacheOf({ cache, cacheDir }: CacheOptions): CacheChoice {
  if (cacheDir !== undefined) return path.resolve(cacheDir);
  return cache ? 'auto' : false;
}

/** The folder of a cache that was named: it may be within that of a torrent. */
export function cacheFolders({ cacheDir }: CacheOptions): string[] {
  return cacheDir ? [path.resolve(cacheDir)] : [];
}
