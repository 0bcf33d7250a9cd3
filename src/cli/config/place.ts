/** The place of the user's configuration file. */
import path from 'node:path';
import { homeFolder } from '../../disk/home-folder.ts';

/** The largest configuration file, in bytes. */
export const MAX_BYTES = 2 ** 20;

/** The path of the user's configuration file; null if the user has no home folder. */
export function userConfigFile(): string | null {
  const { env, platform } = process;
  const base = platform === 'win32' ? env['APPDATA'] : env['XDG_CONFIG_HOME'];
  const home = homeFolder();
  const folder = base && path.isAbsolute(base) ? base : home && path.join(home, '.config');
  return folder && path.join(folder, 'metainfo', 'config.toml');
}
