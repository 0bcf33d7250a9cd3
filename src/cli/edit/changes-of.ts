/** Makes the changes of an edit from the options of the command line and of a preset. */
import { CHANGES } from '../../edit/change-values.ts';
import type { TorrentChanges } from '../../edit/changes.ts';
import type { Replacement } from '../../edit/url-changes.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { ENTROPY_KEY } from '../../text/entropy.ts';
import { hostKey } from '../../text/urls.ts';
import { type Aliases, expandAlias, withoutAliases } from '../config/aliases.ts';
import { rulesOf, type TrackerRule } from '../config/hosts.ts';
import type { Configuration, Settings } from '../config/parse.ts';
import { FIELD_OF_OPTION } from '../options/key-options.ts';
import type { ExtraKey } from '../options/option-values.ts';

/** The options that change fields. */
export interface FieldOptions {
  private?: boolean;
  set?: ExtraKey[];
  unset?: string[];
  tracker?: string[][];
  addTracker?: string[][];
  removeTracker?: string[];
  replaceTracker?: Replacement[];
  /** The other options of the fields of {@link CHANGES}. */
  [option: string]: unknown;
}

const fieldOf = (option: string): string => FIELD_OF_OPTION.get(option) ?? option;
const isField = (option: string): boolean =>
  ['private', 'set'].includes(option) || Object.hasOwn(CHANGES, fieldOf(option));

/**
 * The options of a command line, with those of a preset that set fields and that the command line does not set itself. Empty lists of
 * the preset set nothing.
 *
 * @param given The options of the command line alone.
 */
export function withPreset(given: FieldOptions, preset: Settings): FieldOptions {
  const named = new Set(Object.keys(given).map(fieldOf));
  const own = [...preset].flatMap(([option, { value }]) => {
    const isEmpty = Array.isArray(value) && value.length === 0;
    return isField(option) && !named.has(fieldOf(option)) && !isEmpty ? [[option, value]] : [];
  });
  return { ...Object.fromEntries(own), ...given };
}

/** The options with the URLs of aliases. Throws `ERR_INVALID_ARGUMENT` for a tracker that is neither a URL nor an alias. */
export function withUrls(options: FieldOptions, aliases: Aliases): FieldOptions {
  const { tracker, addTracker, removeTracker, replaceTracker } = options;
  // A name that is no alias is a host.
  const removed = removeTracker?.flatMap((text) =>
    !aliases.has(text) && hostKey(text) ? [text] : withoutAliases([[text]], aliases).flat(),
  );
  const replaced = (replaceTracker ?? []).flatMap(({ from, to }) => {
    const [olds, news] = [from, to].map(
      (text) => (aliases.has(text) ? expandAlias(text, aliases)?.flat() : [text]) ?? [],
    );
    if (news?.length !== 1)
      throw invalidArgument(`The alias ${to} stands for ${news?.length} URLs: name one of them in --replace-tracker`);
    return (olds ?? []).map((old) => ({ from: old, to: news[0] as string }));
  });
  return {
    ...options,
    ...(tracker && { tracker: withoutAliases(tracker, aliases) }),
    ...(addTracker && { addTracker: withoutAliases(addTracker, aliases) }),
    ...(removed && { removeTracker: removed }),
    ...(replaceTracker && { replaceTracker: replaced }),
  };
}

/** The rules of the hosts of new trackers: those that the options name, and those that the torrent did not have before. */
export function rulesOfNew(
  { trackers, addTrackers }: TorrentChanges,
  [before, after]: readonly [readonly string[], readonly string[]],
  hosts: Configuration['hosts'] | undefined,
): TrackerRule[] {
  const named = [trackers ?? [], addTrackers ?? []].flat(2);
  const old = new Set(before);
  const added = after.filter((url) => !old.has(url));
  return hosts ? rulesOf([[...named, ...added]], hosts) : [];
}

/** The changes of the library. Throws `ERR_INVALID_ARGUMENT` for options that set the same key. */
export function changesOf(options: FieldOptions): TorrentChanges {
  const changes: TorrentChanges = {};
  for (const [option, value] of Object.entries(options)) {
    const field = fieldOf(option);
    if (field === 'private' || field === 'entropy') changes[field] = value as boolean;
    // True is the default of `--no-trackers`. False, as of `--no-comment`, removes the field.
    else if (Object.hasOwn(CHANGES, field) && value !== true)
      Object.assign(changes, { [field]: value === false ? null : value });
  }
  const unset = (options.unset ?? []).map((name) => {
    const isInfo = name.startsWith('info.');
    return { isInfo, key: name.slice(isInfo ? 5 : 0), value: null };
  });
  for (const { isInfo, key, value } of [...(options.set ?? []), ...unset]) {
    const place = isInfo ? 'infoExtra' : 'extra';
    changes[place] = { ...changes[place], [key]: value };
  }
  if (changes.entropy && changes.infoExtra && ENTROPY_KEY in changes.infoExtra)
    throw invalidArgument('--set info.entropy and --entropy set the same key: use one of them');
  return changes;
}
