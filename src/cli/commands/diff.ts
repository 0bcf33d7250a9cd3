/** `metainfo diff`: shows what differs between two torrents, and which files they share. */
import type { Command } from 'commander';
import type { Colors } from 'picocolors/types.js';
import { type Difference, differences, hasSameInfo } from '../../edit/differences.ts';
import { toHex } from '../../errors/errors.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import type { TorrentFile } from '../../model/torrent/torrent-base.ts';
import { exactBytes, formatBytes, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { readingOptions } from '../config/load.ts';
import { infohashOf } from '../create/summary.ts';
import { changedInfohashes, differenceJson, differenceLine } from '../edit/report.ts';
import { exitCodeOf } from '../exit.ts';
import { countsText } from '../many/run-many.ts';
import { readTorrent } from '../options/arguments.ts';
import type { ProfileOptions } from '../options/option-values.ts';
import { FAILED, host, USAGE } from '../run.ts';
import { colorsFor, firstLines, stdout, writeResult } from '../terminal/output.ts';
import { nameOfInput, requireOneStdin } from '../terminal/standard-input.ts';

type DiffOptions = ProfileOptions & { verbose?: boolean; quiet?: boolean; json?: boolean };

const EXAMPLES = `
Examples:
  metainfo diff album.torrent new/album.torrent
  metainfo diff --json old.torrent -     reads standard input

Files are the same if their v2 pieces roots are; if a torrent has none (v1), by
name and size, which proves nothing. Pad files are left out.

--json prints { same, sameInfohash, before, after, changes, files }, where files
is { same, proof (root or null), changed, renamed, removed, added }.

Exit codes: 0 no differences, 1 some differences, 2 wrong usage, or a torrent
that cannot be read.`;

export function addDiff(program: Command): void {
  const command = program
    .command('diff')
    .description('show what differs between two torrents, and which files they share')
    .argument('<before>', 'the first torrent file, or - for standard input')
    .argument('<after>', 'the second torrent file, or - for standard input')
    .option('-v, --verbose', 'list every file, instead of the first 20 of each kind')
    .option('-q, --quiet', 'print nothing: the exit code tells')
    .option('--json', 'print one JSON object');
  readingOptions(command).addHelpText('after', EXAMPLES).action(diff);
}

async function diff(before: string, after: string, options: DiffOptions): Promise<void> {
  requireOneStdin([before, after]);
  const read = await Promise.allSettled([before, after].map((file) => readTorrent(file, options)));
  for (const result of read) if (result.status === 'rejected') await exitCodeOf(result.reason);
  const [a, b] = read.map((result) => (result.status === 'fulfilled' ? result.value : null));
  host().exitCode = USAGE;
  if (!a || !b) return;
  const changes = differences(a, b);
  // The same keys in another order give another infohash.
  const sameInfohash = hasSameInfo(a, b);
  const same = sameInfohash && changes.length === 0;
  host().exitCode = same ? 0 : FAILED;
  const files = compareFiles(a, b);
  const about = (file: string, torrent: Torrent) => {
    return { file, version: torrent.torrentVersion, name: torrent.name, infohash: infohashOf(torrent) };
  };
  const json = {
    same,
    sameInfohash,
    before: about(before, a),
    after: about(after, b),
    changes: changes.map((change) => ({ ...differenceJson(change), ...(isContent(change) && HIDDEN) })),
    files,
  };
  const title = [before, after].map((file) => printable(nameOfInput(file))).join(' and ');
  const colors = await colorsFor(stdout());
  const infohash = sameInfohash ? colors.green('same infohash') : colors.yellow('different infohashes');
  const versions = new Set([a.torrentVersion, b.torrentVersion]);
  const { same: shared, proof, ...lists } = files;
  const counts = Object.entries(lists).map(([kind, { length }]): [string, number] => [kind, length]);
  const lines = [
    `${title}: ${infohash}`,
    ...changedInfohashes(a, b),
    ...(versions.size > 1 ? [`  version  ${[...versions].join(' -> ')}`] : []),
    ...changes.map((change) => (isContent(change) ? contentLine(change) : differenceLine(change))),
    ...Object.entries(lists).flatMap(([kind, list]) =>
      firstLines<ComparedFile>(list, `${kind} files`, options.verbose, (file) => fileLine(kind, file, colors)),
    ),
    `${plural(shared, 'file')} the same by ${proof ? 'pieces root' : 'name and size'}${countsText(Object.fromEntries(counts))}`,
  ];
  await writeResult(options, json, same ? [`${title}: ${colors.green('no differences')}`] : lines);
}

/** The keys of lists of files and hashes: the files say what differs there. */
const CONTENT = ['info.files', 'info.file tree', 'info.length', 'info.pieces', 'piece layers'];
const HIDDEN = { before: null, after: null };
const isContent = ({ key }: Difference): boolean => CONTENT.includes(key);

function contentLine({ key, before, after }: Difference): string {
  if (before === undefined) return `  ${key}  +`;
  return `  ${key}  ${after === undefined ? '-' : 'differs'}`;
}

/** A file that only one torrent has, or that both have under other paths or with other content. */
type ComparedFile =
  | Pick<TorrentFile, 'path' | 'length'>
  | Record<'before' | 'after', Pick<TorrentFile, 'path' | 'length'>>;

function fileLine(kind: string, file: ComparedFile, { yellow, green, red }: Colors): string {
  const color = { added: green, removed: red }[kind] ?? yellow;
  const [from, to] = 'path' in file ? [file, file] : [file.before, file.after];
  const lengths = [...new Set([from.length, to.length])];
  const isRounded = new Set(lengths.map(formatBytes)).size < lengths.length;
  const size = lengths.map(isRounded ? exactBytes : formatBytes).join(' -> ');
  const names = kind === 'renamed' ? `${from.path} -> ${to.path}` : from.path;
  return `${color(kind.padEnd(9))} ${printable(names)} (${size})`;
}

/** Compares files by their paths, and those that only one torrent has there by their content. */
function compareFiles(a: Torrent, b: Torrent) {
  const hasRoots = a.torrentVersion !== 'v1' && b.torrentVersion !== 'v1';
  const contentOf = ({ piecesRoot, length }: TorrentFile, name = '') =>
    hasRoots && piecesRoot ? toHex(piecesRoot) : `${length} ${name}`;
  const isSame = ([before, after]: Pair) => contentOf(before) === contentOf(after);
  const byPath = pairs(a.files, b.files, ({ path }) => path);
  const byContent = pairs(byPath.before, byPath.after, (file) => contentOf(file, file.path.split('/').at(-1)));
  const shortOf = ({ path, length }: TorrentFile) => ({ path, length });
  const bothOf = ([before, after]: Pair) => ({ before: shortOf(before), after: shortOf(after) });
  return {
    same: byPath.both.filter(isSame).length,
    proof: hasRoots ? 'root' : null,
    changed: byPath.both.filter((pair) => !isSame(pair)).map(bothOf),
    renamed: byContent.both.map(bothOf),
    removed: byContent.before.map(shortOf),
    added: byContent.after.map(shortOf),
  };
}

type Pair = [before: TorrentFile, after: TorrentFile];

/** Pairs the files that have the same key, and gives the others. */
function pairs(before: readonly TorrentFile[], after: readonly TorrentFile[], keyOf: (file: TorrentFile) => string) {
  const left = new Map<string, TorrentFile[]>();
  for (const file of after.toReversed()) {
    const files = left.get(keyOf(file)) ?? [];
    left.set(keyOf(file), files);
    files.push(file);
  }
  const both: Pair[] = [];
  const only = before.filter((file) => {
    const other = left.get(keyOf(file))?.pop();
    if (other) both.push([file, other]);
    return !other;
  });
  const paired = new Set(both.map(([, other]) => other));
  return { both, before: only, after: after.filter((file) => !paired.has(file)) };
}
