/** Prints a torrent as text for a terminal. */
import { toHex } from '../errors/errors.ts';
import { checkArgument, checkOptions, type OptionStructs, Size } from '../errors/guard.ts';
import { padsIn } from '../layout/padding.ts';
import { peerText } from '../magnet/magnet.ts';
import type { HashList } from '../model/hash-list.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import { IN_INFO, TOP } from '../model/keys.ts';
import type { DhtNode } from '../model/primitives.ts';
import { AnyTorrent, type Torrent } from '../model/torrent/torrent.ts';
import { hintsOf, plainValuesOf, tiersOf } from '../model/torrent/torrent-json.ts';
import { unknownKeys, unknownKeysOfFiles, unknownLines } from '../model/unknown-keys.ts';
import { formatBytes, plural } from '../text/format.ts';
import { printable } from '../text/printable.ts';
import { fileLines, type Terminal } from './print-file-tree.ts';

/** How much is printed: 0 the top level; 1 also the files; 2 also hashes, shortened; 3 and above all hashes in full. */
export type Verbosity = number;

/** Options of {@link pprint}. */
export interface PprintOptions {
  /**
   * 0 prints less than one screen.
   *
   * @default 0
   */
  verbose?: Verbosity;
}

const PPRINT: OptionStructs<PprintOptions> = { verbose: Size };

/** At verbosity 0, longer lists and texts are cut, so that the output fits a screen of 24 lines by 80 columns. */
const MAX_ROWS = 3;
const MAX_TEXT = 64;
/** The hashes printed of a list that is cut, and the digits printed of each. */
const MAX_HASHES = 4;
const SHORT_HASH = 16;

/**
 * Prints a torrent to standard output, hashes in hexadecimal, one piece a line.
 *
 * @param torrent The torrent to print.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a value that is not a torrent, or invalid options
 * @example
 * ```ts
 * import { pprint, Torrent } from 'metainfo';
 *
 * pprint(await Torrent.read('v1.torrent'), { verbose: 0 });
 * ```
 */
export function pprint(torrent: Torrent, options: PprintOptions = {}): void {
  checkArgument('torrent', torrent, AnyTorrent);
  const checked = checkOptions(options, PPRINT, { example: '{ verbose: 1 }' });
  for (const line of formatTorrent(torrent, checked)) process.stdout.write(`${line}\n`);
}

/** The lines that {@link pprint} prints. A generator, because a large torrent has many hashes. */
export function* formatTorrent(torrent: Torrent, { verbose = 0 }: PprintOptions = {}): Generator<string> {
  yield* fieldLines(torrent, verbose === 0);
  yield* detailLines(torrent, verbose);
}

/** The files as a tree, and the hashes: nothing at verbosity 0. */
export function* detailLines(torrent: Torrent, verbose: Verbosity, terminal?: Terminal): Generator<string> {
  if (verbose >= 1) {
    yield '';
    yield* fileLines(torrent, terminal);
    for (const line of unknownLines(unknownKeysOfFiles(torrent))) yield `unknown key  ${line}`;
  }
  if (verbose >= 2) yield* hashes(torrent, verbose >= 3);
}

/** A line for each value of the fields that are not about single files. @param short Cuts long lists and texts. */
export function* fieldLines(torrent: Torrent, short: boolean): Generator<string> {
  const { info } = torrent;
  const rows: [label: string, value: string | null | undefined][] = [
    ['name', torrent.name],
    ['version', torrent.torrentVersion],
    ['infohash v1', torrent.infohashV1],
    ['infohash v2', torrent.infohashV2],
    ['size', `${formatBytes(torrent.totalSize)} in ${plural(torrent.nFiles, 'file')}`],
    ['pieces', `${torrent.nPieces} of ${formatBytes(info.pieceLength)}`],
    ...cutRows(trackerRows(torrent), short),
    ...listRows('webseed', torrent.webseeds, short),
    ...hintRows(torrent, short),
    ...[...plainValuesOf(torrent, IN_INFO), ...plainValuesOf(torrent, TOP)].map(
      ([, value, row]): [string, string | undefined] => [row.label ?? row.key, textsOf(value)[0]],
    ),
    ...listRows(
      'warning',
      torrent.warnings.map(({ path, message }) => [...path, message].join(': ')),
      short,
    ),
  ];
  const width = rows.reduce((max, [label]) => Math.max(max, label.length), 0);
  for (const [label, value] of rows) {
    if (value !== null && value !== undefined) yield `${label.padEnd(width)}  ${short ? cut(value) : printable(value)}`;
  }
}

/** Fields that few torrents have: listed, or only counted in short output. */
function hintRows(torrent: Torrent, short: boolean): [string, string][] {
  const keys = unknownKeys(torrent);
  const lists: [label: string, values: readonly string[]][] = [
    ['unknown key', short ? keys.map(() => '') : [...unknownLines(keys)]],
    ...hintsOf(torrent).map(([, value, row]): [string, string[]] => [row.label ?? row.key, textsOf(value)]),
  ];
  if (!short) return lists.flatMap(([label, values]) => listRows(label, values, short));
  const counts = lists.flatMap(([label, { length }]) => (length > 0 ? [plural(length, label)] : []));
  return counts.length > 0 ? [['also', counts.join(', ')]] : [];
}

/** The texts of a value as JSON; none of an absent one. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'boolean') return value ? ['yes'] : [];
  return [(value ?? []) as string | (string | DhtNode)[]]
    .flat()
    .map((one) => (typeof one === 'string' ? one : peerText({ host: one[0], port: one[1] })));
}

function* hashes(torrent: Torrent, all: boolean): Generator<string> {
  if (torrent.torrentVersion !== 'v2') {
    const { pieces, files: list } = torrent.info as InfoDictV1;
    const pads = (list ?? []).filter(padsIn(list ?? [], torrent.info.pieceLength));
    yield '';
    yield `v1 pieces (SHA-1)${pads.length > 0 ? `, ${plural(pads.length, 'pad file')} among the files` : ''}`;
    yield* hashLines(pieces, all);
  }
  if (torrent.torrentVersion === 'v1') return;
  for (const file of torrent.files) {
    if (!file.piecesRoot) continue;
    const root = toHex(file.piecesRoot);
    yield '';
    yield `${printable(file.path)}`;
    yield `  root ${all ? root : `${root.slice(0, SHORT_HASH)}…`}`;
    const layer = torrent.pieceLayers?.get(root);
    if (layer) yield* hashLines(layer, all);
  }
}

function* hashLines(list: HashList, all: boolean): Generator<string> {
  const count = all ? list.length : Math.min(MAX_HASHES, list.length);
  const width = String(list.length - 1).length;
  for (let i = 0; i < count; i += 1) {
    const hex = list.toHex(i) as string;
    yield `  ${String(i).padStart(width)} ${all ? hex : `${hex.slice(0, SHORT_HASH)}…`}`;
  }
  if (count < list.length) yield `  ${''.padStart(width)} and ${list.length - count} more`;
}

type Row = [label: string, value: string];

/** The trackers: each with the number of its tier, unless each is a tier of its own. */
function trackerRows(torrent: Torrent): Row[] {
  const tiers = tiersOf(torrent);
  const hasTiers = tiers.some((tier) => tier.length > 1);
  return tiers.flatMap((tier, i) => tier.map((url): Row => [hasTiers ? `tracker ${i + 1}` : 'tracker', url]));
}

function listRows(label: string, values: readonly string[], short: boolean): Row[] {
  const rows = values.map((value): Row => [label, value]);
  return cutRows(rows, short);
}

function cutRows(rows: readonly Row[], short: boolean): Row[] {
  const shown = rows.slice(0, short ? MAX_ROWS : rows.length);
  const next = rows[shown.length];
  return next ? [...shown, [next[0], `and ${rows.length - shown.length} more`]] : shown;
}

function cut(value: string): string {
  // Escapes only make text longer, so the rest cannot be visible and need not be escaped.
  const text = printable(value.slice(0, 4 * MAX_TEXT));
  const chars = [...text];
  return chars.length > MAX_TEXT ? `${chars.slice(0, MAX_TEXT - 1).join('')}…` : text;
}
