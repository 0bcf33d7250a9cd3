/** `metainfo diff`: shows what differs between two torrents, and which files they share. */
import type { Command } from 'commander';
import type { Colors } from 'picocolors/types.js';
import { contentChanges, type IndexPair } from '../../edit/content-changes.ts';
import { type Difference, differencesOf, hasSameInfo } from '../../edit/differences.ts';
import { toHex } from '../../errors/errors.ts';
import { matchPaths } from '../../hash/match-paths.ts';
import { contentOf, rootAt, type TorrentContent } from '../../model/lazy/content.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { TorrentBase, type TorrentFile } from '../../model/torrent/torrent-base.ts';
import { compareBytes } from '../../platform/node.ts';
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

--json prints { same, sameInfohash, before, after, changes, files }. before and
after are { torrent, version, name, infohash }, and files is { same, proof (root
or null), changed, renamed, removed, added }.

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
  const changes = differencesOf(TorrentBase.bytesOf(a), TorrentBase.bytesOf(b), CONTENT);
  // The same keys in another order give another infohash.
  const sameInfohash = hasSameInfo(a, b);
  const same = sameInfohash && changes.length === 0;
  host().exitCode = same ? 0 : FAILED;
  const files = await compareFiles(a, b);
  const about = (file: string, torrent: Torrent) => {
    return { torrent: file, version: torrent.torrentVersion, name: torrent.name, infohash: infohashOf(torrent) };
  };
  const torrents = { before: about(before, a), after: about(after, b) };
  const json = { same, sameInfohash, ...torrents, changes: changes.map(differenceJson), files };
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
async function compareFiles(a: Torrent, b: Torrent) {
  const [old, now] = [contentOf(a), contentOf(b)];
  const hasRoots = old.roots !== null && now.roots !== null;
  const hasRoot = (content: TorrentContent, i: number) => hasRoots && content.lengths[i] !== 0 && !content.links.has(i);
  const rootOf = (content: TorrentContent, i: number) => (hasRoot(content, i) ? rootAt(content, i) : NO_ROOT);
  const keyOf = (content: TorrentContent, i: number) =>
    hasRoot(content, i) ? toHex(rootAt(content, i)) : `${content.lengths[i]} ${content.pathAt(i).split('/').at(-1)}`;
  const isSame = (i: number, j: number) =>
    old.lengths[i] === now.lengths[j] && compareBytes(rootOf(old, i), rootOf(now, j)) === 0;
  const matches = await matchPaths(now.paths, old.paths);
  const { same, changed, renamed, removed, added } = contentChanges(old, now, matches, { isSame, keyOf });
  const fileOf = (content: TorrentContent) => (i: number) => ({
    path: content.pathAt(i),
    length: content.lengths[i] as number,
  });
  const [before, after] = [fileOf(old), fileOf(now)];
  const pairOf = ([i, j]: IndexPair) => ({ before: before(i), after: after(j) });
  return {
    same,
    proof: hasRoots ? 'root' : null,
    changed: changed.map(pairOf),
    renamed: renamed.map(pairOf),
    removed: removed.map(before),
    added: added.map(after),
  };
}

const NO_ROOT = new Uint8Array();
