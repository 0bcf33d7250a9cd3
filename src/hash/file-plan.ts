/** Makes the files of a hash plan: files on disk, data in memory, and pad files. */
import type { PlanFile } from './addon.ts';

/** A file of known length, on disk (`diskPath`) or in memory (`data`). */
interface PlannedContent {
  length: number | null;
  diskPath?: string | undefined;
  mtimeMs?: number | undefined;
  data?: Uint8Array | undefined;
}

/** The plan file of a scanned file or a buffer. */
export function toPlanFile({ length, diskPath, mtimeMs, data }: PlannedContent): PlanFile {
  const size = length as number;
  return { path: diskPath ?? null, data, offset: 0, length: size, size, mtimeMs: mtimeMs ?? Number.NaN };
}

/** The plan file of a pad file of `length` bytes. */
export function padPlanFile(length: number): PlanFile {
  return { path: null, offset: 0, length, size: length, mtimeMs: Number.NaN };
}

/** The plan file of `length` bytes of a buffer, from `offset`. */
export function memoryPlanFile(data: Uint8Array, offset = 0, length = data.length): PlanFile {
  return { path: null, data, offset, length, size: data.length, mtimeMs: Number.NaN };
}

/** A file that starts at a piece boundary. */
export interface AlignedFile {
  plan: PlanFile;
  /** Whether a pad file fills its last piece. */
  isPadded: boolean;
}

/** The pad file that fills the last piece of a file, as a list: empty if the piece is full. */
export function padAfter(length: number, pieceLength: number): PlanFile[] {
  const missing = (pieceLength - (length % pieceLength)) % pieceLength;
  return missing > 0 ? [padPlanFile(missing)] : [];
}

/** The plan files of aligned files, with the pad files between them. */
export function alignedPlanFiles(files: readonly AlignedFile[], pieceLength: number): PlanFile[] {
  return files.flatMap(({ plan, isPadded }) => [plan, ...(isPadded ? padAfter(plan.length, pieceLength) : [])]);
}

/** Splits plan files after `bytes` bytes. A file on the boundary is in both lists, with its share each. */
export function splitPlanFiles(files: readonly PlanFile[], bytes: number): [PlanFile[], PlanFile[]] {
  const [first, rest]: [PlanFile[], PlanFile[]] = [[], []];
  let left = bytes;
  for (const file of files) {
    const size = Math.min(left, file.length);
    // Keep empty files: an engine checks that they are still there and still empty.
    if (size > 0 || (left > 0 && file.length === 0)) first.push({ ...file, length: size });
    if (size < file.length || (left === 0 && file.length === 0))
      rest.push({ ...file, offset: file.offset + size, length: file.length - size });
    left -= size;
  }
  return [first, rest];
}
