/** The report of a verification for people. */
import type { Colors } from 'picocolors/types.js';
import { formatBytes, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { factsOf, type VerifiedFile, type VerifyReport } from '../../verify/report.ts';

/**
 * The report as lines: incomplete files, and in the end the verdict.
 *
 * @param name The torrent in the verdict.
 * @param options.quiet Only the incomplete files.
 * @param options.known The paths of files that have no line of their own.
 */
export function reportLines(
  name: string,
  report: VerifyReport,
  colors: Colors,
  { quiet = false, known = null }: { quiet?: boolean | undefined; known?: ReadonlySet<string> | null } = {},
): string[] {
  const facts = factsOf(report);
  const incomplete = report.ok ? [] : report.files.filter(({ status }) => status !== 'complete');
  const extra = extraLines(report.extraFiles, colors);
  const lines = [
    ...incomplete.filter(({ path }) => !known?.has(path)).map((file) => lineOf(file, colors)),
    ...(facts.mayHaveOtherNames ? renamedLines(report, colors) : []),
  ];
  if (quiet) return lines;
  const pieces = report.badPieces.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const isSample = report.sampledPieces !== null;
  const verdict = report.ok
    ? colors.green(isSample ? 'no error found' : 'complete')
    : `${colors.red(`${plural(incomplete.length, 'file')} incomplete`)}, ${plural(pieces, 'bad piece')}`;
  const files = plural(facts.files, 'file');
  return [
    ...(report.ok ? [] : [mapOf(report, colors)]),
    ...lines,
    ...extra,
    `${printable(name)}: ${verdict}; ${isSample ? sampleOf(report) : shareOf(report)} in ${files}`,
  ];
}

/** The complete files that lie under other names: clients look for the name in the torrent. */
function renamedLines({ files }: VerifyReport, colors: Colors): string[] {
  const renamed = files.filter(({ status, foundAs }) => status === 'complete' && foundAs !== undefined);
  const lines = renamed.slice(0, MAX_EXTRA).map((file) => lineOf(file, colors));
  const more = renamed.length - lines.length;
  return more > 0 ? [...lines, `and ${more.toLocaleString('en')} more under other names (--json lists all)`] : lines;
}

function shareOf({ goodBytes, totalSize }: VerifyReport): string {
  const share = totalSize > 0 ? Math.floor((goodBytes / totalSize) * 1000) / 10 : 100;
  return `${share} % of ${formatBytes(totalSize)}`;
}

/** With `--fast`, pieces that were not read count as good, so there is no share of good bytes. */
function sampleOf({ sampledPieces, sampledBytes, totalSize }: VerifyReport): string {
  const pieces = plural(sampledPieces ?? 0, 'piece');
  return `checked only a sample (--fast): ${pieces}, ${formatBytes(sampledBytes ?? 0)} of ${formatBytes(totalSize)}`;
}

/** The most lines of extra files: the wrong folder may have millions. */
const MAX_EXTRA = 100;

/**
 * The lines of extra files, and of how many more there are.
 *
 * @param note What stands behind each name.
 */
export function extraLines(names: readonly string[], colors: Colors, note = ''): string[] {
  const label = `${colors.dim('extra')}       `;
  const lines = names.slice(0, MAX_EXTRA).map((name) => `${label}${printable(name)}${note}`);
  const more = names.length - lines.length;
  return more > 0 ? [...lines, `${label}and ${more.toLocaleString('en')} more${note} (--json lists all)`] : lines;
}

function lineOf({ path, status, length, goodBytes, problem, foundAs }: VerifiedFile, colors: Colors): string {
  const share = length > 0 ? `${Math.floor((goodBytes / length) * 100)} % good` : 'empty';
  const color = status === 'missing' || status === 'unreadable' ? colors.red : colors.yellow;
  const place = foundAs === undefined ? '' : `, found as ${printable(nameShown(foundAs, path))}`;
  const detail = problem === undefined ? `${share}${place}` : printable(problem);
  return `${color(status.padEnd(10))}  ${printable(path)} (${detail})`;
}

/** Two Unicode forms of one name look alike, so the form of the disk is named. */
function nameShown(foundAs: string, path: string): string {
  if (foundAs.normalize('NFC') !== path.normalize('NFC')) return foundAs;
  return `the same name in Unicode form ${foundAs === foundAs.normalize('NFC') ? 'NFC' : 'NFD'}`;
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
