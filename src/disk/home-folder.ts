/** Finds the home folder of the user. */
import { userInfo } from 'node:os';
import path from 'node:path';
import { isWindows, variable } from '../platform/node.ts';

/** The home folder; null if there is none. An empty or relative `HOME` counts as unset: it would name the current folder. */
export function homeFolder(): string | null {
  for (const find of [() => variable(isWindows ? 'USERPROFILE' : 'HOME') ?? '', () => userInfo().homedir]) {
    try {
      const folder = find();
      if (path.isAbsolute(folder)) return folder;
    } catch {
      // The system does not know the user, as in a container that runs with another user number.
    }
  }
  return null;
}
