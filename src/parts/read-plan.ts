/** Reads plans that came from elsewhere: checks all of them, and bounds the time and memory that they take. */
import { decode } from '../bencode/decode.ts';
import { DEFAULT_LIMITS } from '../bencode/limits.ts';
import type { BencodeMap, Encodable } from '../bencode/value.ts';
import type { ListedFile } from '../create/file-list.ts';
import { MAX_COMPONENTS } from '../create/findings/torrent-sizes.ts';
import { type LaidOutFile, layoutOfShape, type SizedLayout } from '../create/torrent-layout.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import {
  type AnyStruct,
  bytesOrNull,
  checkOptions,
  expected,
  Flag,
  isSize,
  type OptionStructs,
  oneOf,
  orNull,
  Path,
  passes,
  readSafely,
  Size,
  Text,
} from '../errors/guard.ts';
import { inSlices } from '../jobs/slices.ts';
import { FileTable, pathColumn } from '../layout/file-table.ts';
import { PAD_NAMES } from '../layout/padding.ts';
import { BLOCK_SIZE, checkPieceLength, isPowerOfTwo } from '../layout/piece-length.ts';
import { isSafePath, unsafeComponent } from '../layout/safe-path.ts';
import { TorrentVersion } from '../model/discriminator.ts';
import {
  PARTS_PLAN,
  type PartsPlan,
  type PlanFiles,
  type PlannedKeys,
  type SplitPlan,
  splitPlan,
  withId,
} from './plan.ts';
import { MOST, requireModest, wholePartSize } from './split-into-parts.ts';

/** @internal A checked plan, ready to be hashed in parts and to be joined. */
export interface CheckedPlan extends SplitPlan {
  id: string;
  root: string;
  /** The layout of the torrent; null in the plan of an engine. Its files have no paths on disk and no streams. */
  layout: SizedLayout | null;
}

/** Plans that were checked. A plan that its owner changes later is used as it was. */
const checked = new WeakMap<object, Promise<CheckedPlan>>();

/** @internal Checks a plan: the same object once. Throws `ERR_PLAN`. */
export function checkedPlan(given: PartsPlan): Promise<CheckedPlan> {
  if (typeof given !== 'object' || given === null) throw planError(`it is ${shown(given)}`);
  let found = checked.get(given);
  if (!found) {
    found = check(given);
    checked.set(given, found);
    found.catch(() => checked.delete(given));
  }
  return found;
}

const PARSE_PLAN: OptionStructs<{ root?: string | undefined }> = { root: Path };

/** The values that a text may have. A value of three bytes takes up to 64 bytes of memory; a plan of a million files has 4 million. */
const MOST_VALUES = 2 ** 25;

/**
 * Checks a plan that came from elsewhere. {@link hashPart} and {@link joinParts} do that too.
 *
 * @param source The JSON text of the plan, or the plan.
 * @param options How to read it.
 * @param options.root Another name for the path root, by which other machines know it. The plan then gets another id.
 * @returns The plan, with the number of its parts. Its `torrent` is null if a {@link partsEngine} made it.
 * @throws {MetainfoError} `ERR_PLAN`
 * @example
 * ```ts
 * import path from 'node:path';
 * import { parsePlan, planParts, TorrentCreate } from 'metainfo';
 *
 * const plan = await planParts(new TorrentCreate({ pathRoot: path.resolve('album') }));
 * const received = await parsePlan(Buffer.from(JSON.stringify(plan)));
 * console.log(received.parts, received.torrent?.name);
 * ```
 *
 * ```text
 * 1 album
 * ```
 */
export async function parsePlan(
  source: Uint8Array | PartsPlan,
  options: { root?: string | undefined } = {},
): Promise<PartsPlan> {
  const { root } = checkOptions(options, PARSE_PLAN, { example: "{ root: 'media/album' }" });
  const bytes = bytesOrNull(source);
  const plan = bytes ? parsed(bytes) : (source as PartsPlan);
  await checkedPlan(plan);
  return root === undefined || root === plan.root ? plan : withId({ ...plan, root });
}

function parsed(bytes: Uint8Array): PartsPlan {
  if (hasMoreValues(bytes, MOST_VALUES)) throw planError('it has too many values');
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  } catch (cause) {
    throw new MetainfoError('ERR_PLAN', 'The plan is not JSON.', { cause });
  }
}

/** Whether JSON text has more values than `most`. */
function hasMoreValues(text: Uint8Array, most: number): boolean {
  const [quote, backslash, ...separators] = Buffer.from('"\\,[{');
  let values = 1;
  let isText = false;
  for (let at = 0; at < text.length && values <= most; at += 1) {
    const byte = text[at] as number;
    if (byte === quote) isText = !isText;
    else if (isText) at += byte === backslash ? 1 : 0;
    else if (separators.includes(byte)) values += 1;
  }
  return values > most;
}

function planError(why: string): MetainfoError {
  return new MetainfoError('ERR_PLAN', `The plan cannot be used: ${why}. Make a new plan.`);
}

/** The components that a path may have. A path on disk has fewer; longer ones overflow the stack of recursive functions. */
const MOST_COMPONENTS = { v1: 4096, v2: MAX_COMPONENTS, hybrid: MAX_COMPONENTS };

/** A struct for each property of an object. No struct looks deep: values that share objects may be endless. */
type Structs = Readonly<Record<string, AnyStruct>>;

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isPath = (path: unknown): path is string[] =>
  Array.isArray(path) && path.length <= MOST_COMPONENTS.v1 && path.every((component) => typeof component === 'string');
const Column = expected('a column', (column) => Array.isArray(column) && column.length <= MOST.files);
const Dictionary = expected('an object', isObject);
/** Properties of some files, by their index. */
const ByFile = expected(
  'an object by file',
  (map) => isObject(map) && Object.keys(map).every((key) => /^(0|[1-9]\d{0,8})$/.test(key)),
);

const PLAN: Structs = {
  format: oneOf(PARTS_PLAN),
  nonce: orNull(Text),
  root: expected('a root', (root) => typeof root === 'string' && !root.includes('\0')),
  version: oneOf(...Object.keys(TorrentVersion)),
  pieceLength: Size,
  paddedFiles: Size,
  partSize: Size,
  parts: expected('a number of parts', (parts) => isSize(parts) && parts > 0 && parts <= MOST.parts),
  totalSize: Size,
  torrent: orNull(Dictionary),
  files: Dictionary,
};
const TORRENT: Structs = {
  name: expected('a name', (name) => typeof name === 'string' && !unsafeComponent(name)),
  isSingleFile: Flag,
  padding: orNull(Dictionary),
  bencode: Text,
};
const PADDING: Structs = { tailPad: Flag, padNames: PAD_NAMES };
const FILES: Structs = {
  path: Column,
  length: Column,
  mtimeMs: Column,
  ctimeMs: Column,
  shares: ByFile,
  diskPath: ByFile,
  objects: ByFile,
  keys: ByFile,
};
const SHARE: Structs = { offset: Size, size: Size };
const OBJECT: Structs = { etag: orNull(Text), url: orNull(Text) };
/** Properties that a file may lack. */
const OWN: Structs = {
  attr: Text,
  symlinkPath: expected('a path', (path) => isPath(path) && !path.some(unsafeComponent)),
  extra: Text,
};
const LISTED: Structs = { ...OWN, pathUtf8: expected('a path', isPath) };
const KEYS: Structs = { ...OWN, listed: Dictionary };

function requireProperties(value: object, structs: Structs, isOptional = false): void {
  for (const [key, struct] of Object.entries(structs)) {
    const property = value[key as keyof typeof value];
    if (!(isOptional && property === undefined) && !passes(property, struct))
      throw planError(`its ${key} is ${shown(property)}`);
  }
}

/** Requires that all properties of some files are objects with these properties, and with no others. */
function requireOfFiles(map: object, structs: Structs, isOptional = false): void {
  for (const value of Object.values(map)) {
    if (!isObject(value) || Object.keys(value).some((key) => !Object.hasOwn(structs, key)))
      throw planError('the properties of a file are malformed');
    requireProperties(value, structs, isOptional);
  }
}

async function check(given: PartsPlan): Promise<CheckedPlan> {
  const plan = readSafely('plan', () => copied(given));
  requireProperties(plan, PLAN);
  requireProperties(plan.files, FILES);
  checkSizes(plan);
  await checkFiles(plan);
  if ((await withId(plan)).id !== plan.id) throw planError('its id is not the SHA-256 of the rest');
  const { id, root } = plan;
  const layout = plannedLayout(plan);
  if (layout && layout.paddedFiles !== plan.paddedFiles) throw planError(`its paddedFiles is ${plan.paddedFiles}`);
  const split = refusing(() => splitPlan(plan, plan.parts));
  if (split.parts.count !== plan.parts) throw planError(`it has ${split.parts.count} parts, not ${plan.parts}`);
  return { ...split, id, root, layout };
}

/** A copy, so that nobody changes the plan between its check and its use. */
function copied(plan: PartsPlan): PartsPlan {
  const { path, length, mtimeMs, ctimeMs, ...maps } = plan.files ?? {};
  const columns = Object.entries({ path, length, mtimeMs, ctimeMs }).map(([name, column]) => {
    // Copying columns in this way is a hundred times as fast, but fills holes.
    const isSmall = Array.isArray(column) && column.length <= MOST.files;
    return [name, isSmall ? [...column] : null];
  });
  const { files: _, ...fields } = plan;
  return { ...structuredClone(fields), files: { ...structuredClone(maps), ...Object.fromEntries(columns) } };
}

function checkSizes({ version, pieceLength, partSize, torrent }: PartsPlan): void {
  const isLength = version === 'v1' ? pieceLength > 0 : isPowerOfTwo(pieceLength) && pieceLength >= BLOCK_SIZE;
  if (!isLength) throw planError(`its pieceLength is ${pieceLength}`);
  if (partSize === 0 || wholePartSize(partSize, pieceLength) !== partSize)
    throw planError(`its partSize is ${partSize}`);
  if (!torrent) return;
  refusing(() => checkPieceLength(pieceLength, version));
  requireProperties(torrent, TORRENT);
  const { padding, isSingleFile } = torrent;
  if (padding) requireProperties(padding, PADDING);
  const isPadding = padding ? !isSingleFile && version !== 'v2' : isSingleFile || version !== 'hybrid';
  if (!isPadding) throw planError(`its padding is ${shown(padding)}`);
}

async function checkFiles({ files, torrent, version, pieceLength, totalSize }: PartsPlan): Promise<void> {
  const { path, length, mtimeMs, ctimeMs, shares, diskPath, objects, keys } = files;
  const count = path.length;
  if ([length, mtimeMs, ctimeMs].some((column) => column.length !== count))
    throw planError('its columns differ in length');
  if (torrent && (count === 0 || (torrent.isSingleFile && count !== 1))) throw planError(`it has ${count} files`);
  for (const [name, map] of Object.entries({ shares, diskPath, objects, keys }))
    if (Object.keys(map).some((index) => Number(index) >= count)) throw planError(`its ${name} has an unknown file`);
  let total = 0;
  let padding = 0;
  await inSlices(count, (first, end) => {
    for (let i = first; i < end; i += 1) {
      const [name, bytes, mtime, ctime] = [path[i], length[i], mtimeMs[i], ctimeMs[i]];
      if (name === null && !torrent) padding += isSize(bytes) ? bytes : 0;
      else if (!(name === '' && !torrent) && !isSafePath(name)) throw planError(`the path ${shown(name)} is not safe`);
      if (name && isTooDeep(name, version)) throw planError(`the path ${shown(name)} has too many components`);
      // No sum with an array, whose text may be endless.
      total = isSize(bytes) ? total + bytes : Number.NaN;
      if (!isSize(total)) throw planError(`the length of ${shown(name)} is ${shown(bytes)}`);
      // Only an engine may leave out the times of a file on disk.
      const takesNull = !torrent || !isOnDisk(files, i);
      const isTime = (time: unknown) => Number.isFinite(time) || (takesNull && time === null);
      if (!isTime(mtime) || !isTime(ctime))
        throw planError(`the times of ${shown(name)} are ${shown(mtime)} and ${shown(ctime)}`);
    }
  });
  if (total !== totalSize) throw planError(`its files have ${total} bytes`);
  refusing(() => requireModest({ files: count, bytes: total, pieceLength }));
  // Pad files take no disk space, but as long to hash as other files.
  if (padding > DEFAULT_LIMITS.padding) throw planError(`it has ${padding} bytes of pad files`);
  for (const real of Object.values(diskPath))
    if (real !== '' && !isSafePath(real)) throw planError(`the path ${shown(real)} is not safe`);
  requireOfFiles(shares, SHARE);
  requireOfFiles(objects, OBJECT);
  requireOfFiles(keys, KEYS, true);
  for (const [index, { listed, symlinkPath }] of Object.entries(keys)) {
    if (listed) requireOfFiles({ listed }, LISTED, true);
    if (symlinkPath && length[Number(index)] !== 0) throw planError('a symbolic link has content');
  }
}

/** @internal Whether a file of a plan is on disk. */
export function isOnDisk({ path, objects, keys }: PlanFiles, file: number): boolean {
  return path[file] !== null && !Object.hasOwn(objects, file) && !keys[file]?.symlinkPath;
}

function isTooDeep(path: string, version: TorrentVersion): boolean {
  const most = MOST_COMPONENTS[version];
  return path.length >= 2 * most && path.split('/', most + 1).length > most;
}

/** Runs a check of sizes, whose errors are about plans of our own. */
function refusing<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw planError((error as Error).message.replace(/\.$/, ''));
  }
}

function plannedLayout({ version, pieceLength, torrent, files }: PartsPlan): SizedLayout | null {
  if (!torrent) return null;
  const { name, isSingleFile, padding, bencode } = torrent;
  const otherFields = bencoded(bencode) as ReadonlyMap<string, Encodable>;
  if (!(otherFields.get('info') instanceof Map)) throw planError('its torrent has no info dictionary');
  const table = tableOf(files, isSingleFile);
  return layoutOfShape({ version, name, isSingleFile, files: table, otherFields, pieceLength, padding }) as SizedLayout;
}

function bencoded(text: string): BencodeMap {
  try {
    const { value } = decode(Buffer.from(text, 'base64'));
    if (value instanceof Map) return value;
  } catch (error) {
    if (!(error instanceof MetainfoError)) throw error;
  }
  throw planError('its bencode is damaged');
}

const NO_CONTENT = new Uint8Array(0);

/** The files for assembling: columns if they have nothing but paths and lengths. */
function tableOf(
  { path, length, keys, objects }: PlanFiles,
  isSingleFile: boolean,
): FileTable<LaidOutFile & { length: number }> {
  const paths = path as string[];
  const isPlain = !isSingleFile && Object.keys(keys).length + Object.keys(objects).length === 0;
  if (isPlain) {
    const lengths = Float64Array.from(length);
    const column = pathColumn(paths.map((each) => each.replaceAll('/', '\0')));
    const times = new Float64Array(length.length).fill(Number.NaN);
    const columns = { paths: column, lengths, mtimes: times, ctimes: times, diskPaths: null };
    return new FileTable({ root: '', columns });
  }
  const rows = paths.map((each, i) => ({
    path: isSingleFile ? [each] : each.split('/'),
    length: length[i] as number,
    data: NO_CONTENT,
    ...listedKeys(keys[i]),
  }));
  return new FileTable(rows);
}

function listedKeys(keys: PlannedKeys | undefined): Pick<ListedFile, 'attr' | 'symlinkPath' | 'extra' | 'listed'> {
  if (!keys) return {};
  const { extra, listed, ...flags } = keys;
  const decoded = ({ extra: text }: { extra?: string }) => (text === undefined ? {} : { extra: bencoded(text) });
  if (!listed) return { ...flags, ...decoded(keys) };
  const { extra: _, ...others } = listed;
  // The plan gives the path and length.
  return { ...flags, ...decoded(keys), listed: { path: [], length: 0, ...others, ...decoded(listed) } };
}
