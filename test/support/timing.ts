/** Bounds for what work costs. They count processor time, which does not run while other programs use the processor. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

/** The factor for all bounds: the addon of scripts/test-sanitized.mjs is many times slower. */
export const slowness = process.env['METAINFO_SANITIZED'] ? 25 : 1;

/** The processor time of this process in seconds, in all its threads. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Runs synchronous work and asserts that it takes less than so many seconds of processor time. */
export function withinCpu<T>(seconds: number, work: () => T): T {
  const before = cpuSeconds();
  const result = work();
  const used = cpuSeconds() - before;
  assert.ok(used < seconds * slowness, `took ${used} s of processor time`);
  return result;
}

/**
 * Asserts that a measurement in seconds is below a bound in one of three attempts. A bound on a clock must be far above what a
 * busy machine needs, and far below what the fault would take.
 */
export async function assertWithin(t: TestContext, bound: number, attempt: () => Promise<number>): Promise<void> {
  const measured: number[] = [];
  while (measured.length < 3 && !measured.some((seconds) => seconds < bound)) measured.push(await attempt());
  const text = measured.map((seconds) => `${seconds.toFixed(3)} s`).join(', ');
  assert.ok(Math.min(...measured) < bound, `took ${text}`);
  t.diagnostic(text);
}
