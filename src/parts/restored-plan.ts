/** Checks plans that came from elsewhere, and makes them plans of a creation again. */
import { decode } from '../bencode/decode.ts';
import type { BencodeMap, Encodable } from '../bencode/value.ts';
import type { ListedFile } from '../create/file-list.ts';
import { MAX_COMPONENTS } from '../create/findings/torrent-sizes.ts';
import { inSlices } from '../create/sources/slices.ts';
import { type LaidOutFile, layoutOfShape, type SizedLayout } from '../create/torrent-layout.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { readSafely } from '../errors/guard.ts';
import { FileTable, pathColumn } from '../layout/file-table.ts';
import { checkPieceLength } from '../layout/piece-length.ts';
import { isSafePath, unsafeComponent } from '../layout/safe-path.ts';
import { TorrentVersion } from '../model/discriminator.ts';
import { excessOf, type PartTable, plannedParts, wholePartSize } from './split-into-parts.ts';
import {
  type PlannedKeys,
  type PlannedListKeys,
  type PlannedObject,
  planId,
  TORRENT_PLAN,
  type TorrentPlan,
  type TorrentPlanFiles,
} from './torrent-plan.ts';

/** A checked plan, ready to be hashed in parts and to be joined. */
export interface RestoredPlan {
  id: string;
  root: string;
  /** The plan of the creation. Its files have no paths on disk and no streams: {@link files} tells where they are. */
  plan: SizedLayout;
  files: TorrentPlanFiles;
  partSize: number;
  parts: PartTable;
}

/** Plans that were checked. A plan that its owner changes later is used as it was. */
const restored = new WeakMap<object, Promise<RestoredPlan>>();

/**
 * Checks a plan, and restores it. The same object is checked once.
 *
 * @throws {MetainfoError} `ERR_PLAN`
 */
export function restoredPlan(given: TorrentPlan): Promise<RestoredPlan> {
  if (typeof given !== 'object' || given === null) throw refused(`it is ${shown(given)}`);
  let found = restored.get(given);
  if (!found) {
    found = restore(given);
    restored.set(given, found);
    found.catch(() => restored.delete(given));
  }
  return found;
}

async function restore(given: TorrentPlan): Promise<RestoredPlan> {
  const plan = readSafely('plan', () => copied(given));
  if (plan.format !== TORRENT_PLAN) throw refused(`its format is ${shown(plan.format)}, expected ${TORRENT_PLAN}`);
  checkFields(plan);
  await checkFiles(plan);
  if ((await planId(plan)) !== plan.id) throw refused('its id is not the SHA-256 of the rest');
  const { version, name, isSingleFile, pieceLength, padding, files, partSize } = plan;
  const otherFields = bencoded(plan.torrent) as ReadonlyMap<string, Encodable>;
  if (!(otherFields.get('info') instanceof Map)) throw refused('its torrent has no info dictionary');
  const table = tableOf(files, isSingleFile);
  const sized = layoutOfShape({ version, name, isSingleFile, files: table, otherFields, pieceLength, padding });
  const parts = plannedParts({ ...sized, lengths: table.lengths, partSize }, plan.parts);
  if (typeof parts === 'string') throw refused(parts);
  if (table.totalLength !== plan.totalSize) throw refused(`its files have ${table.totalLength} bytes`);
  return { id: plan.id, root: plan.root, plan: sized as SizedLayout, files, partSize, parts };
}

/** A copy, so that nobody changes the plan between its check and its use. */
function copied(plan: TorrentPlan): TorrentPlan {
  const { path, length, mtimeNs, ctimeNs, ...maps } = plan.files ?? {};
  const columns = [path, length, mtimeNs, ctimeNs].map((column) => {
    if (!Array.isArray(column)) return column;
    const excess = excessOf({ files: column.length, bytes: 0, pieceLength: 1 });
    if (excess) throw refused(`it has ${excess}`);
    return [...column];
  });
  const [paths, lengths, mtimes, ctimes] = columns as [string[], number[], (string | null)[], (string | null)[]];
  const { files: _, ...fields } = plan;
  const files = { path: paths, length: lengths, mtimeNs: mtimes, ctimeNs: ctimes, ...structuredClone(maps) };
  return { ...structuredClone(fields), files };
}

/** The error of a plan that cannot be used. */
function refused(why: string): MetainfoError {
  return new MetainfoError('ERR_PLAN', `The plan cannot be used: ${why}. Plan the torrent again.`);
}

function checkFields({
  root,
  version,
  name,
  isSingleFile,
  pieceLength,
  padding,
  partSize,
  parts,
  totalSize,
  torrent,
}: TorrentPlan): void {
  // Before the id is computed from the text of all values: that of an object may be endless.
  if (!Number.isSafeInteger(parts)) throw refused(`its number of parts is ${shown(parts)}`);
  if (!Number.isSafeInteger(totalSize)) throw refused(`its total size is ${shown(totalSize)}`);
  if (typeof root !== 'string' || root.includes('\0')) throw refused(`its root is ${shown(root)}`);
  if (typeof version !== 'string' || !Object.hasOwn(TorrentVersion, version))
    throw refused(`its version is ${shown(version)}`);
  if (typeof name !== 'string' || unsafeComponent(name)) throw refused(`its name is ${shown(name)}`);
  if (typeof isSingleFile !== 'boolean') throw refused(`isSingleFile is ${shown(isSingleFile)}`);
  requirePieceLength(pieceLength, version);
  const isSize = Number.isSafeInteger(partSize) && partSize > 0;
  if (!isSize || wholePartSize(partSize, pieceLength) !== partSize)
    throw refused(`its part size is ${shown(partSize)}`);
  if (typeof torrent !== 'string') throw refused(`its torrent is ${shown(torrent)}`);
  const hasPads = !isSingleFile && version !== 'v2';
  const isPadding =
    padding === null
      ? isSingleFile || version !== 'hybrid'
      : hasPads && typeof padding?.tailPad === 'boolean' && ['libtorrent', 'unique'].includes(padding.padNames);
  if (!isPadding) throw refused(`its padding is ${shown(padding)}`);
}

function requirePieceLength(pieceLength: number, version: TorrentVersion): void {
  try {
    checkPieceLength(pieceLength, version);
  } catch {
    throw refused(`its piece length is ${shown(pieceLength)}`);
  }
}

/** The components that a path may have. A path on disk has fewer; longer ones overflow the stack of recursive functions. */
const MOST_COMPONENTS = { v1: 4096, v2: MAX_COMPONENTS, hybrid: MAX_COMPONENTS };

async function checkFiles({ files, isSingleFile, version, pieceLength }: TorrentPlan): Promise<void> {
  if (typeof files !== 'object' || files === null) throw refused(`its files are ${shown(files)}`);
  const { path, length, mtimeNs, ctimeNs, diskPath, objects, keys } = files;
  for (const column of [path, length, mtimeNs, ctimeNs])
    if (!Array.isArray(column) || column.length !== path.length) throw refused('its columns differ in length');
  if (path.length === 0 || (isSingleFile && path.length !== 1)) throw refused(`it has ${path.length} files`);
  for (const [name, map] of Object.entries({ diskPath, objects, keys }))
    if (!isIndexed(map, path.length)) throw refused(`${name} is not a list by the index of a file`);
  let total = 0;
  await inSlices(path.length, (first, end) => {
    for (let i = first; i < end; i += 1) {
      if (!isSafePath(path[i])) throw refused(`the path ${shown(path[i])} is not safe`);
      if (isTooDeep(path[i] as string, version)) throw refused(`the path ${shown(path[i])} has too many components`);
      const bytes = length[i] as number;
      // No sum with an array, whose text may be endless.
      total = Number.isSafeInteger(bytes) && bytes >= 0 ? total + bytes : Number.NaN;
      if (!Number.isSafeInteger(total)) throw refused(`the length of ${shown(path[i])} is ${shown(bytes)}`);
      const times = [mtimeNs[i], ctimeNs[i]];
      if (!times.every(isTime) && !(times[0] === null && times[1] === null))
        throw refused(`the times of ${shown(path[i])} are ${times.map(shown).join(' and ')}`);
    }
  });
  const excess = excessOf({ files: path.length, bytes: total, pieceLength });
  if (excess) throw refused(`it has ${excess}`);
  for (const real of Object.values(diskPath))
    if (real !== '' && !isSafePath(real)) throw refused(`the path ${shown(real)} is not safe`);
  for (const object of Object.values(objects)) {
    const { etag, url, ...others } = Object(object ?? 0) as Partial<PlannedObject>;
    const areTexts = [etag, url].every((text) => text === null || typeof text === 'string');
    if (!areTexts || Object.keys(others).length > 0) throw refused('an object is malformed');
  }
  for (const [index, keysOfFile] of Object.entries(keys)) checkKeys(keysOfFile, length[Number(index)] as number);
  for (let i = mtimeNs.indexOf(null); i >= 0; i = mtimeNs.indexOf(null, i + 1))
    if (!Object.hasOwn(objects, i) && !keys[i]?.symlinkPath) throw refused(`${shown(path[i])} is nowhere`);
}

function isTooDeep(path: string, version: TorrentVersion): boolean {
  const most = MOST_COMPONENTS[version];
  return path.length >= 2 * most && path.split('/', most + 1).length > most;
}

function isIndexed(map: unknown, count: number): boolean {
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return false;
  return Object.keys(map).every((key) => /^(0|[1-9]\d*)$/.test(key) && Number(key) < count);
}

function isTime(text: unknown): boolean {
  return typeof text === 'string' && text.length <= 32 && /^(0|-?[1-9]\d*)$/.test(text);
}

function checkKeys(keys: PlannedKeys, length: number): void {
  if (typeof keys !== 'object' || keys === null) throw refused('the keys of a file are malformed');
  const { listed = {}, ...ofFile } = keys;
  for (const one of [ofFile, Object(listed)]) {
    const { attr = '', symlinkPath = ['x'], extra = '', pathUtf8 = [], ...others } = one as PlannedListKeys;
    if (Object.keys(others).length > 0) throw refused('the keys of a file are malformed');
    const areTexts = [attr, extra].every((text) => typeof text === 'string');
    const areLists = [symlinkPath, pathUtf8].every(
      (list) =>
        Array.isArray(list) && list.length <= MOST_COMPONENTS.v1 && list.every((text) => typeof text === 'string'),
    );
    if (!areTexts || !areLists || symlinkPath.some(unsafeComponent)) throw refused('the keys of a file are malformed');
  }
  if (keys.symlinkPath && length !== 0) throw refused('a symbolic link has content');
}

function bencoded(text: string): BencodeMap {
  try {
    const { value } = decode(Buffer.from(text, 'base64'));
    if (value instanceof Map) return value;
  } catch (error) {
    if (!(error instanceof MetainfoError)) throw error;
  }
  throw refused('its bencode is damaged');
}

const NO_CONTENT = new Uint8Array(0);

/** The files for assembling: columns if they have nothing but paths and lengths. */
function tableOf(
  { path, length, keys, mtimeNs, objects }: TorrentPlanFiles,
  isSingleFile: boolean,
): FileTable<LaidOutFile & { length: number }> {
  const isPlain = !isSingleFile && Object.keys(keys).length + Object.keys(objects).length === 0;
  if (isPlain && mtimeNs.length > 0) {
    const lengths = Float64Array.from(length);
    const paths = pathColumn(path.map((each) => each.replaceAll('/', '\0')));
    const times = new Float64Array(length.length).fill(Number.NaN);
    return new FileTable({ root: '', columns: { paths, lengths, mtimes: times, ctimes: times, diskPaths: null } });
  }
  const rows = path.map((each, i) => ({
    path: isSingleFile ? [each] : each.split('/'),
    length: length[i] as number,
    data: NO_CONTENT,
    ...listedKeys(keys[i]),
  }));
  return new FileTable(rows);
}

function listedKeys(keys: PlannedKeys | undefined): Pick<ListedFile, 'attr' | 'symlinkPath' | 'extra' | 'listed'> {
  if (!keys) return {};
  const { attr, symlinkPath, extra, listed } = keys;
  return {
    ...(attr !== undefined && { attr }),
    ...(symlinkPath && { symlinkPath }),
    ...(extra !== undefined && { extra: bencoded(extra) }),
    ...(listed && { listed: listedItem(listed) }),
  };
}

/** An entry of a v1 file list; the plan gives its path and length. */
function listedItem({ extra, ...listed }: NonNullable<PlannedKeys['listed']>): NonNullable<ListedFile['listed']> {
  return { path: [], length: 0, ...listed, ...(extra !== undefined && { extra: bencoded(extra) }) };
}
