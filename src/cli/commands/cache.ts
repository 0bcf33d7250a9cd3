import type { Command } from 'commander';
import { formatBytes, printable, printableJson } from '../../layout/text.ts';
import { plural } from '../../model/pprint.ts';
import { parseFolder } from '../options.ts';
import { writeLines } from '../output.ts';

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
    .description('what `create --cache` keeps: hashes of files')
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
      .option('--cache-dir <folder>', "where it is (default: the user's cache folder)", parseFolder)
      .option('--json', 'one JSON object')
      .addHelpText('after', `\nExamples:\n  metainfo cache ${name} ${example}`)
      .action(async (options: CacheCommandOptions) => writeLines([await run(options)]));
  add('stats', 'how much there is', '--json     { folder, entries, bytes }', async ({ cacheDir, json }) => {
    const { cacheStats } = await import('../../create/cache.ts');
    const stats = await cacheStats(cacheDir);
    if (json) return printableJson(stats);
    return `${printable(stats.folder)}: ${plural(stats.entries, 'record')}, ${formatBytes(stats.bytes)}`;
  });
  add('clear', 'remove all of it, also when it is damaged', '--cache-dir /srv/cache', async ({ cacheDir, json }) => {
    const { clearCache } = await import('../../create/cache.ts');
    const folder = await clearCache(cacheDir);
    return json ? printableJson({ folder }) : `${printable(folder)}: cleared`;
  });
}
