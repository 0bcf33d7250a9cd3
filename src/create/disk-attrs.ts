/** The flags of files on disk: executable, hidden, a link (BEP 47). */
import { STAT_NUMBERS, statFiles } from '../disk/stat-files.ts';
import { isWindows } from '../platform/node.ts';
import type { Draft } from './draft-fields.ts';
import type { FoundFiles } from './find-files.ts';

/** The bit of a mode that lets the owner execute the file. */
const EXECUTABLE = 0o100;
/** Files whose status is asked for at once. */
const FILES_PER_STAT = 4096;

/** The flags of files with those that the disk gives, if the draft wants them: executable by its owner, and hidden by its name. */
export async function withDiskAttrs(
  { fields }: Draft,
  { files, isSingleFile }: FoundFiles,
  given: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  // The list of v1 files has the flags, and a single file has no list.
  if (!fields.attributes || isSingleFile) return given;
  const attrs = new Map(given);
  const add = (path: readonly string[], attr: string) => {
    const key = path.join('/');
    const known = attrs.get(key);
    if (attr !== '' && (known === undefined || known.includes('l') !== attr.includes('l'))) attrs.set(key, attr);
  };
  const hidden = (path: readonly string[]) => ((path.at(-1) as string).startsWith('.') ? 'h' : '');
  const onDisk: { path: readonly string[]; real: string }[] = [];
  for (const { path, diskPath, symlinkPath } of files) {
    // Like libtorrent: the mode of a link lets everybody execute it, except on Windows.
    if (symlinkPath) add(path, `${hidden(path)}${isWindows ? '' : 'x'}l`);
    else if (diskPath !== undefined) onDisk.push({ path, real: diskPath });
  }
  for (let first = 0; first < onDisk.length; first += FILES_PER_STAT) {
    const some = onDisk.slice(first, first + FILES_PER_STAT);
    const numbers = await statFiles(some);
    for (const [i, { path }] of some.entries()) {
      const mode = numbers[i * STAT_NUMBERS + 1] as number;
      add(path, `${hidden(path)}${(mode & EXECUTABLE) === 0 ? '' : 'x'}`);
    }
  }
  return attrs;
}
