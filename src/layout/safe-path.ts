/** Unsafe file names: detecting them in torrents that are created or read, and replacing them for files on disk. */
import { MetainfoError, shown } from '../errors/errors.ts';
import { isWindows, utf8Length } from '../platform/node.ts';

/** Characters that no name on Windows may contain, apart from control characters and the two separators. */
export const WINDOWS_CHARACTERS = '<>:"|?*';

const FORBIDDEN = new RegExp(`[\\\\${WINDOWS_CHARACTERS}]`, 'g');

/** Names of devices, also with an extension or trailing spaces. */
const DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d\u00b9\u00b2\u00b3]) *(\.|$)/i;

/** Whether Windows takes a name for that of a device: `con`, `nul.txt`, `LPT1`. */
export function isDeviceName(name: string): boolean {
  return DEVICE_NAME.test(name);
}

/** Matches most names that Windows can store, so that a million names take one test each. */
const PLAIN = new RegExp(
  `^(?!con|prn|aux|nul|com|lpt)[^\\\\\u0001-\u001f${WINDOWS_CHARACTERS}]*[^\\\\\u0001-\u001f${WINDOWS_CHARACTERS}. ]$`,
  'i',
);

/** Why Windows cannot store a name, as the end of a sentence about it; null if it can. */
export function windowsProblem(name: string): string | null {
  if (PLAIN.test(name)) return null;
  const chars = name.match(FORBIDDEN);
  if (chars) return `contains ${[...new Set(chars)].map((char) => `'${char}'`).join(', ')}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
  if (/[\u0001-\u001f]/.test(name)) return 'contains a control character';
  if (isDeviceName(name)) return 'is that of a device';
  if (/[. ]$/.test(name)) return `ends with a ${name.endsWith('.') ? 'dot' : 'space'}`;
  return null;
}

/** Returns why a name cannot be a path component in a torrent; null if it can. */
export function unsafeComponent(name: string): string | null {
  if (name === '') return 'an empty name';
  if (name === '.' || name === '..') return 'a name of dots';
  if (name.includes('/')) return 'a name with a slash';
  if (name.includes('\0')) return 'a name with a NUL';
  // Windows reads a drive letter only in `C:` and `C:\x`.
  if (/^[A-Za-z]:(\\|$)/.test(name)) return 'a name with a drive letter';
  if (name.startsWith('\\')) return 'an absolute name';
  // Windows treats a backslash as a path separator.
  if (/^[.\\]*\\[.\\]*$/.test(name)) return 'a name of dots and backslashes';
  if (name.split('\\').includes('..')) return 'a name with .. before or after a backslash';
  return null;
}

/** @throws {MetainfoError} `ERR_NAME` for a name that no torrent can have */
export function requireTorrentName(name: string): void {
  const problem = unsafeComponent(name) ?? (name.isWellFormed() ? null : 'a name with half a surrogate pair');
  if (problem) throw new MetainfoError('ERR_NAME', `${problem} cannot be the name of a torrent: ${shown(name)}.`);
}

/** An unsafe component somewhere, or a character that needs a look at each component. */
const SUSPICIOUS = /(?:^|\/)\.{0,2}(?:\/|$)|[\\\0:]/;

/** Whether every component of a path with `/` can be a path component in a torrent. */
export function isSafePath(path: unknown): boolean {
  if (typeof path !== 'string') return false;
  return !SUSPICIOUS.test(path) || path.split('/').every((component) => unsafeComponent(component) === null);
}

/** The longest component in bytes: common file systems allow 255, and this leaves room for a number. */
const MAX_BYTES = 240;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;
const SEPARATORS = /[/\\]/g;
/** Bidirectional and zero-width characters and line separators: they can make a name look like another. */
const INVISIBLE = /(?![\ufe00-\ufe0f])[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]/gu;
const FORBIDDEN_ON_WINDOWS = new RegExp(`[${WINDOWS_CHARACTERS}]`, 'g');

/**
 * Turns the paths of an untrusted torrent into paths that are safe to create on disk. No path leaves its folder, no two paths are
 * equal (ignoring letter case), and no file lies on the way to another. The torrent itself does not change.
 *
 * @param windows Whether the names must be valid on Windows too. By default, whether this system is Windows.
 */
export function* safePaths(paths: Iterable<readonly string[]>, windows = isWindows): Generator<string[]> {
  const root = new Folder('');
  // The previous path and its folders: the next path shares most of them.
  let last: readonly string[] = [];
  const folders: Folder[] = [];
  for (const path of paths) {
    const parts = limitDepth(path);
    const depth = Math.max(0, parts.length - 1);
    let shared = 0;
    while (shared < Math.min(depth, folders.length) && parts[shared] === last[shared]) shared += 1;
    folders.length = shared;
    for (let i = shared; i < depth; i += 1)
      folders.push((folders.at(-1) ?? root).enter(safeComponent(parts[i] as string, windows)));
    last = parts;
    const own = parts.length === 0 ? '_' : safeComponent(parts[depth] as string, windows);
    yield [...folders.map(({ name }) => name), (folders.at(-1) ?? root).claim(own)];
  }
}

/** Deeper paths are shortened: no path on disk may have as many components. */
const MAX_LEVELS = 128;

/** Drops empty components. If there are too many, keeps the first ones and the last. */
function limitDepth(path: readonly string[]): string[] {
  const parts = path.filter((part) => part !== '');
  return parts.length > MAX_LEVELS ? [...parts.slice(0, MAX_LEVELS - 1), parts.at(-1) as string] : parts;
}

/** Returns a key that is equal for names that a file system may treat as one: it ignores case and Unicode composition. */
export function nameKey(name: string): string {
  if (/^[ -~]*$/.test(name)) return name.toLowerCase();
  return name.toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** A folder with the names that are taken in it. */
class Folder {
  readonly name: string;
  /** Files (null) and folders by name key. */
  readonly #entries = new Map<string, Folder | null>();
  /** Folders that got another name, by the key of the name that was asked for. */
  #renamed: Map<string, Folder> | undefined;
  /** The number to try next for each name. */
  #numbers: Map<string, number> | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Returns the folder of that name. If a file has the name, the folder gets the name with the next free number. */
  enter(name: string): Folder {
    const key = nameKey(name);
    const found = this.#entries.get(key) ?? this.#renamed?.get(key);
    if (found) return found;
    const folder = new Folder(this.claim(name));
    const free = nameKey(folder.name);
    this.#entries.set(free, folder);
    if (free !== key) {
      this.#renamed ??= new Map();
      this.#renamed.set(key, folder);
    }
    return folder;
  }

  /** Takes a name and returns it, with the next free number if it is taken already. */
  claim(name: string): string {
    const key = nameKey(name);
    let free = name;
    while (this.#entries.has(nameKey(free))) {
      this.#numbers ??= new Map();
      const n = this.#numbers.get(key) ?? 1;
      free = numbered(name, n);
      this.#numbers.set(key, n + 1);
    }
    this.#entries.set(nameKey(free), null);
    return free;
  }
}

function safeComponent(name: string, windows: boolean): string {
  if (name === '.' || name === '..') return '_';
  let safe = name.replace(CONTROLS, '_').replace(SEPARATORS, '_').replace(INVISIBLE, '').toWellFormed();
  safe = safe.replace(/^[A-Za-z]:$/, '_');
  if (windows) safe = safe.replace(FORBIDDEN_ON_WINDOWS, '_');
  if (windows && isDeviceName(safe)) safe = `_${safe}`;
  safe = shorten(safe, MAX_BYTES);
  // The shortened name may end with dots or spaces, so this comes last.
  if (windows) safe = safe.replace(/[ .]+$/, '');
  if (windows && isDeviceName(safe)) safe = `_${safe}`;
  return safe === '' || safe === '.' || safe === '..' ? '_' : safe;
}

/** Adds a number before the extension: `a.1.txt`. */
function numbered(name: string, n: number): string {
  const dot = name.lastIndexOf('.');
  const [base, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  const end = `.${n}${extension}`;
  return shortenText(base, MAX_BYTES - utf8Length(end)) + end;
}

function shorten(name: string, bytes: number): string {
  if (utf8Length(name) <= bytes) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : '';
  return shortenText(name.slice(0, name.length - extension.length), bytes - utf8Length(extension)) + extension;
}

/** Returns as many whole characters as fit into `bytes` bytes of UTF-8. */
function shortenText(text: string, bytes: number): string {
  if (utf8Length(text) <= bytes) return text;
  let short = '';
  let size = 0;
  for (const char of text) {
    size += utf8Length(char);
    if (size > bytes) break;
    short += char;
  }
  return short;
}

const SYSTEM_FILES: ReadonlySet<string> = new Set(['.DS_Store', 'Icon\r', 'Thumbs.db', 'desktop.ini']);

/** Whether an operating system puts files of this name into folders. */
export function isSystemFileName(name: string): boolean {
  return SYSTEM_FILES.has(name);
}

/** Whether a file is named like a torrent. native/core/files/scan_names.cc has the same rule. */
export const isTorrentFileName = (name: string): boolean => /\.torrent$/i.test(name);
