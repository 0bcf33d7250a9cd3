/** Shows a configuration: every value in force and its origin, presets, aliases and rules. */
import { exactBytes } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { withoutSecrets } from '../../text/urls.ts';
import type { LengthsBySize } from '../options/option-values.ts';
import { kebab } from '../terminal/messages.ts';
import { type ConfigOption, configOptions } from './config-options.ts';
import type { Configuration } from './parse.ts';
import type { Origin, ResolvedOptions } from './resolve-options.ts';

/** A configuration and the values that it gives. */
export interface ConfigReport {
  /** The file that is looked for; null for none. */
  file: string | null;
  /** Null if the file does not exist. */
  config: Configuration | null;
  preset: string | null;
  /** The values in force: as the file writes them, or the built-in ones; and as people read them. */
  values: readonly { key: string; value: unknown; text: string; origin: Origin }[];
}

/** The values that a creation would have, in the order of the help. Options without a value are left out. */
export function inForce({ options, origins }: ResolvedOptions, config: Configuration | null): ConfigReport['values'] {
  return [...configOptions().values()].flatMap((option) => {
    const parsed = options[option.attribute];
    if (parsed === undefined) return [];
    const origin = origins.get(option.attribute) ?? { from: 'built-in' };
    const value = rawOf(option, origin, config) ?? parsed;
    return [{ key: option.key, value, text: sizeText(option, parsed) ?? textOf(value), origin }];
  });
}

/** A value that has sizes, in the one form of sizes here: the options read it too. Undefined for any other value. */
function sizeText({ form }: ConfigOption, parsed: unknown): string | undefined {
  if (form === 'lengths') return (parsed as LengthsBySize).map((pair) => pair.map(sizeOf).join('=')).join(',');
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
export function reportJson({ file, config, preset, values }: ConfigReport): object {
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
export function reportLines({ file, config, values }: ConfigReport): string[] {
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
        const rules = Object.entries(options).map(([key, value]) => {
          return `${kebab(key)} ${sizeOf(value)}`;
        });
        return `${host}  ${rules.join(', ') || 'no rules'}`;
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
