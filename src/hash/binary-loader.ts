/** Finds node-gyp-build. The command contains it and knows its package, so scripts/bundle-command.mjs replaces this module there. */
import nodeModule from 'node:module';
import path from 'node:path';

/** The node-gyp-build of a package, which loads its binary for this platform. */
export function nodeGypBuildOf(folder: string): (folder: string) => unknown {
  // Bundlers would follow an import.
  return nodeModule.createRequire(path.join(folder, 'package.json'))('node-gyp-build');
}

/** The folder of the package, if the program is always in it: the command, which needs no search (1 ms). */
export const ownFolder = (): string | null => null;
