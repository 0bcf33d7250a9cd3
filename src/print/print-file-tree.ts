/** Prints the files of a torrent as a tree with sizes. */
import { storedLinks } from '../model/lazy/content.ts';
import type { Torrent, TorrentFile } from '../model/torrent/torrent.ts';
import { formatBytes, plural } from '../text/format.ts';
import { distinctly, printable } from '../text/printable.ts';

/** A folder and everything in it. */
interface Folder {
  /** Bytes of all files below. */
  bytes: number;
  /** The number of files below. */
  files: number;
  /** Files, and folders by name, in the order of the torrent. */
  entries: Entry[];
  folders: Map<string, Folder>;
}

/** The targets of stored links, and how names are shown. */
type Shown = { links: ReadonlyMap<string, string>; show: typeof printable };

interface Entry {
  name: string;
  content: Folder | TorrentFile;
}

/** The deepest indentation, in folders: a path may have millions. */
const MAX_INDENT = 32;
/** Columns of a branch of the tree, of the gap behind a size, and of a name in a narrow terminal at least. */
const BRANCH = 3;
const GAP = 2;
const MIN_NAME = 16;
/** Text of as many columns as characters. */
const PLAIN = /^[ -~]*$/;

/** A terminal that the lines must fit. */
export interface Terminal {
  columns: number;
  /** Shortens a text to a number of columns. */
  shorten(text: string, columns: number): string;
}

/**
 * The lines of the tree: each has a size, and the name at its place. A folder has the size of everything in it. Entries that are
 * too deep to be indented further begin with the number of missing indentations: `+2 name`.
 *
 * @param terminal Shortens names and the indentation; undefined prints whole names.
 */
export function* fileLines(torrent: Torrent, terminal?: Terminal): Generator<string> {
  const { files, name } = torrent;
  const root = folderOf(files);
  const links = storedLinks(torrent);
  const show = distinctly(files.flatMap(({ path }) => path.split('/')));
  const width = widthOf(root);
  const line = (prefix: string, entry: Entry): string => {
    const before = `${formatBytes(sizeOf(entry.content)).padStart(width)}  ${prefix}`;
    return `${before}${label(entry, { links, show }, before.length, terminal)}`;
  };
  const maxIndent = indentOf(width, terminal);
  if (files.length === 1 && files[0]?.path === name) {
    yield line('', root.entries[0] as Entry);
    return;
  }
  yield line('', { name, content: root });
  const open = [{ entries: root.entries, next: 0, prefix: '' }];
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const entry = level.entries[level.next];
    level.next += 1;
    if (!entry) {
      open.pop();
      continue;
    }
    const isLast = level.next === level.entries.length;
    const missing = open.length - 1 - maxIndent;
    yield line(`${level.prefix}${isLast ? '└─' : '├─'} ${missing > 0 ? `+${missing} ` : ''}`, entry);
    if (!('entries' in entry.content)) continue;
    const below = missing >= 0 ? level.prefix : `${level.prefix}${isLast ? '   ' : '│  '}`;
    open.push({ entries: entry.content.entries, next: 0, prefix: below });
  }
}

/** The deepest indentation that leaves room for names. */
function indentOf(sizeWidth: number, terminal: Terminal | undefined): number {
  if (!terminal) return MAX_INDENT;
  const room = terminal.columns - sizeWidth - GAP - BRANCH - MIN_NAME;
  return Math.min(MAX_INDENT, Math.max(0, Math.floor(room / BRANCH)));
}

/** The name of an entry and its notes. On a terminal, a name is shortened before its notes. */
function label({ name, content }: Entry, { links, show }: Shown, at: number, terminal?: Terminal): string {
  const isFolder = 'entries' in content;
  const after = isFolder ? `/ (${plural(content.files, 'file')})` : notes(content, links);
  const text = `${show(name)}${after}`;
  if (!terminal) return text;
  const room = Math.max(1, terminal.columns - at);
  const whole = terminal.shorten(text, room);
  if (whole === text) return text;
  const keeps = after.length <= room / 2 && PLAIN.test(after);
  if (!keeps && !isFolder) return whole;
  const end = keeps ? after : '/';
  return `${terminal.shorten(show(name), Math.max(1, room - end.length))}${end}`;
}

/** The target of a stored link, and the other flags of a file. */
function notes({ path, attr }: TorrentFile, links: ReadonlyMap<string, string>): string {
  const target = links.get(path);
  const flags = target === undefined ? attr : attr?.replaceAll('l', '');
  return `${target === undefined ? '' : ` → ${printable(target)}`}${flags ? `  [${printable(flags)}]` : ''}`;
}

const newFolder = (): Folder => ({ bytes: 0, files: 0, entries: [], folders: new Map() });

function folderOf(files: readonly TorrentFile[]): Folder {
  const root = newFolder();
  for (const file of files) {
    const parts = file.path.split('/');
    let folder = root;
    for (const part of parts.slice(0, -1)) {
      add(folder, file);
      let below = folder.folders.get(part);
      if (!below) {
        below = newFolder();
        folder.folders.set(part, below);
        folder.entries.push({ name: part, content: below });
      }
      folder = below;
    }
    add(folder, file);
    folder.entries.push({ name: parts.at(-1) as string, content: file });
  }
  return root;
}

function add(folder: Folder, { length }: TorrentFile): void {
  folder.bytes += length;
  folder.files += 1;
}

const sizeOf = (one: Folder | TorrentFile): number => ('entries' in one ? one.bytes : one.length);

/** The width of the longest size. */
function widthOf(root: Folder): number {
  let width = 0;
  const open: (Folder | TorrentFile)[] = [root];
  for (let one = open.pop(); one; one = open.pop()) {
    width = Math.max(width, formatBytes(sizeOf(one)).length);
    if ('entries' in one) for (const { content } of one.entries) open.push(content);
  }
  return width;
}
