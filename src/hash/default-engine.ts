import { bindingIfAny, engineAskedFor, whyUnavailable } from './addon.ts';
import type { Engine } from './engine.ts';
import { nativeEngine } from './native.ts';
import { nodeEngine } from './node.ts';

let warned = false;

/**
 * The engine that METAINFO_ENGINE names; else the native one, or where no addon loads the node:crypto one with a warning.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, `ERR_NATIVE_UNAVAILABLE`, `ERR_KERNEL`
 */
export function defaultEngine(): Engine {
  const addon = bindingIfAny();
  if (addon) return nativeEngine(addon);
  // Who asked for it knows; the others are told once.
  if (!warned && engineAskedFor() === null) {
    const message = `${whyUnavailable()} Until then node:crypto hashes, which is slower.`;
    process.emitWarning(message, { type: 'MetainfoWarning', code: 'ERR_NATIVE_UNAVAILABLE' });
    warned = true;
  }
  return nodeEngine();
}
