/** The report of a verification: the state of every file, and which pieces are good. */
import { sumOf } from '../layout/file-table.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import type { MatchedFiles } from './matched-files.ts';
import type { PieceLayout } from './piece-layout.ts';

/**
 * The state of a file. `complete`: every piece is good. `partial`: the size is right, but some pieces are not good.
 * `missing`: nothing has its path. `wrong-size`: it is shorter or longer. `unreadable`: it exists but cannot be read.
 */
export type FileStatus = 'complete' | 'partial' | 'missing' | 'wrong-size' | 'unreadable';

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
  /** Modification time in milliseconds since 1970, before the file was hashed. Absent if there is no file that can be read. */
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
  /** Whether every file is `complete`. Extra files do not count. */
  ok: boolean;
  /** The files in the torrent's order, without pad files. */
  files: VerifiedFile[];
  /**
   * Ranges of pieces that are wrong or not entirely on disk: the first and the last of each. v2: pieces are numbered through
   * all files in order.
   */
  badPieces: [first: number, last: number][];
  /** Files in the folder that the torrent does not have: sorted paths relative to the folder, with `/`. */
  extraFiles: string[];
  /** Bytes of content in good pieces. */
  goodBytes: number;
  /** Bytes of content, without pad files. */
  totalSize: number;
  /** How many pieces `fast` hashed; null when all were. */
  sampledPieces: number | null;
  /** How many bytes of content `fast` hashed; null when all were. All others on disk are assumed to be good. */
  sampledBytes: number | null;
  /** One bit per piece, 1 for good. Piece 0 is the highest bit of the first byte, as in the peer protocol (BEP 3). */
  bitfield: Uint8Array<ArrayBuffer>;
}

/** Which pieces are good. */
export interface PieceResults {
  /** A byte for each piece: 1 for good. */
  good: Uint8Array;
  /** How much was hashed; null for all that is on disk. */
  sample: { pieces: number; bytes: number } | null;
}

/** Makes the report of a verification. */
export function reportOf(
  torrent: Torrent,
  matched: MatchedFiles,
  map: PieceLayout,
  { good, sample }: PieceResults,
): VerifyReport {
  const goodBytes = goodBytesOf(matched, map, good);
  const { lengths } = matched.content;
  const isComplete = (bytes: number, i: number) => bytes === lengths[i] && matched.hasRightSize(i);
  const report = {
    ok: goodBytes.every(isComplete),
    files: [],
    badPieces: badRanges(good),
    extraFiles: matched.extraFiles,
    goodBytes: sumOf(goodBytes),
    totalSize: torrent.totalSize,
    sampledPieces: sample?.pieces ?? null,
    sampledBytes: sample?.bytes ?? null,
    bitfield: bitfieldOf(good),
  };
  return withFiles(report, matched, () => Array.from(goodBytes, (bytes, i) => verifiedFile(matched, i, bytes)));
}

/** Facts of a report whose files are made later. */
interface ReportFacts {
  /** The number of files. */
  files: number;
  /** Whether any file may lie under another name. */
  mayHaveOtherNames: boolean;
}

const facts = new WeakMap<VerifyReport, ReportFacts>();

/** The facts of a report, without making its files. */
export function factsOf(report: VerifyReport): ReportFacts {
  return facts.get(report) ?? { files: report.files.length, mayHaveOtherNames: true };
}

/** Node's console looks for a method of this name. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');
/** Below this number, the files of a report are made at once. */
const MANY_FILES = 1024;

/** A report whose files are made when they are first accessed, if they are many: most callers read no more than `ok`. */
function withFiles(report: VerifyReport, matched: MatchedFiles, files: () => VerifiedFile[]): VerifyReport {
  if (matched.length < MANY_FILES) return { ...report, files: files() };
  const set = (value: VerifiedFile[]) =>
    Object.defineProperty(report, 'files', { value, writable: true, enumerable: true }).files;
  facts.set(report, { files: matched.length, mayHaveOtherNames: matched.hasOthers });
  Object.defineProperty(report, 'files', { get: () => set(files()), set });
  // console.log must show them.
  const shown = () => ({ ...report });
  return Object.defineProperty(report, INSPECT, { value: shown });
}

/** For each file, its bytes in good pieces. */
function goodBytesOf({ length }: MatchedFiles, map: PieceLayout, good: Uint8Array): Float64Array {
  const { pieceLength, starts, lengths, fileIndexes } = map;
  const goodBytes = new Float64Array(length);
  for (let entry = 0; entry < fileIndexes.length; entry += 1) {
    const file = fileIndexes[entry] as number;
    if (file === -1) continue;
    const start = starts[entry] as number;
    const end = start + (lengths[entry] as number);
    for (let piece = Math.floor(start / pieceLength); piece * pieceLength < end; piece += 1) {
      if (good[piece] !== 1) continue;
      const bytes = Math.min(end, (piece + 1) * pieceLength) - Math.max(start, piece * pieceLength);
      goodBytes[file] = (goodBytes[file] as number) + bytes;
    }
  }
  return goodBytes;
}

function verifiedFile(matched: MatchedFiles, index: number, goodBytes: number): VerifiedFile {
  const [path, length] = [matched.content.pathAt(index), matched.content.lengths[index] as number];
  const listed = matched.listedMtimeAt(index);
  if (listed !== undefined) {
    const status = !matched.hasRightSize(index) ? 'wrong-size' : goodBytes === length ? 'complete' : 'partial';
    return { path, length, goodBytes, status, mtimeMs: listed };
  }
  const onDisk = matched.onDiskAt(index);
  const file = { path, length, goodBytes };
  if (!onDisk) return { ...file, status: 'missing' };
  if ('problem' in onDisk) return { ...file, status: 'unreadable', problem: onDisk.problem };
  const { size, diskPath, mtimeMs, foundAs } = onDisk;
  const status = size !== length ? 'wrong-size' : goodBytes === length ? 'complete' : 'partial';
  // The path of a symbolic link of the torrent is empty, because nothing is read there.
  return { ...file, status, ...(foundAs !== undefined && { foundAs }), ...(diskPath !== '' && { mtimeMs }) };
}

function badRanges(good: Uint8Array): [number, number][] {
  const ranges: [number, number][] = [];
  for (let piece = 0; piece < good.length; piece += 1) {
    if (good[piece] === 1) continue;
    const range = ranges.at(-1);
    if (range && range[1] === piece - 1) range[1] = piece;
    else ranges.push([piece, piece]);
  }
  return ranges;
}

/** One bit per piece, the highest bit first. */
export function bitfieldOf(good: Uint8Array): Uint8Array<ArrayBuffer> {
  const bits = new Uint8Array(Math.ceil(good.length / 8));
  for (let piece = 0; piece < good.length; piece += 1)
    if (good[piece] === 1) bits[piece >> 3] = (bits[piece >> 3] as number) | (0x80 >> (piece & 7));
  return bits;
}
