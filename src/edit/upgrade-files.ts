/** The files of a v1 torrent that is upgraded, and the checks that they match it. */
import { LimitError, type Limits, limitsOf } from '../bencode/limits.ts';
import { MetainfoError } from '../errors/errors.ts';
import type { RequestedFile } from '../hash/hash-request.ts';
import { padsIn } from '../layout/padding.ts';
import type { FileItem } from '../model/file-item.ts';
import type { InfoDictV1 } from '../model/info-dict.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import type { DiskFile } from '../verify/inventory.ts';
import type { MatchedFile } from '../verify/torrent-files.ts';

/** A file of the v1 torrent. */
export interface UpgradeFile {
  item: FileItem;
  /** Null for a symbolic link, which has no content. */
  request: RequestedFile | null;
  ctimeMs: number;
  /** Bytes of pad files after it in the v1 torrent. */
  paddingAfter: number;
}

/** How many problems an error message lists. */
const MAX_LISTED = 5;

/** Throws one error for all files that are missing, unreadable or of another size. */
export function requireMatch(files: readonly MatchedFile[]): void {
  const mismatches: string[] = [];
  // One folder that cannot be read is the reason for all files in it.
  const failures = new Set<MetainfoError>();
  for (const { path, length, onDisk } of files) {
    if (!onDisk) mismatches.push(`${path} is missing`);
    else if ('size' in onDisk) {
      if (onDisk.size !== length) mismatches.push(`${path} has ${onDisk.size} bytes, not ${length}`);
    } else if (onDisk.error) failures.add(onDisk.error);
    else mismatches.push(`${path} is ${onDisk.problem}`);
  }
  const [failure] = failures;
  if (failure) {
    const { code, path } = failure;
    const problems = [...Array.from(failures, ({ message }) => message.replace(/\.$/, '')), ...mismatches];
    const message = `Some files cannot be read: ${listed(problems)}.`;
    throw new MetainfoError(code, message, { ...(path !== undefined && { path }), cause: failure });
  }
  if (mismatches.length > 0) throw mismatch(listed(mismatches));
}

/** Throws an error that lists the pieces whose hashes are not those of the torrent. */
export function requireV1Pieces(
  actual: Uint8Array,
  expected: Uint8Array,
  { files, pieceLength }: { files: readonly UpgradeFile[]; pieceLength: number },
): void {
  const wrong: number[] = [];
  for (let offset = 0; offset < expected.length; offset += 20) {
    const isSame = Buffer.compare(actual.subarray(offset, offset + 20), expected.subarray(offset, offset + 20)) === 0;
    if (!isSame) wrong.push(offset / 20);
  }
  const describe = (piece: number) => `piece ${piece} (in ${fileOfPiece(piece, files, pieceLength)}) is wrong`;
  if (wrong.length > 0) throw mismatch(listed(wrong, describe));
}

/** The path of the file that holds the start of a piece. */
function fileOfPiece(piece: number, files: readonly UpgradeFile[], pieceLength: number): string | undefined {
  let end = 0;
  const file = files.find(({ item: { length }, paddingAfter }) => {
    end += length + paddingAfter;
    return piece * pieceLength < end;
  });
  return file?.item.path.join('/');
}

function mismatch(problems: string): MetainfoError {
  return new MetainfoError('ERR_HASH_MISMATCH', `The files do not match the torrent: ${problems}.`);
}

function listed<T>(problems: readonly T[], describe: (problem: T) => string = String): string {
  const more = problems.length > MAX_LISTED ? `, and ${problems.length - MAX_LISTED} more` : '';
  return `${problems.slice(0, MAX_LISTED).map(describe).join('; ')}${more}`;
}

/** The files of the torrent, in its order, as they are on disk. */
export function upgradeFilesOf(torrent: Torrent, matched: readonly MatchedFile[]): UpgradeFile[] {
  const info = torrent.info as InfoDictV1;
  const list = info.files ?? [{ length: info.length as number, path: [torrent.name] }];
  const isPad = padsIn<FileItem>(list, info.pieceLength);
  const files: UpgradeFile[] = [];
  for (const entry of list) {
    if (isPad(entry)) {
      const before = files.at(-1);
      const message = 'A torrent that begins with a pad file cannot be upgraded: create a new torrent.';
      if (!before) throw new MetainfoError('ERR_INVALID_ARGUMENT', message);
      before.paddingAfter += entry.length;
      continue;
    }
    const { pathUtf8, ...item } = entry as FileItem;
    const { onDisk } = matched[files.length] as MatchedFile;
    const { diskPath, size, mtimeMs, ctimeMs } = onDisk as DiskFile;
    const isLink = item.attr?.includes('l') ?? false;
    files.push({
      item: { ...item, path: pathUtf8 ?? item.path },
      request: isLink ? null : { path: diskPath, offset: 0, length: item.length, size, mtimeMs },
      ctimeMs,
      paddingAfter: 0,
    });
  }
  return files;
}

/** Throws when the hybrid would have too much padding: many small files with large pieces take too long to hash. */
export function requirePadding(files: readonly UpgradeFile[], pieceLength: number, limits: Limits | undefined): void {
  const { padding: max } = limitsOf(limits);
  const paddingOf = ({ item: { length } }: UpgradeFile) => (pieceLength - (length % pieceLength)) % pieceLength;
  const padding = files.length > 1 ? files.reduce((sum, file) => sum + paddingOf(file), 0) : 0;
  if (padding > max) throw new LimitError('padding', max);
}
