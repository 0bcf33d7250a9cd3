/** `metainfo edit`: changes fields of torrents without hashing. */
import type { Command } from 'commander';
import type { Finding } from '../../create/findings/findings.ts';
import { CHANGES } from '../../edit/change-values.ts';
import type { TorrentChanges } from '../../edit/changes.ts';
import { type Difference, differences, hasSameInfo } from '../../edit/differences.ts';
import { edit } from '../../edit/edit.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { printable } from '../../text/printable.ts';
import { type Aliases, withoutAliases } from '../config/aliases.ts';
import { type ConfigOptions, loadConfig, readingOptions } from '../config/load.ts';
import { findingLines } from '../create/findings.ts';
import { infohashOf } from '../create/summary.ts';
import { readTorrent } from '../options/arguments.ts';
import {
  changedOutputOptions,
  collect,
  collectKey,
  collectNode,
  collectTier,
  contextOf,
  type ExtraKey,
  type OutputOptions,
  type ProfileOptions,
  parseDate,
} from '../options/option-values.ts';
import { shortHelp } from '../options/short-help.ts';
import { mtimeOf, nameOfTarget, reportTo, requireWritable, targetOf, writeTorrent } from '../options/target.ts';
import { differenceJson, differenceLine, infohashLines } from '../terminal/differences.ts';
import { toPlain } from '../terminal/messages.ts';
import { stderr, writeLines, writeResult } from '../terminal/output.ts';
import { isStdin, nameOfInput } from '../terminal/standard-input.ts';

interface EditOptions extends ProfileOptions, OutputOptions, ConfigOptions {
  tracker?: string[][];
  addTracker?: string[][];
  removeTracker?: string[];
  private?: boolean;
  set?: ExtraKey[];
  unset?: string[];
  keepInfohash?: boolean;
  dryRun?: boolean;
  json?: boolean;
  /** The options of the fields of {@link CHANGES}. */
  [option: string]: unknown;
}

/** The field that an option changes, if they have different names. */
const FIELDS: Readonly<Record<string, keyof TorrentChanges>> = {
  tracker: 'trackers',
  addTracker: 'addTrackers',
  removeTracker: 'removeTrackers',
  webseed: 'urlList',
  webseeds: 'urlList',
  addWebseed: 'addWebseeds',
  removeWebseed: 'removeWebseeds',
  httpseed: 'httpseeds',
  node: 'nodes',
  date: 'creationDate',
  collection: 'collections',
};

/** The options that `--help` shows without `--all`. */
const COMMON = [
  ...['output', 'force', 'dry-run', 'keep-infohash', 'json', 'tracker', 'no-trackers', 'add-tracker', 'remove-tracker'],
  ...[
    'webseed',
    'no-webseeds',
    'add-webseed',
    'remove-webseed',
    'private',
    'no-private',
    'comment',
    'no-comment',
    'name',
  ],
  ...['created-by', 'no-created-by', 'date', 'no-date', 'source', 'no-source', 'set', 'unset'],
];

const EXAMPLES = `
Examples:
  metainfo edit *.torrent --add-tracker udp://a.example:6969/x --keep-infohash
  metainfo edit album.torrent --comment 'second edition' -o new.torrent
  metainfo edit album.torrent --private --source SITE --dry-run
  metainfo edit album.torrent --set publisher=me --unset info.x
  metainfo edit - --comment new < old.torrent > new.torrent

Options marked * change the infohash. --dry-run shows the new infohash. In --set
and --unset, the keys of the info dictionary are written as info.KEY.`;

const MORE = `
All edits are checked before the first file is written: if one fails, no file
changes. With --strict, a warning about an edit is an error.`;

export function addEdit(program: Command): void {
  const command = program
    .command('edit')
    .description('edit torrents without hashing: other fields stay the same byte for byte')
    .argument('<file...>', 'torrent files, or - for standard input');
  changedOutputOptions(command)
    .option('--dry-run', 'show the changes without writing')
    .option('--keep-infohash', 'fail if an edit would change the infohash')
    .option('--json', 'print one line per file, each a JSON object')
    .helpOption('-h, --help', 'display help for command')
    .optionsGroup('Trackers and peers:')
    .option(
      '-t, --tracker <url>',
      'set the trackers; repeat it for more tiers, or list the URLs of one tier with commas',
      collectTier,
    )
    .option('--no-trackers', 'remove all trackers')
    .option('--add-tracker <url>', 'add a tier of trackers (repeatable)', collectTier)
    .option('--remove-tracker <url>', 'remove a tracker (repeatable)', collect)
    .option('-w, --webseed <url>', 'set the webseeds (repeatable)', collect)
    .option('--no-webseeds', 'remove all webseeds')
    .option('--add-webseed <url>', 'add a webseed (repeatable)', collect)
    .option('--remove-webseed <url>', 'remove a webseed (repeatable)', collect)
    .option('--httpseed <url>', 'set the BEP 17 HTTP seeds (repeatable)', collect)
    .option('--no-httpseeds', 'remove all HTTP seeds')
    .option('--node <host:port>', 'set the DHT bootstrap nodes (repeatable)', collectNode)
    .option('--no-nodes', 'remove all DHT nodes')
    .option('-p, --private', 'get peers from the trackers only (*)')
    .option('--no-private', 'get peers from any source (*)')
    .optionsGroup('Description:')
    .option('-c, --comment <text>', 'set the comment')
    .option('--no-comment', 'remove the comment')
    .option('--created-by <text>', 'set the creating program')
    .option('--no-created-by', 'remove the creating program')
    .option('--date <date>', 'set the creation date: now, seconds since 1970 or ISO 8601', parseDate)
    .option('--no-date', 'remove the creation date')
    .option('--name <name>', 'set the name (*)')
    .option('-s, --source <text>', 'set the source tag (*)')
    .option('--no-source', 'remove the source tag (*)')
    .option('--similar <infohash>', 'set the torrents that may share files (*, repeatable)', collect)
    .option('--no-similar', 'remove all similar torrents (*)')
    .option('--collection <name>', 'set the collections (*, repeatable)', collect)
    .option('--no-collections', 'remove all collections (*)')
    .option('--update-url <url>', 'set the URL that serves newer versions of the torrent (*)')
    .option('--no-update-url', 'remove the update URL (*)')
    .option('--set <key=text>', 'set any other key to this text (repeatable)', collectKey)
    .option('--unset <key>', 'remove any other key (repeatable)', collect);
  shortHelp(readingOptions(command), { common: COMMON, examples: EXAMPLES, more: MORE }).action(run);
}

interface Edited {
  file: string;
  target: string;
  before: Torrent;
  after: Torrent;
  changed: Difference[];
  warnings: readonly Finding[];
}

/** Edits every torrent before the first one is written: if one edit fails, no file changes. */
async function run(files: string[], options: EditOptions): Promise<void> {
  const isPiped = isStdin(files[0]);
  if (files.length > 1 && files.some(isStdin))
    throw invalidArgument('Standard input (-) cannot be edited together with other torrents');
  const changes = changesOf(await withTrackers(options));
  const context = contextOf(options);
  const edits: Edited[] = [];
  for (const file of files) {
    const before = await readTorrent(file, options);
    const warnings: Finding[] = [];
    const onWarning = (warning: Finding) => warnings.push(toPlain(warning));
    const after = edit(before, changes, { context, keepInfohash: options.keepInfohash ?? false, onWarning });
    const target = await targetOf(file, options.output, files.length);
    if (edits.some((other) => other.target === target))
      throw invalidArgument(`Two torrents would be written to ${target}: edit them one by one`, { path: target });
    if (!options.dryRun) await requireWritable(target, options);
    edits.push({ file, target, before, after, changed: differences(before, after), warnings });
  }
  await reportWarnings(edits, options);
  const inPlace = options.output === undefined && !isPiped;
  for (const { file, target, after, changed } of edits) {
    if (options.dryRun || (inPlace && changed.length === 0)) continue;
    // Keep the modification time: it tells `update` how old the hashes are.
    const mtime = isPiped ? new Date() : await mtimeOf(file);
    await writeTorrent(after, target, { force: inPlace || (options.force ?? false), mtime });
  }
  // Print after all writes, because a closed pipe (`| head`) ends the process.
  for (const edited of edits) {
    const to = reportTo(options.dryRun ? undefined : edited.target);
    await writeResult(options, toJson(edited, options.dryRun ?? false), linesOf(edited, !inPlace), to);
  }
}

/**
 * Prints the warnings of all edits. With several files, each begins with the name of its file.
 *
 * @throws {MetainfoError} `ERR_FINDINGS` for any warning with `--strict`
 */
async function reportWarnings(edits: readonly Edited[], { strict, json }: EditOptions): Promise<void> {
  const findings = edits.flatMap(({ file, warnings }) =>
    warnings.map((finding) => ({
      ...finding,
      message: edits.length > 1 ? `${nameOfInput(file)}: ${finding.message}` : finding.message,
    })),
  );
  if (findings.length === 0) return;
  if (!json) await writeLines(await findingLines(findings), stderr);
  if (!strict) return;
  const codes = [...new Set(findings.map(({ code }) => code))];
  const message = `Nothing was written because of ${codes.join(', ')}: fix that, or leave out --strict.`;
  throw Object.assign(new MetainfoError('ERR_FINDINGS', message), { findings });
}

/** The options with URLs for the aliases of trackers. */
async function withTrackers(options: EditOptions): Promise<EditOptions> {
  const { tracker, addTracker, removeTracker } = options;
  if (!(tracker ?? addTracker ?? removeTracker)) return options;
  const aliases: Aliases = (await loadConfig(options))?.aliases ?? new Map();
  return {
    ...options,
    ...(tracker && { tracker: withoutAliases(tracker, aliases) }),
    ...(addTracker && { addTracker: withoutAliases(addTracker, aliases) }),
    ...(removeTracker && { removeTracker: withoutAliases([removeTracker], aliases).flat() }),
  };
}

function changesOf(options: EditOptions): TorrentChanges {
  const changes: TorrentChanges = {};
  for (const [option, value] of Object.entries(options)) {
    const field = FIELDS[option] ?? option;
    if (field === 'private') changes.private = value as boolean;
    // True is the default of `--no-trackers`. False, as of `--no-comment`, removes the field.
    else if (Object.hasOwn(CHANGES, field) && value !== true)
      Object.assign(changes, { [field]: value === false ? null : value });
  }
  const unset = (options.unset ?? []).map((name) => {
    const isInfo = name.startsWith('info.');
    return { isInfo, key: name.slice(isInfo ? 5 : 0), text: null };
  });
  for (const { isInfo, key, text } of [...(options.set ?? []), ...unset]) {
    const place = isInfo ? 'infoExtra' : 'extra';
    changes[place] = { ...changes[place], [key]: text };
  }
  return changes;
}

function toJson({ file, target, before, after, changed, warnings }: Edited, dryRun: boolean) {
  const infohash = infohashOf(after);
  const infohashChanged = !hasSameInfo(before, after);
  const changes = changed.map(differenceJson);
  return { file, output: dryRun ? null : target, infohash, infohashChanged, changes, warnings };
}

function linesOf({ file, target, before, after, changed }: Edited, moved: boolean): string[] {
  if (changed.length === 0) return [`${printable(nameOfInput(file))}: no changes`];
  const hashes = infohashLines(before, after);
  const where = moved ? ` -> ${nameOfTarget(target)}` : '';
  return [
    `${printable(nameOfInput(file))}${where}: ${hashes.length > 0 ? 'new infohash' : 'same infohash'}`,
    ...hashes,
    ...changed.map(differenceLine),
  ];
}
