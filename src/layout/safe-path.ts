/** Why a name cannot be a component of a path in a torrent; null when it can. */
export function unsafeComponent(name: string): string | null {
  if (name === '') return 'an empty name';
  if (name === '.' || name === '..') return `the name ${name}`;
  if (name.includes('/')) return 'a name with a slash';
  if (name.includes('\0')) return 'a name with a NUL';
  // Only alone at the front does a drive letter mean anything: `C:` or `C:\x`.
  if (/^[A-Za-z]:(\\|$)/.test(name)) return 'a name with a drive letter';
  if (name.startsWith('\\')) return 'an absolute name';
  return null;
}

/** The most bytes of a component: what common file systems hold, less room for a number. */
const MOST_BYTES = 240;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;
const SEPARATORS = /[/\\]/g;
/** Bidirectional and zero-width characters: they make a name look like another. */
const INVISIBLE = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
const WINDOWS_CHARACTERS = /[?<>"|*:]/g;
const WINDOWS_NAMES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Paths of a stranger's torrent as paths that cannot leave the folder they are put into, all different. What a torrent
 * hashes is not touched: this is for where files go.
 *
 * @param windows Whether the names must be good on Windows too; default: whether this is it.
 */
export function safePaths(paths: Iterable<readonly string[]>, windows = process.platform === 'win32'): string[][] {
  const taken = new Set<string>();
  return Array.from(paths, (path) => {
    const parts = path.map((part) => safeComponent(part, windows)).filter((part) => part !== '');
    const safe = parts.length > 0 ? parts : ['_'];
    const last = safe.at(-1) as string;
    for (let n = 1; taken.has(safe.join('/').toLowerCase()); n += 1) safe[safe.length - 1] = numbered(last, n);
    taken.add(safe.join('/').toLowerCase());
    return safe;
  });
}

function safeComponent(name: string, windows: boolean): string {
  let safe = name.replace(CONTROLS, '_').replace(SEPARATORS, '_').replace(INVISIBLE, '').toWellFormed();
  if (windows) safe = safe.replace(WINDOWS_CHARACTERS, '_').replace(/[ .]+$/, '');
  if (windows && WINDOWS_NAMES.test(safe)) safe = `_${safe}`;
  safe = safe.replace(/^[A-Za-z]:$/, '_');
  if (safe === '.' || safe === '..') return '_';
  return cutTo(safe, MOST_BYTES);
}

/** The extension stays: `a.1.txt`. */
function numbered(name: string, n: number): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? `${name.slice(0, dot)}.${n}${name.slice(dot)}` : `${name}.${n}`;
}

function cutTo(name: string, bytes: number): string {
  if (Buffer.byteLength(name) <= bytes) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : '';
  const room = bytes - Buffer.byteLength(extension);
  let cut = '';
  let size = 0;
  for (const char of name) {
    size += Buffer.byteLength(char);
    if (size > room) break;
    cut += char;
  }
  return cut + extension;
}
