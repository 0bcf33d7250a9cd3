/** The rule of hybrids: v1 and v2 must describe the same files (BEP 52), compared by the BEP or as libtorrent compares them. */
import { shown } from '../../errors/errors.ts';
import { firstMispadded, firstUnaligned, isNamedLikePad } from '../../layout/padding.ts';
import { type FileItem, v1Files } from '../file-item.ts';
import type { FlatFile } from '../lazy/flat-tree.ts';
import type { Subject } from './subject.ts';

/**
 * Both descriptions must have the same files with the same sizes in the same order, and v1 a pad file where v2 has the rest of a
 * piece. The order of empty files among the others matters only in strict and, as in libtorrent, in compat.
 */
export function v1V2FilesMatch(subject: Subject): void {
  const { version, info, flat, issues } = subject;
  // libtorrent also compares a file list that a v2 info dictionary should not have.
  const compared = version === 'hybrid' || (version === 'v2' && issues.compat);
  const list = v1Files(info);
  if (!compared || !list || !flat) return;
  if (!info.files && flat.length === 1) matchSingle(subject, flat[0] as FlatFile);
  else if (issues.compat && (info.pieceLength ?? 0) > 0) matchAsLibtorrent(subject, list, flat);
  else if (matchContent(subject, list, flat)) matchPadding(subject) && matchEmpty(subject, list, flat);
}

/** The name is in both descriptions, and in v1 a second time as `name.utf-8` of old creators. */
function matchSingle({ info, issues }: Subject, file: FlatFile): void {
  const { length, name, nameUtf8 } = info;
  const names = issues.compat ? [nameUtf8 ?? name] : [name, nameUtf8];
  const got = file.path[0];
  const other = names.find((v1Name) => v1Name != null && v1Name !== got);
  if (other != null) {
    issues.add('name_mismatch', ['info', 'file tree'], `expected ${shown(other)} in the file tree, got ${shown(got)}`);
  } else if (file.path.length > 1 || issues.covers(['info', 'file tree'], 'tree')) {
    // A folder without files also makes the tree a folder: compat has warned of it.
    const message = 'expected one file and nothing else in the file tree, got more';
    issues.add('v1_v2_files_match', ['info', 'length'], message);
    return;
  }
  if (file.length === length) return;
  issues.add('v1_v2_files_match', ['info', 'length'], `expected ${file.length} bytes (as in v2), got ${length}`);
}

function matchContent({ info, isPad, issues }: Subject, list: readonly FileItem[], flat: readonly FlatFile[]): boolean {
  const ordered = (file: { length: number }) => issues.rules.isExact || file.length > 0;
  const v1 = list.filter((file) => !isPad(file) && ordered(file));
  const v2 = flat.filter(ordered);
  const different = v1.findIndex((file, i) => !v2[i] || !isSame(file, v2[i]));
  const index = different >= 0 || v1.length === v2.length ? different : v1.length;
  if (index < 0) return true;
  const message = `expected ${describe(v2[index])} as file ${index} (as in v2), got ${describe(v1[index])}`;
  issues.add('v1_v2_files_match', ['info', info.files ? 'files' : 'length'], message);
  return false;
}

/** Another rule reports a file that starts within a piece. */
function matchPadding({ info, issues }: Subject): boolean {
  const { files, pieceLength } = info;
  if (!files || !(pieceLength && pieceLength > 0) || firstUnaligned(files, pieceLength) >= 0) return true;
  const index = firstMispadded(files, pieceLength);
  if (index < 0) return true;
  const message = `expected pad files that end where the next piece starts, got one of ${files[index]?.length} bytes as entry ${index}`;
  issues.add('v1_v2_files_match', ['info', 'files'], message);
  return false;
}

function matchEmpty({ info, isPad, issues }: Subject, list: readonly FileItem[], flat: readonly FlatFile[]): void {
  const empty = (files: readonly { length: number; path: readonly string[] }[]) =>
    new Set(files.filter((file) => file.length === 0).map((file) => file.path.join('/')));
  const [v1, v2] = [empty(list.filter((file) => !isPad(file))), empty(flat)];
  const odd = [...v1].find((path) => !v2.has(path)) ?? [...v2].find((path) => !v1.has(path));
  if (odd === undefined) return;
  const message = `expected the same empty files in v1 and v2, got ${shown(odd)} in only one`;
  issues.add('v1_v2_files_match', ['info', info.files ? 'files' : 'length'], message);
}

/** An entry as libtorrent compares it. */
interface Entry {
  length: number;
  isPad: boolean;
  /** Null for pad files and empty files. */
  path: readonly string[] | null;
}

/**
 * libtorrent adds a pad file after each file of the tree that ends within a piece, drops the last one where v1 has one entry
 * less, and compares entry by entry: the sizes and paths of files with content, and the offsets at which they start.
 */
function matchAsLibtorrent(
  { info, isPad, issues }: Subject,
  list: readonly FileItem[],
  flat: readonly FlatFile[],
): void {
  const { name, nameUtf8, pieceLength } = info;
  if (!(pieceLength && pieceLength > 0)) return;
  const v1 = list.map((file): Entry => {
    const path = info.files ? (file.pathUtf8 ?? file.path) : [nameUtf8 ?? name ?? ''];
    const padding = isPad(file) || isNamedLikePad(path);
    return { length: file.length, isPad: padding, path: padding || file.length === 0 ? null : path };
  });
  const v2 = flat.flatMap(({ length, path }): Entry[] => {
    const missing = (pieceLength - (length % pieceLength)) % pieceLength;
    const file = { length, isPad: false, path: length === 0 ? null : path };
    return missing > 0 ? [file, { length: missing, isPad: true, path: null }] : [file];
  });
  if (v2.length === v1.length + 1) {
    const last = v2.findLastIndex((entry) => entry.length > 0);
    if (v2[last]?.isPad) v2.splice(last, 1);
  }
  const index = firstDifferent(v1, v2);
  if (index < 0) return;
  const describeEntry = (entry: Entry | undefined) =>
    entry?.path ? describe({ ...entry, path: entry.path }) : entry ? `${entry.length} bytes of padding` : 'nothing';
  const message = `expected ${describeEntry(v2[index])} as entry ${index} (as in v2), got ${describeEntry(v1[index])}`;
  issues.add('v1_v2_files_match', ['info', info.files ? 'files' : 'length'], message);
}

function firstDifferent(v1: readonly Entry[], v2: readonly Entry[]): number {
  let [start, expected] = [0, 0];
  for (const [index, entry] of v1.entries()) {
    const other = v2[index];
    if (!other || (entry.path === null) !== (other.path === null)) return index;
    const same = entry.path === null || (entry.length === other.length && isSamePath(entry.path, other.path ?? []));
    if (!same || (entry.path !== null && start !== expected)) return index;
    start += entry.length;
    expected += other.length;
  }
  if (v2.length > v1.length) return v1.length;
  return start === expected ? -1 : v1.length - 1;
}

function describe(file: { path: readonly string[]; length: number } | undefined): string {
  return file ? `${shown(file.path.join('/'))} of ${file.length} bytes` : 'nothing';
}

function isSame(v1: FileItem, v2: FlatFile): boolean {
  const { length, path, pathUtf8 } = v1;
  return length === v2.length && isSamePath(path, v2.path) && (!pathUtf8 || isSamePath(pathUtf8, v2.path));
}

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
