/** The options of `create` that a configuration file can set, read from their declarations for the command line. */
import path from 'node:path';
import { Command, Option } from 'commander';
import { shown } from '../../errors/errors.ts';
import { COMMAND_LINE_ONLY, type CreateOptions, createOptions, VERSIONS } from '../create/options.ts';
import { collectGlobFile } from '../options/glob-file.ts';
import {
  appended,
  collectTorrents,
  PARSERS,
  parseCount,
  parseFile,
  parseFolder,
  parseMaxPieceLength,
  parseOutput,
} from '../options/option-values.ts';
import { endsWithSlash, isStdout } from '../options/target.ts';
import { RULE_KEYS } from './hosts.ts';

/** The forms that the values of options have in a configuration file, as an error message expects them. */
const FORMS = {
  flag: 'true or false',
  choice: 'text',
  text: 'text',
  removable: 'text or false',
  length: 'text or a whole number',
  lengths: 'a table such as { "1GiB" = "1MiB" }, or text',
  size: 'text or a whole number',
  count: 'text or a whole number',
  date: 'a date, text or false',
  list: 'text or a list of texts',
  tiers: 'text, or a list of texts and lists of texts',
} as const;

/** A form of {@link FORMS}. */
export type ValueForm = keyof typeof FORMS;

/** An option of `create` that a configuration file can set. */
export interface ConfigOption {
  /** The key in the file: the long name without its dashes. */
  key: string;
  /** The property of {@link CreateOptions}. */
  attribute: keyof CreateOptions;
  form: ValueForm;
  option: Option;
}

let known: ReadonlyMap<string, ConfigOption> | undefined;

/** The options that can be set, by their keys, in the order of the help. */
export function configOptions(): ReadonlyMap<string, ConfigOption> {
  known ??= new Map(declarations(createOptions(new Command('create'))).map((entry) => [entry.key, entry] as const));
  return known;
}

/** The limits that only rules have. */
const ruleOnly = () =>
  declarations(
    new Command()
      .option('--min-piece-length <size>', 'the shortest piece length', parseMaxPieceLength)
      .option('--max-path-length <n>', 'the most characters of a path with the name of the torrent', parseCount),
  );

/** The options that a rule of a host can set. Its versions are those that the tracker takes: one, or a list. */
export function ruleOptions(): ReadonlyMap<string, ConfigOption> {
  return new Map(
    RULE_KEYS.map((key) => {
      const known = configOptions().get(key) ?? (ruleOnly().find((own) => own.key === key) as ConfigOption);
      if (key === 'source') return [key, { ...known, form: 'text' }];
      if (key !== 'torrent-version') return [key, known];
      return [key, { ...known, form: 'list', option: new Option('--torrent-version <v>').argParser(collectVersion) }];
    }),
  );
}

function collectVersion(text: string, before: string[] = []): string[] {
  if ((VERSIONS as readonly string[]).includes(text)) return appended(before, text);
  throw new Error(`Allowed choices are ${VERSIONS.join(', ')}.`);
}

function declarations({ options }: Command): ConfigOption[] {
  const removable = new Set(options.flatMap(({ negate, long }) => (negate && long ? [long.replace('--no-', '')] : [])));
  const keys = new Set(Object.keys(COMMAND_LINE_ONLY));
  return options.flatMap((option) => {
    const key = (option.long ?? '').replace(/^--(no-)?/, '');
    // Of two options that switch one thing on and off, the first one is visible and describes it.
    if (keys.has(key) || (option.hidden && option.negate)) return [];
    keys.add(key);
    const attribute = option.attributeName() as keyof CreateOptions;
    return [{ key, attribute, form: formOf(option, removable.has(key)), option }];
  });
}

function formOf({ required, argChoices, parseArg }: Option, isRemovable: boolean): ValueForm {
  if (!required) return 'flag';
  if (argChoices) return 'choice';
  const forms = Object.keys(PARSERS) as (keyof typeof PARSERS)[];
  const form = forms.find((form) => PARSERS[form].includes(parseArg)) ?? 'list';
  return isRemovable && form === 'text' ? 'removable' : form;
}

/**
 * Parses a value of a configuration file with the parser of the option.
 *
 * @param folder Relative folders, files and outputs start here.
 * @throws {Error} with the reason
 */
export function parseSetting({ key, form, option }: ConfigOption, value: unknown, folder: string): unknown {
  const hint = key === 'torrent-version' && Array.isArray(value) ? ': only a rule of [hosts] takes a list' : '';
  const wrong = () => new Error(`expected ${FORMS[form]}, got ${shownValue(value)}${hint}`);
  if (typeof value === 'boolean') {
    if (form === 'flag') return value;
    // As the option that clears it.
    if (['removable', 'date'].includes(form) && !value) return key === 'created-by' ? value : '';
    throw wrong();
  }
  const texts = textsOf(form, value);
  if (texts === null) throw wrong();
  let parsed: unknown = form === 'list' || form === 'tiers' ? [] : undefined;
  const isFile = option.parseArg === collectGlobFile;
  for (const text of texts) {
    const word = isFile ? path.resolve(folder, parseFile(text)) : form === 'tiers' ? fromFolder(text, folder) : text;
    parsed = option.parseArg ? option.parseArg(word, parsed) : text;
  }
  if (option.parseArg === collectTorrents) return (parsed as string[]).map((one) => path.resolve(folder, one));
  if (option.parseArg !== parseFolder && option.parseArg !== parseOutput) return parsed;
  if (isStdout(parsed as string))
    throw new Error('expected a file or folder: only the command line can name standard output');
  return path.resolve(folder, parsed as string) + (endsWithSlash(parsed as string) ? path.sep : '');
}

/** A list of trackers is a file after `@`. */
const fromFolder = (text: string, folder: string): string =>
  text.startsWith('@') ? `@${path.resolve(folder, parseFile(text.slice(1)))}` : text;

/** The words that the command line would have; null for a value of another form. */
function textsOf(form: ValueForm, value: unknown): string[] | null {
  if (form === 'tiers') return tiersOf(value);
  if (form === 'list') return allTexts([value].flat());
  if (typeof value === 'string') return form === 'flag' ? null : [value];
  if (form === 'lengths' && isTable(value)) return [String(Object.entries(value).map((pair) => pair.join('=')))];
  if (form === 'date' && value instanceof Date) return Number.isNaN(value.getTime()) ? null : [value.toISOString()];
  const takesNumbers = ['length', 'size', 'count', 'date'].includes(form);
  return takesNumbers && typeof value === 'number' ? [String(value)] : null;
}

const isTable = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

function allTexts(values: readonly unknown[]): string[] | null {
  return values.every((value) => typeof value === 'string') ? [...values] : null;
}

/** The trackers of a value as words of the command line: one for each tier. Null for a value of another form. */
export function tiersOf(value: unknown): string[] | null {
  const tiers = Array.isArray(value) ? value : value === '' ? [] : [value];
  // Line ends: commas may belong to a URL.
  return allTexts(tiers.map((tier) => (Array.isArray(tier) ? allTexts([...tier, ''])?.join('\n') : tier)));
}

/** Describes a value in a message. */
export const shownValue = (value: unknown): string => (isTable(value) ? 'a table' : shown(value));
