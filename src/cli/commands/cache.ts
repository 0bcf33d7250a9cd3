/** `metainfo cache`: shows and clears the cache of file hashes. */
import type { Command } from 'commander';
import { formatBytes, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { parseFolder } from '../options/option-values.ts';
import { writeResult } from '../terminal/output.ts';

interface CacheCommandOptions {
  cacheDir?: string;
  json?: boolean;
}

const EXAMPLES = `
Examples:
  metainfo cache stats
  metainfo cache clear --cache-dir /srv/cache`;

export function addCache(program: Command): void {
  const cache = program
    .command('cache')
    .description('show or clear the cache of `create --cache` and `update --cache`')
    .addHelpText('after', EXAMPLES);
  const add = (
    name: string,
    description: string,
    example: string,
    run: (folder: string | undefined) => Promise<[object: object, line: string]>,
  ) =>
    cache
      .command(name)
      .description(description)
      .option('--cache-dir <folder>', "the cache folder (default: the user's cache folder)", parseFolder)
      .option('--json', 'print one JSON object')
      .addHelpText('after', `\nExamples:\n  metainfo cache ${name} ${example}`)
      .action(async (options: CacheCommandOptions) => {
        const [object, line] = await run(options.cacheDir);
        await writeResult(options, object, [line]);
      });
  add('stats', 'show the size of the cache', '--json     print { folder, entries, bytes }', async (cacheDir) => {
    const { cacheStats } = await import('../../create/known/cache.ts');
    const stats = await cacheStats(cacheDir);
    const size = `${plural(stats.entries, 'record')}, ${formatBytes(stats.bytes)}`;
    return [stats, `${printable(stats.folder)}: ${size}`];
  });
  add('clear', 'delete the whole cache, even a damaged one', '--cache-dir /srv/cache', async (cacheDir) => {
    const { clearCache } = await import('../../create/known/cache.ts');
    const folder = await clearCache(cacheDir);
    return [{ folder }, `${printable(folder)}: cleared`];
  });
}
