/** Reads the configuration file that the command line names, or that of the user. */
import path from 'node:path';
import { type Command, Option } from 'commander';
import { LimitError } from '../../bencode/limits.ts';
import { homeFolder } from '../../disk/home-folder.ts';
import { readWithin } from '../../disk/read-file.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { isDenied } from '../../errors/system-error.ts';
import { emitWarning, isWindows, variable } from '../../platform/node.ts';
import { parseFile, profileOptions } from '../options/option-values.ts';
import type { Configuration } from './parse.ts';

/** The largest configuration file, in bytes. */
const MAX_BYTES = 2 ** 20;

/** The path of the user's configuration file; null if the user has no home folder. */
export function userConfigFile(): string | null {
  const base = isWindows ? variable('APPDATA') : variable('XDG_CONFIG_HOME');
  const home = homeFolder();
  const folder = base && path.isAbsolute(base) ? base : home && path.join(home, '.config');
  return folder && path.join(folder, 'metainfo', 'config.toml');
}

/** The options that choose a configuration file. */
export interface ConfigOptions {
  /** The value of `--config`; false with `--no-config`. */
  config?: string | false;
}

/** Adds `--config` and `--no-config` to a command. */
export function configFileOptions(command: Command): Command {
  return command
    .optionsGroup('Configuration file:')
    .addOption(
      new Option('--config <file>', 'configuration file (metainfo config shows the default)').argParser(parseFile),
    )
    .option('--no-config', 'use no configuration file');
}

/** The configuration file that these options choose; null for none. */
export function configFileOf({ config }: ConfigOptions): string | null {
  return config === false ? null : (config ?? userConfigFile());
}

/**
 * The configuration in force; null if there is none. The modules that parse it are loaded only if there is a file.
 *
 * @throws {MetainfoError} `ERR_CONFIG` for a file that is not valid, `ERR_NOT_FOUND` if the file of `--config` is missing, or
 *   the error of reading it
 */
export async function loadConfig(options: ConfigOptions): Promise<Configuration | null> {
  const file = configFileOf(options);
  const bytes = file === null ? null : await readConfig(file, options);
  if (file === null || bytes === null) return null;
  const { parseConfig } = await import('./parse.ts');
  return parseConfig(bytes, file);
}

async function readConfig(file: string, { config }: ConfigOptions): Promise<Uint8Array | null> {
  try {
    return await readWithin(file, MAX_BYTES);
  } catch (error) {
    if (!(error instanceof MetainfoError)) throw error;
    if (error.code === 'ERR_NOT_FOUND' && config === undefined) return null;
    if (error instanceof LimitError)
      throw new MetainfoError('ERR_CONFIG', `${file}: a configuration file has at most 1 MiB.`, { path: file });
    const hint = config === undefined ? ' (--no-config works without it)' : '';
    if (config === undefined && isDenied(error.cause)) {
      emitWarning(`configuration file ${error.message.replace(/\.$/, '')}: it is ignored${hint}.`, error.code);
      return null;
    }
    const message = `configuration file ${error.message.replace(/\.$/, '')}${hint}.`;
    throw new MetainfoError(error.code, message, { path: file, cause: error });
  }
}

/** Adds the options of reading torrents to a command, with the configuration file that gives the profile without them. */
export function readingOptions(command: Command): Command {
  return configFileOptions(profileOptions(command)).hook('preAction', async (_, action) => {
    const { strict, compat, ...options } = action.opts();
    if (!strict && !compat) useProfile(action, await loadConfig(options));
  });
}

/** Sets the profile that a configuration gives, for a command line without one. */
export function useProfile(command: Command, config: Configuration | null): void {
  const profile = config?.profile?.value;
  if (profile === 'strict' || profile === 'compat') command.setOptionValueWithSource(profile, true, 'config');
}
