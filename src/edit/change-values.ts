/** Checks the changes that a caller of `edit` passes: their values as a draft checks them. */
import { optional, refine, type Struct, type } from 'superstruct';
import { GIVEN, requireEncodable, requireUrls, URLS, withoutEmpty } from '../create/draft-fields.ts';
import { ValidationError } from '../errors/errors.ts';
import {
  checkArgument,
  checkOptions,
  expected,
  Flag,
  Given,
  invalidArgument,
  type OptionStructs,
  readSafely,
  Unchecked,
} from '../errors/guard.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { isDictionary } from '../model/input.ts';
import { Issues } from '../model/issues.ts';
import { KEYS, structsOf } from '../model/keys.ts';
import { Text as AnyText, list, maybe, sparse, TrackerTiers } from '../model/primitives.ts';
import { addFailures } from '../model/rules/rules.ts';
import { toInfohash } from '../model/value-fields.ts';
import { isMap } from '../platform/node.ts';
import type { TorrentChanges } from './changes.ts';

const Text = refine(AnyText, 'not_utf8', (text) => text.isWellFormed() || 'expected well-formed text');
const TextList = list(Text);
const Name = refine(Text, 'unsafe_path', (name) => {
  const problem = unsafeComponent(name);
  return problem === null || `${problem} cannot be the name of a torrent`;
});

const OldText = refine(AnyText, 'empty', (text) => text !== '' || 'expected text');
const Replacements = list(type({ from: OldText, to: Text }));

const VALUES = sparse(
  type({
    trackers: maybe(TrackerTiers),
    webseeds: maybe(TextList),
    addTrackers: maybe(TrackerTiers),
    removeTrackers: maybe(TextList),
    replaceTrackers: maybe(Replacements),
    addWebseeds: maybe(TextList),
    removeWebseeds: maybe(TextList),
    replaceWebseeds: maybe(Replacements),
    entropy: maybe(Flag),
    ...structsOf(KEYS, { ...GIVEN, text: Text, url: Text, urls: TextList, texts: TextList }),
    name: optional(Name),
  } satisfies Record<Exclude<keyof TorrentChanges, 'extra' | 'infoExtra'>, unknown>),
);

const ByKey = expected('an object of values by key', (value) => isDictionary(value) && !isMap(value));

/** The fields of an edit. */
export const CHANGES = {
  ...Object.fromEntries(Object.keys(VALUES.schema as object).map((name) => [name, Unchecked])),
  extra: ByKey,
  infoExtra: ByKey,
} as unknown as OptionStructs<TorrentChanges>;

/**
 * A copy of changes, after a check of each value by itself. An empty text removes its field, as null does.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for an unknown field
 * @throws {ValidationError} with the issues of all values, each under the name of its field
 */
export function checkedChanges(given: TorrentChanges): TorrentChanges {
  const example = "{ comment: 'x' }";
  const changes = checkOptions(checkArgument('changes', given, Given), CHANGES, { name: 'changes', example });
  const { webseeds } = changes;
  delete changes.webseeds;
  if (webseeds !== undefined && changes.urlList !== undefined)
    throw invalidArgument('webseeds and urlList set the same value: use only one', { option: { webseeds: null } });
  if (webseeds !== undefined) changes.urlList = webseeds;
  const issues = new Issues();
  const { similar: hashes } = changes;
  const similar = Array.isArray(hashes) ? hashes.map((hash) => toInfohash(hash) ?? hash) : hashes;
  addFailures(issues, { ...changes, similar }, VALUES as unknown as Struct);
  for (const name of ['trackers', 'addTrackers', 'addWebseeds', ...URLS] as const)
    requireUrls([name], changes[name], issues);
  for (const name of ['extra', 'infoExtra'] as const)
    readSafely(name, () => requireEncodable(Object.entries(changes[name] ?? {}), [name], issues));
  if (issues.hasErrors) throw new ValidationError(issues.finish(), 'edit');
  return withoutEmpty(changes);
}
