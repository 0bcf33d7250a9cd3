/** Hash plans as plain data: the parts of any hash job can be sent to other machines. */
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { DEFAULT_LIMITS } from '../bencode/limits.ts';
import { componentsWithin } from '../disk/path-within.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import { readSafely } from '../errors/guard.ts';
import { type HashRequest, isPad } from '../hash/hash-request.ts';
import { BLOCK_SIZE, isPowerOfTwo } from '../layout/piece-length.ts';
import { isSafePath } from '../layout/safe-path.ts';
import type { SplitPlan } from './part-payload.ts';
import { countParts, excessOf, type PartRange, plannedParts, wholePartSize } from './split-into-parts.ts';

/** The format of a {@link PortableHashPlan}. */
export const HASH_PLAN = 'metainfo-hash-plan-1';

/** The plan of a hash job as plain data, split into parts: see {@link partsEngine}. */
export interface PortableHashPlan {
  /** The format of the plan. */
  format: typeof HASH_PLAN;
  /** The SHA-256 of all other properties, in hexadecimal: of their JSON text in this order, without white space. */
  id: string;
  /** Random: no two plans are equal, so no stored part is taken for one of another job. */
  nonce: string;
  /** The folder that the paths are relative to: on the machine of the engine, or `remoteRoot` of the engine. */
  root: string;
  /** The version of the torrent. */
  version: HashRequest['version'];
  /** Bytes. */
  pieceLength: number;
  /** How many files, from the first on, have their last v1 piece filled up with zeros. */
  paddedFiles: number;
  /** Bytes of content of a part at most, apart from the rest of a piece. */
  partSize: number;
  /** The number of parts. */
  parts: number;
  /** The files, as columns: the same index of each list is the same file. */
  files: {
    /** The path from the root, with `/`; null for a pad file. */
    path: (string | null)[];
    /** Where the content starts in the file, in bytes. */
    offset: number[];
    /** Bytes of content. */
    length: number[];
    /** Bytes of the whole file. */
    size: number[];
    /** When the content changed last, in milliseconds since 1970; null if that is not checked. */
    mtimeMs: (number | null)[];
  };
}

type Fields = Omit<PortableHashPlan, 'id'>;

/** The id of a hash plan. */
export function hashPlanId(plan: Fields): string {
  const { format, nonce, root, version, pieceLength, paddedFiles, partSize, parts, files } = plan;
  const { path: paths, offset, length, size, mtimeMs } = files;
  const hash = createHash('sha256');
  hash.update(JSON.stringify({ format, nonce, root, version, pieceLength, paddedFiles, partSize, parts }));
  for (const column of [paths, offset, length, size, mtimeMs]) hash.update(JSON.stringify(column));
  return hash.digest('hex');
}

/** The path of content in memory. Its parts never leave the process that made the plan. */
const IN_MEMORY = '(in memory)';

/**
 * A hash plan as plain data.
 *
 * @param root The folder that the paths are relative to, without links.
 * @param remoteRoot The name of that folder in the plan.
 * @throws {MetainfoError} `ERR_PATH_OUTSIDE` for a file that is not below the root
 */
export function portableHashPlan(
  plan: HashRequest,
  { root, remoteRoot = root, partSize }: { root: string; remoteRoot?: string | undefined; partSize: number },
): PortableHashPlan {
  const { version, pieceLength, paddedFiles = 0 } = plan;
  const files: PortableHashPlan['files'] = { path: [], offset: [], length: [], size: [], mtimeMs: [] };
  for (const file of plan.files) {
    const inMemory = isPad(file) ? null : IN_MEMORY;
    files.path.push(file.path === null ? inMemory : relativePath(file.path, root));
    files.offset.push(file.offset);
    files.length.push(file.length);
    files.size.push(file.size);
    files.mtimeMs.push(Number.isNaN(file.mtimeMs) ? null : file.mtimeMs);
  }
  const whole = wholePartSize(partSize, pieceLength);
  const fields: Fields = {
    format: HASH_PLAN,
    nonce: randomBytes(16).toString('hex'),
    root: remoteRoot,
    version,
    pieceLength,
    paddedFiles,
    partSize: whole,
    parts: countParts({ version, pieceLength, lengths: splitLengths(version, files), paddedFiles, partSize: whole }),
    files,
  };
  const { format, ...rest } = fields;
  return { format, id: hashPlanId(fields), ...rest };
}

function relativePath(file: string | Buffer, root: string): string {
  const text = file.toString();
  const components = typeof file === 'string' || Buffer.from(text).equals(file) ? componentsWithin(root, text) : null;
  if (components) return components.join('/');
  const message = `${text} is not below ${root}: other machines could not find it. Choose another root for the parts.`;
  throw new MetainfoError('ERR_PATH_OUTSIDE', message, { path: text });
}

/** The lengths that decide about the parts: v2 ignores pad files. */
export function splitLengths(
  version: HashRequest['version'],
  { path: paths, length }: PortableHashPlan['files'],
): Float64Array {
  return Float64Array.from(length, (bytes, i) => (version === 'v2' && paths[i] === null ? 0 : bytes));
}

/** A checked hash plan. */
export interface RestoredHashPlan {
  root: string;
  split: SplitPlan;
  /** Where a share of a file is on disk. */
  fileAt(
    range: PartRange,
    root: string,
  ): { name: string; diskPath?: string; mtimeMs?: number; offset?: number; size?: number };
}

/** Plans that were checked, so that each part does not check its plan again. */
const restored = new WeakMap<object, RestoredHashPlan>();

/**
 * Checks a hash plan, and restores it.
 *
 * @throws {MetainfoError} `ERR_PLAN`
 */
export function restoredHashPlan(given: PortableHashPlan): RestoredHashPlan {
  const known = restored.get(given);
  if (known) return known;
  const plan = readSafely('plan', () => structuredClone(given));
  check(plan);
  const { id, version, pieceLength, paddedFiles, partSize, files } = plan;
  const lengths = splitLengths(version, files);
  const parts = plannedParts({ version, pieceLength, lengths, paddedFiles, partSize }, plan.parts);
  if (typeof parts === 'string') throw refused(parts);
  const found: RestoredHashPlan = {
    root: plan.root,
    split: { id, version, pieceLength, lengths, paddedFiles, parts, isPad: (file) => files.path[file] === null },
    fileAt: ({ file, offset }, root) => {
      const name = files.path[file];
      if (name === null || name === undefined) return { name: '' };
      const diskPath = name === '' ? root : path.join(root, name);
      const start = (files.offset[file] as number) + offset;
      return {
        name,
        diskPath,
        offset: start,
        size: files.size[file] as number,
        mtimeMs: files.mtimeMs[file] ?? Number.NaN,
      };
    },
  };
  restored.set(given, found);
  return found;
}

function check(plan: PortableHashPlan): void {
  const { nonce, version, pieceLength, paddedFiles, partSize, parts, files } = plan;
  if (typeof nonce !== 'string') throw refused(`its nonce is ${shown(nonce)}`);
  if (typeof plan.root !== 'string' || plan.root.includes('\0')) throw refused(`its root is ${shown(plan.root)}`);
  const isSize = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  if (!['v1', 'v2', 'hybrid'].includes(version)) throw refused(`its version is ${shown(version)}`);
  const isLength =
    version === 'v1' ? isSize(pieceLength) && pieceLength > 0 : isPowerOfTwo(pieceLength) && pieceLength >= BLOCK_SIZE;
  if (!isLength) throw refused(`its piece length is ${shown(pieceLength)}`);
  if (!isSize(partSize) || partSize < pieceLength || partSize % pieceLength !== 0)
    throw refused(`its part size is ${shown(partSize)}`);
  if (!isSize(parts)) throw refused(`its number of parts is ${shown(parts)}`);
  if (!isSize(paddedFiles)) throw refused(`its paddedFiles is ${shown(paddedFiles)}`);
  const { path: paths, offset, length, size, mtimeMs } = files ?? {};
  for (const column of [paths, offset, length, size, mtimeMs])
    if (!Array.isArray(column) || column.length !== paths.length) throw refused('its columns differ in length');
  let total = 0;
  let padding = 0;
  for (const [i, name] of paths.entries()) {
    if (name !== null && name !== '' && !isSafePath(name)) throw refused(`the path ${shown(name)} is not safe`);
    if (![offset[i], length[i], size[i]].every(isSize)) throw refused(`the size of ${shown(name)} is malformed`);
    const time = mtimeMs[i];
    if (time !== null && typeof time !== 'number') throw refused(`the time of ${shown(name)} is malformed`);
    total += length[i] as number;
    if (name === null) padding += length[i] as number;
  }
  if (!Number.isSafeInteger(total)) throw refused('its files have more than 2^53 bytes');
  const excess = excessOf({ files: paths.length, bytes: total, pieceLength });
  if (excess) throw refused(`it has ${excess}`);
  // Pad files take no disk space, but as long to hash as other files.
  if (padding > DEFAULT_LIMITS.padding) throw refused(`it has ${padding} bytes of pad files`);
  if (hashPlanId(plan) !== plan.id) throw refused('its id is not the SHA-256 of the rest');
}

function refused(why: string): MetainfoError {
  return new MetainfoError('ERR_PLAN', `The hash plan cannot be used: ${why}.`);
}
