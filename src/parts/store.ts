/** Part stores: where sealed parts wait until they are joined. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { readWithin } from '../disk/read-file.ts';
import { writeWhole } from '../disk/write-file.ts';
import { fromSystemError, MetainfoError } from '../errors/errors.ts';
import { checkArgument, invalidArgument, Path } from '../errors/guard.ts';

/**
 * Keeps sealed parts, and plans, under keys. Write your own for an object store: `get` and `put` of a whole object.
 *
 * Several processes use a store at once. `put` must be atomic (a reader sees all bytes or none) and may replace an object: two
 * processes that hash the same part write the same bytes.
 */
export interface PartStore {
  /** Reads a part; null if there is none. `index` is `plan` for the plan itself, as JSON text in UTF-8. */
  get(planId: string, index: number | 'plan'): Promise<Uint8Array | null>;
  /** Writes a part, or replaces it. */
  put(planId: string, index: number | 'plan', bytes: Uint8Array): Promise<void>;
}

/**
 * The name of an object in a store: `PLAN-ID/INDEX.part`, or `PLAN-ID/plan.json`.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for anything but the id of a plan and an index: names from elsewhere lead nowhere else
 */
export function partKey(planId: string, index: number | 'plan'): string {
  if (!/^[0-9a-f]{64}$/.test(planId)) throw invalidArgument('the id of a plan has 64 hexadecimal digits');
  if (index === 'plan') return `${planId}/plan.json`;
  if (!Number.isSafeInteger(index) || index < 0)
    throw invalidArgument(`the index of a part cannot be ${String(index)}`);
  return `${planId}/${index}.part`;
}

/** Bytes. The digests of a part are far smaller, and the text of a longer plan would not fit into a string. */
const MAX_BYTES = 2 ** 29;

/**
 * A part store in a folder, such as one on a shared file system. It writes a temporary file and renames it, so a process that is killed
 * leaves no half-written part.
 *
 * @param folder Made when the first part is written.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`; its functions throw `ERR_READ`, `ERR_UNREADABLE`, `ERR_WRITE` and `ERR_NO_SPACE`
 */
export function folderStore(folder: string): PartStore {
  checkArgument('folder', folder, Path);
  const root = path.resolve(folder);
  const fileOf = (planId: string, index: number | 'plan') => path.join(root, partKey(planId, index));
  return {
    get: async (planId, index) => {
      try {
        return await readWithin(fileOf(planId, index), MAX_BYTES);
      } catch (error) {
        if (error instanceof MetainfoError && error.code === 'ERR_NOT_FOUND') return null;
        throw error;
      }
    },
    put: async (planId, index, bytes) => {
      const file = fileOf(planId, index);
      const parent = path.dirname(file);
      await mkdir(parent, { recursive: true }).catch((error: unknown) => {
        throw fromSystemError(error, parent, 'write');
      });
      await writeWhole(file, bytes, { force: true });
    },
  };
}
