/** Makes temporary folders and files for tests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Makes a folder that is removed after the test. Its path contains no links. */
export async function temporaryFolder(test: { after(work: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(path.join(await realpath(tmpdir()), 'metainfo-test-'));
  test.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files by their path from the root. A number is the size of a file with a pattern as content. */
export async function writeTree(root: string, files: Record<string, number | string | Buffer>): Promise<void> {
  const made = new Set<string>();
  for (const [name, content] of Object.entries(files)) {
    const target = path.join(root, name);
    const folder = path.dirname(target);
    // Without promises, which would take most of the time of a thousand small files.
    if (!made.has(folder)) mkdirSync(folder, { recursive: true });
    made.add(folder);
    writeFileSync(target, typeof content === 'number' ? Buffer.alloc(content, 'metainfo') : content);
  }
}

/** Makes a sparse file of zeros, which takes no disk space. */
export async function sparseFile(folder: string, name: string, bytes: number): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, '');
  await truncate(file, bytes);
  return file;
}

/** The size of a file that takes minutes to hash. */
export const HUGE = 64 * 2 ** 30;
