/** Part stores: where sealed parts wait until they are joined. */
import { lstat, mkdir, readdir, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { LimitError } from '../bencode/limits.ts';
import { at, type Held, holdBeneath } from '../disk/held-folder.ts';
import { readWithin } from '../disk/read-file.ts';
import { writeWhole } from '../disk/write-file.ts';
import { MetainfoError } from '../errors/errors.ts';
import { checkArgument, invalidArgument, Path } from '../errors/guard.ts';
import { fromSystemError, throwSystemError } from '../errors/system-error.ts';
import { PartError } from './sealed-part.ts';

/**
 * Keeps sealed parts, and plans, under keys. Write your own for an object store: `get` and `put` of a whole object.
 *
 * Several processes use a store at once. `put` must be atomic (a reader sees all bytes or none) and may replace an object: two
 * processes that hash the same part write the same bytes.
 */
export interface PartStore {
  /** The folder of the store, if it is one on this disk: workers keep it out of the failures that they report. */
  readonly folder?: string;
  /**
   * Reads an object; null if there is none.
   *
   * @param planId The id of the plan.
   * @param most The bytes of a whole part: a longer one is damaged, and need not be read.
   */
  get(planId: string, name: StoredName, most?: number): Promise<Uint8Array | null>;
  /**
   * Writes an object, or replaces it.
   *
   * @param planId The id of the plan.
   * @param bytes The whole object.
   */
  put(planId: string, name: StoredName, bytes: Uint8Array): Promise<void>;
  /**
   * Deletes an object, if it is there. Without it, the parts of verifications stay in the store.
   *
   * @param planId The id of the plan.
   */
  delete?(planId: string, name: StoredName): Promise<void>;
  /**
   * Lists the objects of all plans, in any order. It leaves out everything with other names.
   *
   * @param planId Lists only the objects of this plan.
   * @param name Lists only this object of the plan.
   */
  list?(planId?: string, name?: StoredName): AsyncIterable<StoredObject>;
}

/** An object in a part store. */
export interface StoredObject {
  /** The id of its plan. */
  planId: string;
  /** Its name in the plan. */
  name: StoredName;
  /** Bytes. */
  size: number;
  /** When it was written, in milliseconds since 1970. */
  mtimeMs: number;
}

/** The name of an object of a plan: the index of a sealed part, or a text such as `plan` for the plan as JSON. Queues store more objects as JSON. */
export type StoredName = number | string;

/**
 * The path of an object in a store: `PLAN-ID/INDEX.part`, or `PLAN-ID/plan.json`.
 *
 * @param planId The id of a plan: 64 hexadecimal digits.
 * @param name The index of a part, or the name of another object.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for anything but the id of a plan and a name: names from elsewhere lead nowhere else
 * @example
 * ```ts
 * import { partKey } from 'metainfo';
 *
 * console.log(partKey('0'.repeat(64), 7).slice(-8));
 * ```
 *
 * ```text
 * 0/7.part
 * ```
 */
export function partKey(planId: string, name: StoredName): string {
  if (!PLAN_ID.test(planId)) throw invalidArgument('the id of a plan has 64 hexadecimal digits');
  const key = `${planId}/${String(name)}.${typeof name === 'string' ? 'json' : 'part'}`;
  if (parsePartKey(key)) return key;
  throw invalidArgument(`a part store has no object named ${String(name)}`);
}

const PLAN_ID = /^[0-9a-f]{64}$/;
const KEY = /^([0-9a-f]{64})\/(?:(0|[1-9]\d{0,15})\.part|(plan|key|batch|(?:items|results)-\d{1,16})\.json)$/;

/** The object at a path of {@link partKey}; null for any other path. */
export function parsePartKey(key: string): Pick<StoredObject, 'planId' | 'name'> | null {
  const [, planId, index, name] = KEY.exec(key) ?? [];
  if (planId === undefined || !(name !== undefined || Number.isSafeInteger(Number(index)))) return null;
  return { planId, name: name ?? Number(index) };
}

/** Bytes. The digests of a part are far smaller, and the text of a longer plan would not fit into a string. */
const MAX_BYTES = 2 ** 29;
/** How often an object is written whose folder is removed meanwhile. */
const MAX_TRIES = 10;
/** Bytes of an object of a queue. */
const MAX_QUEUE_BYTES = 2 ** 24;

/** The bytes that an object can have. */
export function mostBytes(name: StoredName, most = MAX_BYTES): number {
  if (typeof name === 'number') return most;
  return name === 'plan' ? MAX_BYTES : MAX_QUEUE_BYTES;
}

/** The error of a part that is longer than it can be; for other objects, the given error. */
export function tooLong(name: StoredName, where: string, error: () => MetainfoError): MetainfoError {
  if (typeof name === 'string') return error();
  const message = `Part ${name} is damaged: ${where} is too long. Delete it and hash the part again.`;
  return new PartError('ERR_PART', message, [name]);
}

/**
 * A part store in a folder, such as one on a shared file system. It writes a temporary file and renames it, so a process that is killed
 * leaves no half-written part.
 *
 * @param folder Made when the first part is written.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`; its functions throw `ERR_READ`, `ERR_UNREADABLE`, `ERR_WRITE` and `ERR_NO_SPACE`
 * @example
 * ```ts
 * import path from 'node:path';
 * import { folderStore, hashPart, planParts, TorrentCreate } from 'metainfo';
 *
 * const plan = await planParts(new TorrentCreate({ pathRoot: path.resolve('album') }));
 * const store = folderStore('parts');
 * await store.put(plan.id, 0, await hashPart(plan, 0));
 * console.log((await store.get(plan.id, 0)) !== null, await store.get(plan.id, 1));
 * ```
 *
 * ```text
 * true null
 * ```
 */
export function folderStore(folder: string | URL): PartStore {
  const root = path.resolve(checkArgument('folder', folder, Path));
  const fileOf = (planId: string, name: StoredName) => path.join(root, partKey(planId, name));
  return {
    folder: root,
    get: async (planId, name, most) => {
      const file = fileOf(planId, name);
      try {
        return await readWithin(file, mostBytes(name, most), { onlyFiles: true, beneath: root });
      } catch (error) {
        if (error instanceof LimitError) throw tooLong(name, file, () => error);
        if (error instanceof MetainfoError && error.code === 'ERR_NOT_FOUND') return null;
        throw error;
      }
    },
    put: async (planId, name, bytes) => {
      const file = fileOf(planId, name);
      const parent = path.dirname(file);
      for (let tries = 1; ; tries += 1) {
        try {
          await mkdir(parent, { recursive: true }).catch(throwSystemError(parent, 'write'));
          return await writeWhole(file, bytes, { force: true, beneath: root });
        } catch (error) {
          // Another process may have removed the folder with its last object.
          if ((error as MetainfoError).code !== 'ERR_NOT_FOUND' || tries === MAX_TRIES) throw error;
        }
      }
    },
    delete: async (planId, name) => {
      const file = fileOf(planId, name);
      const remove = (held: Pick<Held, 'path'>) => unlink(at(held, path.basename(file)));
      await holdBeneath(path.dirname(file), { beneath: root }, remove).catch(ignoreMissing(undefined, file, 'write'));
      // The folder of the plan goes with its last object.
      await rmdir(path.dirname(file)).catch(() => {});
    },
    list: (planId, name) => listFolder(root, planId, name === undefined ? undefined : fileOf(planId as string, name)),
  };
}

/** Folders of plans that are listed at once: a shared file system takes its time for each. */
const LISTED_AT_ONCE = 16;

/** Lists all plans of a folder, or one plan, or one file of it. */
async function* listFolder(root: string, planId?: string, only?: string): AsyncGenerator<StoredObject> {
  const noFolder = (cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOTDIR') throw fromSystemError(cause, root, 'read');
    throw new MetainfoError('ERR_NOT_FOUND', `${root}: it is not a folder.`, { path: root, cause });
  };
  const names = planId === undefined ? await readdir(root).catch(noFolder) : [planId];
  const objectsOf = async (name: string): Promise<StoredObject[]> => {
    const folder = path.join(root, name);
    const status = (file: string) => lstat(file).catch(ignoreMissing(null, folder));
    // A link would lead to files of others.
    if (!PLAN_ID.test(name) || !(await status(folder))?.isDirectory()) return [];
    const objects: StoredObject[] = [];
    for (const file of only ? [path.basename(only)] : await readdir(folder).catch(ignoreMissing([], folder))) {
      const found = parsePartKey(`${name}/${file}`);
      const seen = found && (await status(path.join(folder, file)));
      if (found && seen?.isFile()) objects.push({ ...found, size: seen.size, mtimeMs: seen.mtimeMs });
    }
    return objects;
  };
  for await (const objects of Readable.from(names).map(objectsOf, { concurrency: LISTED_AT_ONCE })) yield* objects;
}

/** Handles the error of a file that may have been deleted meanwhile. */
const ignoreMissing =
  <T>(otherwise: T, file: string, doing: 'read' | 'write' = 'read') =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return otherwise;
    throw fromSystemError(error, file, doing);
  };

/** The objects of a plan or batch. */
export interface StoredPlan {
  id: string;
  objects: StoredObject[];
  /** Bytes. */
  size: number;
  /** When the last of its objects was written, in milliseconds since 1970. */
  mtimeMs: number;
}

const INSTEAD = 'name a longer prefix, or let the store itself delete old objects';

/** The plans and batches of a store, the oldest first. Throws `ERR_LIMIT` for too many objects: the default takes half a GiB of memory. */
export async function storedPlans(list: NonNullable<PartStore['list']>, most = 5_000_000): Promise<StoredPlan[]> {
  const plans = new Map<string, StoredPlan>();
  let left = most;
  for await (const { planId: id, name, size, mtimeMs } of list()) {
    left -= 1;
    if (left < 0) throw new MetainfoError('ERR_LIMIT', `The store lists more than ${most} objects: ${INSTEAD}.`);
    const plan = plans.get(id) ?? { id, objects: [], size: 0, mtimeMs: 0 };
    plans.set(id, plan);
    plan.objects.push({ planId: plan.id, name, size, mtimeMs });
    plan.size += size;
    plan.mtimeMs = Math.max(plan.mtimeMs, mtimeMs);
  }
  return [...plans.values()].sort((a, b) => a.mtimeMs - b.mtimeMs);
}

const KINDS = ['plan', 'part', 'key', 'batch', 'items', 'results'] as const;

/** How many objects of each kind there are. */
export function countsOf(objects: readonly Pick<StoredObject, 'name'>[]): Record<(typeof KINDS)[number], number> {
  const kinds = objects.map(({ name }) => (typeof name === 'number' ? 'part' : name.replace(/-.*/, '')));
  const counts = KINDS.map((kind) => [kind, kinds.filter((one) => one === kind).length]);
  return Object.fromEntries(counts);
}
