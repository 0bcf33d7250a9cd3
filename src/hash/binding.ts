import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { MetainfoError } from '../errors.ts';
import type { HashJob, HashPlan } from './plan.ts';

/** What the native addon offers: the whole contract, and the only door to it. */
export interface Binding {
  /** Kernels that this CPU can run, best first. */
  readonly kernels: readonly string[];
  /** The kernels in use: the best, or the one that METAINFO_KERNEL names. */
  readonly active: { readonly sha1: string; readonly sha256: string };
  readonly HashJob: new (plan: HashPlan) => HashJob;
}

let loaded: Binding | undefined;

/**
 * The native addon, loaded once: a prebuilt binary, or what `npm run build` made.
 *
 * @throws {MetainfoError} `ERR_NATIVE_UNAVAILABLE`, or `ERR_KERNEL` when METAINFO_KERNEL names no runnable kernel
 */
export function binding(): Binding {
  loaded ??= load();
  return loaded;
}

function load(): Binding {
  const require = createRequire(import.meta.url);
  try {
    const nodeGypBuild = require('node-gyp-build') as (folder: string) => Binding;
    return nodeGypBuild(fileURLToPath(new URL('../..', import.meta.url)));
  } catch (error) {
    const { message } = error as Error;
    if (message.startsWith('METAINFO_KERNEL')) throw new MetainfoError('ERR_KERNEL', `${message}.`, { cause: error });
    throw new MetainfoError(
      'ERR_NATIVE_UNAVAILABLE',
      'The native addon could not be loaded: install a C++ compiler and run `npm rebuild metainfo`.',
      { cause: error },
    );
  }
}
