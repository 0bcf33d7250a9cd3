/** `metainfo join`: makes the torrent of a plan from its hashed parts. */
import type { Command } from 'commander';
import { formatBytes, plural } from '../../text/format.ts';
import { infohashLines, infohashOf } from '../create/summary.ts';
import { forSchedulers } from '../exit.ts';
import {
  type OutputOptions,
  type PartsOptions,
  partsOptions,
  type SummaryOptions,
  summaryOptions,
} from '../options/option-values.ts';
import { fileOf, nameOfTarget, reportTo, requireWritable, writeTorrent } from '../options/target.ts';
import { writeResult } from '../terminal/output.ts';

interface JoinOptions extends PartsOptions, OutputOptions, SummaryOptions {
  recheck: boolean;
  magnet?: boolean;
}

const EXAMPLES = `
Examples:
  metainfo join plan.json --parts parts -o set.torrent
  metainfo join plan.json --parts /shared/parts --root /mnt/set --magnet

join compares the size and the times of every file with the plan, so that a file
that changed between two parts is noticed. --no-recheck is for a machine that
cannot see the files.

Exit codes: 0 success, 1 failure (a file changed, a part is damaged), 2 wrong
usage, 75 try again (parts are missing; --json lists them), 130 cancelled.`;

export function addJoin(program: Command): void {
  const command = program.command('join').description('make the torrent of a plan from its hashed parts');
  partsOptions(command, 'the hashed parts')
    .option(
      '-o, --output <file>',
      'the torrent file, or - for standard output (default: NAME.torrent in the current folder)',
    )
    .option('--no-recheck', 'do not compare the files with the plan')
    .option('--magnet', 'also print the magnet link')
    .option('--force', 'replace the output if it exists');
  summaryOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((file: string, options: JoinOptions) => forSchedulers((signal) => run(file, options, signal)));
}

async function run(file: string, options: JoinOptions, signal: AbortSignal): Promise<void> {
  const { parts, root, recheck, magnet, force = false, json, quiet } = options;
  const [{ openingOf, readPlan }, { joinParts }, { storeOf }] = await Promise.all([
    import('../parts/read-plan.ts'),
    import('../../parts/join-parts.ts'),
    import('../parts/store-of.ts'),
  ]);
  const plan = await readPlan(file);
  const { id } = plan;
  const target = options.output ?? `${plan.torrent.name}.torrent`;
  await requireWritable(target, { ...options, output: target });
  const started = process.uptime();
  const mtime = new Date();
  const store = storeOf(parts);
  const get = (index: number, most: number) => store.get(id, index, most);
  const output = fileOf(target);
  const opening = recheck ? openingOf(plan, options) : {};
  const torrent = await joinParts(plan, get, { root, recheck, outputPath: output, signal, ...opening });
  await writeTorrent(torrent, target, { force, mtime });
  const seconds = process.uptime() - started;
  const { nFiles, totalSize, torrentVersion: version, name } = torrent;
  const link = magnet ? [torrent.magnet()] : [];
  const about = { path: target, plan: id, parts: plan.parts, version, name, infohash: infohashOf(torrent) };
  const sizes = { files: nFiles, totalSize, seconds, ...(magnet && { magnet: link[0] }) };
  const summary = `${nameOfTarget(target)}: ${version}, ${plural(nFiles, 'file')}, ${formatBytes(totalSize)}, from ${plural(plan.parts, 'part')}`;
  const lines = [...(quiet ? [] : [summary, ...infohashLines(torrent)]), ...link];
  await writeResult({ json }, { ...about, ...sizes }, lines, reportTo(target));
}
