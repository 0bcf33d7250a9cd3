// Memory that nobody else can transfer, resize or write while an engine hashes it.
import type { HashPlan, PlanFile } from '../digest/binding.ts';

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
  const files = plan.files.map((file): PlanFile => {
    const { data, offset, length } = file;
    // What is out of range is reported by the engine.
    if (!data || !isForeign(file) || !(offset >= 0 && length >= 0 && offset + length <= data.length)) return file;
    return { ...file, data: ownCopy(data.subarray(offset, offset + length)), offset: 0 };
  });
  return { ...plan, files };
}
