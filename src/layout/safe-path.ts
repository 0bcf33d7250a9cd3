/** Why a name cannot be a component of a path in a torrent; null when it can. */
export function unsafeComponent(name: string): string | null {
  if (name === '') return 'an empty name';
  if (name === '.' || name === '..') return `the name ${name}`;
  if (name.includes('/')) return 'a name with a slash';
  if (name.includes('\0')) return 'a name with a NUL';
  // Only alone at the front does a drive letter mean anything: `C:` or `C:\x`.
  if (/^[A-Za-z]:(\\|$)/.test(name)) return 'a name with a drive letter';
  if (name.startsWith('\\')) return 'an absolute name';
  // To Windows a backslash parts names.
  if (/^[.\\]*\\[.\\]*$/.test(name)) return 'a name of dots and backslashes';
  if (name.split('\\').includes('..')) return 'a name with .. before or after a backslash';
  return null;
}

/** The most bytes of a component: what common file systems hold, less room for a number. */
const MOST_BYTES = 240;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;
const SEPARATORS = /[/\\]/g;
/** Bidirectional and zero-width characters, separators of lines: they make a name look like another. */
const INVISIBLE = /(?![\ufe00-\ufe0f])[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]/gu;
const WINDOWS_CHARACTERS = /[?<>"|*:]/g;
/** Devices, whatever follows a dot or blanks. */
const WINDOWS_NAMES = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d\u00b9\u00b2\u00b3]) *(\.|$)/i;

/**
 * Paths of a stranger's torrent as paths that cannot leave the folder they are put into; all different in any case of
 * letters, and none leading through another. What a torrent hashes is not touched: this is for where files go.
 *
 * @param windows Whether the names must be good on Windows too; default: whether this is it.
 */
export function safePaths(paths: Iterable<readonly string[]>, windows = process.platform === 'win32'): string[][] {
  const root = new Folder('');
  // Of the path before: the next one shares most of its folders.
  let last: readonly string[] = [];
  const folders: Folder[] = [];
  return Array.from(paths, (path) => {
    const parts = withinDepth(path);
    const depth = Math.max(0, parts.length - 1);
    let shared = 0;
    while (shared < Math.min(depth, folders.length) && parts[shared] === last[shared]) shared += 1;
    folders.length = shared;
    for (let i = shared; i < depth; i += 1)
      folders.push((folders.at(-1) ?? root).enter(safeComponent(parts[i] as string, windows)));
    last = parts;
    const own = parts.length === 0 ? '_' : safeComponent(parts[depth] as string, windows);
    return [...folders.map(({ name }) => name), (folders.at(-1) ?? root).claim(own)];
  });
}

/** More levels than any path on disk may have. */
const MOST_LEVELS = 128;

/** Names that are there; of too many, the first ones and the last. */
function withinDepth(path: readonly string[]): string[] {
  const parts = path.filter((part) => part !== '');
  return parts.length > MOST_LEVELS ? [...parts.slice(0, MOST_LEVELS - 1), parts.at(-1) as string] : parts;
}

/** What file systems may take for one name: in any case of letters, and however accents are composed. */
function sameNames(name: string): string {
  return name.toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

/** What is in a folder already. */
class Folder {
  readonly name: string;
  /** Files (null) and folders. */
  readonly #entries = new Map<string, Folder | null>();
  /** Folders that had to take another name, by the one that was asked for. */
  #renamed: Map<string, Folder> | undefined;
  /** The number that the next of the same name may have. */
  #numbers: Map<string, number> | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** The folder of that name, or of the next number where a file has the name. */
  enter(name: string): Folder {
    const key = sameNames(name);
    const found = this.#entries.get(key) ?? this.#renamed?.get(key);
    if (found) return found;
    const folder = new Folder(this.claim(name));
    const free = sameNames(folder.name);
    this.#entries.set(free, folder);
    if (free !== key) {
      this.#renamed ??= new Map();
      this.#renamed.set(key, folder);
    }
    return folder;
  }

  /** The name, or that of the next number which nothing else has. */
  claim(name: string): string {
    const key = sameNames(name);
    let free = name;
    while (this.#entries.has(sameNames(free))) {
      this.#numbers ??= new Map();
      const n = this.#numbers.get(key) ?? 1;
      free = numbered(name, n);
      this.#numbers.set(key, n + 1);
    }
    this.#entries.set(sameNames(free), null);
    return free;
  }
}

function safeComponent(name: string, windows: boolean): string {
  if (name === '.' || name === '..') return '_';
  let safe = name.replace(CONTROLS, '_').replace(SEPARATORS, '_').replace(INVISIBLE, '').toWellFormed();
  safe = safe.replace(/^[A-Za-z]:$/, '_');
  if (windows) safe = safe.replace(WINDOWS_CHARACTERS, '_');
  if (windows && WINDOWS_NAMES.test(safe)) safe = `_${safe}`;
  safe = cutTo(safe, MOST_BYTES);
  // After the cut, which may end with them.
  if (windows) safe = safe.replace(/[ .]+$/, '');
  if (windows && WINDOWS_NAMES.test(safe)) safe = `_${safe}`;
  return safe === '' || safe === '.' || safe === '..' ? '_' : safe;
}

/** The extension stays: `a.1.txt`. */
function numbered(name: string, n: number): string {
  const dot = name.lastIndexOf('.');
  const [base, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  const end = `.${n}${extension}`;
  return cutChars(base, MOST_BYTES - Buffer.byteLength(end)) + end;
}

function cutTo(name: string, bytes: number): string {
  if (Buffer.byteLength(name) <= bytes) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : '';
  return cutChars(name.slice(0, name.length - extension.length), bytes - Buffer.byteLength(extension)) + extension;
}

/** As many whole characters as fit. */
function cutChars(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let cut = '';
  let size = 0;
  for (const char of text) {
    size += Buffer.byteLength(char);
    if (size > bytes) break;
    cut += char;
  }
  return cut;
}
