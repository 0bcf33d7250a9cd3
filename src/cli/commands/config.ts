/** `metainfo config`: shows the configuration that is in force, and writes an example of a configuration file. */
import { chmod, mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Command, Option } from 'commander';
import { writeWhole } from '../../disk/write-file.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { throwSystemError } from '../../errors/system-error.ts';
import { packageFolder } from '../../hash/addon.ts';
import { printable } from '../../text/printable.ts';
import { type ConfigOptions, configFileOf, configFileOptions, loadConfig } from '../config/load.ts';
import { inForce, reportJson, reportLines } from '../config/report.ts';
import { optionsFrom, resolveOptions } from '../config/resolve-options.ts';
import { createOptions } from '../create/options.ts';
import { writeLines, writeResult } from '../terminal/output.ts';

/** The largest file in bytes whose names are completed: parsing it takes milliseconds. */
const MAX_COMPLETED = 2 ** 17;

interface ConfigCommandOptions extends ConfigOptions {
  preset?: string;
  init?: boolean;
  force?: boolean;
  json?: boolean;
  /** For the completion. */
  names?: 'presets' | 'aliases';
}

const EXAMPLES = `
Examples:
  metainfo config                     every value in force, and its place
  metainfo config --preset films      with the values of a preset
  metainfo config --init              write a commented example

The file is ~/.config/metainfo/config.toml, or metainfo/config.toml in the
folder XDG_CONFIG_HOME (on Windows: APPDATA). It has defaults for create and
plan, presets, aliases of trackers, and rules for the hosts of trackers. The
command line comes first: --no-private and the like switch a flag off.

Exit codes: 0 success, 1 the configuration is not valid, or the file exists, 2
wrong usage.`;

export function addConfig(program: Command): void {
  const command = program
    .command('config')
    .description('show the configuration in force and where each value comes from, or write an example')
    .option('--preset <name>', 'also apply this preset')
    .option('--init', 'write a commented example of a configuration file')
    .option('--force', 'with --init: replace the file if it exists')
    .option('--json', 'print one JSON object')
    .addOption(new Option('--names <what>').choices(['presets', 'aliases']).hideHelp());
  configFileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((options: ConfigCommandOptions) =>
      options.init ? init(options) : options.names ? showNames(options) : show(options),
    );
}

async function show({ preset, json, ...options }: ConfigCommandOptions): Promise<void> {
  const config = await loadConfig(options);
  const builtIn = optionsFrom(createOptions(new Command('create')), 'default');
  const resolved = resolveOptions({ builtIn, given: preset === undefined ? [] : [{ preset }], paths: [] }, config);
  const report = { file: configFileOf(options), config, preset: preset ?? null, values: inForce(resolved, config) };
  await writeResult({ json }, reportJson(report), reportLines(report));
}

/**
 * Prints names for the completion of a shell, one a line. Without a valid file there are none. Only a regular file is read, and
 * none that takes long to parse.
 */
async function showNames({ names, ...options }: ConfigCommandOptions): Promise<void> {
  const status = await stat(configFileOf(options) ?? '').catch(() => null);
  if (!status?.isFile() || status.size > MAX_COMPLETED) return;
  const config = await loadConfig(options).catch(() => null);
  // Other names are no line, or change the terminal.
  const found = [...(config?.[names ?? 'presets'].keys() ?? [])].filter((name) => printable(name) === name);
  await writeLines(found);
}

async function init({ force = false, json, ...options }: ConfigCommandOptions): Promise<void> {
  const file = configFileOf(options);
  if (file === null)
    throw invalidArgument('--init needs the place of the configuration file: name it with --config FILE');
  // The user's own folder may not exist yet; that of --config must, because a missing one is probably a typing error.
  if (options.config === undefined)
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 }).catch(
      throwSystemError(path.dirname(file), 'write'),
    );
  await writeWhole(file, await readFile(path.join(packageFolder(), 'docs/config.example.toml')), { force });
  // Passkeys will be added: the file is for its owner.
  await chmod(file, 0o600).catch(throwSystemError(file, 'write'));
  await writeResult({ json }, { path: file }, [`${printable(file)}: written`]);
}
