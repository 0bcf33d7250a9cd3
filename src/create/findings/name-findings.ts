/** Finds names in a torrent that some systems cannot store. A million files take no object each. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { shown } from '../../errors/errors.ts';
import type { FileTable, PathColumn, TableFile } from '../../layout/file-table.ts';
import { windowsProblem } from '../../layout/windows-names.ts';
import { orderFiles } from '../order-files.ts';
import type { Finding } from './findings.ts';
import { MAX_NAME_BYTES, MAX_PATH_UNITS, type NameReports, NameScan } from './name-scan.ts';

/** Bytes of paths that are checked before the event loop runs again: it takes a few milliseconds. */
const BYTES_PER_SLICE = 2 ** 17;

/**
 * The names of a torrent that some systems cannot store: at most 100 findings of each code, and one that counts the rest.
 *
 * @param torrentName The name of the torrent: that of its top folder, or of its only file.
 */
export async function nameFindings<File extends TableFile>(
  files: FileTable<File>,
  torrentName: string,
  isSingleFile: boolean,
): Promise<Finding[]> {
  if (isSingleFile) return ownFindings(torrentName, torrentName.length).finish();
  const found = await foundIn(files.columns.paths, torrentName);
  if (found) return found.finish();
  const ordered = await orderFiles(files, 'v2');
  return (await foundIn(ordered.columns.paths, torrentName))?.finish() ?? [];
}

/** The findings in a column of paths; null if the paths are not in v2 order. */
async function foundIn(paths: PathColumn, torrentName: string): Promise<NameFindings | null> {
  const found = ownFindings(torrentName, 0);
  const scan = new NameScan(paths, torrentName, found);
  const { length } = paths.ends;
  for (let first = 0, end = 0; first < length; first = end) {
    if (first > 0) await nextRound();
    const from = first === 0 ? 0 : (paths.ends[first - 1] as number);
    while (end < length && (paths.ends[end] as number) - from < BYTES_PER_SLICE) end += 1;
    // A path that is longer than a slice is a slice of its own.
    end = Math.max(end, first + 1);
    if (!scan.check(first, end)) return null;
  }
  return found;
}

/** The findings about the name of the torrent itself. */
function ownFindings(name: string, pathUnits: number): NameFindings {
  const found = new NameFindings();
  found.checkName(name, name);
  if (pathUnits > MAX_PATH_UNITS) found.addLongPath(name, pathUnits);
  return found;
}

/** Findings of one code that are listed. */
const MAX_FINDINGS = 100;

/** The codes of {@link nameFindings}, what they count, and what to do about them. */
const CODES = {
  windows_name: ['names that Windows cannot store', 'Rename it, or leave it out.'],
  similar_names: ['names that are like another', 'Rename one of them, or leave it out.'],
  long_path: ['long paths', 'Shorten the names of its folders, or leave it out.'],
  long_name: ['long names', 'Rename it, or leave it out.'],
} as const;

const EXCLUDE = { exclude: true } as const;

/** Collects findings: a bounded number of each code. */
class NameFindings implements NameReports {
  readonly #findings: Record<keyof typeof CODES, Finding[]> = {
    windows_name: [],
    similar_names: [],
    long_path: [],
    long_name: [],
  };
  readonly #counts = { windows_name: 0, similar_names: 0, long_path: 0, long_name: 0 };

  /** @param about The path and the message, which are made only if the finding is listed. */
  add(code: keyof typeof CODES, about: () => [path: string, message: string]): void {
    this.#counts[code] += 1;
    if (this.#counts[code] > MAX_FINDINGS) return;
    const [path, message] = about();
    this.#findings[code].push({ code, severity: 'warning', path, message, advice: CODES[code][1], option: EXCLUDE });
  }

  /** Checks one name by itself. */
  checkName(name: string, path: string): void {
    const problem = windowsProblem(name);
    if (problem)
      this.add('windows_name', () => [path, `Windows cannot store ${shownPath(path)}: the name ${problem}.`]);
    const bytes = Buffer.byteLength(name);
    if (bytes <= MAX_NAME_BYTES) return;
    const limit = `most file systems store at most ${MAX_NAME_BYTES}`;
    this.add('long_name', () => [path, `The name of ${shownPath(path)} has ${bytes} bytes: ${limit}.`]);
  }

  addLongPath(path: string, units: number): void {
    const limit = `Windows programs support ${MAX_PATH_UNITS} by default`;
    this.add('long_path', () => [
      path,
      `${shownPath(path)} and the folder of the torrent have ${units} characters: ${limit}.`,
    ]);
  }

  addSimilar(path: string, before: string, names: readonly [string, string]): void {
    const message = `${shownPath(before)} and ${shownPath(path)} differ only in ${difference(names)}: some systems store only one of them.`;
    this.add('similar_names', () => [path, message]);
  }

  finish(): Finding[] {
    return Object.entries(this.#findings).flatMap(([key, list]) => {
      const code = key as keyof typeof CODES;
      const more = this.#counts[code] - list.length;
      if (more === 0) return list;
      const [what, advice] = CODES[code];
      const message = `${more} more ${what}.`;
      return [...list, { code, severity: 'warning', path: null, message, advice, option: EXCLUDE, count: more }];
    });
  }
}

function difference([a, b]: readonly [string, string]): string {
  if (a.normalize('NFC') === b.normalize('NFC')) return 'Unicode normalization';
  return a.toLowerCase() === b.toLowerCase() ? 'letter case' : 'letter case or Unicode normalization';
}

/** Shows the end of a long path: its name. */
function shownPath(path: string): string {
  return shown(path.length > 70 ? `...${path.slice(-60)}` : path);
}
