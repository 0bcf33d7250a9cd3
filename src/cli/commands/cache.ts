/** `metainfo cache`: shows and clears the cache of file hashes. */
import type { Command } from 'commander';
import { formatBytes, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { parseFolder } from '../options/option-values.ts';
import { printableJson } from '../terminal/json.ts';
import { writeLines } from '../terminal/output.ts';

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
    run: (options: CacheCommandOptions) => Promise<string>,
  ) =>
    cache
      .command(name)
      .description(description)
      .option('--cache-dir <folder>', "the cache folder (default: the user's cache folder)", parseFolder)
      .option('--json', 'print one JSON object')
      .addHelpText('after', `\nExamples:\n  metainfo cache ${name} ${example}`)
      .action(async (options: CacheCommandOptions) => writeLines([await run(options)]));
  add(
    'stats',
    'show the size of the cache',
    '--json     print { folder, entries, bytes }',
    async ({ cacheDir, json }) => {
      const { cacheStats } = await import('../../create/cache/cache.ts');
      const stats = await cacheStats(cacheDir);
      if (json) return printableJson(stats);
      return `${printable(stats.folder)}: ${plural(stats.entries, 'record')}, ${formatBytes(stats.bytes)}`;
    },
  );
  add('clear', 'delete the whole cache, even a damaged one', '--cache-dir /srv/cache', async ({ cacheDir, json }) => {
    const { clearCache } = await import('../../create/cache/cache.ts');
    const folder = await clearCache(cacheDir);
    return json ? printableJson({ folder }) : `${printable(folder)}: cleared`;
  });
}
