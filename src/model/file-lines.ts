/** Prints the files of a torrent as a tree with sizes. */
import { formatBytes, printable } from '../layout/text.ts';
import { plural } from './plural.ts';
import { storedLinks } from './stored-links.ts';
import type { Torrent, TorrentFile } from './torrent.ts';

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

interface Entry {
  name: string;
  content: Folder | TorrentFile;
}

/** The deepest indentation, in folders: a path may have millions. */
const MAX_INDENT = 32;

/** Shortens the name in a line that has `before` characters before it. */
export type FitName = (name: string, before: number) => string;

/** The lines of the tree: each has a size, and the name at its place. A folder has the size of everything in it. */
export function* fileLines(torrent: Torrent, fit: FitName = (name) => name): Generator<string> {
  const { files, name } = torrent;
  const root = folderOf(files);
  const links = storedLinks(torrent);
  const width = widthOf(root);
  const line = (prefix: string, { name, content }: Entry): string => {
    const isFolder = 'entries' in content;
    const before = `${formatBytes(sizeOf(content)).padStart(width)}  ${prefix}`;
    const after = isFolder ? `/ (${plural(content.files, 'file')})` : notes(content, links);
    return `${before}${fit(`${printable(name)}${after}`, before.length)}`;
  };
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
    yield line(`${level.prefix}${isLast ? '└─' : '├─'} `, entry);
    if (!('entries' in entry.content)) continue;
    const below = open.length > MAX_INDENT ? level.prefix : `${level.prefix}${isLast ? '   ' : '│  '}`;
    open.push({ entries: entry.content.entries, next: 0, prefix: below });
  }
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
