// Memory that nobody else can transfer, resize or write while an engine hashes it.
import type { HashPlan, PlanFile } from './addon.ts';

const owned = new WeakSet<ArrayBufferLike>();

/** A buffer that must not be given to callers. */
export function ownMemory(size: number): Buffer {
  const memory = Buffer.allocUnsafeSlow(size);
  owned.add(memory.buffer);
  return memory;
}

/** The bytes themselves where they are our own, else a copy. */
export function ownCopy(bytes: Uint8Array): Uint8Array {
  if (owned.has(bytes.buffer)) return bytes;
  const copy = ownMemory(bytes.length);
  copy.set(bytes);
  return copy;
}

/**
 * The plan with copies of the memory of others. Node-API cannot keep a buffer from being detached (a reference only keeps
 * it from being collected), and native threads would go on reading at its old address.
 */
export function withOwnMemory(plan: HashPlan): HashPlan {
  const isForeign = ({ data }: PlanFile) => data !== undefined && !owned.has(data.buffer);
  if (!plan.files.some(isForeign)) return plan;
  // Files may share their memory.
  const copies = new Map<Uint8Array | undefined, Uint8Array>();
  const files = plan.files.map((file): PlanFile => {
    if (!file.data || !isForeign(file)) return file;
    const data = copies.get(file.data) ?? ownCopy(file.data);
    copies.set(file.data, data);
    return { ...file, data };
  });
  return { ...plan, files };
}
