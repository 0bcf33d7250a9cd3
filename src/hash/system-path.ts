/** Paths of names that are not UTF-8. */
import { nameBytes } from '../text/name-bytes.ts';

/** A path as `node:fs` takes it: as bytes where it is not UTF-8. */
export function systemPath(path: string): string | Buffer {
  return path.isWellFormed() ? path : (nameBytes(path) as Buffer);
}
