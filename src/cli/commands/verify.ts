/** `metainfo verify`: checks files on disk against a torrent. */
import { type Command, Option } from 'commander';
import type { Colors } from 'picocolors/types.js';
import { formatBytes, printable, printableJson } from '../../layout/text.ts';
import { plural } from '../../model/pprint.ts';
import type { Torrent } from '../../model/torrent.ts';
import type { VerifiedFile, VerifyReport } from '../../verify/report.ts';
import { verify } from '../../verify/verify.ts';
import { contentPlace, readTorrent } from '../arguments.ts';
import { colorsFor } from '../colors.ts';
import { FAILED } from '../exit.ts';
import { interruptible } from '../interrupt.ts';
import { type HashingOptions, hashingOptions, type ProfileOptions, profileOptions } from '../options.ts';
import { showsProgress, stderr, stdout, writeLines } from '../output.ts';

interface VerifyOptions extends ProfileOptions, HashingOptions {
  torrentVersion?: 'v1' | 'v2';
  fast?: boolean;
  quiet?: boolean;
  json?: boolean;
}

const EXAMPLES = `
Examples:
  metainfo verify album.torrent                    checks ./album
  metainfo verify album.torrent /srv/album
  metainfo verify film.torrent /srv/film.mkv --json

The parent folder of the torrent's folder is understood too.

--json prints { path, ok, files, badPieces, extraFiles, goodBytes,
totalSize, sampledPieces, bitfield }.

Exit codes: 0 all files are complete, 1 a file is missing or corrupt,
2 wrong usage.`;

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('check files against a torrent: report missing, corrupt or extra files')
    .argument('<file>', 'the torrent file, or - for standard input')
    .argument(
      '[path]',
      "the folder with its files, or its single file (default: the torrent's name in the current folder)",
    )
    .addOption(
      new Option('-k, --torrent-version <version>', 'check only the v1 or v2 hashes of a hybrid').choices(['v1', 'v2']),
    )
    .option('--fast', 'check file sizes and a sample of the pieces only');
  hashingOptions(command)
    .option('-q, --quiet', 'print no progress, and only incomplete files')
    .option('--json', 'print one JSON object');
  profileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, path: string | undefined, options: VerifyOptions) => {
      // Not interruptible: reading a pipe without a writer ends only with the process.
      const torrent = await readTorrent(file, options, path);
      const place = await contentPlace(torrent, path);
      if (place.note !== null && !options.quiet && !options.json) await writeLines([printable(place.note)], stderr);
      await interruptible((signal) => run(torrent, { path: place.path, options, signal }));
    });
}

interface Invocation {
  path: string;
  options: VerifyOptions;
  signal: AbortSignal;
}

async function run(torrent: Torrent, { path, options, signal }: Invocation): Promise<void> {
  const progress = showsProgress(options);
  const { torrentVersion, fast, memoryLimit } = options;
  const threads = options.threads ?? null;
  const report = await verify(torrent, path, { version: torrentVersion, fast, threads, memoryLimit, progress, signal });
  if (!report.ok) process.exitCode = FAILED;
  if (options.json)
    await writeLines([printableJson({ path, ...report, bitfield: Buffer.from(report.bitfield).toString('hex') })]);
  else await writeLines(linesOf(torrent, report, await colorsFor(stdout()), options.quiet ?? false));
}

function linesOf(torrent: Torrent, report: VerifyReport, colors: Colors, quiet: boolean): string[] {
  const incomplete = report.files.filter(({ status }) => status !== 'complete');
  const extra = report.extraFiles.map((name) => `${colors.dim('extra')}       ${printable(name)}`);
  const lines = incomplete.map((file) => lineOf(file, colors));
  if (quiet) return lines;
  const pieces = report.badPieces.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const verdict = report.ok
    ? colors.green('complete')
    : `${colors.red(`${plural(incomplete.length, 'file')} incomplete`)}, ${plural(pieces, 'bad piece')}`;
  const share = report.totalSize > 0 ? Math.floor((report.goodBytes / report.totalSize) * 1000) / 10 : 100;
  return [
    ...(report.ok ? [] : [mapOf(report, colors)]),
    ...lines,
    ...extra,
    ...(report.sampledPieces === null ? [] : [`checked a sample of ${plural(report.sampledPieces, 'piece')} (--fast)`]),
    `${printable(torrent.name)}: ${verdict}; ${share} % of ${formatBytes(report.totalSize)} in ${plural(report.files.length, 'file')}`,
  ];
}

function lineOf({ path, status, length, goodBytes, problem }: VerifiedFile, colors: Colors): string {
  const share = length > 0 ? `${Math.floor((goodBytes / length) * 100)} % good` : 'empty';
  const color = status === 'partial' || status === 'wrong-size' ? colors.yellow : colors.red;
  const detail = problem === undefined ? share : printable(problem);
  return `${color(status.padEnd(10))}  ${printable(path)} (${detail})`;
}

const CELLS = 64;

/** Draws all pieces in one line; each cell stands for an equal share of them. */
function mapOf({ bitfield, badPieces }: VerifyReport, colors: Colors): string {
  const last = badPieces.at(-1)?.[1] ?? 0;
  const count = Math.max(last + 1, lastGood(bitfield) + 1);
  const cells = Math.min(CELLS, count);
  const isGood = (piece: number) => ((bitfield[piece >> 3] as number) & (0x80 >> (piece & 7))) !== 0;
  return Array.from({ length: cells }, (_, cell) => {
    const [from, to] = [Math.floor((cell * count) / cells), Math.floor(((cell + 1) * count) / cells)];
    let good = 0;
    for (let piece = from; piece < to; piece += 1) good += isGood(piece) ? 1 : 0;
    if (good === to - from) return colors.green('█');
    return good > 0 ? colors.yellow('▒') : colors.red('░');
  }).join('');
}

function lastGood(bitfield: Uint8Array): number {
  const byte = bitfield.findLastIndex((bits) => bits !== 0);
  if (byte < 0) return -1;
  return byte * 8 + 7 - Math.log2((bitfield[byte] as number) & -(bitfield[byte] as number));
}
