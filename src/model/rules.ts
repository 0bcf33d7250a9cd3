import { omit, type Struct, validate } from 'superstruct';
import { toKey } from '../bencode/value.ts';
import { shown, toHex } from '../errors/errors.ts';
import { layerRoots } from '../hash/merkle.ts';
import { addPadfiles, firstMispadded, firstUnaligned } from '../layout/padding.ts';
import { BLOCK_SIZE, isPowerOfTwo } from '../layout/piece-length.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { INFO } from './codec.ts';
import type { TorrentVersion } from './discriminator.ts';
import { type FileItem, v1Files } from './file-item.ts';
import type { FlatFile } from './file-tree.ts';
import { v1_v2_files_match } from './files-match.ts';
import type { InfoDictHybridCreate } from './info-dict.ts';
import { HYBRID_FIELDS, V1_FIELDS, V2_FIELDS } from './info-fields.ts';
import type { Issues, ValidationContext } from './issues.ts';
import type { PieceLayers } from './piece-layers.ts';

/** What the rules look at. A field that did not decode is absent: each rule checks what it still can. */
export interface Subject {
  version: TorrentVersion;
  info: Omit<InfoDictHybridCreate, 'fileTree'>;
  /** Whether the infodict has an on-disk key, decoded or not. */
  has(key: string): boolean;
  /** Null when the key is absent, undefined when it did not decode. */
  layers: PieceLayers | null | undefined;
  /** Tells the pad files of `info.files`. */
  isPad(file: FileItem): boolean;
  /** The flattened tree; null when there is none to look at. */
  flat: FlatFile[] | null;
  context: ValidationContext;
  issues: Issues;
}

/** Every rule, in the order of their reports. Each looks at what it needs and passes over the rest. */
const RULES: readonly ((subject: Subject) => void)[] = [
  withinLimits,
  metaVersion,
  disallowed_fields,
  structure,
  safeName,
  length_xor_files,
  contentExpected,
  libtorrentLimits,
  pieceLengthOfClients,
  expected_n_pieces,
  padfile_alignment,
  pad_path,
  duplicatePaths,
  libtorrentNames,
  piecesRoots,
  v1_v2_files_match,
  piece_layers_if_v2,
  pieces_layers_correct,
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
    else if (version === 'v1' && (value as number) > 0) {
      issues.forgivable(type as 'piece_length', ['info', key], lowerFirst(message));
    } else issues.add(type as 'piece_length', ['info', key], lowerFirst(message));
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
function withinLimits({ info, isPad, layers, issues }: Subject): void {
  issues.requireWithin('pieces', info.pieces?.length ?? 0);
  issues.requireWithin('pieces', layers ? sum([...layers.values()]) : 0);
  issues.requireWithin('padding', sum((info.files ?? []).filter(isPad)));
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
  else if (!has('meta version')) {
    // The models take it for 2, libtorrent refuses it.
    const severity = issues.profile === 'default' ? 'warning' : 'error';
    issues.add('meta_version', at, 'expected 2, got nothing', severity);
  }
}

/** On-disk keys that an infodict of a version must not have. */
const OF_OTHER_VERSION = { v1: ['file tree'], v2: ['pieces', 'length', 'files'], hybrid: [] } as const;

/** The fields that tell v1 and v2 infodicts apart. A hybrid has both. */
export function disallowed_fields({ version, info, has, issues }: Subject): void {
  if (version === 'v1' && has('meta version') && (info.metaVersion ?? 0) <= 2) {
    const message = 'expected no meta version without a file tree';
    // libtorrent looks for the tree when it says 2.
    if (info.metaVersion === 2) issues.add('disallowed_fields', ['info', 'meta version'], message);
    else issues.forgivable('disallowed_fields', ['info', 'meta version'], message);
  }
  for (const key of OF_OTHER_VERSION[version]) {
    if (has(key)) issues.forgivable('disallowed_fields', ['info', key], `expected no ${key} in a ${version} infodict`);
  }
}

/** The name is where a client puts the torrent: a file of that name, or a folder. `name.utf-8` is what libtorrent takes. */
function safeName({ version, info, has, issues }: Subject): void {
  const single = !has('files') && (version !== 'v2' || has('length'));
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

export function length_xor_files({ version, has, issues }: Subject): void {
  if (version === 'v2' || has('length') !== has('files')) return;
  if (!has('length')) issues.add('length_xor_files', ['info'], 'expected length (a single file) or files, got neither');
  else issues.forgivable('length_xor_files', ['info'], 'expected length (a single file) or files, got both');
}

function sum(files: readonly { length: number }[]): number {
  return files.reduce((total, file) => total + file.length, 0);
}

/** Clients refuse a torrent of nothing. */
function contentExpected({ version, info, isPad, flat, issues }: Subject): void {
  const files = version === 'v2' ? flat : v1Files(info)?.filter((file) => issues.compat || !isPad(file));
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
export const LIBTORRENT_MOST_LENGTH = (2 ** 30 - 1) * 16384;
export const LIBTORRENT_MOST_PIECE_LENGTH = 32767 * 16384;
export const LIBTORRENT_MOST_PIECES = 2 ** 21;

function libtorrentLimits({ version, info, flat, issues }: Subject): void {
  if (!issues.compat) return;
  const most = LIBTORRENT_MOST_LENGTH;
  for (const [index, file] of (info.files ?? []).entries()) {
    if (file.length > most)
      issues.add('too_large', ['info', 'files', index, 'length'], () => `expected at most ${most}, got ${file.length}`);
  }
  for (const file of flat ?? []) {
    if (file.length > most)
      issues.add(
        'too_large',
        () => [...treePath(file), 'length'],
        () => `expected at most ${most}, got ${file.length}`,
      );
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
}

/** Longer pieces are within BEP 3, but libtorrent refuses them. */
function pieceLengthOfClients({ info, issues }: Subject): void {
  if (info.pieceLength == null || info.pieceLength <= LIBTORRENT_MOST_PIECE_LENGTH) return;
  const message = `expected at most ${LIBTORRENT_MOST_PIECE_LENGTH}, which is all that libtorrent loads, got ${info.pieceLength}`;
  const severity = issues.profile === 'default' ? 'warning' : 'error';
  issues.add('piece_length', ['info', 'piece length'], message, severity);
}

/** As many pieces as the sizes imply, pads counted. */
export function expected_n_pieces({ version, info, issues }: Subject): void {
  const files = v1Files(info);
  const { pieces, pieceLength } = info;
  if (version === 'v2' || !files || !pieces || !(pieceLength && pieceLength > 0)) return;
  const total = sum(files);
  const expected = Math.ceil(total / pieceLength);
  if (!Number.isSafeInteger(total) || pieces.length === expected) return;
  const message = `expected ${expected} pieces (${total} bytes by ${pieceLength}), got ${pieces.length}`;
  issues.add('expected_n_pieces', ['info', 'pieces'], message);
}

/** The same of a draft: pads are in its list already, or will be added. */
export function draftNPieces(subject: Subject): void {
  const { files, pieces, pieceLength } = subject.info;
  const padded = files && pieces && isPowerOfTwo(pieceLength) ? sum(addPadfiles(files, pieceLength)) : 0;
  if (padded > 0 && pieces?.length === Math.ceil(padded / (pieceLength as number))) return;
  expected_n_pieces(subject);
}

/** A v1 list without pad files has nothing to align; a hybrid's pad files are compared with its tree, too. */
export function padfile_alignment({ version, info, isPad, context, issues }: Subject): void {
  const { files, pieceLength } = info;
  if (version === 'v2' || !files || !(pieceLength && pieceLength > 0)) return;
  const { padding = 'default' } = context;
  const at = (index: number) => ['info', 'files', index];
  const pad = files.findIndex(isPad);
  if (padding === 'forbid') {
    if (pad >= 0) issues.add('padfile_alignment', at(pad), 'expected no pad files, got one');
    return;
  }
  const strict = padding === 'strict' || (padding === 'default' && issues.profile === 'strict');
  if (!(version === 'hybrid' ? strict || padding === 'default' : strict && pad >= 0)) return;
  const unaligned = firstUnaligned(files, pieceLength);
  if (unaligned >= 0) {
    const start = sum(files.slice(0, unaligned));
    const message = `expected a file to start at a multiple of ${pieceLength}, got ${start}`;
    issues.add('padfile_alignment', at(unaligned), message);
    return;
  }
  const wrong = version === 'v1' ? firstMispadded(files, pieceLength) : -1;
  if (wrong < 0) return;
  const message = `expected a pad file that ends where the next piece starts, got one of ${files[wrong]?.length} bytes`;
  issues.add('padfile_alignment', at(wrong), message);
}

function pad_path({ version, info, isPad, context, issues }: Subject): void {
  const strict = context.paddingPath === 'strict' || (context.paddingPath === undefined && issues.profile === 'strict');
  if (version === 'v2' || !strict) return;
  for (const [index, file] of (info.files ?? []).entries()) {
    const named = file.path.length === 2 && file.path[0] === '.pad' && file.path[1] === String(file.length);
    if (!isPad(file) || named) continue;
    const message = () => `expected .pad/${file.length}, got ${shown(file.path.join('/'))}`;
    issues.add('pad_path', ['info', 'files', index, 'path'], message);
  }
}

/** Deeper than any file system goes: a path of a million components must not take a million steps of its length each. */
const MOST_DEPTH = 256;
/** Characters of different folders, each by its whole path: many files may each lie beneath many folders of their own. */
const MOST_FOLDERS = 2 ** 25;

/** No path twice, and none that leads through a file; pads may share theirs. A tree cannot say either. */
function duplicatePaths({ version, info, isPad, issues }: Subject): void {
  if (version === 'v2' || !info.files || areInOrder(info.files, isPad)) return;
  const files = new Set<string>();
  const folders = new Set<string>();
  const room = { left: MOST_FOLDERS };
  for (const [index, file] of info.files.entries()) {
    if (isPad(file)) continue;
    const path = file.path.join('/');
    const before = files.size;
    let twice = files.add(path).size === before || folders.has(path);
    for (const folder of foldersOf(path, room)) {
      twice ||= files.has(folder);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    if (twice) {
      const message = () => `expected different paths, got ${shown(path)} where another file is`;
      issues.forgivable('duplicate_path', ['info', 'files', index, 'path'], message);
    }
  }
}

/** As many names as libtorrent tries in all before it refuses a torrent whose files have the same paths. */
const LIBTORRENT_MOST_TRIES = 500;

/**
 * libtorrent renames each file whose path, in any case of letters, is that of another file or of a folder: to `a.1.txt`, or
 * to the next number that is free.
 */
function libtorrentNames({ version, info, isPad, flat, issues }: Subject): void {
  if (!issues.compat) return;
  const files = version === 'v1' ? (info.files ?? []).filter((file) => !isPad(file)) : (flat ?? []);
  const paths = files.map((file: FlatFile | FileItem) =>
    lowerCase('pathUtf8' in file && file.pathUtf8 ? file.pathUtf8 : file.path),
  );
  const taken = new Set<string>();
  const room = { left: MOST_FOLDERS };
  for (const path of paths) {
    for (const folder of foldersOf(path, room)) {
      if (taken.has(folder)) break;
      taken.add(folder);
    }
  }
  let tries = 0;
  for (const path of paths) {
    const dot = path.lastIndexOf('.') > path.lastIndexOf('/') ? path.lastIndexOf('.') : path.length;
    let free = path;
    for (let n = 1; taken.has(free); n += 1) {
      free = `${path.slice(0, dot)}.${n}${path.slice(dot)}`;
      if (taken.has(free)) tries += 1;
      if (tries <= LIBTORRENT_MOST_TRIES) continue;
      const message = `expected different paths, got so many equal ones that libtorrent gives up after ${LIBTORRENT_MOST_TRIES} new names`;
      issues.add('duplicate_path', ['info', version === 'v1' ? 'files' : 'file tree'], message);
      return;
    }
    taken.add(free);
  }
}

/** As libtorrent does it: letters of ASCII alone. */
function lowerCase(path: readonly string[]): string {
  return path.join('/').replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The folders above a file, the deepest first; of a very deep one, not all. */
function* foldersOf(path: string, room: { left: number }): Generator<string> {
  let depth = 0;
  for (let end = path.lastIndexOf('/'); end > 0 && depth < MOST_DEPTH; end = path.lastIndexOf('/', end - 1)) {
    depth += 1;
    room.left -= end;
    if (room.left < 0) return;
    yield path.slice(0, end);
  }
}

/**
 * Whether every path comes after the one before it, by components, and does not begin with it: then all differ and none
 * leads through another, for what begins with a path would come right after it.
 */
function areInOrder(files: readonly FileItem[], isPad: Subject['isPad']): boolean {
  let last: readonly string[] = [];
  for (const file of files) {
    if (isPad(file)) continue;
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
    const isZero = piecesRoot?.every((byte) => byte === 0);
    if (length === 0 && piecesRoot) {
      const message = 'expected no pieces root for an empty file, got one';
      // Deluge writes zeros.
      if (isZero && issues.profile === 'default') issues.add('pieces_root', at, message, 'warning');
      else issues.forgivable('pieces_root', at, message);
    } else if (isZero) issues.add('pieces_root', at, 'expected a hash, got 32 zero bytes');
    if (length > 0 && piecesRoot === undefined)
      issues.add('pieces_root', at, () => `expected a pieces root for ${length} bytes, got nothing`);
  }
}

export function piece_layers_if_v2({ version, layers, issues }: Subject): void {
  if (version === 'v1' || layers !== null) return;
  issues.forgivable('piece_layers_if_v2', ['piece layers'], 'expected piece layers, got nothing');
}

/** Each file longer than a piece has a layer with a hash for each piece, which hashes to its root; nothing else has. */
export function pieces_layers_correct({ version, info, flat, layers, issues }: Subject): void {
  const { pieceLength } = info;
  if (version === 'v1' || !flat || !layers || !isPowerOfTwo(pieceLength) || pieceLength < BLOCK_SIZE) return;
  const expected = new Map<string, FlatFile>();
  for (const file of flat) {
    if (file.length > pieceLength && file.piecesRoot) expected.set(toHex(file.piecesRoot), file);
  }
  const at = (root: string) => () => ['piece layers', keyOf(root)];
  const right: string[] = [];
  for (const [root, file] of expected) {
    const layer = layers.get(root);
    const count = Math.ceil(file.length / pieceLength);
    const path = () => shown(file.path.join('/'));
    if (!layer && issues.covers(at(root))) continue;
    if (!layer)
      issues.forgivable('pieces_layers_correct', at(root), () => `expected a layer for ${path()}, got nothing`);
    else if (layer.length === count) right.push(root);
    else
      issues.add(
        'pieces_layers_correct',
        at(root),
        () => `expected ${count} hashes for ${path()}, got ${layer.length}`,
      );
  }
  for (const root of layers.keys()) {
    if (root.length === 64 && !expected.has(root))
      issues.add('pieces_layers_correct', at(root), 'expected no layer: no file longer than a piece has this root');
  }
  const roots = layerRoots(
    right.map((root) => layers.get(root)?.bytes as Uint8Array),
    pieceLength / BLOCK_SIZE,
  );
  for (const [i, root] of right.entries()) {
    const got = toHex(roots.subarray(i * 32, (i + 1) * 32));
    if (got !== root)
      issues.add('pieces_layers_correct', at(root), () => `expected hashes whose root is ${root}, got ${got}`);
  }
}

function keyOf(root: string): string {
  return Buffer.from(root, 'hex').toString('latin1');
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
