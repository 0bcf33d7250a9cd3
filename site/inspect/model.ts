/** The data behind the page: the tree of files, the drawing of pieces, and the issues of each profile. It touches no document. */
import type {
  FoundFolder,
  GivenFile,
  HashList,
  Inspection,
  Issue,
  Profile,
  Torrent,
  VerifyReport,
} from 'metainfo/browser';
import { formatBytes } from '../../src/text/format.ts';
import { flagsText, visible } from './text.ts';

/** A file or folder of a torrent. Its texts are as the torrent has them: show them with {@link visible}. */
export interface TreeNode {
  /** Below the torrent's root, with `/`. */
  path: string;
  name: string;
  /** Bytes, of a folder those of all files below it. */
  length: number;
  /** The flags of a file and the target of a symbolic link, safe to show; empty for none. */
  flags: string;
  /** The number of files: 1 for a file. */
  files: number;
  parent: TreeNode | null;
  /** Its place among its siblings, from 1. */
  position: number;
  /** Null for a file. */
  children: TreeNode[] | null;
}

/** A folder with its folders by name: a path may have a million components, so no path is looked up as a whole. */
interface Folder extends TreeNode {
  children: TreeNode[];
  folders: Map<string, Folder>;
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);

function folderNode(path: string, name: string, parent: Folder | null): Folder {
  return { path, name, length: 0, flags: '', files: 0, parent, position: 1, children: [], folders: new Map() };
}

/** The targets of the symbolic links of a torrent, by their paths. */
export function linksOf(torrent: Torrent): Map<string, string> {
  const list = torrent.torrentVersion === 'v2' ? [] : (torrent.info.files ?? []);
  const listed = list.map((file) => [(file.pathUtf8 ?? file.path).join('/'), file.symlinkPath] as const);
  const inTree = [...(torrent.flatFiles ?? [])].map(([path, { symlinkPath }]) => [path, symlinkPath] as const);
  return new Map([...listed, ...inTree].flatMap(([path, target]) => (target ? [[path, target.join('/')]] : [])));
}

/** The tree of files. The root stands for the torrent. @param links The targets of symbolic links. */
export function treeOf(files: Torrent['files'], links: ReadonlyMap<string, string> = new Map()): TreeNode {
  const root = folderNode('', '', null);
  const add = (node: TreeNode, { children }: Folder) => {
    node.position = children.push(node);
  };
  for (const { path, length, attr } of files) {
    const flags = flagsText(attr, links.get(path));
    let folder = root;
    let from = 0;
    for (let end = path.indexOf('/'); ; end = path.indexOf('/', from)) {
      folder.length += length;
      folder.files += 1;
      if (end < 0) break;
      const name = path.slice(from, end);
      let below = folder.folders.get(name);
      if (!below) {
        below = folderNode(path.slice(0, end), name, folder);
        folder.folders.set(name, below);
        add(below, folder);
      }
      folder = below;
      from = end + 1;
    }
    add({ path, name: path.slice(from), length, flags, files: 1, parent: folder, position: 1, children: null }, folder);
  }
  return root;
}

/** The visible nodes below a folder in their order: the children of open folders. */
export function rowsOf(folder: TreeNode, isOpen: (node: TreeNode) => boolean): TreeNode[] {
  const rows: TreeNode[] = [];
  const waiting = (folder.children ?? []).toReversed();
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    rows.push(node);
    if (!(node.children && isOpen(node))) continue;
    for (let i = node.children.length - 1; i >= 0; i -= 1) waiting.push(node.children[i] as TreeNode);
  }
  return rows;
}

/** The keys that the library has no name for, as lines: each with the start of its value. */
export function unknownLines(torrent: Torrent): string[] {
  const { unknownKeys } = torrent.toJSON();
  return unknownKeys.map(({ path, value }) => `${path.join('.')}: ${JSON.stringify(value)}`.slice(0, 200));
}

/** A box of a drawing. */
export interface Box {
  /** Bytes from the start of the drawing. */
  from: number;
  to: number;
  kind: 'file' | 'pad' | 'many' | 'piece' | 'good' | 'bad' | 'hash';
  /** Shown in the box, and read aloud. */
  label: string;
  /** A second line: a size or a hash. */
  detail: string;
}

/** Rows of boxes that stand below each other. */
export interface Drawing {
  /** Bytes. */
  width: number;
  rows: { name: string; boxes: Box[] }[];
}

/** The box of a file or pad file. */
export interface FileBox extends Box {
  path: string;
}

/** The files in the order of the pieces. In v2, each file starts a piece. */
export function placedFiles(torrent: Torrent): FileBox[] {
  const { torrentVersion, info, files, name } = torrent;
  let end = 0;
  const place = (path: string, length: number, isPad: boolean): FileBox => {
    const from = torrentVersion === 'v2' ? Math.ceil(end / info.pieceLength) * info.pieceLength : end;
    end = from + length;
    const label = isPad ? 'pad file' : visible(nameOf(path));
    return { path, from, to: end, kind: isPad ? 'pad' : 'file', label, detail: formatBytes(length) };
  };
  if (torrentVersion === 'v2') return files.map(({ path, length }) => place(path, length, false));
  if (!info.files) return [place(name, torrent.totalSize, false)];
  return info.files.map(({ path, pathUtf8, length, attr }) =>
    place((pathUtf8 ?? path).join('/'), length, attr?.includes('p') ?? false),
  );
}

/** Boxes that are narrower than this part of a drawing join their neighbours. */
const NARROW = 1 / 150;

/** Draws what lies between two offsets, without empty rows. Narrow neighbours share a box, so that a drawing has few. */
function drawingOf(begin: number, end: number, rows: Record<string, Box[]>): Drawing {
  const width = end - begin;
  const isNarrow = ({ from, to }: Box) => to - from < width * NARROW;
  const shown = (boxes: Box[]) => {
    const row: Box[] = [];
    for (const whole of boxes) {
      if (whole.from === whole.to || whole.to <= begin || whole.from >= end) continue;
      const box = { ...whole, from: Math.max(0, whole.from - begin), to: Math.min(width, whole.to - begin) };
      const before = row.at(-1);
      if (before && isNarrow(box) && (isNarrow(before) || before.kind === 'many')) {
        const detail = formatBytes(box.to - before.from);
        row.splice(-1, 1, { from: before.from, to: box.to, kind: 'many', label: 'small files', detail });
      } else row.push(box);
    }
    return row;
  };
  const named = Object.entries(rows).map(([name, boxes]) => ({ name, boxes: shown(boxes) }));
  return { width, rows: named.filter(({ boxes }) => boxes.length > 0) };
}

/** Draws all files. */
export function overviewOf(files: FileBox[]): Drawing {
  return drawingOf(0, files.at(-1)?.to ?? 0, { 'all files': files });
}

/** Draws the files and folders in the first folder that has several: the largest first. */
export function sizesOf(root: TreeNode): Drawing {
  let folder = root;
  while (folder.children?.length === 1 && folder.children[0]?.children) folder = folder.children[0];
  const sorted = (folder.children ?? []).toSorted((a, b) => b.length - a.length);
  let end = 0;
  const boxes = sorted.map(({ name, length, children }): Box => {
    const from = end;
    end += length;
    const label = visible(children ? `${name}/` : name);
    return { from, to: end, kind: 'file', label, detail: formatBytes(length) };
  });
  return drawingOf(0, end, { 'largest first': boxes });
}

/** Draws some pieces: the files in them, their hashes, and in v2 the piece layers and pieces roots. */
export function piecesOf(
  torrent: Torrent,
  files: FileBox[],
  { first, shown, report }: { first: number; shown: number; report: VerifyReport | null },
): Drawing {
  const { pieceLength } = torrent.info;
  const begin = first * pieceLength;
  const end = Math.min(begin + shown * pieceLength, files.at(-1)?.to ?? 0);
  /** The boxes of the pieces of a file, or of all files. */
  const pieces = ({ from, to }: { from: number; to: number }, hashes: HashList, name: 'piece' | 'hash') => {
    const boxes: Box[] = [];
    for (let at = Math.max(begin, from); at < Math.min(to, end); at += pieceLength) {
      const index = (at - from) / pieceLength;
      const kind = report ? stateOf(report, at / pieceLength) : name;
      boxes.push({
        ...{ from: at, to: Math.min(at + pieceLength, to), kind },
        ...{ label: `${name} ${index}`, detail: startOf(hashes.toHex(index)) },
      });
    }
    return boxes;
  };
  const seen = files.filter(({ from, to }) => from < end && to > begin);
  const layers: Box[] = [];
  const roots: Box[] = [];
  for (const file of seen) {
    const piecesRoot = torrent.flatFiles?.get(file.path)?.piecesRoot;
    if (!piecesRoot) continue;
    const root = toHex(piecesRoot);
    const layer = torrent.pieceLayers?.get(root);
    if (layer) layers.push(...pieces(file, layer, 'hash'));
    roots.push({ ...file, kind: 'hash', label: 'root', detail: startOf(root) });
  }
  const v1 = 'pieces' in torrent.info ? pieces({ from: 0, to: end }, torrent.info.pieces, 'piece') : [];
  return drawingOf(begin, end, { files: seen, 'v1 pieces': v1, 'piece layers': layers, 'pieces roots': roots });
}

/** Bytes in hexadecimal. */
export const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const startOf = (hash = '') => hash.slice(0, 16);

/** Whether a piece is good or bad. */
export function stateOf({ bitfield }: Pick<VerifyReport, 'bitfield'>, piece: number): 'good' | 'bad' {
  return ((bitfield[piece >> 3] ?? 0) >> (7 - (piece & 7))) & 1 ? 'good' : 'bad';
}

/** The pieces of a report as runs of good and bad ones, joined where there are too many to see. */
export function runsOf(report: Pick<VerifyReport, 'bitfield'>, pieces: number, most = 300): Drawing {
  const boxes: Box[] = [];
  const perBox = Math.ceil(pieces / most);
  for (let from = 0; from < pieces; from += perBox) {
    const to = Math.min(pieces, from + perBox);
    // A single bad piece must be seen.
    let kind: Box['kind'] = 'good';
    for (let piece = from; piece < to; piece += 1) if (stateOf(report, piece) === 'bad') kind = 'bad';
    const before = boxes.at(-1);
    if (before?.kind === kind) before.to = to;
    else boxes.push({ from, to, kind, label: kind, detail: '' });
  }
  return { width: pieces, rows: [{ name: 'pieces', boxes }] };
}

export const PROFILES = ['default', 'strict', 'compat'] as const satisfies Profile[];
/** The reports of all profiles on a torrent. */
export type Reports = Record<(typeof PROFILES)[number], Inspection>;

/** An issue, and its severity in each profile that reports it. */
export interface IssueRow extends Issue {
  severities: Partial<Record<Profile, Issue['severity']>>;
  /** The same for an issue of each profile. */
  place: string;
}

/** The issues of all profiles, each once. */
export function issueRows(reports: Reports): IssueRow[] {
  const rows: IssueRow[] = [];
  for (const profile of PROFILES)
    for (const issue of reports[profile].issues) {
      const place = JSON.stringify([issue.code, issue.path, issue.offset]);
      const known = rows.find((row) => row.place === place && !row.severities[profile]);
      const row = known ?? { ...issue, place, severities: {} };
      row.severities[profile] = issue.severity;
      if (!known) rows.push(row);
    }
  return rows;
}

/** The files of a user, by their paths in a torrent. */
export interface PlacedContent {
  /** The folder of the torrent in what the user gave, with `/` at its end; empty if that is the folder itself. */
  folder: string;
  sources: GivenFile[];
}

/**
 * Finds the content of a torrent in what a user gave. That may be a folder above the torrent's folder, or files without their folders: each of
 * these is the file with its name, wherever that is in the torrent.
 */
export function placedContent({ name, files }: Torrent, { sources, name: given }: FoundFolder): PlacedContent {
  const named = new Map<string, Torrent['files'][number][]>();
  for (const file of files) {
    const same = named.get(nameOf(file.path));
    if (same) same.push(file);
    else named.set(nameOf(file.path), [file]);
  }
  const wanted = new Set(files.map(({ path }) => path));
  const folder = folderOf(wanted, sources, name);
  for (const { path } of sources) if (path.startsWith(folder)) wanted.delete(path.slice(folder.length));
  const placed = sources.flatMap((source) => {
    const { path, data } = source;
    const isAlone = given === null ? !path.includes('/') : path === given;
    const missing = isAlone ? named.get(path)?.filter((file) => wanted.has(file.path)) : [];
    const own = missing?.find(({ length }) => length === data.size) ?? missing?.[0];
    if (own && wanted.delete(own.path)) return [{ path: own.path, data }];
    // `verify` knows a single file that was given, which may have any name, by its source.
    if (folder === '') return [source];
    return path.startsWith(folder) ? [{ path: path.slice(folder.length), data }] : [];
  });
  return { folder, sources: placed };
}

/**
 * Finds the folder of a torrent. As in the command, a folder with any of its files is that folder. Otherwise, it is the folder below with most
 * of them, or with its name.
 */
function folderOf(wanted: ReadonlySet<string>, sources: readonly GivenFile[], name: string): string {
  const counts = new Map<string, number>();
  for (const { path } of sources)
    for (let at = 0; at >= 0; at = path.indexOf('/', at) + 1 || -1) {
      const folder = path.slice(0, at);
      if (wanted.has(path.slice(at))) counts.set(folder, (counts.get(folder) ?? 0) + 1);
      else if (folder === `${name}/` && !counts.has(folder)) counts.set(folder, 0);
    }
  if (counts.has('')) return '';
  return [...counts].reduce((most, next) => (next[1] > most[1] ? next : most), ['', -1] as const)[0];
}

/** Tiers of trackers as lines, with a blank line between tiers. */
export function tiersText(tiers: readonly (readonly string[])[]): string {
  return tiers.map((tier) => tier.join('\n')).join('\n\n');
}

/** The inverse of {@link tiersText}. */
export function tiersIn(text: string): string[][] {
  const tiers = text.split(/\n\s*\n/).map((tier) => tier.split('\n').map((line) => line.trim()));
  return tiers.map((tier) => tier.filter((line) => line !== '')).filter((tier) => tier.length > 0);
}
