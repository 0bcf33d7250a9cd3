/** The report of a verification for people. */
import type { Colors } from 'picocolors/types.js';
import { formatBytes, plural } from '../../text/format.ts';
import { distinctly, printable } from '../../text/printable.ts';
import { OUTSIDE } from '../../verify/match-files.ts';
import { factsOf, type VerifiedFile, type VerifyReport } from '../../verify/report.ts';
import { firstLines } from '../terminal/output.ts';

/** The parts of a report that are shown. */
export interface ShownReport {
  /** Only the incomplete files, but all of them. */
  quiet?: boolean | undefined;
  /** Every file, instead of the first ones of each kind. */
  verbose?: boolean | undefined;
  /** The paths of files that have no line of their own. */
  known?: ReadonlySet<string> | null;
  /** The files that `--files` has left out. */
  unwantedFiles?: number | undefined;
}

/** The report as lines: incomplete files, and in the end the verdict on the torrent of that name. */
export function reportLines(
  name: string,
  report: VerifyReport,
  colors: Colors,
  { quiet = false, verbose = false, known = null, unwantedFiles = 0 }: ShownReport = {},
): string[] {
  const facts = factsOf(report);
  const incomplete = report.ok ? [] : report.files.filter(isIncomplete);
  // Clients look for the name in the torrent.
  const isRenamed = (file: VerifiedFile) => !isIncomplete(file) && file.foundAs !== undefined;
  const renamed = facts.mayHaveOtherNames ? report.files.filter(isRenamed) : [];
  const listed = [...incomplete.filter(({ path }) => !known?.has(path)), ...renamed];
  const show = distinctly([...listed.map(({ path }) => path), ...report.extraFiles]);
  const lines = firstLines(
    listed,
    ({ status }) => (status === 'complete' ? 'files under other names' : `${status} files`),
    verbose || quiet,
    (file) => lineOf(file, colors, show),
  );
  if (quiet) return lines;
  const unread = countOf(report.unreadPieces);
  const isSample = report.sampledPieces !== null;
  const verdict = report.ok
    ? colors.green(isSample ? 'no error found' : 'complete')
    : `${colors.red(`${plural(incomplete.length, 'file')} incomplete`)}, ${plural(countOf(report.badPieces), 'bad piece')}${unread > 0 ? `, ${plural(unread, 'unread piece')}` : ''}`;
  const unchecked = countOf(report.uncheckedPieces);
  const shared = unchecked > 0 ? `; ${plural(unchecked, 'piece')} shared with others, not checked` : '';
  const files = `${plural(facts.files, 'file')}${unwantedFiles > 0 ? `, ${unwantedFiles.toLocaleString('en')} not wanted${shared}` : ''}`;
  return [
    ...(report.ok ? [] : [mapOf(report, colors)]),
    ...lines,
    ...extraLines(report.extraFiles, colors, { verbose, show }),
    `${printable(name)}: ${verdict}; ${isSample ? sampleOf(report) : shareOf(report)} in ${files}${cachedOf(report)}`,
  ];
}

const isIncomplete = ({ status }: VerifiedFile): boolean => status !== 'complete' && status !== 'unchecked';

const countOf = (ranges: VerifyReport['badPieces']): number =>
  ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);

function shareOf({ goodBytes, totalSize }: VerifyReport): string {
  const share = totalSize > 0 ? Math.floor((goodBytes / totalSize) * 1000) / 10 : 100;
  return `${share} % of ${formatBytes(totalSize)}`;
}

const cachedOf = ({ cachedBytes = 0 }: VerifyReport): string =>
  cachedBytes > 0 ? `; ${formatBytes(cachedBytes)} taken from the cache` : '';

/** With `--fast`, pieces that were not read count as good, so there is no share of good bytes. */
function sampleOf({ sampledPieces, sampledBytes, totalSize }: VerifyReport): string {
  const pieces = plural(sampledPieces ?? 0, 'piece');
  return `checked only a sample (--fast): ${pieces}, ${formatBytes(sampledBytes ?? 0)} of ${formatBytes(totalSize)}`;
}

/**
 * The lines of extra files.
 *
 * @param options.note What stands behind each name.
 * @param options.show Makes a name safe to print.
 */
export function extraLines(
  names: readonly string[],
  colors: Colors,
  {
    verbose,
    note = '',
    show = distinctly(names),
  }: { verbose?: boolean | undefined; note?: string; show?: typeof printable },
): string[] {
  const label = `${colors.dim('extra')}       `;
  return firstLines(names, `extra files${note}`, verbose, (name) => `${label}${show(name)}${note}`);
}

function lineOf(file: VerifiedFile, colors: Colors, show: typeof printable): string {
  const { path, status, length, goodBytes, problem, foundAs } = file;
  const share = length > 0 ? `${Math.floor((goodBytes / length) * 100)} % good` : 'empty';
  const color = status === 'missing' || status === 'unreadable' ? colors.red : colors.yellow;
  const place = foundAs === undefined ? '' : `, found as ${printable(nameShown(foundAs, path))}`;
  const advice = problem === OUTSIDE ? ': see --follow-outside' : '';
  const detail = problem === undefined ? `${share}${place}` : `${printable(problem)}${advice}`;
  return `${color(status.padEnd(10))}  ${show(path)} (${detail})`;
}

/** Two Unicode forms of one name look alike, so the form of the disk is named. */
function nameShown(foundAs: string, path: string): string {
  if (foundAs.normalize('NFC') !== path.normalize('NFC')) return foundAs;
  return `the same name in Unicode form ${foundAs === foundAs.normalize('NFC') ? 'NFC' : 'NFD'}`;
}

const CELLS = 64;

/** Draws all pieces in one line; each cell stands for an equal share of them. A question mark stands for pieces that could not be read, a dot stands for pieces that are not wanted. */
function mapOf({ bitfield, badPieces, unreadPieces, uncheckedPieces }: VerifyReport, colors: Colors): string {
  const last = Math.max(...[badPieces, unreadPieces, uncheckedPieces].map((ranges) => ranges.at(-1)?.[1] ?? 0));
  const count = Math.max(last + 1, lastGood(bitfield) + 1);
  const cells = Math.min(CELLS, count);
  const isGood = (piece: number) => ((bitfield[piece >> 3] as number) & (0x80 >> (piece & 7))) !== 0;
  const isBad = new Uint8Array(count);
  for (const [first, end] of unreadPieces) isBad.fill(2, first, end + 1);
  for (const [first, end] of badPieces) isBad.fill(1, first, end + 1);
  return Array.from({ length: cells }, (_, cell) => {
    const [from, to] = [Math.floor((cell * count) / cells), Math.floor(((cell + 1) * count) / cells)];
    let good = 0;
    for (let piece = from; piece < to; piece += 1) good += isGood(piece) ? 1 : 0;
    const states = isBad.subarray(from, to);
    if (!states.includes(1) && states.includes(2)) return colors.yellow('?');
    if (!states.includes(1)) return good > 0 ? colors.green('█') : colors.dim('·');
    return good > 0 ? colors.yellow('▒') : colors.red('░');
  }).join('');
}

function lastGood(bitfield: Uint8Array): number {
  const byte = bitfield.findLastIndex((bits) => bits !== 0);
  if (byte < 0) return -1;
  return byte * 8 + 7 - Math.log2((bitfield[byte] as number) & -(bitfield[byte] as number));
}
