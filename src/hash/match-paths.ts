/** Finds the paths of one column in another: on a native thread if there are many. */
import { type PathColumn, pathBytes } from '../layout/file-table.ts';
import { latin1Text } from '../platform/node.ts';
import { addonOrNull, tableResult } from './addon.ts';

/** Comparing fewer paths takes less time than starting a native thread. */
const MANY_PATHS = 256;

/** Stands for a path that has no counterpart. */
export const NO_PATH = 2 ** 32 - 1;

/** Gives the index of each path among others that differ from each other; {@link NO_PATH} for a path that is not among them. */
export async function matchPaths(paths: PathColumn, others: PathColumn): Promise<Uint32Array> {
  const addon = Math.max(paths.ends.length, others.ends.length) < MANY_PATHS ? null : addonOrNull();
  if (addon) return tableResult(addon.matchPaths(paths, others));
  const indexes = new Map(Array.from(others.ends, (_, i) => [keyAt(others, i), i]));
  return Uint32Array.from(paths.ends, (_, i) => indexes.get(keyAt(paths, i)) ?? NO_PATH);
}

function keyAt(column: PathColumn, index: number): string {
  return latin1Text(pathBytes(column, index));
}
