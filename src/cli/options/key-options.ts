/**
 * The options of `create` and `edit` that set keys of a torrent: a row for each row of src/model/keys.ts, which also gives the form of
 * the values. Declarations, help, types, drafts, changes and the options that messages name are derived from the rows.
 */
import { type Command, Option } from 'commander';
import { IN_INFO, KEYS, type Key, type Keys, type Kind } from '../../model/keys.ts';
import { parseDate } from './date.ts';
import { collect, collectNode, collectReplacement, collectTier } from './option-values.ts';

/** The options for a key. */
interface KeyOption {
  /** The flags of the option of both commands, with the placeholder of its value. */
  flags: string;
  /** The help of the option of `create`. */
  create: string;
  /** Another name for the option of `create`, and what to say about it. */
  alias?: readonly [flags: string, text: string];
  /** The option of `create` that leaves out a default, and what it does. */
  omit?: readonly [flag: string, text: string];
  /** The help of the option of `edit`. The key tells whether it is repeatable or changes the infohash. */
  edit: string;
  /** The option of `edit` that removes the key, and what it does. */
  remove?: readonly [flag: string, text: string];
  /** The options of `edit` that change a list. */
  changes?: readonly (readonly [flags: string, text: string, parse: 'own' | 'text' | 'replacement'])[];
}

type KeyOptions = Readonly<Record<string, KeyOption>>;

/** Trackers and peers, in the order of the help of `create`. In that of `edit`, keys of `info` come last. */
export const PEERS = {
  trackers: {
    flags: '-t, --tracker <url>',
    create:
      'tracker URL; repeat it for more tiers, or list the URLs of one tier with commas; @FILE: a list, blank lines begin tiers',
    alias: ['-a, --announce <url>', 'the same as --tracker'],
    edit: 'set the trackers; repeat it for more tiers, or list the URLs of one tier with commas; @FILE: a list, blank lines begin tiers',
    remove: ['--no-trackers', 'remove all trackers'],
    changes: [
      ['--add-tracker <url>', 'add a tier of trackers (repeatable)', 'own'],
      ['--remove-tracker <url>', 'remove a tracker, or all of a host (repeatable)', 'text'],
      [
        '--replace-tracker <old=new>',
        'replace a host, passkey or other text in all trackers (repeatable)',
        'replacement',
      ],
    ],
  },
  private: {
    flags: '-p, --private',
    create: 'get peers from the trackers only',
    edit: 'get peers from the trackers only',
    remove: ['--no-private', 'get peers from any source'],
  },
  urlList: {
    flags: '-w, --webseed <url>',
    create: 'webseed URL (repeatable)',
    edit: 'set the webseeds',
    remove: ['--no-webseeds', 'remove all webseeds'],
    changes: [
      ['--add-webseed <url>', 'add a webseed (repeatable)', 'own'],
      ['--remove-webseed <url>', 'remove a webseed, or all of a host (repeatable)', 'text'],
      ['--replace-webseed <old=new>', 'replace a text in all webseeds (repeatable)', 'replacement'],
    ],
  },
  httpseeds: {
    flags: '--httpseed <url>',
    create: 'BEP 17 HTTP seed (repeatable)',
    edit: 'set the BEP 17 HTTP seeds',
    remove: ['--no-httpseeds', 'remove all HTTP seeds'],
  },
  nodes: {
    flags: '--node <host:port>',
    create: 'DHT node to start from (repeatable)',
    edit: 'set the DHT bootstrap nodes',
    remove: ['--no-nodes', 'remove all DHT nodes'],
  },
} as const satisfies KeyOptions;

/** The description of the torrent, in the same order. */
export const DESCRIPTION = {
  name: {
    flags: '--name <name>',
    create: 'name of the torrent (default: that of the file or folder)',
    edit: 'set the name',
  },
  comment: {
    flags: '-c, --comment <text>',
    create: 'comment',
    edit: 'set the comment',
    remove: ['--no-comment', 'remove the comment'],
  },
  source: {
    flags: '-s, --source <text>',
    create: 'source tag (changes the infohash)',
    edit: 'set the source tag',
    remove: ['--no-source', 'remove the source tag'],
  },
  createdBy: {
    flags: '--created-by <text>',
    create: 'creating program (default: metainfo and its version)',
    omit: ['--no-created-by', 'omit the creating program'],
    edit: 'set the creating program',
    remove: ['--no-created-by', 'remove the creating program'],
  },
  creationDate: {
    flags: '--date <date>',
    create:
      'creation date: now, @SECONDS since 1970, or ISO 8601, which is UTC without a time and local without an offset (default: SOURCE_DATE_EPOCH, else none)',
    edit: 'set the creation date: now, @SECONDS since 1970 or ISO 8601',
    remove: ['--no-date', 'remove the creation date'],
  },
  similar: {
    flags: '--similar <infohash>',
    create: 'a torrent that may share files with this one (repeatable)',
    edit: 'set the torrents that may share files',
    remove: ['--no-similar', 'remove all similar torrents'],
  },
  collections: {
    flags: '--collection <name>',
    create: 'a collection that the torrent belongs to (repeatable)',
    edit: 'set the collections',
    remove: ['--no-collections', 'remove all collections'],
  },
  updateUrl: {
    flags: '--update-url <url>',
    create: 'URL that serves newer versions of the torrent (changes the infohash)',
    edit: 'set the URL that serves newer versions of the torrent',
    remove: ['--no-update-url', 'remove the update URL'],
  },
} as const satisfies KeyOptions;

const ROWS = { ...PEERS, ...DESCRIPTION } satisfies Record<keyof typeof KEYS | 'trackers', KeyOption>;

const PARSERS = {
  text: undefined,
  flag: undefined,
  date: parseDate,
  url: undefined,
  urls: collect,
  texts: collect,
  infohashes: collect,
  nodes: collectNode,
} satisfies Readonly<Record<Kind, unknown>>;

/** The kinds of lists. Trackers have none. */
const LISTS: readonly (Kind | undefined)[] = ['urls', 'texts', 'infohashes', 'nodes', undefined];

type Parsed<K extends Kind> = (typeof PARSERS)[K] extends (text: string, before?: never) => infer R
  ? R
  : K extends 'flag'
    ? boolean
    : string;
type LongOf<F> = F extends `${string}--${infer L} <${string}` ? L : F extends `${string}--${infer L}` ? L : never;
type Camel<S> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type AttributeOf<K extends keyof typeof ROWS> = Camel<LongOf<(typeof ROWS)[K]['flags']>> & string;
/** False where an option can leave out a default, and true where it does not. */
type Omitted<R> = R extends { omit: unknown } ? boolean : never;

/** The values of the options of `create` that set keys. */
export type KeyValues = {
  [K in keyof typeof KEYS as AttributeOf<K>]?: (typeof KEYS)[K] extends Key<infer T>
    ? Parsed<T> | Omitted<(typeof ROWS)[K]>
    : never;
} & { tracker?: string[][] };

/** Adds the options of some rows to a command. */
export function keyOptions(command: Command, of: 'create' | 'edit', rows: KeyOptions): void {
  const isInInfo = (name: string) => Object.hasOwn(IN_INFO, name);
  const add = (flags: string, text: string, parse?: unknown, attribute?: string) => {
    const option = new Option(flags, text);
    if (parse) option.argParser(parse as never);
    if (attribute !== undefined) option.attributeName = () => attribute;
    command.addOption(option);
  };
  // The option that removes the key in `edit` clears the value of a configuration. Commander gives one without an opposite the default true.
  const clears = (flag: string, attribute: string, isList: boolean) => {
    const option = new Option(flag).preset(isList ? [] : '').hideHelp();
    if (isList) option.default([]);
    option.attributeName = () => attribute;
    command.addOption(option);
  };
  const entries = Object.entries(rows);
  // A stable order: those that keep the infohash first.
  if (of === 'edit') entries.sort(([a], [b]) => Number(isInInfo(a)) - Number(isInInfo(b)));
  for (const [name, { flags, create, alias, omit, edit, remove, changes = [] }] of entries) {
    const kind = (KEYS as Keys)[name]?.kind;
    const parse = kind ? PARSERS[kind] : collectTier;
    if (of === 'create') {
      add(flags, create, parse);
      // Its values join those of the option in the order of the command line.
      if (alias) add(...alias, parse, new Option(flags).attributeName());
      if (omit) add(...omit);
      else if (remove && kind !== 'flag') clears(remove[0], new Option(flags).attributeName(), LISTS.includes(kind));
      continue;
    }
    const isRepeatable = kind !== undefined && parse !== undefined && kind !== 'date';
    const notes = [...(isInInfo(name) ? ['*'] : []), ...(isRepeatable ? ['repeatable'] : [])].join(', ');
    add(flags, notes ? `${edit} (${notes})` : edit, parse);
    if (remove) add(remove[0], isInInfo(name) ? `${remove[1]} (*)` : remove[1]);
    for (const [changing, text, form] of changes)
      add(changing, text, { own: parse, text: collect, replacement: collectReplacement }[form]);
  }
}

/** The flags of all options, with the field of the library that each sets, removes or changes: `addTrackers` of `--add-tracker`. */
const FIELDS = Object.entries<KeyOption>(ROWS).flatMap(([field, { flags, remove, changes = [] }]) => [
  ...[flags, ...(remove ? [remove[0]] : [])].map((text) => ({ option: new Option(text), field })),
  ...changes.map(([text]) => new Option(text)).map((option) => ({ option, field: `${option.attributeName()}s` })),
]);

/** The field of the library that each option sets, removes or changes. */
export const FIELD_OF_OPTION: ReadonlyMap<string, string> = new Map(
  FIELDS.map(({ option, field }) => [option.attributeName(), field]),
);

/** The long flag of the option that sets or changes each field of the library. */
export const FLAG_OF_FIELD: Readonly<Record<string, string>> = Object.fromEntries(
  FIELDS.filter(({ option }) => !option.negate).map(({ option, field }) => [field, option.long ?? '']),
);
