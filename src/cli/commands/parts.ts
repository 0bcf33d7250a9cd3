/** `metainfo hash-part` and `metainfo join`: for schedulers that hash the parts of a plan on many machines. */
import type { Command } from 'commander';
import { formatBytes } from '../../text/format.ts';
import { infohashOf, joinedLines } from '../create/summary.ts';
import { forSchedulers } from '../exit.ts';
import * as values from '../options/option-values.ts';
import { fileOf, reportTo, requireWritable, writeTorrent } from '../options/target.ts';
import { host } from '../run.ts';
import { writeResult } from '../terminal/output.ts';
import { type ProgressOptions, progressOf, progressOption } from '../terminal/progress.ts';

interface HashPartOptions extends values.PartsOptions, values.HashingOptions, ProgressOptions {
  index: number;
}

const HASH_PART = `
Examples:
  metainfo hash-part plan.json --index 0 --parts parts
  metainfo hash-part plan.json --index 7 --parts /shared/parts --root /mnt/set
  metainfo hash-part plan.json --index 7 --parts s3://bucket/parts

First make the plan, then hash its parts in any order, then join them:
  metainfo plan /data/set -o plan.json --part-size 16GiB
  parallel metainfo hash-part plan.json --parts parts --index ::: 0 1 2 3
  metainfo join plan.json --parts parts -o set.torrent

A part that is in the store already is not hashed again. S3 needs the package
aws4fetch, and keys: AWS_ACCESS_KEY_ID or ~/.aws/credentials.

Array jobs of Kubernetes, AWS Batch and Slurm need no --index: they set
JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX or SLURM_ARRAY_TASK_ID.

Exit codes: 0 the part is in the store, 1 it can never be hashed (a file
changed or is missing, the plan is damaged), 2 wrong usage, 75 try again (the
disk, the network or memory failed), 130 cancelled.`;

/** The index of this process in an array job; undefined outside of one. */
function arrayIndex(): number | undefined {
  const { JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, SLURM_ARRAY_TASK_ID } = host().env;
  const index = JOB_COMPLETION_INDEX ?? AWS_BATCH_JOB_ARRAY_INDEX ?? SLURM_ARRAY_TASK_ID;
  return index !== undefined && /^\d{1,15}$/.test(index) ? Number(index) : undefined;
}

export function addHashPart(program: Command): void {
  const command = program
    .command('hash-part')
    .description('hash one part of a plan, on any machine that can read its files')
    .requiredOption(
      '--index <n>',
      'index of the part, from 0 (default: that of an array job)',
      values.parseIndex,
      arrayIndex(),
    );
  values.partsOptions(command, 'the hashed parts, which all machines share');
  values
    .summaryOptions(values.hashingOptions(command))
    .addOption(progressOption())
    .addHelpText('after', HASH_PART)
    .action((file: string, options: HashPartOptions) => forSchedulers((signal) => hashPart(file, options, signal)));
}

async function hashPart(file: string, options: HashPartOptions, signal: AbortSignal): Promise<void> {
  const { index, parts, root, threads = null, memoryLimit } = options;
  const [{ openingOf, readPlan, storeOf }, { storePart }] = await Promise.all([
    import('../parts/read-plan.ts'),
    import('../../parts/hash-part.ts'),
  ]);
  const plan = await readPlan(file);
  const started = process.uptime();
  const hashing = { root, threads, memoryLimit, signal, ...progressOf(options), ...openingOf(plan, options) };
  const { bytes, hashed } = await storePart(plan, index, storeOf(parts), hashing);
  const seconds = process.uptime() - started;
  const { id } = plan;
  const rate = `${seconds.toFixed(2)} s (${formatBytes(Math.round(bytes / seconds))}/s)`;
  const what = hashed ? `hashed ${formatBytes(bytes)} in ${rate}` : 'it is there already';
  const result = { plan: id, index, parts: plan.parts, bytes, hashed, seconds };
  await writeResult(options, result, [`part ${index}: ${what}`]);
}

interface JoinOptions extends values.PartsOptions, values.OutputOptions, values.SummaryOptions {
  recheck: boolean;
  magnet?: boolean;
}

const JOIN = `
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
  values
    .partsOptions(command, 'the hashed parts')
    .option(
      '-o, --output <file>',
      'the torrent file, or - for standard output (default: NAME.torrent in the current folder)',
    )
    .option('--no-recheck', 'do not compare the files with the plan')
    .option('--magnet', 'also print the magnet link')
    .option('--force', 'replace the output if it exists');
  values
    .summaryOptions(command)
    .addHelpText('after', JOIN)
    .action((file: string, options: JoinOptions) => forSchedulers((signal) => join(file, options, signal)));
}

async function join(file: string, options: JoinOptions, signal: AbortSignal): Promise<void> {
  const { parts, root, recheck, magnet, force = false, json, quiet } = options;
  const [{ openingOf, readPlan, storeOf }, { joinParts }] = await Promise.all([
    import('../parts/read-plan.ts'),
    import('../../parts/join-parts.ts'),
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
  const { nFiles: files, totalSize, torrentVersion: version, name, infohashV1, infohashV2 } = torrent;
  const link = magnet ? [torrent.magnet()] : [];
  const about = { torrent: target, plan: id, parts: plan.parts, version, name, infohash: infohashOf(torrent) };
  const sizes = { files, totalSize, seconds, ...(magnet && { magnet: link[0] }) };
  const joined = { version, files, totalSize, infohashV1, infohashV2 };
  const lines = [...(quiet ? [] : joinedLines(target, joined, plan.parts)), ...link];
  await writeResult({ json }, { ...about, ...sizes }, lines, reportTo(target));
}
