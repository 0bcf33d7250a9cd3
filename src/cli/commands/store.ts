/** `metainfo store`: shows and deletes the plans and parts of a part store. */
import type { Command } from 'commander';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import type { PartStore } from '../../parts/store.ts';
import type { StoredPlan } from '../../parts/stored-plans.ts';
import { formatBytes, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { forSchedulers } from '../exit.ts';
import { parseDuration, parseStore, STORE } from '../options/option-values.ts';
import { writeResult } from '../terminal/output.ts';

interface StoreOptions {
  store: string;
  json?: boolean;
}

interface PruneOptions extends StoreOptions {
  older: number;
  dryRun?: boolean;
}

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
of another name. Choose a time in which every job that waits or runs writes
something: one that lost its plan fails, and must be queued again.

Exit codes: 0 success, 1 failure, 2 wrong usage, 75 try again (the disk or the
network failed), 130 cancelled.`;

export function addStore(program: Command): void {
  const store = program
    .command('store')
    .description('show or delete the plans and parts of a part store')
    .addHelpText('after', EXAMPLES);
  const add = (name: string, description: string) =>
    store
      .command(name)
      .description(description)
      .requiredOption('--store <store>', STORE, parseStore)
      .option('--json', 'print one JSON object');
  add('ls', 'list plans and batches: what is stored, its size and age')
    .addHelpText('after', '\nExamples:\n  metainfo store ls --store /shared/store')
    .action((options: StoreOptions) => forSchedulers((signal) => list(options, signal)));
  add('prune', 'delete plans and batches that nobody has written to for a while')
    .requiredOption('--older <duration>', 'delete what is older, such as 12h or 7d', parseDuration)
    .option('-n, --dry-run', 'say what would be deleted, and delete nothing')
    .addHelpText('after', PRUNE)
    .action((options: PruneOptions) => forSchedulers((signal) => prune(options, signal)));
}

interface OpenedStore {
  name: string;
  store: PartStore;
  plans: StoredPlan[];
}

async function openStore(text: string): Promise<OpenedStore> {
  const [{ nameOfStore, storeOf }, { storedPlans }] = await Promise.all([
    import('../parts/store-of.ts'),
    import('../../parts/stored-plans.ts'),
  ]);
  const store = storeOf(text);
  const { list: listed } = store;
  if (!listed)
    throw invalidArgument('A web server cannot list its objects: delete old ones on the server, or use a folder or S3');
  return { name: printable(nameOfStore(text)), store, plans: await storedPlans(listed) };
}

async function list(options: StoreOptions, signal: AbortSignal): Promise<void> {
  const { untilAbort } = await import('../../errors/cancel.ts');
  const { name, plans } = await untilAbort(signal, openStore(options.store));
  const described = await Promise.all(plans.map(describe));
  const { objects, size } = totalOf(plans);
  const rows = described.map(({ id, what, size: bytes, ageSeconds }) => [
    id,
    what,
    formatBytes(bytes),
    ageText(ageSeconds),
  ]);
  const total = `${name}: ${amount(plans.length, objects, size)}`;
  await writeResult(options, { store: name, plans: described, objects, size }, [
    ...columns([['id', 'what', 'size', 'age'], ...rows]),
    total,
  ]);
}

async function prune(options: PruneOptions, signal: AbortSignal): Promise<void> {
  const { older, dryRun = false } = options;
  const [{ AbortError, throwIfAborted, untilAbort }, { forEachConcurrently }] = await Promise.all([
    import('../../errors/cancel.ts'),
    import('../../hash/for-each-concurrently.ts'),
  ]);
  const { name, store, plans } = await untilAbort(signal, openStore(options.store));
  const now = Date.now();
  const old = plans.filter(({ mtimeMs }) => now - mtimeMs >= older);
  const failures: unknown[] = [];
  const freed = { plans: 0, objects: 0, size: 0 };
  for (const { objects } of dryRun ? [] : old) {
    const before = failures.length;
    await forEachConcurrently(
      objects,
      { concurrency: DELETED_AT_ONCE, signal },
      async ({ planId, name: object, size }) => {
        try {
          await store.delete?.(planId, object);
          freed.objects += 1;
          freed.size += size;
        } catch (error) {
          if (error instanceof AbortError) throw error;
          failures.push(error);
        }
      },
    );
    throwIfAborted(signal);
    if (failures.length === before) freed.plans += 1;
  }
  const { plans: count, objects, size } = dryRun ? { plans: old.length, ...totalOf(old) } : freed;
  const what = amount(count, objects, size);
  const described = await Promise.all(old.map(describe));
  const result = { store: name, dryRun, deleted: described, plans: count, objects, size, kept: plans.length - count };
  const [failure] = failures;
  if (failure instanceof MetainfoError) {
    const message = `${plural(failures.length, 'object')} of ${name} could not be deleted (${what} were deleted). The first: ${failure.message}`;
    throw new MetainfoError(failure.code, message, { path: failure.path, cause: failure.cause });
  }
  if (failure) throw failure;
  await writeResult(options, result, [`${name}: ${dryRun ? 'would delete' : 'deleted'} ${what}`]);
}

/** An amount for people. A batch counts as a plan. */
function amount(plans: number, objects: number, size: number): string {
  return `${plural(plans, 'plan')}, ${plural(objects, 'object')}, ${formatBytes(size)}`;
}

/** Objects that are deleted at once. */
const DELETED_AT_ONCE = 16;

function totalOf(plans: readonly StoredPlan[]): { objects: number; size: number } {
  const objects = plans.reduce((sum, plan) => sum + plan.objects.length, 0);
  return { objects, size: plans.reduce((sum, plan) => sum + plan.size, 0) };
}

interface Described {
  id: string;
  what: string;
  size: number;
  ageSeconds: number;
}

/** A plan for people and for `--json`. */
async function describe({ id, objects, size, mtimeMs }: StoredPlan): Promise<Described> {
  const { countsOf } = await import('../../parts/stored-plans.ts');
  const { plan, part, join, items, results } = countsOf(objects);
  const of = [plan > 0 && 'plan', part > 0 && plural(part, 'part'), join > 0 && 'join'].filter(Boolean).join(', ');
  const what = items + results > 0 ? `batch: ${plural(items, 'job')}, ${plural(results, 'result')}` : of;
  return { id, what, size, ageSeconds: Math.max(0, Math.round((Date.now() - mtimeMs) / 1000)) };
}

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** An age in its largest unit: `3 d`. */
function ageText(seconds: number): string {
  const [size, unit] = UNITS.find(([of]) => seconds >= of) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** Rows with columns of equal widths; numbers are to the right. */
function columns(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  const cell = (text: string, i: number) => (i < 2 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0));
  return rows.map((row) => row.map(cell).join('  '));
}
