/** The options `--exclude` and `--include`, and the scan filter that they give. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { componentsWithin } from '../disk/containment.ts';
import type { ScanFilter } from '../disk/scan.ts';
import { collect } from './options.ts';

export interface GlobOptions {
  exclude?: string[];
  include?: string[];
}

/** Adds `--exclude` and `--include` to a command. */
export function globOptions(command: Command): Command {
  return command
    .option('--exclude <glob>', 'skip matching files and folders (repeatable)', collect)
    .option('--include <glob>', 'add only matching files (repeatable)', collect);
}

/**
 * Makes the scan filter. Globs without a slash match names in any folder.
 *
 * @param skipped Paths that never belong to the torrent: the torrent file, the output and the cache.
 */
export async function globFilter(
  { exclude = [], include = [] }: GlobOptions,
  pathRoot: string,
  skipped: readonly string[],
): Promise<ScanFilter> {
  const relative = await Promise.all(skipped.map((file) => relativeTo(pathRoot, file)));
  const skippedPaths = new Set(relative.filter((file) => file !== null));
  if (exclude.length === 0 && include.length === 0) {
    // Without a filter, native threads scan everything at once.
    return skippedPaths.size === 0 ? {} : { exclude: (file) => skippedPaths.has(file) };
  }
  const { default: picomatch } = await import('picomatch');
  const matcher = (globs: string[]) => {
    const matchName = picomatch(
      globs.filter((glob) => !glob.includes('/')),
      { dot: true },
    );
    const matchPath = picomatch(
      globs.filter((glob) => glob.includes('/')),
      { dot: true },
    );
    return (file: string) => matchName(path.posix.basename(file)) || matchPath(file);
  };
  const isExcluded = matcher(exclude);
  return {
    exclude: (file) => skippedPaths.has(file) || isExcluded(file),
    ...(include.length > 0 && { include: matcher(include) }),
  };
}

/** The path of a file relative to the path root, after resolving symlinks in both; null for a file outside it. */
async function relativeTo(pathRoot: string, file: string): Promise<string | null> {
  const root = await realpath(pathRoot).catch(() => pathRoot);
  const folder = await realpath(path.dirname(file)).catch(() => path.dirname(file));
  return componentsWithin(root, path.join(folder, path.basename(file)))?.join('/') ?? null;
}
