/** Reads the options of a command line together with the configuration file. */
import type { Command } from 'commander';
import type { CreateOptions } from '../create/options.ts';
import { globsOfFiles } from '../options/glob-file.ts';
import { ruleFindings } from './hosts.ts';
import { loadConfig } from './load.ts';
import { resolveOptions } from './resolve-options.ts';

/** Resolves the options of the torrent of some paths. The own options of a job come before those of the command line. */
export type OptionsFor = (paths: readonly string[], own?: Partial<CreateOptions>) => CreateOptions;

/**
 * Reads the configuration for a parsed command.
 *
 * @throws {MetainfoError} as {@link loadConfig} and {@link globsOfFiles}; the function throws as {@link resolveOptions}
 */
export async function readCommandLine(command: Command): Promise<OptionsFor> {
  const config = await loadConfig(command.opts());
  const builtIn = optionsFrom(command, 'default');
  const given = optionsFrom(command, 'cli');
  // One error instead of one for each of many torrents.
  globsOfFiles(given.excludeFrom ?? []);
  return (paths, own = {}) => {
    const { options, rules } = resolveOptions({ builtIn, given: [given, own], paths }, config);
    return { ...options, ruleFindings: (plan) => ruleFindings(rules, options, plan) };
  };
}

/** The options of a command that are set by default, or by the command line. */
export function optionsFrom(command: Command, source: 'default' | 'cli'): Partial<CreateOptions> {
  const entries = Object.entries(command.opts());
  return Object.fromEntries(entries.filter(([key]) => command.getOptionValueSource(key) === source));
}
