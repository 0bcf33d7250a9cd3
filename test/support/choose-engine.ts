/** Chooses the engine of tests that run with every engine. */
import { addonOrNull } from '../../src/hash/addon.ts';

/** The engines that this process can run. */
export const ENGINES: readonly ('native' | 'node')[] = addonOrNull() ? ['native', 'node'] : ['node'];

/** Sets METAINFO_ENGINE. Returns a function that restores it. */
export function chooseEngine(name: string): () => void {
  const { METAINFO_ENGINE: before } = process.env;
  process.env['METAINFO_ENGINE'] = name;
  return () => {
    if (before === undefined) delete process.env['METAINFO_ENGINE'];
    else process.env['METAINFO_ENGINE'] = before;
  };
}

/** Calls a function as if the addon did not load. */
export async function withoutAddon<T>(work: () => T | Promise<T>): Promise<T> {
  const restore = chooseEngine('node');
  try {
    return await work();
  } finally {
    restore();
  }
}
