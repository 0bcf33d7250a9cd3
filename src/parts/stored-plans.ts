/** Groups the objects of a part store by plan: how much each one has, and how old it is. */
import type { PartStore, StoredObject } from './store.ts';

/** The objects of a plan or batch. */
export interface StoredPlan {
  id: string;
  objects: StoredObject[];
  /** Bytes. */
  size: number;
  /** When the last of its objects was written, in milliseconds since 1970. */
  mtimeMs: number;
}

/**
 * The plans and batches of a store, the oldest first.
 *
 * @param list The function `list` of the store.
 */
export async function storedPlans(list: NonNullable<PartStore['list']>): Promise<StoredPlan[]> {
  const plans = new Map<string, StoredPlan>();
  for await (const object of list()) {
    const { planId: id, size, mtimeMs } = object;
    const plan = plans.get(id) ?? { id, objects: [], size: 0, mtimeMs: 0 };
    plans.set(id, plan);
    plan.objects.push(object);
    plan.size += size;
    plan.mtimeMs = Math.max(plan.mtimeMs, mtimeMs);
  }
  return [...plans.values()].sort((a, b) => a.mtimeMs - b.mtimeMs);
}

const KINDS = ['plan', 'part', 'join', 'items', 'results'] as const;

/** How many objects of each kind there are. */
export function countsOf(objects: readonly Pick<StoredObject, 'name'>[]): Record<(typeof KINDS)[number], number> {
  const kinds = objects.map(({ name }) => (typeof name === 'number' ? 'part' : name.replace(/-.*/, '')));
  const counts = KINDS.map((kind) => [kind, kinds.filter((one) => one === kind).length]);
  return Object.fromEntries(counts);
}
