/** `metainfo store`: shows and deletes the plans and parts of a part store. */
import type { Command } from 'commander';
import { forSchedulers } from '../exit.ts';
import { parseAge, parseStore, STORE } from '../options/option-values.ts';
import type { PruneOptions, StoreOptions } from '../parts/manage-store.ts';

const EXAMPLES = `
Examples:
  metainfo store ls --store /shared/store
  metainfo store prune --store s3://bucket/jobs --older 7d

A plan, its parts, and the items and results of a batch are as old as the last
of them that was written. Web servers (https://) cannot list their objects.`;

const PRUNE = `
Examples:
  metainfo store prune --store /shared/store --older 7d --dry-run
  metainfo store prune --store s3://bucket/jobs --older 30d --json

It deletes everything of a plan or batch whose last change is older, and no file
of another name. A folder that does not exist yet counts as empty. Choose a time
in which every job that waits or runs writes something: one that lost its plan
fails, and must be queued again.

Exit codes: 0 success, 1 failure, 2 wrong usage, 75 try again (the disk or the
network failed), 130 cancelled.`;

export function addStore(program: Command): void {
  const store = program
    .command('store')
    .description('show or delete the plans and parts of a part store')
    .addHelpText('after', EXAMPLES);
  const run = () => import('../parts/manage-store.ts');
  const add = (name: string, description: string) =>
    store
      .command(name)
      .description(description)
      .requiredOption('--store <store>', STORE, parseStore)
      .option('--json', 'print one JSON object');
  add('ls', 'list plans and batches: what is stored, its size and age')
    .addHelpText('after', '\nExamples:\n  metainfo store ls --store /shared/store')
    .action((options: StoreOptions) => forSchedulers(async (signal) => (await run()).listStore(options, signal)));
  add('prune', 'delete plans and batches that nobody has written to for a while')
    .requiredOption('--older <duration>', 'delete what is older, such as 12h or 7d', parseAge)
    .option('-n, --dry-run', 'say what would be deleted, and delete nothing')
    .addHelpText('after', PRUNE)
    .action((options: PruneOptions) => forSchedulers(async (signal) => (await run()).pruneStore(options, signal)));
}
