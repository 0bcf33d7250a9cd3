/** Reads plans from a part store, and keeps the last ones. */

import { MetainfoError } from '../errors/errors.ts';
import { HASH_PLAN, type PortableHashPlan, restoredHashPlan } from '../parts/hash-plan.ts';
import { parseJson } from '../parts/plan-text.ts';
import { restoredPlan } from '../parts/restored-plan.ts';
import type { PartStore } from '../parts/store.ts';
import type { TorrentPlan } from '../parts/torrent-plan.ts';
import { notInStore } from './failures.ts';

/** Plans that are kept: a plan of many files takes seconds to read and to check. */
const MAX_PLANS = 4;

/** The plans of a worker. */
export class Plans {
  readonly #store: PartStore;
  /** The plan that was used last is the last one. */
  readonly #plans = new Map<string, Promise<TorrentPlan | PortableHashPlan>>();

  constructor(store: PartStore) {
    this.#store = store;
  }

  /**
   * A checked plan.
   *
   * @throws {MetainfoError} `ERR_PLAN` if it is not the plan of that id; `ERR_QUEUE` if the store does not have it
   */
  async get(id: string): Promise<TorrentPlan | PortableHashPlan> {
    const found = this.#plans.get(id) ?? this.#read(id);
    this.#plans.delete(id);
    this.#plans.set(id, found);
    for (const [oldest] of this.#plans) if (this.#plans.size > MAX_PLANS) this.#plans.delete(oldest);
    found.catch(() => this.#plans.delete(id));
    return found;
  }

  async #read(id: string): Promise<TorrentPlan | PortableHashPlan> {
    const bytes = await this.#store.get(id, 'plan');
    if (!bytes) throw notInStore(`the plan ${id}`);
    const plan = parseJson(bytes, `The plan ${id} in the part store`) as TorrentPlan | PortableHashPlan | null;
    if (!plan || plan.id !== id) throw new MetainfoError('ERR_PLAN', `The part store has another plan for ${id}.`);
    if (plan.format === HASH_PLAN) restoredHashPlan(plan);
    else await restoredPlan(plan);
    return plan;
  }
}
