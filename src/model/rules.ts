import { omit, type Struct, validate } from 'superstruct';
import { toKey } from '../bencode/value.ts';
import { layerRoots } from '../digest/merkle.ts';
import { shown, toHex } from '../errors.ts';
import { addPadfiles, firstUnaligned, isPadFile } from '../layout/padding.ts';
import { BLOCK_SIZE, isPowerOfTwo } from '../layout/piece-length.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import type { TorrentVersion } from './discriminator.ts';
import type { FileItem } from './file-item.ts';
import type { FlatFile } from './file-tree.ts';
import type { InfoDictHybridCreate } from './info-dict.ts';
import { HYBRID_FIELDS, V1_FIELDS, V2_FIELDS } from './info-fields.ts';
import type { Issues, ValidationContext } from './issues.ts';
import type { PieceLayers } from './piece-layers.ts';
import { INFO } from './wire.ts';

/** What the rules look at. A field that did not decode is absent: each rule checks what it still can. */
export interface Subject {
  version: TorrentVersion;
  info: Omit<InfoDictHybridCreate, 'fileTree'>;
  /** Whether the infodict has an on-disk key, decoded or not. */
  has(key: string): boolean;
  /** Null when the key is absent, undefined when it did not decode. */
  layers: PieceLayers | null | undefined;
  /** The flattened tree; null when there is none to look at. */
  flat: FlatFile[] | null;
  context: ValidationContext;
  issues: Issues;
}

/** Every rule, in the order of their reports. Each looks at what it needs and passes over the rest. */
const RULES: readonly ((subject: Subject) => void)[] = [
  withinLimits,
  metaVersion,
  disallowedFields,
  structure,
  safeName,
  lengthXorFiles,
  contentExpected,
  libtorrentLimits,
  expectedNPieces,
  padfileAlignment,
  padPath,
  duplicatePaths,
  piecesRoots,
  v1V2FilesMatch,
  pieceLayersIfV2,
  piecesLayersCorrect,
];

/** Holds an infodict and its layers against all rules. */
export function checkRules(subject: Subject): void {
  for (const rule of RULES) rule(subject);
}

// Files and trees are checked as they are decoded.
const STRUCTS = {
  v1: omit(V1_FIELDS, ['files']),
  v2: omit(V2_FIELDS, ['fileTree']),
  hybrid: omit(HYBRID_FIELDS, ['files', 'fileTree']),
};

/** Required fields and their values, by the struct of the kind; under on-disk keys. */
function structure({ version, info, has, issues }: Subject): void {
  for (const { path, value, type, message } of failuresOf(info, STRUCTS[version] as unknown as Struct)) {
    const attribute = path[0] as keyof typeof INFO;
    const { key } = INFO[attribute];
    if (issues.covers(['info', key])) continue;
    if (value === undefined && !has(key)) issues.add('required', ['info', key], `expected ${key}, got nothing`);
    else if (attribute !== 'pieceLength') issues.add('type', ['info', key], lowerFirst(message));
    else if (!(issues.compat && version === 'v1' && (value as number) > 0)) {
      issues.add(type as 'pieceLength', ['info', key], lowerFirst(message));
    } else issues.add('pieceLength', ['info', key], lowerFirst(message), 'warning');
  }
}

/** The failures of a struct, without superstruct's type of it. */
export function failuresOf(
  value: unknown,
  struct: Struct,
): { path: string[]; value: unknown; type: string; refinement: string | undefined; message: string }[] {
  const [error] = validate(value, struct);
  return (error?.failures() ?? []).map((failure) => ({ ...failure, path: failure.path as string[] }));
}

/** Of pieces the hashes that are there: what sizes claim is held against those. */
function withinLimits({ info, layers, issues }: Subject): void {
  issues.requireWithin('pieces', info.pieces?.length ?? 0);
  issues.requireWithin('pieces', layers ? sum([...layers.values()]) : 0);
  issues.requireWithin('padding', sum((info.files ?? []).filter(isPadFile)));
}

/** Before all others: a newer version may mean anything (BEP 52). */
function metaVersion({ version, info, has, issues }: Subject): void {
  const at = ['info', 'meta version'];
  const { metaVersion: value } = info;
  if (value != null && value > 2) issues.add('meta_version', at, `expected 2, got ${value}: made by a newer version`);
  else if (version === 'v1') return;
  else if (value == null && has('meta version') && issues.compat)
    issues.add('meta_version', at, 'expected 2, got no integer');
  else if (value != null && value !== 2) issues.add('meta_version', at, `expected 2, got ${value}`);
  else if (!has('meta version') && issues.profile !== 'default')
    issues.add('meta_version', at, 'expected 2, got nothing');
}

/** On-disk keys that an infodict of a version must not have. */
const OF_OTHER_VERSION = { v1: ['file tree'], v2: ['pieces', 'length', 'files'], hybrid: [] } as const;

/** The fields that tell v1 and v2 infodicts apart. A hybrid has both. */
export function disallowedFields({ version, info, has, issues }: Subject): void {
  if (version === 'v1' && has('meta version') && (info.metaVersion ?? 0) <= 2) {
    const message = 'expected no meta version without a file tree';
    // libtorrent looks for the tree when it says 2.
    if (info.metaVersion === 2) issues.add('disallowedFields', ['info', 'meta version'], message);
    else issues.forgivable('disallowedFields', ['info', 'meta version'], message);
  }
  for (const key of OF_OTHER_VERSION[version]) {
    if (has(key)) issues.forgivable('disallowedFields', ['info', key], `expected no ${key} in a ${version} infodict`);
  }
}

/** The name is where a client puts the torrent: a file of that name, or a folder. `name.utf-8` is what libtorrent takes. */
function safeName({ version, info, has, flat, issues }: Subject): void {
  const single = version === 'v1' ? !has('files') : flat?.length === 1 && flat[0]?.path.join('/') === info.name;
  const used = info.nameUtf8 == null ? 'name' : 'name.utf-8';
  for (const [key, name] of [
    ['name', info.name],
    ['name.utf-8', info.nameUtf8],
  ] as const) {
    const problem = name == null || issues.covers(['info', key]) ? null : unsafeComponent(name);
    if (!problem) continue;
    const message = `${problem} as the name: ${shown(name)}`;
    // libtorrent names a folder by its infohash then, but has no name for a file.
    const left = (name as string).replace(/[/\\\0]/g, '');
    const nameless = key === used && ['', '.', '..'].includes(left) && single;
    if (nameless) issues.add('unsafe_path', ['info', key], message);
    else issues.forgivable('unsafe_path', ['info', key], message);
  }
}

export function lengthXorFiles({ version, has, issues }: Subject): void {
  if (version === 'v2' || has('length') !== has('files')) return;
  if (!has('length')) issues.add('lengthXorFiles', ['info'], 'expected length (a single file) or files, got neither');
  else issues.forgivable('lengthXorFiles', ['info'], 'expected length (a single file) or files, got both');
}

/** The v1 list as a list, a single file as one of one; null when it did not decode. */
export function v1Files({
  name,
  length,
  files,
}: Pick<InfoDictHybridCreate, 'name' | 'length' | 'files'>): FileItem[] | null {
  if (files) return files;
  return length != null ? [{ path: [name ?? ''], length }] : null;
}

function sum(files: readonly { length: number }[]): number {
  return files.reduce((total, file) => total + file.length, 0);
}

/** Clients refuse a torrent of nothing. */
function contentExpected({ version, info, flat, issues }: Subject): void {
  const files = version === 'v2' ? flat : v1Files(info)?.filter((file) => issues.compat || !isPadFile(file));
  if (files && sum(files) === 0) {
    issues.add(
      'empty_torrent',
      ['info'],
      `expected content, got ${files.length === 0 ? 'no files' : 'only empty files'}`,
    );
  }
  if (files && !Number.isSafeInteger(sum(files))) {
    issues.add('too_large', ['info'], 'expected at most 2^53 bytes in all, got more');
  }
}

/** What libtorrent's own integers hold, where what it refuses is to be refused. */
const LIBTORRENT_MOST_LENGTH = (2 ** 30 - 1) * 16384;
const LIBTORRENT_MOST_PIECE_LENGTH = 65535 * 16384;
const LIBTORRENT_MOST_PIECES = 2 ** 21;

function libtorrentLimits({ version, info, flat, issues }: Subject): void {
  if (!issues.compat) return;
  const most = LIBTORRENT_MOST_LENGTH;
  for (const [index, file] of (info.files ?? []).entries()) {
    if (file.length > most)
      issues.add('too_large', ['info', 'files', index, 'length'], `expected at most ${most}, got ${file.length}`);
  }
  for (const file of flat ?? []) {
    if (file.length > most)
      issues.add('too_large', [...treePath(file), 'length'], `expected at most ${most}, got ${file.length}`);
  }
  if (version !== 'v2' && info.length != null && info.length > most) {
    issues.add('too_large', ['info', 'length'], `expected at most ${most}, got ${info.length}`);
  }
  const length = info.pieceLength ?? 0;
  const files = version === 'v1' || !flat ? v1Files(info) : flat;
  const count = (file: { length: number }) => Math.ceil(file.length / length);
  const pieces =
    version === 'v1' ? (info.pieces?.length ?? 0) : (files ?? []).reduce((all, file) => all + count(file), 0);
  if (length > 0 && pieces > LIBTORRENT_MOST_PIECES) {
    issues.add('too_large', ['info'], `expected at most ${LIBTORRENT_MOST_PIECES} pieces, got ${pieces}`);
  }
  if (info.pieceLength != null && info.pieceLength > LIBTORRENT_MOST_PIECE_LENGTH) {
    const message = `expected at most ${LIBTORRENT_MOST_PIECE_LENGTH}, got ${info.pieceLength}`;
    issues.add('pieceLength', ['info', 'piece length'], message);
  }
}

/** As many pieces as the sizes imply, pads counted. */
export function expectedNPieces({ version, info, issues }: Subject): void {
  const files = v1Files(info);
  const { pieces, pieceLength } = info;
  if (version === 'v2' || !files || !pieces || !(pieceLength && pieceLength > 0)) return;
  const total = sum(files);
  const expected = Math.ceil(total / pieceLength);
  if (!Number.isSafeInteger(total) || pieces.length === expected) return;
  const message = `expected ${expected} pieces (${total} bytes by ${pieceLength}), got ${pieces.length}`;
  issues.add('expectedNPieces', ['info', 'pieces'], message);
}

/** The same of a draft: pads are in its list already, or will be added. */
export function draftNPieces(subject: Subject): void {
  const { files, pieces, pieceLength } = subject.info;
  const padded = files && pieces && isPowerOfTwo(pieceLength) ? sum(addPadfiles(files, pieceLength)) : 0;
  if (padded > 0 && pieces?.length === Math.ceil(padded / (pieceLength as number))) return;
  expectedNPieces(subject);
}

export function padfileAlignment({ version, info, context, issues }: Subject): void {
  const { files, pieceLength } = info;
  if (version === 'v2' || !files || !(pieceLength && pieceLength > 0)) return;
  const { padding = 'default' } = context;
  if (padding === 'forbid') {
    const pad = files.findIndex(isPadFile);
    if (pad >= 0) issues.add('padfileAlignment', ['info', 'files', pad], 'expected no pad files, got one');
    return;
  }
  const strict =
    padding === 'strict' || (padding === 'default' && (version === 'hybrid' || issues.profile === 'strict'));
  const unaligned = strict ? firstUnaligned(files, pieceLength) : -1;
  if (unaligned < 0) return;
  const start = sum(files.slice(0, unaligned));
  const message = `expected a file to start at a multiple of ${pieceLength}, got ${start}`;
  issues.add('padfileAlignment', ['info', 'files', unaligned], message);
}

function padPath({ version, info, context, issues }: Subject): void {
  const strict = context.paddingPath === 'strict' || (context.paddingPath === undefined && issues.profile === 'strict');
  if (version === 'v2' || !strict) return;
  for (const [index, file] of (info.files ?? []).entries()) {
    const named = file.path.length === 2 && file.path[0] === '.pad' && file.path[1] === String(file.length);
    if (!isPadFile(file) || named) continue;
    const message = `expected .pad/${file.length}, got ${shown(file.path.join('/'))}`;
    issues.add('padPath', ['info', 'files', index, 'path'], message);
  }
}

/** Deeper than any file system goes: a path of a million components must not take a million steps of its length each. */
const MOST_DEPTH = 256;

/** No path twice, and none that leads through a file; pads may share theirs. A tree cannot say either. */
function duplicatePaths({ version, info, issues }: Subject): void {
  if (version === 'v2' || !info.files || areInOrder(info.files)) return;
  const files = new Set<string>();
  const folders = new Set<string>();
  for (const [index, file] of info.files.entries()) {
    if (isPadFile(file)) continue;
    const path = file.path.join('/');
    const before = files.size;
    let twice = files.add(path).size === before || folders.has(path);
    let depth = 0;
    for (let end = path.lastIndexOf('/'); end > 0 && depth < MOST_DEPTH; end = path.lastIndexOf('/', end - 1)) {
      depth += 1;
      const folder = path.slice(0, end);
      twice ||= files.has(folder);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    if (twice) {
      const message = `expected different paths, got ${shown(path)} where another file is`;
      issues.forgivable('duplicate_path', ['info', 'files', index, 'path'], message);
    }
  }
}

/**
 * Whether every path comes after the one before it, by components, and does not begin with it: then all differ and none
 * leads through another, for what begins with a path would come right after it.
 */
function areInOrder(files: readonly FileItem[]): boolean {
  let last: readonly string[] = [];
  for (const file of files) {
    if (isPadFile(file)) continue;
    const { path } = file;
    let i = 0;
    while (i < last.length && last[i] === path[i]) i += 1;
    const [before, after] = [last[i], path[i]];
    if (last.length > 0 && (before === undefined || after === undefined || before > after)) return false;
    // With a slash in it, one component is as good as two.
    for (; i < path.length; i += 1) if (path[i]?.includes('/')) return false;
    last = path;
  }
  return true;
}

/** The place of a file in the tree, by on-disk keys. */
function treePath(file: FlatFile): string[] {
  return ['info', 'file tree', ...file.path.map(latin1Of), ''];
}

/** The last long name as a key: many issues may lie in one folder, and its name may be a megabyte. */
let lastLong = { name: '', key: '' };

function latin1Of(name: string): string {
  if (name.length < 1024) return toKey(name);
  if (lastLong.name !== name) lastLong = { name, key: toKey(name) };
  return lastLong.key;
}

/** Content has a root; no content has none. */
function piecesRoots({ flat, issues }: Subject): void {
  for (const file of flat ?? []) {
    const { length, piecesRoot, attr } = file;
    if (attr?.includes('l')) continue;
    const at = () => [...treePath(file), 'pieces root'];
    if (length === 0 && piecesRoot)
      issues.forgivable('pieces_root', at(), 'expected no pieces root for an empty file, got one');
    if (length > 0 && !piecesRoot && !issues.covers(at()))
      issues.add('pieces_root', at(), `expected a pieces root for ${length} bytes, got nothing`);
    if (piecesRoot?.every((byte) => byte === 0)) issues.add('pieces_root', at(), 'expected a hash, got 32 zero bytes');
  }
}

/**
 * Same files of the same sizes in the same order, pads aside. Where empty files stand among the others is compared only
 * in compat: libtorrent does.
 */
export function v1V2FilesMatch({ version, info, flat, issues }: Subject): void {
  const list = v1Files(info);
  // libtorrent compares what a v2 infodict should not have, too.
  const compared = version === 'hybrid' || (version === 'v2' && issues.compat);
  if (!compared || !list || !flat) return;
  const { length, name } = info;
  // Without a name there is nothing to compare.
  const single = !info.files && length != null;
  if (single && name == null) return;
  const first = flat[0]?.path[0];
  if (single && flat.length === 1 && first !== name) {
    const message = `expected ${shown(name)} in the file tree, got ${shown(first)}`;
    issues.add('name_mismatch', ['info', 'file tree'], message);
    if (flat[0]?.length === length) return;
    issues.add('v1V2FilesMatch', ['info', 'length'], `expected ${flat[0]?.length} bytes (as in v2), got ${length}`);
    return;
  }
  // A folder of nothing is in no list of files, yet it makes the tree that of a folder: compat has warned of it.
  if (single && issues.compat && issues.covers(['info', 'file tree'])) {
    issues.add('v1V2FilesMatch', ['info', 'length'], 'expected one file and nothing else in the file tree, got more');
    return;
  }
  const v1 = list.filter((file) => !isPadFile(file));
  const content = <T extends { length: number }>(files: readonly T[]) =>
    issues.compat ? files : files.filter((file) => file.length > 0);
  const [ours, theirs] = [content(v1), content(flat)];
  const at = ['info', info.files ? 'files' : 'length'];
  // What an empty file is called makes no difference to libtorrent.
  const same = (a: FileItem, b: FlatFile) => (issues.compat && a.length + b.length === 0) || sameFile(a, b);
  const index = ours.findIndex((file, i) => !theirs[i] || !same(file, theirs[i]));
  if (index >= 0 || ours.length !== theirs.length) {
    const which = index >= 0 ? index : ours.length;
    const message = `expected ${describe(theirs[which])} as file ${which} (as in v2), got ${describe(ours[which])}`;
    issues.add('v1V2FilesMatch', at, message);
    return;
  }
  const moved = firstMoved(info.files ?? [], info.pieceLength);
  if (moved >= 0) {
    const message = `expected every file at the start of the next piece, as in v2, got file ${moved} after it`;
    issues.add('v1V2FilesMatch', at, message);
    return;
  }
  if (issues.compat) return;
  const empty = (files: readonly { length: number; path: string[] }[]) =>
    new Set(files.filter((file) => file.length === 0).map((file) => file.path.join('/')));
  const [emptyV1, emptyV2] = [empty(v1), empty(flat)];
  const odd = [...emptyV1].find((path) => !emptyV2.has(path)) ?? [...emptyV2].find((path) => !emptyV1.has(path));
  if (odd !== undefined)
    issues.add('v1V2FilesMatch', at, `expected the same empty files in v1 and v2, got ${shown(odd)} in one`);
}

/**
 * The index of the first file with content that starts at a later piece than in v2, where each starts at the next one;
 * -1 when none does, or when files start within pieces, which is another rule's to say.
 */
function firstMoved(files: readonly FileItem[], pieceLength: number | null | undefined): number {
  if (!(pieceLength && pieceLength > 0) || firstUnaligned(files, pieceLength) >= 0) return -1;
  let [start, expected] = [0, 0];
  for (const [index, file] of files.entries()) {
    if (!isPadFile(file) && file.length > 0) {
      if (start !== expected) return index;
      expected = Math.ceil((start + file.length) / pieceLength) * pieceLength;
    }
    start += file.length;
  }
  return -1;
}

function describe(file: { path: string[]; length: number } | undefined): string {
  return file ? `${shown(file.path.join('/'))} of ${file.length} bytes` : 'nothing';
}

function sameFile(a: FileItem, b: FlatFile): boolean {
  return a.length === b.length && a.path.length === b.path.length && a.path.every((part, i) => part === b.path[i]);
}

export function pieceLayersIfV2({ version, layers, issues }: Subject): void {
  if (version === 'v1' || layers !== null) return;
  issues.forgivable('pieceLayersIfV2', ['piece layers'], 'expected piece layers, got nothing');
}

/** Each file longer than a piece has a layer with a hash for each piece, which hashes to its root; nothing else has. */
export function piecesLayersCorrect({ version, info, flat, layers, issues }: Subject): void {
  const { pieceLength } = info;
  if (version === 'v1' || !flat || !layers || !isPowerOfTwo(pieceLength) || pieceLength < BLOCK_SIZE) return;
  const expected = new Map<string, FlatFile>();
  for (const file of flat) {
    if (file.length > pieceLength && file.piecesRoot) expected.set(toHex(file.piecesRoot), file);
  }
  const at = (root: string) => ['piece layers', keyOf(root)];
  const right: string[] = [];
  for (const [root, file] of expected) {
    const layer = layers.get(root);
    const count = Math.ceil(file.length / pieceLength);
    const path = shown(file.path.join('/'));
    if (!layer && issues.covers(at(root))) continue;
    if (!layer) issues.forgivable('piecesLayersCorrect', at(root), `expected a layer for ${path}, got nothing`);
    else if (layer.length === count) right.push(root);
    else issues.add('piecesLayersCorrect', at(root), `expected ${count} hashes for ${path}, got ${layer.length}`);
  }
  for (const root of layers.keys()) {
    if (root.length === 64 && !expected.has(root)) {
      issues.forgivable(
        'piecesLayersCorrect',
        at(root),
        'expected no layer: no file longer than a piece has this root',
      );
    }
  }
  const roots = layerRoots(
    right.map((root) => layers.get(root)?.bytes as Uint8Array),
    pieceLength / BLOCK_SIZE,
  );
  for (const [i, root] of right.entries()) {
    const got = toHex(roots.subarray(i * 32, (i + 1) * 32));
    if (got !== root)
      issues.forgivable('piecesLayersCorrect', at(root), `expected hashes whose root is ${root}, got ${got}`);
  }
}

function keyOf(root: string): string {
  return Buffer.from(root, 'hex').toString('latin1');
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
