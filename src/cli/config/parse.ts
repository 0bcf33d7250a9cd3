/** Parses and checks a configuration file: TOML, its keys, their values, aliases and rules of hosts. */
import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { define, type Failure, object, optional, record, type Struct, string } from 'superstruct';
import { ParseError } from 'toml-eslint-parser';
import { MetainfoError } from '../../errors/errors.ts';
import { suggestName } from '../../errors/guard.ts';
import { printable } from '../../layout/text.ts';
import type { CreateOptions } from '../create/options.ts';
import { type Aliases, expandAlias, isAliasName } from './aliases.ts';
import type { Configuration, Setting, Settings } from './configuration.ts';
import { parseHost, RULE_KEYS, type TrackerRule } from './hosts.ts';
import { parseSetting, type SettableOption, settableOptions, shownValue, tiersOf } from './settable.ts';
import { type LineOf, parseToml, type TomlPath } from './toml.ts';
import { UNSETTABLE } from './unsettable.ts';

/** The problems that a message lists. The limit keeps a hostile file from filling the terminal. */
const MAX_LISTED = 1000;

/** A table of a configuration file. */
type Table = Readonly<Record<string, unknown>>;

/** A file whose tables have the right types. */
interface Tables {
  create?: Table | undefined;
  presets?: Readonly<Record<string, Table>> | undefined;
  trackers?: Table | undefined;
  hosts?: Readonly<Record<string, Table>> | undefined;
}

interface Problem {
  path: TomlPath;
  message: string;
}

/**
 * Parses and checks the bytes of a configuration file.
 *
 * @throws {MetainfoError} `ERR_CONFIG` with all problems, each with its line
 */
export function parseConfig(bytes: Uint8Array, file: string): Configuration {
  const { value: tables, lineOf } = parsed(textOf(bytes, file), file);
  const context = { folder: path.dirname(path.resolve(file)), file, lineOf };
  const problems = problemsOf(tables, context);
  if (problems.length > 0) {
    const placed = problems.map(({ path: place, message }) => ({
      line: lineOf(place),
      text: `${keyOf(place)}: ${message}`,
    }));
    throw configError(
      file,
      placed.sort((a, b) => a.line - b.line),
    );
  }
  return configurationOf(tables as Tables, context);
}

interface Context {
  file: string;
  /** Relative folders start here. */
  folder: string;
  lineOf: LineOf;
}

function textOf(bytes: Uint8Array, file: string): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  const lines = Buffer.from(bytes).toString('latin1').split('\n');
  const line = lines.findIndex((text) => !isUtf8(Buffer.from(text, 'latin1'))) + 1;
  throw configError(file, [{ line, text: 'this line is not UTF-8: save the file in that encoding' }]);
}

function parsed(toml: string, file: string): ReturnType<typeof parseToml> {
  try {
    return parseToml(toml);
  } catch (error) {
    if (error instanceof RangeError)
      throw configError(file, [{ line: 1, text: 'this is not valid TOML: values are nested too deeply' }]);
    if (!(error instanceof ParseError)) throw error;
    const { lineNumber: line, column, message } = error;
    throw configError(file, [{ line, column: column + 1, text: `this is not valid TOML: ${message}` }]);
  }
}

/** A problem and its place. */
interface Placed {
  line: number;
  column?: number;
  text: string;
}

function configError(file: string, problems: readonly Placed[]): MetainfoError {
  const name = printable(file);
  const lines = problems
    .slice(0, MAX_LISTED)
    .map(({ line, column, text }) => `${name}:${line}${column === undefined ? '' : `:${column}`}: ${printable(text)}`);
  const more = problems.length > MAX_LISTED ? [`and ${problems.length - MAX_LISTED} more problems`] : [];
  const list = [...lines, ...more].map((line) => `\n  ${line}`).join('');
  return new MetainfoError('ERR_CONFIG', `The configuration file is not valid:${list}`, { path: file });
}

/** A key as TOML writes it. */
function keyOf(place: TomlPath): string {
  return place.map((key) => (/^[\w-]+$/.test(String(key)) ? key : JSON.stringify(key))).join('.');
}

/** The struct of a whole file. Each value is checked by the parser of its option. */
function structOf(context: Context) {
  const value = (option: SettableOption) =>
    optional(
      define<unknown>(option.form, (given) => reasonOf(() => parseSetting(option, given, context.folder)) ?? true),
    );
  const structs = (options: Iterable<SettableOption>) =>
    object(Object.fromEntries(Array.from(options, (option) => [option.key, value(option)])));
  const options = settableOptions();
  const all = structs(options.values());
  const rule = structs(RULE_KEYS.map((key) => options.get(key) as SettableOption));
  const tiers = define<unknown>('tiers', (given) => reasonOf(() => requireTiers(given)) ?? true);
  return object({
    create: optional(all),
    presets: optional(record(string(), all)),
    trackers: optional(record(string(), tiers)),
    hosts: optional(record(string(), rule)),
  }) as Struct<unknown, unknown>;
}

/** The reason why a value is refused; undefined for one that is accepted. */
function reasonOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function requireTiers(value: unknown): void {
  const words = tiersOf(value);
  if (words === null) throw new Error(`expected a URL, or a list of URLs and lists of URLs, got ${shownValue(value)}`);
  if (words.length === 0) throw new Error('expected at least one URL');
}

function problemsOf(value: unknown, context: Context): Problem[] {
  const [error] = structOf(context).validate(value);
  const all = error ? [...error.failures()] : [];
  // The elements of a list that stands where a table belongs are no problems of their own.
  const noTables = new Set(all.filter(isNoTable).map(({ path: place }) => keyOf(place)));
  const failures = all.filter(({ path: place }) => !noTables.has(keyOf(place.slice(0, -1)))).map(problemOf);
  const table = (key: string): Table => tableOf((value as Table)[key]);
  return [
    ...failures,
    ...aliasProblems(table('trackers')),
    ...hostProblems(table('hosts'), context.lineOf),
    ...trackerProblems(value as Table),
  ];
}

/** A table; an empty one for any other value, which the struct refuses. */
function tableOf(value: unknown): Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : {};
}

const isNoTable = ({ type }: Pick<Failure, 'type'>) => type === 'object' || type === 'record';

function problemOf({ type, path: place, value, message }: Failure): Problem {
  if (type === 'never') return { path: place, message: unknownKey(place) };
  if (isNoTable({ type })) return { path: place, message: `expected a table, got ${shownValue(value)}` };
  return { path: place, message };
}

/** Says which key was probably meant. */
function unknownKey(place: TomlPath): string {
  const key = String(place.at(-1));
  const isOption = place.length > 1 && place[0] !== 'hosts';
  if (isOption && Object.hasOwn(UNSETTABLE, key)) return `a configuration file cannot set it: ${UNSETTABLE[key]}`;
  const known =
    place.length === 1
      ? ['create', 'presets', 'trackers', 'hosts']
      : isOption
        ? [...settableOptions().keys()]
        : RULE_KEYS;
  const meant = suggestName(key.replaceAll('_', '-'), known) ?? known.find((one) => one === key.replaceAll('_', '-'));
  const hint = meant ?? known.find((one) => `${one}s` === key);
  if (hint !== undefined) return `unknown key: did you mean ${hint}?`;
  return isOption
    ? 'unknown key: metainfo create --help lists the options'
    : `unknown key: expected one of ${known.join(', ')}`;
}

function aliasProblems(trackers: Table): Problem[] {
  const aliases = aliasesOf(trackers);
  const known = new Map<string, string[][]>();
  return Object.keys(trackers).flatMap((name): Problem[] => {
    const place = ['trackers', name];
    if (!isAliasName(name)) {
      return [{ path: place, message: 'the name of an alias has only letters, digits, "-", "_" and "."' }];
    }
    const message = reasonOf(() => expandAlias(name, aliases, known));
    return message === undefined ? [] : [{ path: place, message }];
  });
}

/** The trackers of [create] and of presets that are neither URLs nor aliases. */
function trackerProblems(value: Table): Problem[] {
  const aliases = aliasesOf(tableOf(value['trackers']));
  const places: [TomlPath, Table][] = [
    [['create'], tableOf(value['create'])],
    ...Object.entries(tableOf(value['presets'])).map(([name, preset]): [TomlPath, Table] => [
      ['presets', name],
      tableOf(preset),
    ]),
  ];
  return places.flatMap(([place, table]) => {
    const names = tiersOf(table['tracker'] ?? [])?.flatMap((tier) => tier.split(',')) ?? [];
    return names.flatMap((name) => {
      const message = aliases.has(name.trim()) ? undefined : reasonOf(() => expandAlias(name.trim(), aliases));
      return message === undefined ? [] : [{ path: [...place, 'tracker'], message }];
    });
  });
}

function hostProblems(hosts: Table, lineOf: LineOf): Problem[] {
  const first = new Map<string, string>();
  return Object.keys(hosts).flatMap((name): Problem[] => {
    const host = hostKey(name);
    const path = ['hosts', name];
    if (host === null) return [{ path, message: 'expected a host such as "tracker.example.org", perhaps with a port' }];
    const before = first.get(host);
    if (before !== undefined)
      return [{ path, message: `the rule of line ${lineOf(['hosts', before])} is for the same host` }];
    first.set(host, name);
    return [];
  });
}

function hostKey(name: string): string | null {
  const parts = parseHost(name);
  return parts && (parts.port === '' ? parts.host : `${parts.host}:${Number(parts.port)}`);
}

function aliasesOf(trackers: Table): Aliases {
  const tiers = Object.entries(trackers).map(([name, value]) => {
    const words = tiersOf(value) ?? [];
    return [name, words.map((tier) => tier.split(',').map((url) => url.trim()))] as const;
  });
  return new Map(tiers);
}

function configurationOf(tables: Tables, { file, folder, lineOf }: Context): Configuration {
  const options = settableOptions();
  const settings = (table: Table, place: TomlPath): Settings =>
    new Map(
      Object.entries(table).map(([key, raw]): [keyof CreateOptions, Setting] => {
        const option = options.get(key) as SettableOption;
        return [
          option.attribute,
          { key, raw, value: parseSetting(option, raw, folder), line: lineOf([...place, key]) },
        ];
      }),
    );
  const rules = Object.entries(tables.hosts ?? {}).map(([name, table]): [string, TrackerRule] => {
    const host = hostKey(name) as string;
    const set = [...settings(table, ['hosts', name])];
    return [
      host,
      {
        host,
        options: Object.fromEntries(set.map(([key, { value }]) => [key, value])),
        places: Object.fromEntries(set.map(([key, { line }]) => [key, `${file}:${line}`])),
      },
    ];
  });
  return {
    file,
    create: settings(tables.create ?? {}, ['create']),
    presets: new Map(
      Object.entries(tables.presets ?? {}).map(([name, table]) => [name, settings(table, ['presets', name])]),
    ),
    aliases: aliasesOf(tables.trackers ?? {}),
    hosts: new Map(rules),
  };
}
