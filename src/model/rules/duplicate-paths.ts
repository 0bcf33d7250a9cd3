/** The rules of paths: no two files may have the same one. */
import { shown } from '../../errors/errors.ts';
import type { FileItem } from '../file-item.ts';
import type { FlatFile } from '../lazy/flat-tree.ts';
import type { Subject } from './subject.ts';

/** Folders looked at above each file, more than any file system has: a path may have a million components. */
const MAX_FOLDERS_PER_FILE = 256;
/** Characters of folder paths looked at in all: each of many files may lie in many folders of its own. */
const MAX_FOLDER_CHARS = 2 ** 25;

/**
 * No two files of a v1 list may have the same path, and no path may lead through a file. The same holds for the paths that
 * readers show instead (`path.utf-8`). Pad files may share a path. A v2 tree cannot express either.
 */
export function duplicatePaths({ version, info, isPad, issues }: Subject): void {
  if (version === 'v2' || !info.files) return;
  const files = info.files;
  const found = new Map<number, 'path' | 'path.utf-8'>();
  const find = (key: 'path' | 'path.utf-8', pathOf: PathOf) => {
    for (const index of takenPaths(files, isPad, pathOf)) if (!found.has(index)) found.set(index, key);
  };
  find('path', ({ path }) => path);
  if (files.some(({ pathUtf8 }) => pathUtf8)) find('path.utf-8', ({ path, pathUtf8 }) => pathUtf8 ?? path);
  if (issues.rules.isExact)
    for (const index of padsOverContent(files, isPad)) {
      const message = () =>
        `expected a pad file, got the path of content: ${shown((files[index] as FileItem).path.join('/'))}`;
      issues.add('duplicate_path', ['info', 'files', index, 'path'], message);
    }
  for (const [index, wanted] of found) {
    const { path, pathUtf8 } = files[index] as FileItem;
    const key = pathUtf8 ? wanted : 'path';
    const taken = key === 'path' ? path : (pathUtf8 as string[]);
    const message = () => `expected different paths, got ${shown(taken.join('/'))}, which is already taken`;
    issues.forgivable('duplicate_path', ['info', 'files', index, key], message);
  }
}

type PathOf = (file: FileItem) => readonly string[];

/** The pad files whose path is that of content, or whose folder is: clients without pad files overwrite it. */
function padsOverContent(files: readonly FileItem[], isPad: Subject['isPad']): number[] {
  const folders = new Set(files.flatMap((file) => (isPad(file) ? (file.path[0] ?? []) : [])));
  const content = files.filter((file) => !isPad(file) && folders.has(file.path[0] as string));
  const taken = new Set(content.map(({ path }) => path.join('/')));
  if (taken.size === 0) return [];
  const isTaken = ({ path }: FileItem) => taken.has(path[0] as string) || taken.has(path.join('/'));
  return files.flatMap((file, i) => (isPad(file) && isTaken(file) ? [i] : []));
}

/** Yields the index of each file whose path is that of a file or folder before it, or leads through a file. */
function* takenPaths(files: readonly FileItem[], isPad: Subject['isPad'], pathOf: PathOf): Generator<number> {
  if (areInOrder(files, isPad, pathOf)) return;
  const paths = new Set<string>();
  const folders = new Set<string>();
  const budget = { chars: MAX_FOLDER_CHARS };
  for (const [index, file] of files.entries()) {
    if (isPad(file)) continue;
    const path = pathOf(file).join('/');
    const before = paths.size;
    let isTaken = paths.add(path).size === before || folders.has(path);
    for (const folder of foldersOf(path, budget)) {
      isTaken ||= paths.has(folder);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    if (isTaken) yield index;
  }
}

/** New names that libtorrent tries in all before it refuses a torrent. */
const LIBTORRENT_MAX_TRIES = 500;

/**
 * libtorrent renames a file whose path equals that of another file or folder, ignoring case: to `a.1.txt`, or to the next free
 * number. It refuses a torrent that needs too many renames.
 */
export function libtorrentRenames({ version, info, isPad, flat, issues }: Subject): void {
  if (!issues.compat) return;
  const files = version === 'v1' ? (info.files ?? []).filter((file) => !isPad(file)) : (flat ?? []);
  const paths = files.map((file: FlatFile | FileItem) =>
    lowerCase('pathUtf8' in file && file.pathUtf8 ? file.pathUtf8 : file.path),
  );
  const taken = new Set<string>();
  const budget = { chars: MAX_FOLDER_CHARS };
  for (const path of paths) {
    for (const folder of foldersOf(path, budget)) {
      if (taken.has(folder)) break;
      taken.add(folder);
    }
  }
  let tries = 0;
  for (const path of paths) {
    const dot = path.lastIndexOf('.') > path.lastIndexOf('/') ? path.lastIndexOf('.') : path.length;
    let free = path;
    for (let n = 1; taken.has(free); n += 1) {
      free = `${path.slice(0, dot)}.${n}${path.slice(dot)}`;
      if (taken.has(free)) tries += 1;
      if (tries <= LIBTORRENT_MAX_TRIES) continue;
      const message = `expected different paths, got so many equal ones that libtorrent gives up after ${LIBTORRENT_MAX_TRIES} new names`;
      issues.add('duplicate_path', ['info', version === 'v1' ? 'files' : 'file tree'], message);
      return;
    }
    taken.add(free);
  }
}

/** Lower case as libtorrent has it: of ASCII letters only. */
function lowerCase(path: readonly string[]): string {
  return path.join('/').replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The folders above a file, the deepest first, within the bounds above. */
function* foldersOf(path: string, budget: { chars: number }): Generator<string> {
  let depth = 0;
  for (let end = path.lastIndexOf('/'); end > 0 && depth < MAX_FOLDERS_PER_FILE; end = path.lastIndexOf('/', end - 1)) {
    depth += 1;
    budget.chars -= end;
    if (budget.chars < 0) return;
    yield path.slice(0, end);
  }
}

/**
 * Whether each path sorts after the one before it, by components, and does not begin with it. Then all paths differ and none
 * leads through a file, because a path that begins with another would follow it directly.
 */
function areInOrder(files: readonly FileItem[], isPad: Subject['isPad'], pathOf: PathOf): boolean {
  let last: readonly string[] = [];
  for (const file of files) {
    if (isPad(file)) continue;
    const path = pathOf(file);
    let i = 0;
    while (i < last.length && last[i] === path[i]) i += 1;
    const [before, after] = [last[i], path[i]];
    if (last.length > 0 && (before === undefined || after === undefined || before > after)) return false;
    // A component with a slash stands for two components, which breaks the comparison.
    for (; i < path.length; i += 1) if (path[i]?.includes('/')) return false;
    last = path;
  }
  return true;
}
