/** Part stores: where sealed parts wait until they are joined. */
import { mkdir, rmdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { readWithin } from '../disk/read-file.ts';
import { writeWhole } from '../disk/write-file.ts';
import { MetainfoError } from '../errors/errors.ts';
import { checkArgument, invalidArgument, Path } from '../errors/guard.ts';
import { fromSystemError, throwSystemError } from '../errors/system-error.ts';

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
   */
  get(planId: string, name: StoredName): Promise<Uint8Array | null>;
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
}

/**
 * The name of an object of a plan: the index of a sealed part, or a text such as `plan` for the plan as JSON. Queues store more objects
 * as JSON.
 */
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
  if (!/^[0-9a-f]{64}$/.test(planId)) throw invalidArgument('the id of a plan has 64 hexadecimal digits');
  if (typeof name === 'string' && /^(plan|join-[0-9a-f]{64}|(items|results)-\d{1,16})$/.test(name))
    return `${planId}/${name}.json`;
  if (Number.isSafeInteger(name) && (name as number) >= 0) return `${planId}/${name}.part`;
  throw invalidArgument(`a part store has no object named ${String(name)}`);
}

/** Bytes. The digests of a part are far smaller, and the text of a longer plan would not fit into a string. */
const MAX_BYTES = 2 ** 29;

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
export function folderStore(folder: string): PartStore {
  checkArgument('folder', folder, Path);
  const root = path.resolve(folder);
  const fileOf = (planId: string, name: StoredName) => path.join(root, partKey(planId, name));
  return {
    folder: root,
    get: async (planId, name) => {
      try {
        return await readWithin(fileOf(planId, name), MAX_BYTES, { onlyFiles: true });
      } catch (error) {
        if (error instanceof MetainfoError && error.code === 'ERR_NOT_FOUND') return null;
        throw error;
      }
    },
    put: async (planId, name, bytes) => {
      const file = fileOf(planId, name);
      const parent = path.dirname(file);
      await mkdir(parent, { recursive: true }).catch(throwSystemError(parent, 'write'));
      await writeWhole(file, bytes, { force: true });
    },
    delete: async (planId, name) => {
      const file = fileOf(planId, name);
      await unlink(file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw fromSystemError(error, file, 'write');
      });
      // The folder of the plan goes with its last object.
      await rmdir(path.dirname(file)).catch(() => {});
    },
  };
}
