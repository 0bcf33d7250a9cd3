/** The profile of the commands that read torrents: that of their options, else that of the configuration file. */
import type { Command } from 'commander';
import { profileOptions } from '../options/option-values.ts';
import { configFileOptions, loadConfig } from './load.ts';

/** Adds the options of reading torrents to a command, with the configuration file that gives the profile without them. */
export function readingOptions(command: Command): Command {
  return configFileOptions(profileOptions(command)).hook('preAction', async (_, action) => {
    const { strict, compat, ...options } = action.opts();
    if (strict || compat) return;
    const profile = (await loadConfig(options))?.profile?.value;
    if (profile === 'strict' || profile === 'compat') action.setOptionValueWithSource(profile, true, 'config');
  });
}
