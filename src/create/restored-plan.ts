/** Checks plans that came from elsewhere, and makes them plans of a creation again. */
import { decode } from '../bencode/decode.ts';
import type { BencodeMap, Encodable } from '../bencode/value.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { readSafely } from '../errors/guard.ts';
import { FileTable, pathColumn } from '../layout/file-table.ts';
import { type PartTable, splitIntoParts, wholePartSize } from '../layout/parts.ts';
import { checkPieceLength } from '../layout/piece-length.ts';
import { isSafePath, unsafeComponent } from '../layout/safe-path.ts';
import { TorrentVersion } from '../model/discriminator.ts';
import type { ListedFile } from './file-list.ts';
import { type PlannedFile, planOfShape, type SizedPlan } from './plan.ts';
import { inSlices } from './slices.ts';
import { type PlannedKeys, planId, TORRENT_PLAN, type TorrentPlan, type TorrentPlanFiles } from './torrent-plan.ts';

/** A checked plan, ready to be hashed in parts and to be joined. */
export interface RestoredPlan {
  id: string;
  root: string;
  /** The plan of the creation. Its files have no paths on disk and no streams: {@link files} tells where they are. */
  plan: SizedPlan;
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
  await checkFiles(plan.files, plan.isSingleFile);
  if ((await planId(plan)) !== plan.id) throw refused('its id is not the SHA-256 of the rest');
  const { version, name, isSingleFile, pieceLength, padding, files, partSize } = plan;
  const otherFields = bencoded(plan.torrent) as ReadonlyMap<string, Encodable>;
  if (!(otherFields.get('info') instanceof Map)) throw refused('its torrent has no info dictionary');
  const table = tableOf(files, isSingleFile);
  const sized = planOfShape({ version, name, isSingleFile, files: table, otherFields, pieceLength, padding });
  const parts = splitIntoParts({ ...sized, lengths: table.lengths, partSize });
  if (parts.count !== plan.parts) throw refused(`it has ${parts.count} parts, not ${shown(plan.parts)}`);
  if (table.totalLength !== plan.totalSize) throw refused(`its files have ${table.totalLength} bytes`);
  return { id: plan.id, root: plan.root, plan: sized as SizedPlan, files, partSize, parts };
}

/** A copy, so that nobody changes the plan between its check and its use. */
function copied(plan: TorrentPlan): TorrentPlan {
  const { path, length, mtimeNs, ctimeNs, ...maps } = plan.files ?? {};
  const columns = [path, length, mtimeNs, ctimeNs].map((column) => (Array.isArray(column) ? [...column] : column));
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
  torrent,
}: TorrentPlan): void {
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

async function checkFiles(files: TorrentPlanFiles, isSingleFile: boolean): Promise<void> {
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
      const bytes = length[i] as number;
      total += bytes;
      if (!Number.isSafeInteger(bytes) || bytes < 0 || !Number.isSafeInteger(total))
        throw refused(`the length of ${shown(path[i])} is ${shown(bytes)}`);
      const times = [mtimeNs[i], ctimeNs[i]];
      if (!times.every(isTime) && !(times[0] === null && times[1] === null))
        throw refused(`the times of ${shown(path[i])} are ${times.map(shown).join(' and ')}`);
    }
  });
  for (const real of Object.values(diskPath))
    if (real !== '' && !isSafePath(real)) throw refused(`the path ${shown(real)} is not safe`);
  for (const object of Object.values(objects)) {
    const texts = typeof object === 'object' && object !== null ? [object.etag, object.url] : [0];
    if (!texts.every((text) => text === null || typeof text === 'string')) throw refused('an object is malformed');
  }
  for (const [index, keysOfFile] of Object.entries(keys)) checkKeys(keysOfFile, length[Number(index)] as number);
  for (let i = mtimeNs.indexOf(null); i >= 0; i = mtimeNs.indexOf(null, i + 1))
    if (!Object.hasOwn(objects, i) && !keys[i]?.symlinkPath) throw refused(`${shown(path[i])} is nowhere`);
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
  for (const one of [keys, keys.listed ?? {}]) {
    const {
      attr = '',
      symlinkPath = ['x'],
      extra = '',
      pathUtf8 = [],
    } = one as PlannedKeys & NonNullable<PlannedKeys['listed']>;
    const areTexts = [attr, extra].every((text) => typeof text === 'string');
    const areLists = [symlinkPath, pathUtf8].every(
      (list) => Array.isArray(list) && list.every((text) => typeof text === 'string'),
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
): FileTable<PlannedFile & { length: number }> {
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
