/** Runs `metainfo store`. */
import { untilAbort } from '../../errors/cancel.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { forEachConcurrently } from '../../hash/for-each-concurrently.ts';
import { countsOf, type PartStore, type StoredObject, type StoredPlan, storedPlans } from '../../parts/store.ts';
import { formatBytes, plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { withoutSecrets } from '../../text/urls.ts';
import { writeResult } from '../terminal/output.ts';
import { storeOf } from './read-plan.ts';

/** The options of `metainfo store ls`. */
export interface StoreOptions {
  store: string;
  json?: boolean;
}

/** The options of `metainfo store prune`. */
export interface PruneOptions extends StoreOptions {
  older: number;
  dryRun?: boolean;
}

/** Objects that are deleted at once. */
const DELETED_AT_ONCE = 16;

interface OpenStore {
  name: string;
  store: PartStore;
  plans: StoredPlan[];
}

/** @param isNew Called for a folder that does not exist, which counts as empty. Without it, that is an error. */
async function openStore(text: string, isNew?: () => void): Promise<OpenStore> {
  const store = storeOf(text);
  if (!store.list)
    throw invalidArgument('A web server cannot list its objects: delete old ones on the server, or use a folder or S3');
  const plans = await storedPlans(store.list).catch((error: { cause?: NodeJS.ErrnoException }) => {
    if (!isNew || error.cause?.code !== 'ENOENT') throw error;
    isNew();
    return [];
  });
  return { name: printable(withoutSecrets(text, /$/)), store, plans };
}

/** Lists the plans and batches of a store. */
export async function listStore(options: StoreOptions, signal: AbortSignal): Promise<void> {
  const { name, plans } = await untilAbort(signal, openStore(options.store));
  const described = plans.map(describe);
  const { objects, size } = totalOf(plans);
  const rows = described.map(({ id, what, size, ageSeconds }) => [id, what, formatBytes(size), ageText(ageSeconds)]);
  await writeResult(options, { store: name, plans: described, objects, size }, [
    ...columns([['id', 'what', 'size', 'age'], ...rows]),
    `${name}: ${amountText(totalOf(plans))}`,
  ]);
}

/** Deletes the plans and batches of a store that are older than some milliseconds. */
export async function pruneStore(options: PruneOptions, signal: AbortSignal): Promise<void> {
  const { older, dryRun = false } = options;
  let isNew = false;
  // A daily job may run before the first plan is stored.
  const opening = openStore(options.store, () => {
    isNew = true;
  });
  const { name, store, plans } = await untilAbort(signal, opening);
  const now = Date.now();
  const isOld = ({ mtimeMs }: Pick<StoredObject, 'mtimeMs'>) => now - mtimeMs >= older;
  const old = plans.filter(isOld);
  // The list may be minutes old, and a torrent of long ago may have been queued again.
  const isStillOld = async (...which: [string, StoredObject['name']?]) => {
    for await (const object of store.list?.(...which) ?? []) if (!isOld(object)) return false;
    return true;
  };
  const failures: unknown[] = [];
  const whole: StoredPlan[] = [];
  const deleted: StoredObject[] = [];
  for (const plan of dryRun ? [] : old) {
    const before = failures.length;
    let isKept = !(await isStillOld(plan.id));
    await forEachConcurrently(plan.objects, { concurrency: DELETED_AT_ONCE, signal }, async (object) => {
      try {
        isKept ||= !(await isStillOld(object.planId, object.name));
        if (isKept) return;
        await store.delete?.(object.planId, object.name);
        deleted.push(object);
      } catch (error) {
        failures.push(error);
      }
    });
    if (failures.length === before && !isKept) whole.push(plan);
  }
  const total = dryRun ? totalOf(old) : totalOf(whole, deleted);
  const what = amountText(total);
  const [failure] = failures;
  if (failure instanceof MetainfoError) {
    const message = `${plural(failures.length, 'object')} of ${name} could not be deleted (${what} were deleted). The first: ${failure.message}`;
    throw new MetainfoError(failure.code, message, { path: failure.path, cause: failure.cause });
  }
  if (failure) throw failure;
  const result = {
    store: name,
    dryRun,
    deleted: (dryRun ? old : whole).map(describe),
    ...total,
    kept: plans.length - total.plans,
  };
  const text = isNew ? 'no store yet' : `${dryRun ? 'would delete' : 'deleted'} ${what}`;
  await writeResult(options, result, [`${name}: ${text}`]);
}

interface Amount {
  plans: number;
  objects: number;
  size: number;
}

function totalOf(plans: readonly StoredPlan[], objects = plans.flatMap((plan) => plan.objects)): Amount {
  return { plans: plans.length, objects: objects.length, size: objects.reduce((sum, { size }) => sum + size, 0) };
}

/** An amount for people. A batch counts as a plan. */
function amountText({ plans, objects, size }: Amount): string {
  return `${plural(plans, 'plan')}, ${plural(objects, 'object')}, ${formatBytes(size)}`;
}

/** A plan for people and for `--json`. */
function describe({ id, objects, size, mtimeMs }: StoredPlan) {
  const { plan, part, key, batch, items, results } = countsOf(objects);
  const of = [plan > 0 && 'plan', part > 0 && plural(part, 'part'), key > 0 && 'key'].filter(Boolean).join(', ');
  const what = batch + items + results > 0 ? `batch: ${plural(items, 'job')}, ${plural(results, 'result')}` : of;
  return { id, what, size, ageSeconds: Math.max(0, Math.round((Date.now() - mtimeMs) / 1000)) };
}

/** An age in its largest unit: `3 d`. */
function ageText(seconds: number): string {
  const units = { d: 86_400, h: 3600, min: 60 };
  const [unit, size] = Object.entries(units).find(([, of]) => seconds >= of) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** Rows of four columns of equal widths; the last two are to the right. */
function columns(rows: readonly string[][]): string[] {
  // A spread of very many rows would exceed the stack.
  const widths = [0, 1, 2, 3].map((i) => rows.reduce((most, row) => Math.max(most, (row[i] as string).length), 0));
  const cell = (text: string, i: number) => text[i < 2 ? 'padEnd' : 'padStart'](widths[i] as number);
  return rows.map((row) => row.map(cell).join('  '));
}
