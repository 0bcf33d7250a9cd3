/** Chooses the engine of jobs that name none. */
import { addonOrNull, chosenEngine, unavailableMessage } from './addon.ts';
import type { Engine } from './engine.ts';
import { nativeEngine } from './native.ts';
import { nodeEngine } from './node.ts';

let native: Engine | null = null;
let warned = false;

/**
 * Returns the engine that METAINFO_ENGINE names. If it is not set, returns the native engine, or the node engine with a warning if the
 * addon does not load.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, `ERR_NATIVE_UNAVAILABLE`, `ERR_KERNEL`
 */
export function defaultEngine(): Engine {
  if (addonOrNull()) {
    // An addon, once loaded, is the same for the whole process.
    native ??= nativeEngine();
    return native;
  }
  // Warn once, and not those who chose the node engine.
  if (!warned && chosenEngine() === null) {
    const message = `${unavailableMessage()} Until then, metainfo falls back to node:crypto, which is slower.`;
    process.emitWarning(message, { type: 'MetainfoWarning', code: 'ERR_NATIVE_UNAVAILABLE' });
    warned = true;
  }
  return nodeEngine();
}
