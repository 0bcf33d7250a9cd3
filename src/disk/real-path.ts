/** Resolves symbolic links in paths whose names may be any bytes. */
import { realpath } from 'node:fs/promises';
import { systemPath } from '../hash/system-path.ts';
import { nameText } from '../text/name-bytes.ts';

/** Does what `realpath` does, but keeps bytes that are not UTF-8: see {@link nameText}. */
export async function realPath(path: string): Promise<string> {
  return nameText(await realpath(systemPath(path), { encoding: 'buffer' }));
}
