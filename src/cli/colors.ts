import type { Colors } from 'picocolors/types.js';

/** Colours for a terminal, none for anything else. */
export async function colorsFor(stream: NodeJS.WriteStream): Promise<Colors> {
  // It asks for standard output as it is loaded.
  const { default: picocolors } = await import('picocolors');
  // `undefined`, as a pipe's isTTY is, would be its own choice: colours wherever CI is set, and on Windows.
  return picocolors.createColors(picocolors.isColorSupported && stream.isTTY === true);
}
