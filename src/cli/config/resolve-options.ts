/** Resolves the options of a creation: the command line before the preset, the rules of hosts, [create] and built-in values. */
import type { Command } from 'commander';
import { invalidArgument, nearest } from '../../errors/guard.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import { foreignArgument } from '../create/inputs.ts';
import { type CreateOptions, SAME_VALUE } from '../create/options.ts';
import { globsOfFiles } from '../options/glob-file.ts';
import { isStdin } from '../terminal/standard-input.ts';
import { withoutAliases } from './aliases.ts';
import { jointRule, ruleFindings, rulesOf, type TrackerRule } from './hosts.ts';
import { loadConfig, userConfigFile } from './load.ts';
import type { Configuration, Settings } from './parse.ts';

type Options = Partial<CreateOptions>;

/** Where the value of an option comes from. */
export type Origin =
  | { from: 'command line' | 'built-in' }
  | { from: 'create'; line: number }
  | { from: 'preset'; preset: string; line: number }
  | { from: 'host'; host: string; line: number };

/** One level of options. A higher level replaces the values of those below it. */
interface Level {
  options: Options;
  origin: (key: keyof CreateOptions) => Origin;
}

/** The options of a command line or of one of its jobs. */
export interface Given {
  builtIn: Options;
  /** The options that the command line sets, and above them those of a job. */
  given: readonly Options[];
  /** The paths of the torrent. */
  paths: readonly string[];
}

/** The resolved options of one creation. */
export interface ResolvedOptions {
  options: CreateOptions;
  /** The rules of the trackers' hosts. */
  rules: readonly TrackerRule[];
  origins: ReadonlyMap<keyof CreateOptions, Origin>;
}

/**
 * Resolves the options of one creation.
 *
 * @param config Null without a configuration file.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an unknown preset, or a tracker that is no alias
 */
export function resolveOptions({ builtIn, given, paths }: Given, config: Configuration | null): ResolvedOptions {
  const chosen = given.findLast(({ preset }) => preset !== undefined)?.preset;
  const preset = chosen === undefined ? null : { name: chosen, settings: presetOf(chosen, config) };
  const below: Level[] = [{ options: builtIn, origin: () => ({ from: 'built-in' }) }];
  if (config) below.push(levelOf(config.create, (line) => ({ from: 'create', line })));
  const above: Level[] = given.map((options) => ({ options, origin: () => ({ from: 'command line' }) }));
  if (preset) above.unshift(levelOf(preset.settings, (line) => ({ from: 'preset', preset: preset.name, line })));
  if (!config) return { ...merged([...below, ...above]), rules: [] };
  const { tracker = [] } = merged([...below, ...above]).options;
  const trackers = withoutAliases(tracker, config.aliases);
  const rules = rulesOf(trackers, config.hosts);
  const { options, origins } = merged([...below, hostLevel(rules, merged(below).options.torrentVersion), ...above]);
  const fromConfig = new Map(
    [...origins].flatMap(([key, origin]) => ('line' in origin ? [[key, `${config.file}:${origin.line}`]] : [])),
  );
  for (const key of unfitOptions(paths)) if (fromConfig.has(key)) delete options[key];
  const resolved = { ...options, ...(trackers.length > 0 && { tracker: trackers }), fromConfig };
  return { options: resolved, rules, origins };
}

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

/** The options that the command line may not combine with an input. From a configuration, they do not apply then. */
function unfitOptions(paths: readonly string[]): (keyof CreateOptions)[] {
  const foreign = foreignArgument(paths);
  if (foreign === undefined) return [];
  const onDisk = ['exclude', 'excludeFrom', 'include', 'reuse'] as const;
  return isStdin(foreign) ? [...onDisk, 'targetPieces', 'maxTorrentSize'] : [...onDisk];
}

/** The options of a preset. Throws `ERR_INVALID_ARGUMENT` if there is none of this name. */
export function presetOf(name: string, config: Configuration | null): Settings {
  const settings = config?.presets.get(name);
  if (settings) return settings;
  throw invalidArgument(`There is no preset ${JSON.stringify(name)}${hintOf(name, config)}`);
}

function hintOf(name: string, config: Configuration | null): string {
  if (!config) {
    const file = userConfigFile();
    return `, because there is no configuration${file === null ? '' : `: write ${file}, or name a file with --config`}`;
  }
  const names = [...config.presets.keys()];
  const meant = nearest(name, names) ?? names.find((one) => one.toLowerCase() === name.toLowerCase());
  if (meant !== undefined) return ` in ${config.file}: did you mean ${meant}?`;
  return ` in ${config.file}: ${names.length === 0 ? 'it has no presets' : `it has ${names.slice(0, 10).join(', ')}`}`;
}

function levelOf(settings: Settings, origin: (line: number) => Origin): Level {
  return {
    options: Object.fromEntries([...settings].map(([key, { value }]) => [key, value])),
    origin: (key) => origin(settings.get(key)?.line ?? 1),
  };
}

/** @param version The version of the levels below, which stays if the trackers take it. */
function hostLevel(rules: readonly TrackerRule[], version: TorrentVersion): Level {
  const { options: joint, from } = jointRule(rules);
  const { torrentVersion: versions = [], ...options } = joint;
  const [first = version] = versions.includes(version) ? [] : versions;
  return {
    options: first === version ? options : { ...options, torrentVersion: first },
    origin: (key) => {
      const rule = from.get(key);
      const place = rule?.places[key as keyof typeof rule.places] ?? '';
      return { from: 'host', host: rule?.host ?? '', line: Number(/\d+$/.exec(place)?.[0]) };
    },
  };
}

/** Joins levels, the lowest one first. Empty lists, which clear those below, are left out. */
function merged(levels: readonly Level[]): Omit<ResolvedOptions, 'rules'> {
  const options: Record<string, unknown> = {};
  const origins = new Map<keyof CreateOptions, Origin>();
  for (const { options: own, origin } of levels) {
    for (const key of replacedBy(own, options)) {
      delete options[key];
      origins.delete(key);
    }
    for (const [key, value] of Object.entries(own)) {
      options[key] = value;
      origins.set(key as keyof CreateOptions, origin(key as keyof CreateOptions));
    }
    options['pieceLength'] ??= 'auto';
  }
  const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
  const entries = Object.entries(options).filter(([, value]) => !isEmptyList(value));
  return { options: Object.fromEntries(entries) as unknown as CreateOptions, origins };
}

/** The options of lower levels that contradict those of a higher level, which wins. */
function replacedBy(own: Options, below: Options): (keyof CreateOptions)[] {
  const { pieceLength, pieceLengths, maxPieceLength, targetPieces, maxTorrentSize } = own;
  const replaced: (keyof CreateOptions)[] = [];
  if (typeof pieceLength === 'number') replaced.push('maxPieceLength', 'targetPieces', 'maxTorrentSize');
  for (const [one, other] of SAME_VALUE) {
    if (own[one] !== undefined) replaced.push(other);
    if (own[other] !== undefined) replaced.push(one);
  }
  if (pieceLengths) replaced.push('targetPieces');
  const before = typeof below.pieceLength === 'number' ? below.pieceLength : Number.NaN;
  const isOutside = before > (maxPieceLength ?? before) || before < (own.minPieceLength ?? before);
  const isLimited = targetPieces !== undefined || maxTorrentSize !== undefined;
  if (isOutside || isLimited) replaced.push('pieceLength');
  if (isLimited) replaced.push('pieceLengths');
  if (own.cache === false) replaced.push('cacheDir');
  return replaced;
}
