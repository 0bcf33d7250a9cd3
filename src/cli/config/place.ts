/** The place of the user's configuration file. */
import { homedir } from 'node:os';
import path from 'node:path';

/** The largest configuration file, in bytes. */
export const MAX_BYTES = 2 ** 20;

/** The path of the user's configuration file; null if the user has no home folder. */
export function userConfigFile(): string | null {
  const { env, platform } = process;
  const base = platform === 'win32' ? env['APPDATA'] : env['XDG_CONFIG_HOME'];
  const folder = base && path.isAbsolute(base) ? base : homeConfigFolder();
  return folder && path.join(folder, 'metainfo', 'config.toml');
}

function homeConfigFolder(): string | null {
  try {
    return path.join(homedir(), '.config');
  } catch {
    // The system does not know the user, as in a container that runs with another user number.
    return null;
  }
}
