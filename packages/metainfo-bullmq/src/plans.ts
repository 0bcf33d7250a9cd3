/** Reads plans from a part store, and keeps the last ones. */
import { MetainfoError, type PartStore, type PartsPlan, parsePlan } from 'metainfo';
import { notInStore, OtherWorkerError } from './failures.ts';

/** Plans that are kept: a plan of many files takes seconds to read and to check. */
const MAX_PLANS = 4;

/** The format of the plans that this version reads. */
const FORMAT: PartsPlan['format'] = 'metainfo-plan-1';

const NEWER = `The plan was made by another version of metainfo: this worker reads ${FORMAT} only. Use the same version everywhere.`;

function isOtherFormat(bytes: Uint8Array): boolean {
  try {
    const { format } = JSON.parse(Buffer.from(bytes).toString());
    return /^metainfo-plan-\d+$/.test(format) && format !== FORMAT;
  } catch {
    return false;
  }
}

/** The plans of a worker. */
export class Plans {
  readonly #store: PartStore;
  /** The plan that was used last is the last one. */
  readonly #plans = new Map<string, Promise<PartsPlan>>();

  constructor(store: PartStore) {
    this.#store = store;
  }

  /** A checked plan. Throws `ERR_PLAN` if it is not the plan of that id; `ERR_QUEUE` if the store does not have it. */
  async get(id: string): Promise<PartsPlan> {
    const found = this.#plans.get(id) ?? this.#read(id);
    this.#plans.delete(id);
    this.#plans.set(id, found);
    for (const [oldest] of this.#plans) if (this.#plans.size > MAX_PLANS) this.#plans.delete(oldest);
    found.catch(() => this.#plans.delete(id));
    return found;
  }

  async #read(id: string): Promise<PartsPlan> {
    const bytes = await this.#store.get(id, 'plan');
    if (!bytes) throw notInStore(`the plan ${id}`);
    return this.parsed(id, bytes);
  }

  /** The checked plan of an id from its JSON text. */
  async parsed(id: string, bytes: Uint8Array): Promise<PartsPlan> {
    const plan = await parsePlan(bytes).catch((error: unknown) => {
      throw isOtherFormat(bytes) ? new OtherWorkerError('ERR_PLAN', NEWER) : error;
    });
    if (plan.id !== id) throw new MetainfoError('ERR_PLAN', `There is another plan in the place of ${id}.`);
    return plan;
  }
}
