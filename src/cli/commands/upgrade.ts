import type { Command } from 'commander';
import { upgrade } from '../../edit/upgrade.ts';
import type { MetainfoError } from '../../errors/errors.ts';
import type { PadNames } from '../../layout/padding.ts';
import { formatBytes, printableJson } from '../../layout/text.ts';
import type { Torrent } from '../../model/torrent.ts';
import { ownFolderWithin, readTorrent, shellWords } from '../arguments.ts';
import { interruptible } from '../interrupt.ts';
import {
  type ProfileOptions,
  padNamesOption,
  parseSize,
  parseThreads,
  profileOptions,
  readOptionsOf,
} from '../options.ts';
import { stderr, Warnings, writeLines } from '../output.ts';
import { fileOf, nameOfTarget, reportTo, requireFree, targetOf, writeTorrent } from '../target.ts';

interface UpgradeOptions extends ProfileOptions {
  threads?: number;
  memoryLimit?: number;
  padNames?: PadNames;
  output?: string;
  force?: boolean;
  quiet?: boolean;
  json?: boolean;
}

const EXAMPLES = `
Examples:
  metainfo upgrade album.torrent album -o hybrid.torrent
  metainfo upgrade film.torrent /srv/film.mkv --json    in place

The hybrid has another infohash: it is another swarm.
--json gives { path, infohash, bytesRead, warnings }.

Exit codes: 0 done, 1 not all files are right: nothing is written, 2 wrong usage
or not a v1 torrent.`;

export function addUpgrade(program: Command): void {
  const command = program
    .command('upgrade')
    .description('a hybrid of a v1 torrent: its files are read once, and checked in the same read')
    .argument('<file>', 'the torrent file')
    .argument('<path>', 'the folder of its files, or its one file')
    .option('--threads <n>', 'how many threads hash (default: one a core)', parseThreads)
    .option('--memory-limit <size>', 'for all buffers (default: 64MiB a thread)', parseSize)
    .addOption(padNamesOption())
    .option('-o, --output <file>', 'where the result goes: a file, a folder or - (default: in place)')
    .option('--force', 'replace the output if it exists')
    .option('-q, --quiet', 'no progress, no summary')
    .option('--json', 'one JSON object instead of the summary');
  profileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, folder: string, options: UpgradeOptions) => {
      // Not interruptible: a pipe that nobody writes to ends with the process only.
      const torrent = await readTorrent(file, options, folder);
      await interruptible((signal) => run(torrent, { file, folder, options, signal }));
    });
}

interface Run {
  file: string;
  folder: string;
  options: UpgradeOptions;
  signal: AbortSignal;
}

async function run(v1: Torrent, { file, folder, options, signal }: Run): Promise<void> {
  const read = readOptionsOf(options);
  const target = await targetOf(file, options.output);
  await requireFree(target, options);
  // What is modified from now on may have been read before.
  const mtime = new Date();
  const progress = !options.quiet && !options.json;
  if (progress) stderr();
  const { memoryLimit, threads = null, padNames } = options;
  const { onWarning, list: warnings } = new Warnings(options);
  const how = { threads, memoryLimit, padNames, progress, signal, onWarning, output: fileOf(target) };
  const job = upgrade(v1, folder, { ...read, ...how });
  const { torrent, bytesRead } = await job.catch(async (error: unknown) => {
    const own = await ownFolderWithin(v1, folder);
    if (own !== null && (error as MetainfoError).code === 'ERR_HASH_MISMATCH')
      (error as MetainfoError).message += ` Did you mean: metainfo upgrade ${shellWords(file, own)}`;
    throw error;
  });
  await writeTorrent(torrent, target, { force: options.output === undefined || (options.force ?? false), mtime });
  if (options.quiet && !options.json) return;
  const infohash = { v1: torrent.infohashV1, v2: torrent.infohashV2 };
  const lines = [
    `${nameOfTarget(options.output === undefined ? file : target)}: hybrid, all pieces right; read ${formatBytes(bytesRead)}`,
    `infohash v1  ${infohash.v1}`,
    `infohash v2  ${infohash.v2}`,
  ];
  const object = { path: target, infohash, bytesRead, warnings };
  await writeLines(options.json ? [printableJson(object)] : lines, reportTo(target));
}
