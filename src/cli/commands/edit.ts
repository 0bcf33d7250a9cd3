/** `metainfo edit`: changes fields of torrents without hashing. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import type { Finding } from '../../create/findings/findings.ts';
import { isGone } from '../../disk/write-file.ts';
import { MAX_GROUP } from '../../disk/write-group.ts';
import { checkedChanges } from '../../edit/change-values.ts';
import type { TorrentChanges } from '../../edit/changes.ts';
import { differences } from '../../edit/differences.ts';
import { edit } from '../../edit/edit.ts';
import { allTrackers, isAmong } from '../../edit/url-changes.ts';
import { throwIfAborted, untilAbort } from '../../errors/cancel.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { forEachConcurrently } from '../../hash/for-each-concurrently.ts';
import { type Torrent, TorrentBase } from '../../model/torrent/torrent.ts';
import { hashHex } from '../../platform/node.ts';
import { ENTROPY_KEY } from '../../text/entropy.ts';
import { plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { isSingleFile } from '../../verify/content-place.ts';
import { jointRule, ruleFindings } from '../config/hosts.ts';
import { type ConfigOptions, configFileOptions, loadConfig, useProfile } from '../config/load.ts';
import type { Configuration } from '../config/parse.ts';
import { optionsFrom, presetOf } from '../config/resolve-options.ts';
import { collectCode, findingLines, graded, longer, refuse } from '../create/findings.ts';
import { changesOf, type FieldOptions, rulesOfNew, withPreset, withUrls } from '../edit/changes-of.ts';
import { linesOf, toJson } from '../edit/report.ts';
import { exitCodeOf, interruptible } from '../exit.ts';
import { readTorrent } from '../options/arguments.ts';
import { DESCRIPTION, keyOptions, PEERS } from '../options/key-options.ts';
import * as values from '../options/option-values.ts';
import { filledFor, hasPlaceholders } from '../options/output-template.ts';
import { shortHelp } from '../options/short-help.ts';
import { mtimeOf, reportTo, requireWritable, targetOf, writeTorrent } from '../options/target.ts';
import { eachOption, torrentsOf } from '../options/torrents-of.ts';
import { host } from '../run.ts';
import { messageOf, toPlain } from '../terminal/messages.ts';
import { stderr, writeLines, writeResult } from '../terminal/output.ts';
import { isStdin, nameOfInput } from '../terminal/standard-input.ts';

interface EditOptions
  extends values.ProfileOptions,
    values.OutputOptions,
    values.SummaryOptions,
    FieldOptions,
    ConfigOptions {
  keepInfohash?: boolean;
  dryRun?: boolean;
  allow?: string[];
  preset?: string;
}

/** The options that `--help` shows without `--all`. */
const COMMON = [
  ...[
    'each',
    'from-file',
    'output',
    'force',
    'dry-run',
    'keep-infohash',
    'quiet',
    'json',
    'tracker',
    'no-trackers',
    'add-tracker',
  ],
  ...['remove-tracker', 'replace-tracker', 'webseed', 'no-webseeds', 'add-webseed', 'remove-webseed', 'private'],
  ...['no-private', 'comment', 'no-comment', 'created-by', 'no-created-by', 'date', 'no-date', 'name', 'source'],
  ...['no-source', 'set', 'unset'],
  'preset',
];

const EXAMPLES = `
Examples:
  metainfo edit *.torrent --add-tracker udp://a.example:6969/x --keep-infohash
  metainfo edit album.torrent --comment 'second edition' -o new.torrent
  metainfo edit *.torrent --replace-tracker old.example=new.example
  metainfo edit --each torrents --preset films
  metainfo edit album.torrent --private --source SITE --dry-run
  metainfo edit album.torrent --set publisher=me --unset info.x
  metainfo edit - --comment new < old.torrent > new.torrent

Options marked * change the infohash. --dry-run shows the new infohash. In --set
and --unset, the keys of the info dictionary are written as info.KEY.`;

const MORE = `
All edits are checked before the first file is written: if one fails, or if
another program has changed a torrent since, no file changes. With --strict, a
warning about an edit is an error. An empty text, as in --source '', removes the
field. In OLD=NEW, write an equals sign of a URL as \\=.`;

export function addEdit(program: Command): void {
  const command = program
    .command('edit')
    .description('edit torrents without hashing: other fields stay the same byte for byte')
    .argument('[file...]', 'torrent files, or - for standard input; with --each, folders of torrents');
  values
    .changedOutputOptions(command)
    .option('--dry-run', 'show the changes without writing')
    .option('--keep-infohash', 'fail if an edit would change the infohash')
    .option('-q, --quiet', 'print no changes and no summary')
    .option('--json', 'print one line per file, each a JSON object, and of several files a summary')
    .option('--allow <code>', 'accept a finding in spite of --strict or a tracker rule (repeatable)', collectCode)
    .helpOption('-h, --help', 'display help for command');
  eachOption(command, 'edit every torrent of the given folders');
  keyOptions(command.optionsGroup('Trackers and peers:'), 'edit', PEERS);
  keyOptions(command.optionsGroup('Description:'), 'edit', DESCRIPTION);
  command
    .addOption(
      new Option('--entropy', 'set a random key of info: another infohash for the same content (*)').conflicts(
        'keepInfohash',
      ),
    )
    .option(
      '--set <key=text>',
      'set any other key to this text, or KEY:=JSON to a number, list and so on (repeatable)',
      values.collectKey,
    )
    .option('--unset <key>', 'remove any other key (repeatable)', values.collect);
  configFileOptions(values.profileOptions(command)).option(
    '-P, --preset <name>',
    'set the fields of a preset of the configuration',
    values.parsePreset,
  );
  shortHelp(command, { common: COMMON, examples: EXAMPLES, more: MORE }).action(async (names: string[]) => {
    // Not interruptible: a configuration file can be a pipe without a writer.
    const config = await loadConfig(command.opts());
    const { strict, compat } = command.opts<EditOptions>();
    if (!strict && !compat) useProfile(command, config);
    const torrents = await torrentsOf(names, command.opts());
    await interruptible((signal) => run(torrents, command, config, signal));
  });
}

/** An edit that can be written. */
interface Checked {
  file: string;
  target: string;
  changes: TorrentChanges;
  isChanged: boolean;
  removed: number;
  /** Tells whether the file is still the one that was read; null for one that can be read only once. */
  state: string | null;
  /** The edited torrent, or the hash of the file if that is read again: so memory does not grow with the number of torrents. */
  after: Torrent | string;
  json: object;
  lines: readonly string[];
  findings: readonly Finding[];
}

async function run(
  { files, isMany }: { files: readonly string[]; isMany: boolean },
  command: Command,
  config: Configuration | null,
  signal: AbortSignal,
): Promise<void> {
  const options = command.opts<EditOptions>();
  let edits: Checked[];
  try {
    edits = await checkAll(files, { options, given: optionsFrom(command, 'cli') as FieldOptions, config, signal });
  } catch (error) {
    host().exitCode = await exitCodeOf(error);
    const isSaid = options.json || options.dryRun || signal.aborted || !isMany;
    if (!isSaid) await writeLines(['nothing was changed'], stderr);
    return;
  }
  const inPlace = options.output === undefined && !isStdin(files[0]);
  if (!options.dryRun) await writeAll(inPlace ? edits.filter(({ isChanged }) => isChanged) : edits, options, signal);
  // Print after all writes, because a closed pipe (`| head`) ends the process.
  for (const { target, json, lines } of edits)
    await writeResult(options, json, lines, reportTo(options.dryRun ? undefined : target));
  if (!isMany) return;
  const changed = edits.filter(({ isChanged }) => isChanged).length;
  const unchanged = edits.length - changed;
  const text = options.dryRun
    ? `${changed} to change, ${unchanged} as they are`
    : `${changed} changed, ${unchanged} as they were`;
  const removed = edits.reduce((sum, edited) => sum + edited.removed, 0);
  const count = removed > 0 ? `; ${plural(removed, 'tracker')} ${options.dryRun ? 'to remove' : 'removed'}` : '';
  const summary = { event: 'summary', jobs: edits.length, changed, unchanged };
  await writeResult(options, summary, [`${plural(edits.length, 'torrent')}: ${text}${count}`]);
}

/** Says how to edit each torrent of a run. */
interface Run {
  options: EditOptions;
  /** The options of the command line alone. */
  given: FieldOptions;
  config: Configuration | null;
  signal: AbortSignal;
}

/** Edits every torrent without writing, and prints what is wrong with each. Throws the first failure in the end. */
async function checkAll(files: readonly string[], { options, given, config, signal }: Run): Promise<Checked[]> {
  if (files.length > 1 && files.some(isStdin))
    throw invalidArgument('Standard input (-) cannot be edited together with other torrents');
  const preset = options.preset === undefined ? null : presetOf(options.preset, config);
  const fields = preset ? withPreset(given, preset) : given;
  if (preset && !options.json && Object.keys(withPreset({}, preset)).length === 0)
    await writeLines([`warning: the preset ${printable(options.preset ?? '')} sets nothing that edit changes`], stderr);
  const changes = changesOf(config ? withUrls(fields, config.aliases) : fields);
  checkedChanges(changes);
  const allow = [options.allow ?? [], preset?.get('allow')?.value ?? []].flat() as string[];
  /** The file of each target. */
  const targets = new Map<string, string>();
  const edits: Checked[] = [];
  const failures: MetainfoError[] = [];
  for (const file of files) {
    try {
      const { output, preset: named } = options;
      const isTemplate = output !== undefined && hasPlaceholders(output);
      const place = async (filled: string | undefined) => {
        const target = await targetOf(file, filled, isTemplate ? 1 : files.length);
        const other = targets.get(target);
        if (other !== undefined) {
          const isSame = output === undefined || path.resolve(other) === path.resolve(file);
          const problem = isSame
            ? `${output === undefined ? target : file} is given twice`
            : `Two torrents would be written to ${target}: edit them one by one`;
          throw invalidArgument(problem, { path: target });
        }
        targets.set(target, file);
        return target;
      };
      const target = isTemplate ? undefined : await place(output);
      const targetFor = async (after: Torrent) => target ?? place(filledFor(output, after, named));
      const state = await stateOf(file);
      const before = await untilAbort(signal, readTorrent(file, options));
      throwIfAborted(signal);
      const given = { file, targetFor, state, changes, isAlone: files.length === 1 };
      const edited = await check(before, given, options, config);
      edits.push(edited);
      if (!options.dryRun) await requireWritable(edited.target, options);
    } catch (error) {
      // A wrong option is wrong for all torrents.
      const isOfTorrent =
        error instanceof MetainfoError && !['ERR_INVALID_ARGUMENT', 'ERR_ABORTED'].includes(error.code);
      if (!isOfTorrent || files.length === 1) throw error;
      const isNamed = error.path !== undefined;
      failures.push(isNamed ? error : new MetainfoError(error.code, `${file}: ${messageOf(error)}`, { path: file }));
    }
  }
  await reportFindings(edits, { ...options, allow }, failures.length > 0);
  for (const failure of failures.slice(1)) await exitCodeOf(failure);
  if (failures[0]) throw failures[0];
  return edits;
}

/** Edits a torrent: the rules of the hosts of its new trackers come after the options, and before its own fields. */
async function check(
  before: Torrent,
  given: Pick<Checked, 'file' | 'state' | 'changes'> & {
    targetFor: (after: Torrent) => Promise<string>;
    isAlone: boolean;
  },
  options: EditOptions,
  config: Configuration | null,
): Promise<Checked> {
  const { file, targetFor, state, changes, isAlone } = given;
  const keepInfohash = options.keepInfohash ?? false;
  const attempt = (own: TorrentChanges) => {
    const warnings: Finding[] = [];
    const onWarning = (warning: Finding) => warnings.push(warning);
    return { after: edit(before, own, { context: values.contextOf(options), keepInfohash, onWarning }), warnings, own };
  };
  let edited = attempt(changes);
  const rules = rulesOfNew(changes, [before.flatTrackers, edited.after.flatTrackers], config?.hosts);
  if (rules.length > 0 && !keepInfohash) {
    const { private: isPrivate, source } = jointRule(rules).options;
    const ruled = { ...(isPrivate !== undefined && { private: isPrivate }), ...(source !== undefined && { source }) };
    edited = attempt({ ...ruled, ...changes });
  }
  const { after, warnings, own } = edited;
  const target = await targetFor(after);
  const { torrentVersion, info } = after;
  const plan = { pieceLength: info.pieceLength, torrentSize: TorrentBase.bytesOf(after).bytes.length, findings: [] };
  // One by one: the lists of files are decoded when they are accessed.
  const ruled = { torrentVersion, private: info.private, source: info.source, keepInfohash };
  const pathOf = ({ path }: { path: string }) => (isSingleFile(after) ? path : `${after.name}/${path}`);
  const facts = () => ({ totalSize: after.totalSize, longestPath: after.files.map(pathOf).reduce(longer, '') });
  const ofRules = rules.length > 0 ? ruleFindings(rules, ruled, { ...plan, ...facts() }) : [];
  const findings = [...warnings, ...ofRules].map(toPlain);
  const changed = differences(before, after);
  const removed = own.removeTrackers ? [...new Set(allTrackers(before))].filter(isAmong(own.removeTrackers)).length : 0;
  const report = { file, target, before, after, changed, removed, warnings: findings };
  // The second edit must make the same torrent.
  const entropy = own.entropy && { entropy: false, infoExtra: { ...own.infoExtra, entropy: entropyOf(after) } };
  return {
    file,
    target,
    removed,
    state,
    changes: { ...own, ...entropy },
    isChanged: changed.length > 0,
    after: isAlone || state === null ? after : digestOf(before),
    json: options.json ? toJson(report, options.dryRun ?? false) : {},
    lines: options.quiet || options.json ? [] : linesOf(report, options.output !== undefined || isStdin(file)),
    findings,
  };
}

const digestOf = (torrent: Torrent) => hashHex('sha256', TorrentBase.bytesOf(torrent).bytes);

/** Null for anything but a regular file. */
async function stateOf(file: string): Promise<string | null> {
  const status = isStdin(file) ? null : await stat(file, { bigint: true }).catch(orGone(file));
  return status?.isFile() ? [status.dev, status.ino, status.size, status.mtimeNs, status.ctimeNs].join(' ') : null;
}

/** A file that is gone has no state, which differs from the one before. */
const orGone = (file: string) => (error: NodeJS.ErrnoException) => {
  if (isGone(error)) return null;
  throw fromSystemError(error, file, 'read');
};

const entropyOf = ({ info }: Torrent) => info.extra?.get(ENTROPY_KEY) as Uint8Array;

/** Prints the findings of all edits. Throws `ERR_FINDINGS` for errors, unless there are other failures. */
async function reportFindings(edits: readonly Checked[], options: EditOptions, hasFailed: boolean): Promise<void> {
  const findings = graded(namedFindings(edits, options.json ? new Map() : countAbsent(edits)), options);
  if (findings.length === 0) return;
  if (!options.json) await writeLines(await findingLines(findings), stderr);
  if (!hasFailed) refuse(findings, 'written');
}

/** The number of torrents that do not have the same tracker, webseed or key, by the message about it. */
function countAbsent(edits: readonly Checked[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { findings } of edits) {
    const messages = findings.flatMap(({ code, message }) => (code === 'not_in_torrent' ? [message] : []));
    for (const message of new Set(messages)) counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  return counts;
}

/** The findings of all edits. With several files, each begins with the name of its file, or with the number of torrents. */
function namedFindings(edits: readonly Checked[], counts: ReadonlyMap<string, number>): Finding[] {
  const named = edits.flatMap(({ file, findings }) =>
    findings.map((finding): [string, Finding] => {
      const count = counts.get(finding.message) ?? 1;
      const alone = edits.length > 1 ? `${nameOfInput(file)}: ${finding.message}` : finding.message;
      const message = count > 1 ? finding.message.replace(/^The torrent does/, `${count} torrents do`) : alone;
      return [`${finding.code} ${message}`, { ...finding, message }];
    }),
  );
  return [...new Map(named).values()];
}

/**
 * Writes edited torrents, several at once, and nothing if one has changed since it was checked. One that changes while others are
 * written is not written.
 *
 * @throws {MetainfoError} the first failure; its message tells how many torrents were written
 */
async function writeAll(edits: readonly Checked[], options: EditOptions, signal: AbortSignal): Promise<void> {
  const inPlace = options.output === undefined;
  const isAlone = edits.length === 1;
  let written = 0;
  const requireSame = (path: string, before: string | null, now: string | null) => {
    if (before === now) return;
    throw new MetainfoError('ERR_FILE_CHANGED', `${path} changed while it was edited: edit it again.`, { path });
  };
  const write = async ({ file, target, changes, after }: Checked) => {
    const again = typeof after === 'string' ? await readTorrent(file, options) : null;
    // The same bytes and changes make the torrent that was checked.
    if (again) requireSame(file, after as string, digestOf(again));
    const torrent = again ? edit(again, changes, { context: values.contextOf(options) }) : (after as Torrent);
    // Keep the modification time: it tells `update` how old the hashes are.
    const mtime = isStdin(file) ? new Date() : await mtimeOf(file);
    await writeTorrent(torrent, target, { force: (inPlace && !isStdin(file)) || (options.force ?? false), mtime });
    written += 1;
  };
  try {
    for (const { file, state } of edits) if (state !== null) requireSame(file, state, await stateOf(file));
    // A closed standard output fires the signal too, and its error is to be reported.
    if (isAlone) await write(edits[0] as Checked);
    else await forEachConcurrently(edits, { concurrency: MAX_GROUP, signal }, write);
  } catch (error) {
    if (isAlone || !(error instanceof MetainfoError)) throw error;
    const done = `${written} of ${plural(edits.length, 'torrent')} were written`;
    throw Object.assign(error, { done, message: `${error.message.replace(/\.$/, '')}; ${done}.` });
  }
}
