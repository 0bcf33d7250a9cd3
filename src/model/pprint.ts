import { toHex } from '../errors/errors.ts';
import { checkArgument, checkOptions, type OptionStructs, oneOf } from '../errors/guard.ts';
import { padsIn } from '../layout/padding.ts';
import { formatBytes, printable } from '../layout/text.ts';
import { peerText } from '../magnet/magnet.ts';
import type { HashList } from './hash-list.ts';
import type { InfoDictV1 } from './info-dict.ts';
import { AnyTorrent, type Torrent } from './torrent.ts';

/** How much is shown: 0 the top level; 1 the files; 2 the hashes, cut; 3 all hashes. */
export type Verbosity = 0 | 1 | 2 | 3;

/** How much {@link pprint} prints. */
export interface PprintOptions {
  /** Default 0: less than one screen. */
  verbose?: Verbosity;
}

const PPRINT: OptionStructs<PprintOptions> = { verbose: oneOf<Verbosity>(0, 1, 2, 3) };

/** At verbosity 0 longer lists and texts are cut, so that all fits a screen of 24 lines by 80 columns. */
const MOST_ROWS = 3;
const MOST_TEXT = 64;
/** Hashes shown of a list that is cut, and how much of each. */
const MOST_HASHES = 4;
const CUT_HASH = 16;
/** Beyond so many folders within each other lines go no further to the right: a path may have millions. */
const MOST_INDENT = 32;

/** Prints a torrent on standard output; hashes in hexadecimal, one piece a line. */
export function pprint(torrent: Torrent, given: PprintOptions = {}): void {
  checkArgument('torrent', torrent, AnyTorrent);
  const checked = checkOptions(given, PPRINT, { example: '{ verbose: 1 }' });
  for (const line of formatTorrent(torrent, checked)) process.stdout.write(`${line}\n`);
}

/** The lines that {@link pprint} prints, as they are asked for: all hashes of a large torrent are many. */
export function* formatTorrent(torrent: Torrent, { verbose = 0 }: PprintOptions = {}): Generator<string> {
  yield* topLevel(torrent, verbose === 0);
  if (verbose >= 1) yield* files(torrent);
  if (verbose >= 2) yield* hashes(torrent, verbose >= 3);
}

function* topLevel(torrent: Torrent, short: boolean): Generator<string> {
  const { info } = torrent;
  const rows: [label: string, value: string | null | undefined][] = [
    ['name', torrent.name],
    ['version', torrent.torrentVersion],
    ['infohash v1', torrent.infohashV1],
    ['infohash v2', torrent.infohashV2],
    ['size', `${formatBytes(torrent.totalSize)} in ${plural(torrent.nFiles, 'file')}`],
    ['pieces', `${torrent.nPieces} of ${formatBytes(info.pieceLength)}`],
    ...listRows('tracker', torrent.flatTrackers, short),
    ...listRows('webseed', torrent.webseeds, short),
    ...hintRows(torrent, short),
    ['private', info.private ? 'yes' : null],
    ['source', info.source],
    ['comment', torrent.comment],
    ['created by', torrent.createdBy],
    ['created', torrent.creationDate?.toISOString()],
    ...listRows(
      'warning',
      torrent.warnings.map(({ path, message }) => [...path, message].join(': ')),
      short,
    ),
  ];
  const width = rows.reduce((most, [label]) => Math.max(most, label.length), 0);
  for (const [label, value] of rows) {
    if (value !== null && value !== undefined) yield `${label.padEnd(width)}  ${short ? cut(value) : printable(value)}`;
  }
}

/** What few torrents have: counted, where all must fit a screen. */
function hintRows({ httpseeds, nodes, similar, collections, info }: Torrent, short: boolean): [string, string][] {
  const lists: [label: string, values: string[]][] = [
    ['httpseed', httpseeds ?? []],
    ['node', (nodes ?? []).map(([host, port]) => peerText({ host, port }))],
    ['similar torrent', similar.map(toHex)],
    ['collection', collections],
    ['feed', info.updateUrl == null ? [] : [info.updateUrl]],
  ];
  if (!short) return lists.flatMap(([label, values]) => listRows(label, values, short));
  const counts = lists.flatMap(([label, { length }]) => (length > 0 ? [plural(length, label)] : []));
  return counts.length > 0 ? [['also', counts.join(', ')]] : [];
}

/** The files as a tree, folders before what is in them, sizes in a column. */
function* files(torrent: Torrent): Generator<string> {
  yield '';
  yield `files of ${printable(torrent.name)}`;
  const sizes = torrent.files.map((file) => formatBytes(file.length));
  const width = sizes.reduce((most, size) => Math.max(most, size.length), 0);
  let open: string[] = [];
  for (const [i, file] of torrent.files.entries()) {
    const parts = file.path.split('/');
    const folders = parts.slice(0, -1);
    const shared = folders.findIndex((folder, depth) => folder !== open[depth]);
    for (let depth = shared < 0 ? folders.length : shared; depth < folders.length; depth += 1) {
      yield `${''.padStart(width)}  ${indent(depth)}${printable(folders[depth] as string)}/`;
    }
    open = folders;
    const flags = file.attr ? `  [${printable(file.attr)}]` : '';
    yield `${(sizes[i] as string).padStart(width)}  ${indent(folders.length)}${printable(parts.at(-1) as string)}${flags}`;
  }
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
    yield `  root ${all ? root : `${root.slice(0, CUT_HASH)}…`}`;
    const layer = torrent.pieceLayers?.get(root);
    if (layer) yield* hashLines(layer, all);
  }
}

function* hashLines(list: HashList, all: boolean): Generator<string> {
  const count = all ? list.length : Math.min(MOST_HASHES, list.length);
  const width = String(list.length - 1).length;
  for (let i = 0; i < count; i += 1) {
    const hex = list.toHex(i) as string;
    yield `  ${String(i).padStart(width)} ${all ? hex : `${hex.slice(0, CUT_HASH)}…`}`;
  }
  if (count < list.length) yield `  ${''.padStart(width)} and ${list.length - count} more`;
}

/** `1 file`, `2 files`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function indent(depth: number): string {
  return '  '.repeat(Math.min(depth, MOST_INDENT));
}

function listRows(label: string, values: readonly string[], short: boolean): [string, string][] {
  const rows: [string, string][] = values.slice(0, short ? MOST_ROWS : values.length).map((value) => [label, value]);
  const more = values.length - rows.length;
  return more > 0 ? [...rows, [label, `and ${more} more`]] : rows;
}

function cut(value: string): string {
  // Escapes only make it longer, and what is left out need not be escaped.
  const text = printable(value.slice(0, 4 * MOST_TEXT));
  const chars = [...text];
  return chars.length > MOST_TEXT ? `${chars.slice(0, MOST_TEXT - 1).join('')}…` : text;
}
