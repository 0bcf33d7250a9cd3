/** The data behind the page: the tree of files, the drawing of pieces, and the issues of each profile. It touches no document. */
import type { Inspection, Issue, Profile, Torrent, VerifyReport } from 'metainfo/browser';
import { formatBytes } from '../../src/text/format.ts';
import { printable } from '../../src/text/printable.ts';

/** A file or folder of a torrent. */
export interface TreeNode {
  /** As the torrent has it: show it with {@link printable}. */
  name: string;
  /** Bytes, of a folder those of all files below it. */
  length: number;
  /** The number of files: 1 for a file. */
  files: number;
  /** Null for a file. */
  children: TreeNode[] | null;
  parent: TreeNode | null;
}

/** The tree of files. The root stands for the torrent. */
export function treeOf(name: string, files: Torrent['files']): TreeNode {
  const root: TreeNode = { name, length: 0, files: 0, children: [], parent: null };
  const folders = new Map<TreeNode, Map<string, TreeNode>>();
  for (const { path, length } of files) {
    const parts = path.split('/');
    const fileName = parts.pop() as string;
    let folder = root;
    for (const part of parts) {
      const known = folders.get(folder) ?? new Map<string, TreeNode>();
      folders.set(folder, known);
      const inner = known.get(part) ?? { name: part, length: 0, files: 0, children: [], parent: folder };
      if (!known.has(part)) folder.children?.push(inner);
      known.set(part, inner);
      folder = inner;
    }
    folder.children?.push({ name: fileName, length, files: 1, children: null, parent: folder });
    for (let above: TreeNode | null = folder; above; above = above.parent) {
      above.length += length;
      above.files += 1;
    }
  }
  return root;
}

/** A visible row of the tree. */
export interface TreeRow {
  node: TreeNode;
  /** From 1. */
  level: number;
  /** Its place among its siblings, from 1. */
  position: number;
}

/** The rows of a tree: the children of open folders. */
export function rowsOf(root: TreeNode, open: ReadonlySet<TreeNode>): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (children: readonly TreeNode[], level: number) => {
    for (const [i, node] of children.entries()) {
      rows.push({ node, level, position: i + 1 });
      if (node.children && open.has(node)) add(node.children, level + 1);
    }
  };
  add(root.children ?? [], 1);
  return rows;
}

/** All folders below a node. */
export function foldersOf(node: TreeNode): TreeNode[] {
  return (node.children ?? []).flatMap((child) => (child.children ? [child, ...foldersOf(child)] : []));
}

/** The path of a node below the root, safe to show. */
export function shownPath(node: TreeNode): string {
  const parts: string[] = [];
  for (let at = node; at.parent; at = at.parent) parts.unshift(printable(at.name));
  return parts.join('/');
}

/** The largest children of the first folder that has several, and the rest as one. */
export function largestOf(root: TreeNode, most = 8): { name: string; length: number }[] {
  let folder = root;
  while (folder.children?.length === 1 && folder.children[0]?.children) folder = folder.children[0];
  const sorted = (folder.children ?? []).toSorted((a, b) => b.length - a.length);
  const rest = sorted.slice(most);
  const shown = sorted.slice(0, most).map((node) => ({
    name: printable(node.name) + (node.children ? '/' : ''),
    length: node.length,
  }));
  if (rest.length === 0) return shown;
  return [...shown, { name: `${rest.length} more`, length: rest.reduce((sum, { length }) => sum + length, 0) }];
}

/** A file or pad file, and the offset of its first byte among the pieces. */
export interface PlacedFile {
  path: string;
  length: number;
  start: number;
  isPad: boolean;
  /** Whether an even number of files come before it: neighbours have different colours. */
  isEven: boolean;
}

/** The files in the order of the pieces. In v2, each file starts a piece. */
export function placedFiles(torrent: Torrent): PlacedFile[] {
  const { info, name } = torrent;
  let end = 0;
  let isEven = false;
  const place = (path: string, length: number, isPad: boolean): PlacedFile => {
    const start = end;
    end += length;
    if (!isPad) isEven = !isEven;
    return { path, length, start, isPad, isEven };
  };
  if (torrent.torrentVersion === 'v2')
    return torrent.files.map(({ path, length }) => {
      end = Math.ceil(end / info.pieceLength) * info.pieceLength;
      return place(path, length, false);
    });
  const { files, length } = info as { files: typeof torrent.info.files; length: number | null };
  if (!files) return [place(name, length ?? 0, false)];
  return files.map((file) =>
    place((file.pathUtf8 ?? file.path).join('/'), file.length, file.attr?.includes('p') ?? false),
  );
}

/** A box of a drawing. */
export interface Box {
  /** Bytes from the start of the drawing. */
  from: number;
  to: number;
  kind: 'file' | 'other' | 'pad' | 'many' | 'piece' | 'good' | 'bad' | 'layer' | 'root';
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

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const hashStart = (hash: Uint8Array | undefined) => hex(hash?.subarray(0, 8) ?? new Uint8Array(0));

/** Boxes that are narrower than this part of a drawing join their neighbours. */
const NARROW = 1 / 150;

/** Joins narrow neighbours, so that a drawing has few boxes. */
function joined(boxes: readonly Box[], width: number): Box[] {
  const row: Box[] = [];
  for (const box of boxes) {
    const before = row.at(-1);
    const isNarrow = ({ from, to }: Box) => to - from < width * NARROW;
    const joins = before && isNarrow(box) && (isNarrow(before) || before.kind === 'many');
    if (!joins) row.push(box);
    else {
      const detail = formatBytes(box.to - before.from);
      row.splice(-1, 1, { from: before.from, to: box.to, kind: 'many', label: 'small files', detail });
    }
  }
  return row;
}

/** Draws all files. */
export function overviewOf(files: readonly PlacedFile[]): Drawing {
  const last = files.at(-1);
  const width = last ? last.start + last.length : 0;
  const row = files.filter(({ length }) => length > 0).map((file) => fileBox(file, 0));
  return { width, rows: [{ name: 'all files', boxes: joined(row, width) }] };
}

/** The box of a file or pad file. */
function fileBox({ path, length, start, isPad, isEven }: PlacedFile, begin: number): Box {
  const kind = isPad ? 'pad' : isEven ? 'file' : 'other';
  const label = isPad ? 'pad file' : printable(path.slice(path.lastIndexOf('/') + 1));
  return { from: start - begin, to: start + length - begin, kind, label, detail: formatBytes(length) };
}

/** Draws some pieces: the files in them, their hashes, and in v2 the piece layers and pieces roots. */
export function piecesOf(
  torrent: Torrent,
  files: readonly PlacedFile[],
  { first, shown, report }: { first: number; shown: number; report: VerifyReport | null },
): Drawing {
  const { pieceLength } = torrent.info;
  const last = files.at(-1);
  const begin = first * pieceLength;
  const end = Math.min(begin + shown * pieceLength, last ? last.start + last.length : 0);
  const { flatFiles } = torrent;
  const boxes = { files: [] as Box[], pieces: [] as Box[], layers: [] as Box[], roots: [] as Box[] };
  const isV2 = torrent.torrentVersion === 'v2';
  const stateOf = (piece: number, otherwise: Box['kind']) =>
    report ? (isGood(report, piece) ? 'good' : 'bad') : otherwise;
  const pieceBox = (
    piece: number,
    to: number,
    label: string,
    { kind, hash }: { kind: Box['kind']; hash?: Uint8Array },
  ) => ({
    ...{ from: piece * pieceLength - begin, to: Math.min(to, (piece + 1) * pieceLength, end) - begin },
    ...{ kind, label, detail: hashStart(hash) },
  });
  for (const file of files) {
    const { path, length, start } = file;
    const to = start + length;
    if (start >= end) break;
    if (length === 0 || to <= begin) continue;
    const box = fileBox(file, begin);
    Object.assign(box, { from: Math.max(0, box.from), to: Math.min(end - begin, box.to) });
    boxes.files.push(box);
    const root = file.isPad ? null : flatFiles?.get(path)?.piecesRoot;
    if (!root) continue;
    boxes.roots.push({ ...box, kind: 'root', label: 'root', detail: hashStart(root) });
    const firstPiece = start / pieceLength;
    const layer = length > pieceLength ? torrent.pieceLayers?.get(hex(root)) : null;
    for (let piece = Math.max(first, firstPiece); layer && piece * pieceLength < Math.min(to, end); piece += 1) {
      const hash = layer.at(piece - firstPiece);
      const kind = isV2 ? stateOf(piece, 'layer') : 'layer';
      boxes.layers.push(pieceBox(piece, to, `hash ${piece - firstPiece}`, { kind, ...(hash && { hash }) }));
    }
  }
  const { pieces } = torrent.info as { pieces?: { at(index: number): Uint8Array | undefined } };
  for (let piece = first; pieces && piece * pieceLength < end; piece += 1) {
    const hash = pieces.at(piece);
    boxes.pieces.push(pieceBox(piece, end, `piece ${piece}`, { kind: stateOf(piece, 'piece'), ...(hash && { hash }) }));
  }
  const names = { files: 'files', pieces: 'v1 pieces', layers: 'piece layers', roots: 'pieces roots' };
  const rows = (Object.keys(names) as (keyof typeof names)[]).map((key) => ({
    name: names[key],
    boxes: joined(boxes[key], end - begin),
  }));
  return { width: end - begin, rows: rows.filter((row) => row.boxes.length > 0) };
}

/** Whether a piece is good. */
export function isGood({ bitfield }: Pick<VerifyReport, 'bitfield'>, piece: number): boolean {
  return (((bitfield[piece >> 3] ?? 0) >> (7 - (piece & 7))) & 1) === 1;
}

/** The pieces of a report as runs of good and bad ones, joined where there are too many to see. */
export function runsOf(report: Pick<VerifyReport, 'bitfield'>, pieces: number, most = 300): Drawing {
  const boxes: Box[] = [];
  const perBox = Math.ceil(pieces / most);
  for (let from = 0; from < pieces; from += perBox) {
    const to = Math.min(pieces, from + perBox);
    // A single bad piece must be seen.
    let kind: Box['kind'] = 'good';
    for (let piece = from; piece < to; piece += 1) if (!isGood(report, piece)) kind = 'bad';
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
}

/** The issues of all profiles, each once. */
export function issueRows(reports: Reports): IssueRow[] {
  const rows = new Map<string, IssueRow>();
  for (const profile of PROFILES) {
    const seen = new Map<string, number>();
    for (const issue of reports[profile].issues) {
      const place = JSON.stringify([issue.code, issue.path, issue.offset]);
      const nth = (seen.get(place) ?? 0) + 1;
      seen.set(place, nth);
      const key = `${place} ${nth}`;
      const row = rows.get(key) ?? { ...issue, severities: {} };
      row.severities[profile] = issue.severity;
      rows.set(key, row);
    }
  }
  return [...rows.values()];
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
