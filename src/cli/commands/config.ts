/** `metainfo config`: shows the configuration that is in force, and writes an example of a configuration file. */
import { chmod, mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Command, Option } from 'commander';
import { writeWhole } from '../../disk/write-file.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { throwSystemError } from '../../errors/system-error.ts';
import { packageFolder } from '../../hash/addon.ts';
import { exactBytes } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { withoutSecrets } from '../../text/urls.ts';
import { type ConfigOption, configOptions, ruleOptions } from '../config/config-options.ts';
import { type ConfigOptions, configFileOf, configFileOptions, loadConfig } from '../config/load.ts';
import type { Configuration } from '../config/parse.ts';
import { type Origin, optionsFrom, type ResolvedOptions, resolveOptions } from '../config/resolve-options.ts';
import { createOptions } from '../create/options.ts';
import { type LengthsBySize, parsePreset } from '../options/option-values.ts';
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
    .option('-P, --preset <name>', 'also apply this preset', parsePreset)
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
  const folder = path.dirname(file);
  if (options.config === undefined)
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch(throwSystemError(folder, 'write'));
  await writeWhole(file, await readFile(path.join(packageFolder(), 'docs/config.example.toml')), { force });
  // Passkeys will be added: the file is for its owner.
  await chmod(file, 0o600).catch(throwSystemError(file, 'write'));
  await writeResult({ json }, { path: file }, [`${printable(file)}: written`]);
}

/** A configuration and the values that it gives. */
interface ConfigReport {
  /** The file that is looked for; null for none. */
  file: string | null;
  /** Null if the file does not exist. */
  config: Configuration | null;
  preset: string | null;
  /** The values in force: as the file writes them, or the built-in ones; and as people read them. */
  values: readonly { key: string; value: unknown; text: string; origin: Origin }[];
}

/** The values that a creation would have, in the order of the help. Options without a value are left out. */
function inForce({ options, origins }: ResolvedOptions, config: Configuration | null): ConfigReport['values'] {
  return [...configOptions().values()].flatMap((option) => {
    const parsed = options[option.attribute];
    if (parsed === undefined) return [];
    const origin = origins.get(option.attribute) ?? { from: 'built-in' };
    const value = rawOf(option, origin, config) ?? parsed;
    return [{ key: option.key, value, text: sizeText(option, parsed) ?? textOf(value), origin }];
  });
}

/** A value that has sizes, in the one form of sizes here. Undefined for any other value. */
function sizeText({ form }: ConfigOption, parsed: unknown): string | undefined {
  if (form === 'lengths')
    return (parsed as LengthsBySize).map(([size, own]) => `${sizeOf(own)} up to ${sizeOf(size)} of content`).join(', ');
  return form === 'length' || form === 'size' ? sizeOf(parsed) : undefined;
}

const sizeOf = (value: unknown): string => (typeof value === 'number' ? exactBytes(value) : String(value));

/** The value as the file writes it, without credentials; undefined for a value that is not from a table of options. */
function rawOf({ attribute }: ConfigOption, origin: Origin, config: Configuration | null): unknown {
  const settings = 'preset' in origin ? config?.presets.get(origin.preset) : config?.create;
  const setting = origin.from === 'create' || 'preset' in origin ? settings?.get(attribute) : undefined;
  return setting && shownRaw(setting.raw);
}

function shownRaw(raw: unknown): unknown {
  if (typeof raw === 'string') return withoutSecrets(raw);
  if (raw instanceof Date) return raw.toISOString();
  return Array.isArray(raw) ? raw.map(shownRaw) : raw;
}

/** The report for `--json`. */
function reportJson({ file, config, preset, values }: ConfigReport): object {
  return {
    path: file,
    exists: config !== null,
    preset,
    read: { profile: config?.profile?.value ?? 'default' },
    create: Object.fromEntries(values.map(({ key, value, origin }) => [key, { value, ...origin }])),
    presets: [...(config?.presets.keys() ?? [])],
    trackers: Object.fromEntries([...(config?.aliases ?? [])].map(([name, tiers]) => [name, shownRaw(tiers)])),
    hosts: Object.fromEntries(
      [...(config?.hosts ?? [])].map(([host, { options, places }]) => [host, { ...options, places }]),
    ),
  };
}

/** The report for people. */
function reportLines({ file, config, values }: ConfigReport): string[] {
  const head = config ? config.file : file === null ? 'none' : `${file} (it does not exist)`;
  const rows = values.map(({ key, text, origin }) => [key, text, placeOf(origin, config)] as const);
  const width = (column: 0 | 1) => Math.min(40, Math.max(...rows.map((row) => row[column].length)));
  const [keys, texts] = [width(0), width(1)];
  const lines = rows.map(([key, text, place]) => `${key.padEnd(keys)}  ${text.padEnd(texts)}  ${place}`);
  return [`configuration file: ${head}`, '', ...lines, ...(config ? listsOf(config) : [])].map(printable);
}

function listsOf({ file, profile, presets, aliases, hosts }: Configuration): string[] {
  return [
    ...section('read', profile ? [`profile  ${profile.value}  ${file}:${profile.line}`] : []),
    ...section('presets', [...presets.keys()]),
    ...section(
      'trackers',
      Array.from(
        aliases,
        ([name, tiers]) => `${name}  ${tiers.map((tier) => withoutSecrets(tier.join(','))).join('  ')}`,
      ),
    ),
    ...section(
      'hosts',
      Array.from(hosts, ([host, { options }]) => {
        const rules = [...ruleOptions().values()].flatMap((option) => {
          const value = options[option.attribute as keyof typeof options];
          return value === undefined ? [] : [`${option.key} ${sizeText(option, value) ?? value}`];
        });
        return `${host}  ${rules.join('; ') || 'no rules'}`;
      }),
    ),
  ];
}

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];

const textOf = (value: unknown): string => (Array.isArray(value) ? value.map(textOf).join(' ') : String(value));

function placeOf(origin: Origin, config: Configuration | null): string {
  if (!('line' in origin)) return origin.from;
  const table = 'preset' in origin ? `preset ${origin.preset}, ` : 'host' in origin ? `host ${origin.host}, ` : '';
  return `${table}${config?.file}:${origin.line}`;
}
