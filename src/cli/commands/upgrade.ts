/** `metainfo upgrade`: makes a hybrid from a v1 torrent and its files. */
import type { Command } from 'commander';
import { upgrade } from '../../edit/upgrade.ts';
import { MetainfoError } from '../../errors/errors.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { formatBytes } from '../../text/format.ts';
import { readingOptions } from '../config/load.ts';
import { infohashLines, infohashOf } from '../create/summary.ts';
import { type Invocation, onTorrentAndContent } from '../options/arguments.ts';
import {
  changedOutputOptions,
  type HashingOptions,
  hashingOptions,
  type OutputOptions,
  type PadNamesOptions,
  type ProfileOptions,
  padNamesOption,
  readOptionsOf,
  type SummaryOptions,
  summaryOptions,
} from '../options/option-values.ts';
import {
  fileOf,
  isStdout,
  nameOfTarget,
  reportTo,
  requireWritable,
  targetOf,
  writeTorrent,
} from '../options/target.ts';
import { showsProgress, warningsOf, writeResult } from '../terminal/output.ts';

type UpgradeOptions = ProfileOptions & HashingOptions & PadNamesOptions & OutputOptions & SummaryOptions;

const EXAMPLES = `
Examples:
  metainfo upgrade album.torrent album -o hybrid.torrent
  metainfo upgrade film.torrent /srv/film.mkv --force   replace the v1 torrent

The hybrid has a v2 infohash and a new v1 infohash, so its swarms differ from
that of the v1 torrent. Without -o, --force replaces the v1 torrent.
--json prints { path, infohash, bytesRead, warnings }.

Exit codes: 0 success, 1 a file is missing or corrupt (nothing is written),
2 wrong usage or not a v1 torrent.`;

export function addUpgrade(program: Command): void {
  const command = program
    .command('upgrade')
    .description('upgrade a v1 torrent to a hybrid: reads and checks its files once')
    .argument('<file>', 'the torrent file')
    .argument('<path>', 'the folder with its files, or its single file')
    .addOption(padNamesOption());
  readingOptions(summaryOptions(changedOutputOptions(hashingOptions(command), 'in place, with --force')))
    .addHelpText('after', EXAMPLES)
    .action(onTorrentAndContent(run));
}

/** The v1 torrent is still needed for its swarm, so only `--force` replaces it. */
function wouldReplace(file: string): MetainfoError {
  const message = `${file}: the hybrid would replace the v1 torrent, whose swarm it does not share (use -o FILE for another file, or --force).`;
  return new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: file });
}

async function run(v1: Torrent, { file, path, options, signal }: Invocation<UpgradeOptions>): Promise<void> {
  const read = readOptionsOf(options);
  const target = await targetOf(file, options.output);
  if (!isStdout(target) && options.output === undefined && !options.force) throw wouldReplace(file);
  await requireWritable(target, options);
  // Taken before hashing: `update` must read files again that change from now on.
  const mtime = new Date();
  const progress = showsProgress(options);
  const { memoryLimit, threads = null, padNames } = options;
  const { onWarning, list: warnings } = warningsOf(options);
  const hashing = { threads, memoryLimit, padNames, progress, signal, onWarning, outputPath: fileOf(target) };
  const { torrent, bytesRead } = await upgrade(v1, path, { ...read, ...hashing });
  await writeTorrent(torrent, target, { force: options.force ?? false, mtime });
  const infohash = infohashOf(torrent);
  const name = nameOfTarget(options.output === undefined ? file : target);
  const lines = [`${name}: hybrid; all pieces are correct; read ${formatBytes(bytesRead)}`, ...infohashLines(torrent)];
  await writeResult(options, { path: target, infohash, bytesRead, warnings }, lines, reportTo(target));
}
