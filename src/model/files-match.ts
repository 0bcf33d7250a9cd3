/** Whether the v1 and the v2 description of a hybrid torrent name the same files (BEP 52), and what libtorrent makes of it. */
import { shown } from '../errors/errors.ts';
import { BITCOMET_PAD, firstMispadded, firstUnaligned } from '../layout/padding.ts';
import { type FileItem, v1Files } from './file-item.ts';
import type { FlatFile } from './file-tree.ts';
import type { Subject } from './rules.ts';

/**
 * Same files of the same sizes in the same order, and pad files where v2 has the rest of a piece. The order of empty files
 * among the others matters only in strict and, as in libtorrent, in compat.
 */
export function v1_v2_files_match(subject: Subject): void {
  const { version, info, flat, issues } = subject;
  // libtorrent compares what a v2 infodict should not have, too.
  const compared = version === 'hybrid' || (version === 'v2' && issues.compat);
  const list = v1Files(info);
  if (!compared || !list || !flat) return;
  if (!info.files && flat.length === 1) matchSingle(subject, flat[0] as FlatFile);
  else if (issues.compat && (info.pieceLength ?? 0) > 0) matchAsLibtorrent(subject, list, flat);
  else if (matchContent(subject, list, flat)) matchPadding(subject) && matchEmpty(subject, list, flat);
}

/** The name stands in both descriptions, and for old creators twice in the first. */
function matchSingle({ info, issues }: Subject, file: FlatFile): void {
  const { length, name, nameUtf8 } = info;
  const used = issues.compat ? [nameUtf8 ?? name] : [name, nameUtf8];
  const got = file.path[0];
  const other = used.find((one) => one != null && one !== got);
  if (other != null) {
    issues.add('name_mismatch', ['info', 'file tree'], `expected ${shown(other)} in the file tree, got ${shown(got)}`);
  } else if (file.path.length > 1 || issues.covers(['info', 'file tree'], 'tree')) {
    // A folder without files makes the tree that of a folder: compat has warned of it.
    const message = 'expected one file and nothing else in the file tree, got more';
    issues.add('v1_v2_files_match', ['info', 'length'], message);
    return;
  }
  if (file.length === length) return;
  issues.add('v1_v2_files_match', ['info', 'length'], `expected ${file.length} bytes (as in v2), got ${length}`);
}

function matchContent({ info, isPad, issues }: Subject, list: readonly FileItem[], flat: readonly FlatFile[]): boolean {
  const ordered = (file: { length: number }) => issues.profile === 'strict' || file.length > 0;
  const ours = list.filter((file) => !isPad(file) && ordered(file));
  const theirs = flat.filter(ordered);
  const found = ours.findIndex((file, i) => !theirs[i] || !isSame(file, theirs[i]));
  const index = found >= 0 || ours.length === theirs.length ? found : ours.length;
  if (index < 0) return true;
  const message = `expected ${describe(theirs[index])} as file ${index} (as in v2), got ${describe(ours[index])}`;
  issues.add('v1_v2_files_match', ['info', info.files ? 'files' : 'length'], message);
  return false;
}

/** A file that starts within a piece is another rule's to report. */
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
  const empty = (files: readonly { length: number; path: string[] }[]) =>
    new Set(files.filter((file) => file.length === 0).map((file) => file.path.join('/')));
  const [ours, theirs] = [empty(list.filter((file) => !isPad(file))), empty(flat)];
  const odd = [...ours].find((path) => !theirs.has(path)) ?? [...theirs].find((path) => !ours.has(path));
  if (odd === undefined) return;
  const message = `expected the same empty files in v1 and v2, got ${shown(odd)} in one`;
  issues.add('v1_v2_files_match', ['info', info.files ? 'files' : 'length'], message);
}

/** An entry of a list as libtorrent compares it: the path of a file with content; null for pad files and empty ones. */
interface Entry {
  length: number;
  isPad: boolean;
  path: readonly string[] | null;
}

/**
 * libtorrent puts a pad file behind each file of the tree that ends within a piece, takes the last one away where v1 has
 * one entry less, and then compares entry by entry: the sizes and paths of files with content, and where they start.
 */
function matchAsLibtorrent(
  { info, isPad, issues }: Subject,
  list: readonly FileItem[],
  flat: readonly FlatFile[],
): void {
  const { name, nameUtf8, pieceLength } = info;
  if (!(pieceLength && pieceLength > 0)) return;
  const ours = list.map((file): Entry => {
    const path = info.files ? (file.pathUtf8 ?? file.path) : [nameUtf8 ?? name ?? ''];
    const padding = isPad(file) || path.some((part) => part.includes(BITCOMET_PAD));
    return { length: file.length, isPad: padding, path: padding || file.length === 0 ? null : path };
  });
  const theirs = flat.flatMap(({ length, path }): Entry[] => {
    const missing = (pieceLength - (length % pieceLength)) % pieceLength;
    const file = { length, isPad: false, path: length === 0 ? null : path };
    return missing > 0 ? [file, { length: missing, isPad: true, path: null }] : [file];
  });
  if (theirs.length === ours.length + 1) {
    const last = theirs.findLastIndex((entry) => entry.length > 0);
    if (theirs[last]?.isPad) theirs.splice(last, 1);
  }
  const index = firstDifferent(ours, theirs);
  if (index < 0) return;
  const describeEntry = (entry: Entry | undefined) =>
    entry?.path
      ? describe({ ...entry, path: [...entry.path] })
      : entry
        ? `${entry.length} bytes of padding`
        : 'nothing';
  const message = `expected ${describeEntry(theirs[index])} as entry ${index} (as in v2), got ${describeEntry(ours[index])}`;
  issues.add('v1_v2_files_match', ['info', info.files ? 'files' : 'length'], message);
}

function firstDifferent(ours: readonly Entry[], theirs: readonly Entry[]): number {
  let [start, expected] = [0, 0];
  for (const [index, entry] of ours.entries()) {
    const other = theirs[index];
    if (!other || (entry.path === null) !== (other.path === null)) return index;
    const same = entry.path === null || (entry.length === other.length && isSamePath(entry.path, other.path ?? []));
    if (!same || (entry.path !== null && start !== expected)) return index;
    start += entry.length;
    expected += other.length;
  }
  if (theirs.length > ours.length) return ours.length;
  return start === expected ? -1 : ours.length - 1;
}

function describe(file: { path: string[]; length: number } | undefined): string {
  return file ? `${shown(file.path.join('/'))} of ${file.length} bytes` : 'nothing';
}

function isSame(ours: FileItem, theirs: FlatFile): boolean {
  const { length, path, pathUtf8 } = ours;
  return length === theirs.length && isSamePath(path, theirs.path) && (!pathUtf8 || isSamePath(pathUtf8, theirs.path));
}

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
