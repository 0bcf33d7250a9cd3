/** The report of a verification: the state of every file, and which pieces are good. */
import { sumOf } from '../layout/file-table.ts';
import { inNode } from '../platform/node.ts';
import type { MatchedFiles } from './matched-files.ts';
import type { PieceLayout } from './piece-layout.ts';

/**
 * The state of a file. `complete`: every piece is good. `partial`: the size is right, but some pieces are not good.
 * `missing`: nothing has its path. `wrong-size`: it is shorter or longer. `unreadable`: it exists but cannot be read.
 *
 * With the option `files`, pieces that also hold bytes of other files cannot be checked. A file is `complete` if all its other pieces
 * are good, and `unchecked` if it has the right size, but no other pieces.
 */
export type FileStatus = 'complete' | 'partial' | 'missing' | 'wrong-size' | 'unreadable' | 'unchecked';

/** A file of the torrent and its state on disk. */
export interface VerifiedFile {
  /** From the torrent's root, with `/`. */
  path: string;
  /** See {@link FileStatus}. */
  status: FileStatus;
  /** Bytes, as the torrent says. */
  length: number;
  /** Bytes of this file in good pieces. */
  goodBytes: number;
  /** Bytes of this file in pieces that could not be checked: see {@link VerifyReport.uncheckedPieces}. Absent if there are none. */
  uncheckedBytes?: number;
  /** Modification time in milliseconds since 1970, before the file was hashed. Absent if there is no file that can be read, and for a source without a time. */
  mtimeMs?: number;
  /**
   * Its path from the folder, with `/`, if it lies under another name: that of an unfinished file (`.!qB`, `.part`), one that
   * libtorrent gives, the bytes of the torrent or another Unicode form. Bytes that are not UTF-8 are U+DC80 to U+DCFF.
   */
  foundAs?: string;
  /** Why the file is `unreadable`; absent otherwise. */
  problem?: string;
}

/** The result of {@link verify}. */
export interface VerifyReport {
  /** Whether every file is `complete` (or, with the option `files`, `unchecked`). Extra files do not count. */
  ok: boolean;
  /** The files in the torrent's order, without pad files. With the option `files`, only those. */
  files: VerifiedFile[];
  /**
   * Ranges of pieces that are wrong or not entirely on disk: the first and the last of each. v2: pieces are numbered through
   * all files in order. Without those of `unreadPieces`.
   */
  badPieces: [first: number, last: number][];
  /** Ranges of pieces with bytes of files that are `unreadable`: they may be good. */
  unreadPieces: [first: number, last: number][];
  /**
   * With the option `files`, the ranges of pieces that hold bytes of these files and of others, so that they could not be checked;
   * else empty. They are neither good nor bad.
   */
  uncheckedPieces: [first: number, last: number][];
  /** Files in the folder, or sources, that the torrent does not have: sorted paths relative to the folder, with `/`. */
  extraFiles: string[];
  /** Bytes of content in good pieces. */
  goodBytes: number;
  /** Bytes of content, without pad files. With the option `files`, of these files only. */
  totalSize: number;
  /** How many pieces `fast` hashed; null when all were. */
  sampledPieces: number | null;
  /** How many bytes of content `fast` hashed; null when all were. All others on disk are assumed to be good. */
  sampledBytes: number | null;
  /** With the option `cache`, bytes of files that were not read, because the cache knew their hashes; else absent. */
  cachedBytes?: number;
  /** One bit per piece, 1 for good. Piece 0 is the highest bit of the first byte, as in the peer protocol (BEP 3). */
  bitfield: Uint8Array<ArrayBuffer>;
}

/**
 * @internal The files of a report by their indexes in the torrent: undefined for those that the option `files` has left out. Null for the
 * report of another torrent.
 */
export function reportedFiles(
  files: readonly { path: string; length: number }[],
  report: Pick<VerifyReport, 'files'>,
): (VerifiedFile | undefined)[] | null {
  let next = 0;
  const reported = files.map(({ path, length }) => {
    const file = report.files[next];
    if (file?.path !== path || file.length !== length) return undefined;
    next += 1;
    return file;
  });
  return next === report.files.length ? reported : null;
}

/** @internal Which pieces are good. */
export interface PieceResults {
  /** A byte for each piece: 1 for good. */
  good: Uint8Array;
  /** How much was hashed; null for all that is on disk. */
  sample: { pieces: number; bytes: number } | null;
  /** A byte for each piece: 1 for one of which some bytes are proven to be wrong, although not all could be checked. Null for none. */
  refuted?: Uint8Array | null;
  /** See {@link VerifyReport}. */
  cachedBytes?: number | undefined;
}

/** @internal Makes the report of a verification. */
export function reportOf(
  matched: MatchedFiles,
  map: PieceLayout,
  { good, sample, refuted = null, cachedBytes }: PieceResults,
): VerifyReport {
  const goodBytes = bytesIn(good, matched, map);
  const { selected } = matched;
  const { lengths } = matched.content;
  const states = statesOf(matched, map, { good, refuted });
  const unchecked = selected && bytesIn(states, matched, map);
  const isSelected = (i: number) => selected?.[i] !== 0;
  const isFine = (bytes: number, i: number) =>
    !isSelected(i) || (bytes + (unchecked?.[i] ?? 0) === lengths[i] && matched.hasRightSize(i));
  const report = {
    ok: goodBytes.every(isFine),
    files: [],
    badPieces: rangesOf(states, BAD),
    unreadPieces: rangesOf(states, UNREAD),
    uncheckedPieces: rangesOf(states, UNCHECKED),
    extraFiles: matched.extraFiles,
    goodBytes: sumOf(goodBytes),
    totalSize: sumOf(lengths.filter((_, i) => isSelected(i))),
    sampledPieces: sample?.pieces ?? null,
    sampledBytes: sample?.bytes ?? null,
    ...(cachedBytes !== undefined && { cachedBytes }),
    bitfield: bitfieldOf(good),
  };
  const rowAt = (i: number) => verifiedFile(matched, i, goodBytes[i] as number, unchecked?.[i]);
  const rows = () => [...goodBytes.keys()].filter(isSelected).map(rowAt);
  return selected ? { ...report, files: rows() } : withFiles(report, matched, rows);
}

/** The state of a piece. */
const [OTHER, UNCHECKED, BAD, UNREAD] = [0, 1, 2, 3];
/** Bits of a piece: bytes of selected files and padding, of others, and of selected files that lack them or cannot be read. */
const SELECTED = 1;
const OTHERS = 2;
const LACKING = 4;
const UNREADABLE = 8;

/** The state of each piece: {@link OTHER} where it is good, or holds no byte of a selected file. */
function statesOf(
  matched: MatchedFiles,
  { pieceLength, starts, lengths, fileIndexes }: PieceLayout,
  { good, refuted }: Pick<PieceResults, 'good' | 'refuted'>,
): Uint8Array {
  const marks = new Uint8Array(good.length);
  if (!good.includes(0)) return marks;
  const { available, selected } = matched;
  const mark = (bit: number, from: number, end: number) => {
    for (let i = Math.floor(from / pieceLength); i * pieceLength < end; i += 1) marks[i] = (marks[i] as number) | bit;
  };
  for (let entry = 0; entry < fileIndexes.length; entry += 1) {
    const file = fileIndexes[entry] as number;
    const start = starts[entry] as number;
    const end = start + (lengths[entry] as number);
    const isSelected = file === -1 ? !selected : selected?.[file] !== 0;
    if (isSelected || file !== -1) mark(isSelected ? SELECTED : OTHERS, start, end);
    const there = file === -1 ? end : start + (available[file] as number);
    if (isSelected && there < end) mark(matched.isUnreadable(file) ? UNREADABLE : LACKING, there, end);
  }
  return good.map((isGood, piece) => {
    const bits = marks[piece] as number;
    if (isGood === 1 || !(bits & SELECTED)) return OTHER as number;
    if (bits & UNREADABLE) return UNREAD as number;
    return (bits & (OTHERS | LACKING)) === OTHERS && refuted?.[piece] !== 1 ? (UNCHECKED as number) : (BAD as number);
  });
}

/** Facts of a report whose files are made later. */
interface ReportFacts {
  /** The number of files. */
  files: number;
  /** Whether any file may lie under another name. */
  mayHaveOtherNames: boolean;
}

const facts = new WeakMap<VerifyReport, ReportFacts>();

/** @internal The facts of a report, without making its files. */
export function factsOf(report: VerifyReport): ReportFacts {
  return facts.get(report) ?? { files: report.files.length, mayHaveOtherNames: true };
}

/** Node's console looks for a method of this name. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');
/** Below this number, the files of a report are made at once. */
const MANY_FILES = 1024;

/** A report whose files are made when they are first accessed, if they are many: most callers read no more than `ok`. */
function withFiles(report: VerifyReport, matched: MatchedFiles, files: () => VerifiedFile[]): VerifyReport {
  // Pages show them all.
  if (matched.length < MANY_FILES || !inNode()) return { ...report, files: files() };
  const set = (value: VerifiedFile[]) =>
    Object.defineProperty(report, 'files', { value, writable: true, enumerable: true }).files;
  facts.set(report, { files: matched.length, mayHaveOtherNames: matched.hasOthers });
  Object.defineProperty(report, 'files', { get: () => set(files()), set });
  // console.log must show them.
  const shown = () => ({ ...report });
  return Object.defineProperty(report, INSPECT, { value: shown });
}

/** For each file, its bytes in the pieces that are marked with 1: of other files with the option `files`, none are. */
function bytesIn(marks: Uint8Array, { length, selected }: MatchedFiles, map: PieceLayout): Float64Array {
  const { pieceLength, starts, lengths, fileIndexes } = map;
  const found = new Float64Array(length);
  for (let entry = 0; entry < fileIndexes.length; entry += 1) {
    const file = fileIndexes[entry] as number;
    if (file === -1 || selected?.[file] === 0) continue;
    const start = starts[entry] as number;
    const end = start + (lengths[entry] as number);
    for (let piece = Math.floor(start / pieceLength); piece * pieceLength < end; piece += 1) {
      if (marks[piece] !== 1) continue;
      const bytes = Math.min(end, (piece + 1) * pieceLength) - Math.max(start, piece * pieceLength);
      found[file] = (found[file] as number) + bytes;
    }
  }
  return found;
}

function verifiedFile(matched: MatchedFiles, index: number, goodBytes: number, unchecked = 0): VerifiedFile {
  const [path, length] = [matched.content.pathAt(index), matched.content.lengths[index] as number];
  const file = { path, length, goodBytes, ...(unchecked > 0 && { uncheckedBytes: unchecked }) };
  const statusOf = (hasRightSize: boolean): FileStatus => {
    if (!hasRightSize) return 'wrong-size';
    if (goodBytes + unchecked !== length) return 'partial';
    return length > 0 && unchecked === length ? 'unchecked' : 'complete';
  };
  const listed = matched.listedMtimeAt(index);
  if (listed !== undefined) {
    return { ...file, status: statusOf(matched.hasRightSize(index)), ...timeOf(listed) };
  }
  const onDisk = matched.onDiskAt(index);
  if (!onDisk) return { ...file, status: 'missing' };
  if ('problem' in onDisk) return { ...file, status: 'unreadable', problem: onDisk.problem };
  const { size, diskPath, mtimeMs, foundAs } = onDisk;
  const named = { ...file, status: statusOf(size === length), ...(foundAs !== undefined && { foundAs }) };
  // The path of a symbolic link of the torrent is empty, because nothing is read there.
  return { ...named, ...(diskPath !== '' && timeOf(mtimeMs)) };
}

/** Most sources have no time. */
function timeOf(mtimeMs: number): { mtimeMs?: number } {
  return Number.isNaN(mtimeMs) ? {} : { mtimeMs };
}

/** The ranges of pieces that have this mark. */
function rangesOf(marks: Uint8Array, mark: number | undefined): [number, number][] {
  const ranges: [number, number][] = [];
  for (let piece = 0; piece < marks.length; piece += 1) {
    if (marks[piece] !== mark) continue;
    const range = ranges.at(-1);
    if (range && range[1] === piece - 1) range[1] = piece;
    else ranges.push([piece, piece]);
  }
  return ranges;
}

/** @internal One bit per piece, the highest bit first. */
export function bitfieldOf(good: Uint8Array): Uint8Array<ArrayBuffer> {
  const bits = new Uint8Array(Math.ceil(good.length / 8));
  for (let piece = 0; piece < good.length; piece += 1)
    if (good[piece] === 1) bits[piece >> 3] = (bits[piece >> 3] as number) | (0x80 >> (piece & 7));
  return bits;
}
