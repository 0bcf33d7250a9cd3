import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { ScanFilter } from '../disk/scan.ts';
import { collect } from './options.ts';

export interface GlobOptions {
  exclude?: string[];
  include?: string[];
}

export function globOptions(command: Command): Command {
  return command
    .option('--exclude <glob>', 'leave out files and folders (repeatable)', collect)
    .option('--include <glob>', 'take only these files (repeatable)', collect);
}

/**
 * Globs without a slash match names in any folder.
 *
 * @param own What is never part of the torrent: itself, what it goes to, and the cache.
 */
export async function globFilter(
  { exclude = [], include = [] }: GlobOptions,
  pathRoot: string,
  own: readonly string[],
): Promise<ScanFilter> {
  const left = new Set(await Promise.all(own.map((file) => relativeTo(pathRoot, file))));
  if (exclude.length === 0 && include.length === 0) return { exclude: (file) => left.has(file) };
  const { default: picomatch } = await import('picomatch');
  const matcher = (globs: string[]) => {
    const [named, placed] = [globs.filter((glob) => !glob.includes('/')), globs.filter((glob) => glob.includes('/'))];
    const matchName = picomatch(named, { dot: true });
    const matchPath = picomatch(placed, { dot: true });
    return (file: string) => matchName(path.posix.basename(file)) || matchPath(file);
  };
  const excluded = matcher(exclude);
  return {
    exclude: (file) => left.has(file) || excluded(file),
    ...(include.length > 0 && { include: matcher(include) }),
  };
}

/** Its path from the root, both without links: it is the same file, however it is reached. */
async function relativeTo(pathRoot: string, file: string): Promise<string> {
  const root = await realpath(pathRoot).catch(() => pathRoot);
  const folder = await realpath(path.dirname(file)).catch(() => path.dirname(file));
  return path
    .relative(root, path.join(folder, path.basename(file)))
    .split(path.sep)
    .join('/');
}
