/** The validation rules of a torrent: the list of all, and those of the info dictionary as a whole. */
import { omit, type Struct, validate } from 'superstruct';
import { toKey } from '../../bencode/value.ts';
import { ISSUE_SPECS, type IssueCode } from '../../errors/codes.ts';
import { shown } from '../../errors/errors.ts';
import { libtorrentName } from '../../layout/libtorrent-names.ts';
import { unsafeComponent } from '../../layout/safe-path.ts';
import { latin1Text } from '../../platform/node.ts';
import { INFO } from '../codec.ts';
import { v1Files } from '../file-item.ts';
import { HYBRID_FIELDS, V1_FIELDS, V2_FIELDS } from '../info-fields.ts';
import type { Issues } from '../issues.ts';
import { LIBTORRENT_MAX_LENGTH, LIBTORRENT_MAX_PIECE_LENGTH, LIBTORRENT_MAX_PIECES } from '../limits.ts';
import { fits, sparse } from '../primitives.ts';
import { duplicatePaths, libtorrentRenames } from './duplicate-paths.ts';
import { v1V2FilesMatch } from './hybrid.ts';
import { pieceLayersIfV2, piecesLayersCorrect, piecesRoots } from './layers.ts';
import { expectedNPieces, padfileAlignment, padPath } from './pieces.ts';
import { pathOfLeaf, type Subject, totalLength } from './subject.ts';

type Rule = (subject: Subject) => void;

/** All rules in the order of their reports. A rule skips a subject that it does not apply to. Most rules have the name of their issue code. */
const RULES: readonly Rule[] = [
  withinLimits,
  metaVersion,
  disallowedFields,
  structure,
  safeName,
  singleFileFlags,
  lengthXorFiles,
  notEmpty,
  libtorrentSizes,
  maxPieceLength,
  expectedNPieces,
  padfileAlignment,
  padPath,
  duplicatePaths,
  libtorrentRenames,
  piecesRoots,
  v1V2FilesMatch,
  pieceLayersIfV2,
  piecesLayersCorrect,
];

/** Runs every rule over an info dictionary and its piece layers. */
export function checkRules(subject: Subject): void {
  for (const rule of RULES) rule(subject);
}

/** The rules of keys, which a creation may break through the unknown keys of a draft. */
const KEY_RULES: readonly Rule[] = [metaVersion, disallowedFields, safeName, lengthXorFiles, maxPieceLength];

/** Runs the rules of keys, for a torrent whose files, hashes, name and piece length are known to be valid. */
export function checkKeys(subject: Subject): void {
  for (const rule of KEY_RULES) rule(subject);
}

/** The rules that files do not satisfy by being usual. They need no files but those longer than a piece. */
const RULES_BESIDE_FILES: readonly Rule[] = [
  withinLimits,
  ...KEY_RULES,
  structure,
  singleFileFlags,
  pieceLayersIfV2,
  piecesLayersCorrect,
];

/** Runs the rules for a torrent of usual files: see `TorrentContent` in src/model/torrent/content.ts. */
export function checkBesideFiles(subject: Subject): void {
  for (const rule of RULES_BESIDE_FILES) rule(subject);
}

// Files and trees are left out, because they are checked while they are decoded.
const makeStructs = () => ({
  v1: sparse(omit(V1_FIELDS, ['files'])),
  v2: sparse(omit(V2_FIELDS, ['fileTree'])),
  hybrid: sparse(omit(HYBRID_FIELDS, ['files', 'fileTree'])),
});

/** Made when they are first used: a creation does not need them. */
let structs: ReturnType<typeof makeStructs> | undefined;

/** Checks required fields and values by the struct of the version, and reports them under their on-disk keys. */
function structure({ version, info, has, issues }: Subject): void {
  structs ??= makeStructs();
  for (const { path, value, type, message } of failuresOf(info, structs[version] as unknown as Struct)) {
    const property = path[0] as keyof typeof INFO;
    const { key } = INFO[property];
    if (issues.covers(['info', key])) continue;
    if (value === undefined && !has(key)) issues.add('required', ['info', key], `expected ${key}, got nothing`);
    else if (property !== 'pieceLength') issues.add('type', ['info', key], message);
    else if (version !== 'v1' || !((value as number) > 0)) issues.add(type as 'piece_length', ['info', key], message);
    else issues.forgivable(type as 'piece_length', ['info', key], message);
  }
}

/** The failures of a value in a struct; none for a valid value. */
export function failuresOf(
  value: unknown,
  struct: Struct,
): { path: string[]; value: unknown; type: string; refinement: string | undefined; message: string }[] {
  if (fits(value, struct)) return [];
  const [error] = validate(value, struct);
  return (error?.failures() ?? []).map((failure) => ({ ...failure, path: failure.path as string[] }));
}

/** Adds an issue for each failure of a struct, with the code of the refinement or type that failed. */
export function addFailures(issues: Issues, value: unknown, struct: Struct): void {
  for (const { path, message, type, refinement } of failuresOf(value, struct)) {
    const rule = refinement ?? type;
    // Names of files are text. Issues have one character per byte.
    const steps = path.map((step) => (typeof step === 'string' ? toKey(step) : step));
    issues.add(Object.hasOwn(ISSUE_SPECS, rule) ? (rule as IssueCode) : 'type', steps, message);
  }
}

/** Applies the caller's limits to the hashes that are there, not to the number that the sizes imply: another rule compares those. */
function withinLimits({ info, isPad, layers, issues }: Subject): void {
  issues.requireWithin('pieces', info.pieces?.length ?? 0);
  issues.requireWithin('pieces', layers ? totalLength([...layers.values()]) : 0);
  issues.requireWithin('padding', totalLength((info.files ?? []).filter(isPad)));
}

/** Comes before all other rules: in a newer version, every key may have another meaning (BEP 52). */
export function metaVersion({ version, info, has, issues }: Subject): void {
  const path = ['info', 'meta version'];
  const { metaVersion: value } = info;
  if (value != null && value > 2)
    issues.add('meta_version', path, `expected 2, got ${value}: a version that this library does not support`);
  else if (value != null && !Number.isInteger(value))
    issues.add('type', path, `expected an integer, got ${shown(value)}`);
  else if (version === 'v1') return;
  else if (value == null && has('meta version') && issues.compat)
    issues.add('meta_version', path, 'expected 2, got a value that is not an integer');
  else if (value != null && value !== 2) issues.add('meta_version', path, `expected 2, got ${value}`);
  else if (!has('meta version')) {
    // The models read an absent version as 2; libtorrent refuses it.
    issues.add('meta_version', path, 'expected 2, got nothing', issues.rules.refusedByLibtorrent);
  }
}

/** On-disk keys that an info dictionary of each version must not have. */
const OF_OTHER_VERSION = { v1: ['file tree'], v2: ['pieces', 'length', 'files'], hybrid: [] } as const;

/** The keys of the other version are not allowed: they tell v1 and v2 info dictionaries apart. A hybrid has both. */
export function disallowedFields({ version, info, has, issues }: Subject): void {
  if (version === 'v1' && has('meta version') && (info.metaVersion ?? 0) <= 2) {
    const message = 'expected no meta version without a file tree';
    // libtorrent expects a file tree when the version is 2.
    if (info.metaVersion === 2) issues.add('disallowed_fields', ['info', 'meta version'], message);
    else issues.forgivable('disallowed_fields', ['info', 'meta version'], message);
  }
  for (const key of OF_OTHER_VERSION[version]) {
    if (has(key))
      issues.forgivable('disallowed_fields', ['info', key], `expected no ${key} in a ${version} info dictionary`);
  }
}

/** The name becomes a file or folder on disk, so it must be safe. libtorrent prefers `name.utf-8`. */
export function safeName({ version, info, has, flat, issues }: Subject): void {
  const single = !has('files') && (version !== 'v2' || has('length'));
  const used = info.nameUtf8 == null ? 'name' : 'name.utf-8';
  // libtorrent 2.0.14 loads a v2 torrent without a name for its only file, 2.0.8 does not. No release loads another one.
  const severity = version === 'v2' ? issues.rules.ignoredByClients : issues.rules.refusedByLibtorrent;
  const refuse = (path: readonly string[]) =>
    issues.add('unsafe_path', path, 'the name has only text direction marks, which libtorrent removes', severity);
  for (const [key, name] of [
    ['name', info.name],
    ['name.utf-8', info.nameUtf8],
  ] as const) {
    if (name == null || issues.covers(['info', key])) continue;
    const problem = unsafeComponent(name);
    const message = `${problem} as the name: ${shown(name)}`;
    // libtorrent then names a folder by its infohash, but has no name for a file.
    const nameless = key === used && single && /^\.{0,2}$/.test(libtorrentName(name));
    if (!problem) nameless && refuse(['info', key]);
    else if (nameless) issues.add('unsafe_path', ['info', key], message);
    else issues.forgivable('unsafe_path', ['info', key], message);
  }
  // In the folder of a hybrid, v1 has another name.
  const [file, more] = flat ?? [];
  if (single || more) return;
  if (file?.path.every((part) => libtorrentName(part) === '' && !unsafeComponent(part))) refuse(pathOfLeaf(file));
}

/** A single file has no flags in the models, but libtorrent reads them: a link then has no content, and a pad file is not shown. */
function singleFileFlags({ version, info, has, issues }: Subject): void {
  const attr = version !== 'v2' && has('length') ? info.extra?.get('attr') : undefined;
  const flags = attr instanceof Uint8Array ? latin1Text(attr) : '';
  const path = ['info', 'attr'];
  if (flags.includes('l'))
    issues.add('symlink', path, 'a single file cannot be a symbolic link', issues.rules.refusedByLibtorrent);
  if (flags.includes('p'))
    issues.add('padfile_alignment', path, 'a single file cannot be a pad file', issues.rules.ignoredByClients);
}

/** A v1 info dictionary has either `length` (a single file) or `files`. */
export function lengthXorFiles({ version, has, issues }: Subject): void {
  if (version === 'v2' || has('length') !== has('files')) return;
  if (!has('length')) issues.add('length_xor_files', ['info'], 'expected length (a single file) or files, got neither');
  else issues.forgivable('length_xor_files', ['info'], 'expected length (a single file) or files, got both');
}

/** Clients refuse a torrent without content. */
export function notEmpty({ version, info, isPad, flat, issues }: Subject): void {
  const files = version === 'v2' ? flat : v1Files(info)?.filter((file) => issues.compat || !isPad(file));
  if (!files) return;
  const total = totalLength(files);
  const got = files.length === 0 ? 'no files' : 'only empty files';
  if (total === 0) issues.add('empty_torrent', ['info'], `expected content, got ${got}`);
  if (!Number.isSafeInteger(total)) issues.add('too_large', ['info'], 'expected at most 2^53 bytes in all, got more');
}

/** In compat, sizes beyond those that libtorrent loads are errors. */
function libtorrentSizes({ version, info, flat, issues }: Subject): void {
  if (!issues.compat) return;
  const check = (bytes: number, pathOf: () => (string | number)[]) => {
    const message = () => `expected at most ${LIBTORRENT_MAX_LENGTH}, got ${bytes}`;
    if (bytes > LIBTORRENT_MAX_LENGTH) issues.add('too_large', pathOf, message);
  };
  for (const [i, file] of (info.files ?? []).entries()) check(file.length, () => ['info', 'files', i, 'length']);
  for (const file of flat ?? []) check(file.length, () => [...pathOfLeaf(file), 'length']);
  if (version !== 'v2') check(info.length ?? 0, () => ['info', 'length']);
  const length = info.pieceLength ?? 0;
  const files = version === 'v1' || !flat ? v1Files(info) : flat;
  const count = (file: { length: number }) => Math.ceil(file.length / length);
  const pieces =
    version === 'v1' ? (info.pieces?.length ?? 0) : (files ?? []).reduce((all, file) => all + count(file), 0);
  if (length > 0 && pieces > LIBTORRENT_MAX_PIECES) {
    issues.add('too_large', ['info'], `expected at most ${LIBTORRENT_MAX_PIECES} pieces, got ${pieces}`);
  }
}

/** Longer pieces are valid by BEP 3, but libtorrent refuses them. */
function maxPieceLength({ info, issues }: Subject): void {
  if (info.pieceLength == null || info.pieceLength <= LIBTORRENT_MAX_PIECE_LENGTH) return;
  const message = `expected at most ${LIBTORRENT_MAX_PIECE_LENGTH}, the longest that libtorrent loads, got ${info.pieceLength}`;
  issues.add('piece_length', ['info', 'piece length'], message, issues.rules.refusedByLibtorrent);
}
