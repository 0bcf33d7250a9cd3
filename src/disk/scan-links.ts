/** The symbolic links of a scan: where they lead, and how a torrent stores them. */
import { lstat, readlink, stat } from 'node:fs/promises';
import nodePath from 'node:path';
import { MetainfoError } from '../errors/errors.ts';
import { fromSystemError } from '../errors/system-error.ts';
import { systemPath } from '../hash/system-path.ts';
import { realPath } from './held-folder.ts';
import { componentsWithin } from './path-within.ts';
import type { ScanPolicies } from './scan.ts';
import { type Status, statusOf } from './stat-files.ts';

/** A symbolic link to be stored. */
export interface StoredLink {
  /** Components from the path root. */
  path: string[];
  /** The target, as components from the path root (BEP 47). */
  symlinkPath: string[];
}

/** Where a path leads. */
export interface LinkTarget {
  /** The path on disk from the real root, with zero characters. */
  disk: string;
  status: Status;
}

/** Finds where a path with links leads. Throws `ERR_LINK_OUTSIDE`, `ERR_BROKEN_LINK` and errors of reading. */
export async function resolveWithin(root: string, shown: string, { symlinks }: ScanPolicies): Promise<LinkTarget> {
  const { real, asked } = await follow(shown);
  const components = componentsWithin(root, real);
  if (components) return { disk: components.join('\0'), status: await asked };
  const stored = symlinks === 'store' ? ', which a torrent cannot store' : '';
  const message = `${shown} links to ${real}, outside ${root}${stored}: leave it out, or copy its target.`;
  throw new MetainfoError('ERR_LINK_OUTSIDE', message, { path: shown });
}

/**
 * A link with its target as it is written in the link, unless only the resolved target is below the path root.
 *
 * @param path The path of the link from the root of the torrent, with zero characters.
 * @param disk The resolved target from the real root.
 */
export async function storedLink(path: string, shown: string, disk: string): Promise<StoredLink> {
  const components = path.split('\0');
  const root = nodePath.resolve(shown, ...components.map(() => '..'));
  const written = nodePath.resolve(nodePath.dirname(shown), await readlink(shown));
  const symlinkPath = componentsWithin(root, written) ?? (disk === '' ? [] : disk.split('\0'));
  if (symlinkPath.length > 0) return { path: components, symlinkPath };
  const message = `${shown} links to the path root itself, which a torrent cannot store: leave it out.`;
  throw new MetainfoError('ERR_LINK_LOOP', message, { path: shown });
}

/** Finds where a path leads. Asks for its status at the same time, because each answer takes a turn of libuv's pool. */
export async function follow(path: string): Promise<{ real: string; asked: Promise<Status> }> {
  const asked = statusOf(path, path);
  // Broken links and so on have a better error.
  asked.catch(() => {});
  return { real: await resolveLink(path), asked };
}

export async function resolveLink(path: string): Promise<string> {
  try {
    return await realPath(path);
  } catch (error) {
    // A pipe of a shell is behind a link that looks broken.
    const there = await stat(systemPath(path)).catch(() => null);
    if (there && !there.isFile() && !there.isDirectory()) {
      const message = `${path} is a pipe or a device, not a file or folder: use - to read standard input.`;
      throw new MetainfoError('ERR_NOT_A_FILE', message, { path });
    }
    const isLink = await lstat(systemPath(path)).then(
      (status) => status.isSymbolicLink(),
      () => false,
    );
    if (isLink && ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw new MetainfoError('ERR_BROKEN_LINK', `${path} is a broken link: its target does not exist.`, {
        path,
        cause: error,
      });
    }
    throw fromSystemError(error, path, 'read');
  }
}
