/** `metainfo hash-part`: hashes one part of a plan, for schedulers that start many of these commands. */
import type { Command } from 'commander';
import { formatBytes } from '../../text/format.ts';
import { forSchedulers } from '../exit.ts';
import {
  type HashingOptions,
  hashingOptions,
  type PartsOptions,
  parseIndex,
  partsOptions,
  type SummaryOptions,
  summaryOptions,
} from '../options/option-values.ts';
import { showsProgress, writeResult } from '../terminal/output.ts';

interface HashPartOptions extends PartsOptions, HashingOptions, SummaryOptions {
  index: number;
}

const EXAMPLES = `
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
  const { JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, SLURM_ARRAY_TASK_ID } = process.env;
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
      parseIndex,
      arrayIndex(),
    );
  partsOptions(command, 'the hashed parts, which all machines share');
  summaryOptions(hashingOptions(command))
    .addHelpText('after', EXAMPLES)
    .action((file: string, options: HashPartOptions) => forSchedulers((signal) => run(file, options, signal)));
}

async function run(file: string, options: HashPartOptions, signal: AbortSignal): Promise<void> {
  const { index, parts, root, threads = null, memoryLimit } = options;
  const [{ openingOf, readPlan }, { storePart }, { storeOf }] = await Promise.all([
    import('../parts/read-plan.ts'),
    import('../../parts/hash-part.ts'),
    import('../parts/store-of.ts'),
  ]);
  const plan = await readPlan(file);
  const started = process.uptime();
  const progress = showsProgress(options);
  const { bytes, hashed } = await storePart(plan, index, storeOf(parts), {
    root,
    threads,
    memoryLimit,
    signal,
    progress,
    ...openingOf(plan, options),
  });
  const seconds = process.uptime() - started;
  const { id } = plan;
  const rate = `${seconds.toFixed(2)} s (${formatBytes(Math.round(bytes / seconds))}/s)`;
  const what = hashed ? `hashed ${formatBytes(bytes)} in ${rate}` : 'it is there already';
  await writeResult(options, { plan: id, index, parts: plan.parts, bytes, hashed, seconds }, [
    `part ${index}: ${what}`,
  ]);
}
