/** Parses and checks a configuration file: TOML, its keys, their values, aliases and rules of hosts. */
import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { ParseError } from 'toml-eslint-parser';
import { MetainfoError } from '../../errors/errors.ts';
import { suggestName } from '../../errors/guard.ts';
import { printable } from '../../text/printable.ts';
import { hostKey } from '../../text/urls.ts';
import { COMMAND_LINE_ONLY, type CreateOptions, SAME_VALUE } from '../create/options.ts';
import { tiersOfText } from '../options/option-values.ts';
import { type Aliases, expandAlias, isAliasName } from './aliases.ts';
import { type ConfigOption, configOptions, parseSetting, ruleOptions, shownValue, tiersOf } from './config-options.ts';
import type { TrackerRule } from './hosts.ts';
import { type LineOf, parseToml, type TomlPath } from './toml.ts';

/** One value of a configuration file. */
export interface Setting {
  /** The long name of the option. */
  key: string;
  /** The value as the file has it. */
  raw: unknown;
  /** The parsed value. */
  value: unknown;
  line: number;
}

/** The values of a table of a configuration file, by the property of {@link CreateOptions}. */
export type Settings = ReadonlyMap<keyof CreateOptions, Setting>;

/** A checked configuration file. */
export interface Configuration {
  file: string;
  create: Settings;
  presets: ReadonlyMap<string, Settings>;
  aliases: Aliases;
  hosts: ReadonlyMap<string, TrackerRule>;
  /** The profile for reading torrents. */
  profile: Setting | undefined;
}

/** The problems that a message lists. The limit keeps a hostile file from filling the terminal. */
const MAX_LISTED = 1000;

const TABLES = ['create', 'presets', 'trackers', 'hosts', 'read'];
const PROFILES = ['default', 'strict', 'compat'];

/** Parses and checks the bytes of a configuration file. Throws `ERR_CONFIG` with all problems, each with its line. */
export function parseConfig(bytes: Uint8Array, file: string): Configuration {
  const { value, lineOf } = parsed(textOf(bytes, file), file);
  const reader = new Reader(file, lineOf);
  const configuration = reader.read(value as Record<string, unknown>);
  if (reader.problems.length > 0) throw configError(file, reader.problems);
  return configuration;
}

/** The advice for files that are YAML, as mkbrr has them. */
export const yqAdvice = (format: 'JSON' | 'TOML'): string =>
  `convert it to ${format} with yq and jq, as docs/guides/switching.md shows`;

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
    const text = /\.ya?ml$/i.test(file) ? `this is YAML: ${yqAdvice('TOML')}` : `this is not valid TOML: ${message}`;
    throw configError(file, [{ line, column: column + 1, text }]);
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
    .toSorted((a, b) => a.line - b.line)
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

/** Checks and parses the values of a file, and collects all problems. */
class Reader {
  readonly problems: Placed[] = [];
  readonly #file: string;
  readonly #lineOf: LineOf;
  #aliases: Aliases = new Map();

  constructor(file: string, lineOf: LineOf) {
    this.#file = file;
    this.#lineOf = lineOf;
  }

  read(file: Record<string, unknown>): Configuration {
    for (const key of Object.keys(file)) if (!TABLES.includes(key)) this.#refuse([key], unknownKey([key], TABLES));
    this.#aliases = this.#readAliases(file['trackers']);
    const presets = this.#entries(['presets'], file['presets']).map(([name, table]): [string, Settings] => [
      name,
      this.#readOptions(['presets', name], table),
    ]);
    return {
      file: this.#file,
      create: this.#readOptions(['create'], file['create']),
      presets: new Map(presets),
      aliases: this.#aliases,
      hosts: this.#readHosts(file['hosts']),
      profile: this.#readProfile(file['read']),
    };
  }

  #refuse(place: TomlPath, message: string): void {
    this.problems.push({ line: this.#lineOf(place), text: `${keyOf(place)}: ${message}` });
  }

  /** The result of parsing a value; undefined for one that is refused. */
  #attempt<T>(place: TomlPath, parse: () => T): T | undefined {
    // Problems that are not listed are not worth the search for similar names.
    if (this.problems.length > MAX_LISTED) return undefined;
    try {
      return parse();
    } catch (error) {
      this.#refuse(place, (error as Error).message);
      return undefined;
    }
  }

  #entries(place: TomlPath, table: unknown = {}): [string, unknown][] {
    if (typeof table === 'object' && table !== null && !Array.isArray(table)) return Object.entries(table);
    this.#refuse(place, `expected a table, got ${shownValue(table)}`);
    return [];
  }

  /** The values of a table whose keys are options. Each is checked by the parser of its option. */
  #readSettings(place: TomlPath, table: unknown, options: ReadonlyMap<string, ConfigOption>): Settings {
    const settings = new Map<keyof CreateOptions, Setting>();
    for (const [key, raw] of this.#entries(place, table)) {
      const own = [...place, key];
      const option = options.get(key);
      if (!option) this.#refuse(own, unknownKey(own, [...options.keys()]));
      else {
        const value = this.#attempt(own, () => parseSetting(option, raw, path.dirname(path.resolve(this.#file))));
        settings.set(option.attribute, { key, raw, value, line: this.#lineOf(own) });
      }
    }
    return settings;
  }

  #readOptions(place: TomlPath, table: unknown): Settings {
    const settings = this.#readSettings(place, table, configOptions());
    for (const [one, other] of SAME_VALUE.map((pair) => pair.map((name) => settings.get(name))))
      if (one && other && other.value !== configOptions().get(other.key)?.option.defaultValue)
        this.#refuse([...place, one.key], `sets the same value as ${other.key}: use only one`);
    const trackers = (settings.get('tracker')?.value ?? []) as string[][];
    for (const name of trackers.flat()) {
      if (!this.#aliases.has(name)) this.#attempt([...place, 'tracker'], () => expandAlias(name, this.#aliases));
    }
    return settings;
  }

  #readAliases(table: unknown): Aliases {
    const entries = this.#entries(['trackers'], table);
    const aliases = new Map(
      entries.map(([name, value]) => [name, this.#attempt(['trackers', name], () => tiersFrom(value)) ?? []]),
    );
    const known = new Map<string, string[][] | Error>();
    for (const name of aliases.keys()) {
      const place = ['trackers', name];
      if (isAliasName(name)) this.#attempt(place, () => expandAlias(name, aliases, known));
      else this.#refuse(place, 'the name of an alias has only letters, digits, "-", "_" and "."');
    }
    return aliases;
  }

  /** The value of `profile` in the table of reading, which has no other key. */
  #readProfile(table: unknown): Setting | undefined {
    let profile: Setting | undefined;
    for (const [key, raw] of this.#entries(['read'], table)) {
      const place = ['read', key];
      if (key !== 'profile') this.#refuse(place, unknownKey(place, ['profile']));
      else if (PROFILES.includes(raw as string)) profile = { key, raw, value: raw, line: this.#lineOf(place) };
      else this.#refuse(place, `expected one of ${PROFILES.join(', ')}, got ${shownValue(raw)}`);
    }
    return profile;
  }

  #readHosts(table: unknown): Map<string, TrackerRule> {
    const rules = new Map<string, TrackerRule>();
    const names = new Map<string, string>();
    const known = ruleOptions();
    for (const [name, values] of this.#entries(['hosts'], table)) {
      const place = ['hosts', name];
      const set = [...this.#readSettings(place, values, known)];
      const host = hostKey(name);
      const before = names.get(host ?? '');
      if (host === null) this.#refuse(place, 'expected a host such as "tracker.example.org", perhaps with a port');
      else if (before !== undefined)
        this.#refuse(place, `the rule of line ${this.#lineOf(['hosts', before])} is for the same host`);
      else {
        names.set(host, name);
        const options = Object.fromEntries(set.map(([key, { value }]) => [key, value]));
        const places = Object.fromEntries(set.map(([key, { line }]) => [key, `${this.#file}:${line}`]));
        rules.set(host, { host, options, places });
      }
    }
    return rules;
  }
}

/** Says which key was probably meant. */
function unknownKey(place: TomlPath, known: readonly string[]): string {
  const key = String(place.at(-1));
  const isOption = place.length > 1 && place[0] !== 'hosts' && place[0] !== 'read';
  if (isOption && Object.hasOwn(COMMAND_LINE_ONLY, key))
    return `a configuration file cannot set it: ${COMMAND_LINE_ONLY[key]}`;
  const name = key.replaceAll('_', '-');
  const meant = known.find((one) => one === name) ?? suggestName(name, known) ?? known.find((one) => `${one}s` === key);
  if (meant !== undefined) return `unknown key: did you mean ${meant}?`;
  return isOption
    ? 'unknown key: metainfo create --help --all lists the options'
    : `unknown key: expected one of ${known.join(', ')}`;
}

function tiersFrom(value: unknown): string[][] {
  const words = tiersOf(value);
  if (words === null) throw new Error(`expected a URL, or a list of URLs and lists of URLs, got ${shownValue(value)}`);
  if (words.length === 0) throw new Error('expected at least one URL');
  return words.flatMap(tiersOfText);
}
