/** The default engine, in the bundle for browsers. */
import type { Engine } from '../hash/engine.ts';
import { webEngine } from './web-engine.ts';

export function defaultEngine(): Engine {
  return webEngine();
}
