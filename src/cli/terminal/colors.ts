/** Picks the colors for an output stream. */
import type { Colors } from 'picocolors/types.js';

/** Colors for a terminal; no colors for a pipe or file. */
export async function colorsFor(stream: NodeJS.WriteStream): Promise<Colors> {
  // Loaded on demand: picocolors opens standard output when it is loaded.
  const { default: picocolors } = await import('picocolors');
  // A pipe has an undefined `isTTY`. Passing `undefined` on would enable colors in CI and on Windows.
  return picocolors.createColors(picocolors.isColorSupported && stream.isTTY === true);
}
