/** Finds names in a torrent that some systems cannot store, or that clients change. */
import { optionText, shown } from '../../errors/errors.ts';
import { type FileTable, pathsAt, type TableFile } from '../../layout/file-table.ts';
import { libtorrentName } from '../../layout/libtorrent-names.ts';
import { nameKey, windowsProblem } from '../../layout/safe-path.ts';
import { inNode, nextRound, utf8Length } from '../../platform/node.ts';
import { orderFiles } from '../order-files.ts';
import { type Finding, listed, MAX_LISTED, warning } from './findings.ts';

/** Windows programs support paths of so many UTF-16 units by default (MAX_PATH). */
const MAX_PATH_UNITS = 260;
/** The bytes of UTF-8 that common file systems store in one name. */
const MAX_NAME_BYTES = 255;
/** Files that are checked before the event loop runs again: it takes a few milliseconds. */
const FILES_PER_SLICE = 2048;

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
  const found = new NameFindings();
  found.checkName([torrentName], 0);
  if (isSingleFile) {
    found.checkLength([torrentName], torrentName.length);
    return found.finish();
  }
  // In this order, all files of a folder stand together.
  const { paths } = (await orderFiles(files, 'v2')).columns;
  /** The names in each folder of the last path, by key. */
  const siblings: Map<string, string>[] = [];
  let before: readonly string[] = [];
  let slice: string[][] = [];
  for (let file = 0; file < paths.ends.length; file += 1) {
    if (file % FILES_PER_SLICE === 0) {
      await nextRound();
      slice = pathsAt(paths, file, file + FILES_PER_SLICE);
    }
    const path = slice[file % FILES_PER_SLICE] as string[];
    let depth = 0;
    while (depth < path.length && path[depth] === before[depth]) depth += 1;
    if (siblings.length > depth + 1) siblings.length = depth + 1;
    let units = torrentName.length + path.length;
    for (const name of path) units += name.length;
    found.checkLength(path, units);
    for (; depth < path.length; depth += 1) {
      const name = path[depth] as string;
      found.checkName(path, depth);
      siblings[depth] ??= new Map();
      const names = siblings[depth] as Map<string, string>;
      const key = nameKey(name);
      const other = names.get(key);
      if (other === undefined) names.set(key, name);
      // Two files with one path are an error of its own.
      else if (other !== name) found.addSimilar(path, depth, other);
    }
    before = path;
  }
  return found.finish();
}

/** The findings about a new name of a torrent. */
export function findingsOfName(name: string): Finding[] {
  const found = new NameFindings();
  found.checkName([name], 0);
  return found.finish().map((finding) => ({ ...finding, advice: 'Choose another name.', option: undefined }));
}

/** The codes of {@link nameFindings}, what they count, and what to do about them. */
const CODES = {
  client_name: ['names that libtorrent changes', 'Rename it, or clients that use libtorrent cannot seed the files.'],
  windows_name: ['names that Windows cannot store', 'Rename it, or leave it out.'],
  similar_names: ['names that are like another', 'Rename one of them, or leave it out.'],
  long_path: ['long paths', 'Shorten the names of its folders, or leave it out.'],
  long_name: ['long names', 'Rename it, or leave it out.'],
  unicode_form: ['decomposed names', `Write composed names in the torrent with ${optionText('normalize', 'nfc')}.`],
} as const;
const NFC = { normalize: 'nfc' } as const;

/** Collects findings: a bounded number of each code. */
class NameFindings {
  readonly #findings: Partial<Record<keyof typeof CODES, { first: Finding[]; count: number }>> = {};

  /**
   * @param depth The last component of the path that the finding is about.
   * @param message Called with the path as it is shown, if the finding is listed.
   */
  #add(code: keyof typeof CODES, all: readonly string[], depth: number, message: (shown: string) => string): void {
    this.#findings[code] ??= { first: [], count: 0 };
    const found = this.#findings[code];
    found.count += 1;
    if (found.count > MAX_LISTED) return;
    const path = all.slice(0, depth + 1).join('/');
    const [, advice] = CODES[code];
    const finding = warning(code, path, message(shownPath(path)), { advice, option: { exclude: true } });
    found.first.push(code === 'unicode_form' ? { ...finding, severity: 'hint', option: NFC } : finding);
  }

  /** Checks one name of a path by itself. */
  checkName(all: readonly string[], depth: number): void {
    const name = all[depth] as string;
    const problem = windowsProblem(name);
    const isShort = name.length <= MAX_NAME_BYTES / 4;
    if (!problem && isShort && /^[ -~]*$/.test(name)) return;
    const bytes = isShort ? 0 : utf8Length(name);
    const changed = libtorrentName(name);
    if (changed !== name)
      this.#add('client_name', all, depth, (is) =>
        changed || !inNode()
          ? `libtorrent (qBittorrent, Deluge) looks for ${shown(changed)} in place of ${is}, and does not find it.`
          : `${is} has only text direction marks, which libtorrent removes.`,
      );
    const form = 'is decomposed, as macOS writes names: other systems have another name.';
    if (name !== name.normalize('NFC')) this.#add('unicode_form', all, depth, (is) => `${is} ${form}`);
    if (problem) this.#add('windows_name', all, depth, (is) => `Windows cannot store ${is}: the name ${problem}.`);
    if (bytes <= MAX_NAME_BYTES) return;
    const limit = `most file systems store at most ${MAX_NAME_BYTES}`;
    this.#add('long_name', all, depth, (is) => `The name of ${is} has ${bytes} bytes: ${limit}.`);
  }

  /** @param units UTF-16 units of the path with the name of the torrent. */
  checkLength(path: readonly string[], units: number): void {
    if (units <= MAX_PATH_UNITS) return;
    const size = `${units} characters: Windows programs support ${MAX_PATH_UNITS} by default`;
    this.#add('long_path', path, path.length - 1, (is) => `${is} and the folder of the torrent have ${size}.`);
  }

  /** Adds two names in one folder that some systems take for one. */
  addSimilar(path: readonly string[], depth: number, before: string): void {
    this.#add('similar_names', path, depth, (is) => {
      const other = shownPath([...path.slice(0, depth), before].join('/'));
      return `${other} and ${is} differ only in ${difference(before, path[depth] as string)}: some systems store only one of them.`;
    });
  }

  finish(): Finding[] {
    return Object.entries(CODES).flatMap(([code, [what]]) => {
      const { first, count } = this.#findings[code as keyof typeof CODES] ?? { first: [], count: 0 };
      return listed(first, count, what);
    });
  }
}

function difference(a: string, b: string): string {
  if (a.normalize('NFC') === b.normalize('NFC')) return 'Unicode normalization';
  return a.toLowerCase() === b.toLowerCase() ? 'letter case' : 'letter case or Unicode normalization';
}

/** Shows the end of a long path: its name. */
function shownPath(path: string): string {
  return shown(path.length > 70 ? `...${path.slice(-60)}` : path);
}
