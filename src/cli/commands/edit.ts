import { isUtf8 } from 'node:buffer';
import type { Command } from 'commander';
import type { TorrentChanges } from '../../edit/changes.ts';
import { type Difference, differences, hasSameInfo } from '../../edit/differences.ts';
import { edit } from '../../edit/edit.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { printable, printableJson } from '../../layout/text.ts';
import type { DhtNode } from '../../model/primitives.ts';
import type { Torrent } from '../../model/torrent.ts';
import { readTorrent } from '../arguments.ts';
import {
  collect,
  collectNode,
  collectTier,
  contextOf,
  type ProfileOptions,
  parseDate,
  profileOptions,
} from '../options.ts';
import { writeLines } from '../output.ts';
import { mtimeOf, nameOfTarget, reportTo, requireFree, targetOf, writeTorrent } from '../target.ts';

/** A value, or false for --no-...: it is taken away. */
type Removable<T> = T | false;

interface EditOptions extends ProfileOptions {
  tracker?: string[][];
  trackers?: false;
  addTracker?: string[][];
  removeTracker?: string[];
  webseed?: string[];
  webseeds?: false;
  addWebseed?: string[];
  removeWebseed?: string[];
  comment?: Removable<string>;
  createdBy?: Removable<string>;
  date?: Removable<Date>;
  name?: string;
  private?: boolean;
  source?: Removable<string>;
  similar?: Removable<string[]>;
  collection?: string[];
  collections?: false;
  httpseed?: string[];
  httpseeds?: false;
  node?: DhtNode[];
  nodes?: false;
  updateUrl?: Removable<string>;
  set?: string[];
  unset?: string[];
  keepInfohash?: boolean;
  output?: string;
  force?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

const EXAMPLES = `
Examples:
  metainfo edit *.torrent --add-tracker udp://a.example/x --keep-infohash
  metainfo edit album.torrent --comment 'second edition' -o new.torrent
  metainfo edit album.torrent --private --source SITE --dry-run
  metainfo edit album.torrent --set publisher=me --unset info.x

--dry-run says whether the infohash would be another. Keys of --set and --unset
that are of the infodict begin with info.
All torrents are edited before any is written: what is wrong with one leaves all
as they are.`;

export function addEdit(program: Command): void {
  const command = program
    .command('edit')
    .description('change torrents without hashing anything: what is not named stays byte for byte')
    .argument('<file...>', 'torrent files')
    .option('-t, --tracker <url>', 'only these trackers: repeat it for another tier, commas make a tier', collectTier)
    .option('--no-trackers', 'no trackers')
    .option('--add-tracker <url>', 'one more tier', collectTier)
    .option('--remove-tracker <url>', 'without this one (repeatable)', collect)
    .option('-w, --webseed <url>', 'only these webseeds (repeatable)', collect)
    .option('--no-webseeds', 'no webseeds')
    .option('--add-webseed <url>', 'one more (repeatable)', collect)
    .option('--remove-webseed <url>', 'without this one (repeatable)', collect)
    .option('--httpseed <url>', 'only these scripts that give pieces over HTTP (repeatable)', collect)
    .option('--no-httpseeds', 'none of those')
    .option('--node <host:port>', 'only these nodes of the DHT to begin with (repeatable)', collectNode)
    .option('--no-nodes', 'none of those')
    .option('--comment <text>', 'the comment')
    .option('--no-comment', 'no comment')
    .option('--created-by <text>', 'who made it')
    .option('--no-created-by', 'do not say who made it')
    .option('--date <date>', 'the creation date: now, seconds since 1970 or ISO 8601', parseDate)
    .option('--no-date', 'no creation date')
    .option('--name <name>', 'the name of the file or folder (another infohash)')
    .option('--private', 'peers from the trackers only (another infohash)')
    .option('--no-private', 'peers from anywhere (another infohash)')
    .option('--source <text>', 'the source (another infohash)')
    .option('--no-source', 'no source (another infohash)')
    .option('--similar <infohash>', 'a torrent that may hold the same files (repeatable, another infohash)', collect)
    .option('--no-similar', 'none of those (another infohash)')
    .option('--collection <name>', 'a collection that it belongs to (repeatable, another infohash)', collect)
    .option('--no-collections', 'none of those (another infohash)')
    .option('--update-url <url>', 'where a newer torrent can be asked for (another infohash)')
    .option('--no-update-url', 'nowhere (another infohash)')
    .option('--set <key=text>', 'another key (repeatable)', collect)
    .option('--unset <key>', 'without this key (repeatable)', collect)
    .option('--keep-infohash', 'refuse what would give another infohash')
    .option('-o, --output <file>', 'where the result goes: a file, a folder or - (default: in place)')
    .option('--force', 'replace the output if it exists')
    .option('--dry-run', 'say what would change, and write nothing')
    .option('--json', 'one JSON object a line, one line a file');
  profileOptions(command).addHelpText('after', EXAMPLES).action(run);
}

interface Edited {
  file: string;
  target: string;
  before: Torrent;
  after: Torrent;
  changed: Difference[];
}

/** All files are changed before any is written: what is wrong with one leaves all as they are. */
async function run(files: string[], options: EditOptions): Promise<void> {
  const changes = changesOf(options);
  const context = contextOf(options);
  const all: Edited[] = [];
  for (const file of files) {
    const before = await readTorrent(file, options);
    const after = edit(before, changes, { context, keepInfohash: options.keepInfohash ?? false });
    const target = await targetOf(file, options.output, files.length);
    if (all.some((one) => one.target === target))
      throw new MetainfoError('ERR_INVALID_ARGUMENT', `Two torrents would go to ${target}.`, { path: target });
    if (!options.dryRun) await requireFree(target, options);
    all.push({ file, target, before, after, changed: differences(before, after) });
  }
  for (const one of all) {
    const inPlace = options.output === undefined;
    const write = !options.dryRun && !(inPlace && one.changed.length === 0);
    // Its time tells `update` how old its hashes are, and those stay.
    const mtime = await mtimeOf(one.file);
    if (write) await writeTorrent(one.after, one.target, { force: inPlace || (options.force ?? false), mtime });
  }
  // Not before: who closes our pipe (`| head`) ends us.
  for (const one of all) {
    const moved = options.output !== undefined;
    const lines = options.json ? [printableJson(toJson(one, options.dryRun ?? false))] : linesOf(one, moved);
    await writeLines(lines, reportTo(options.dryRun ? undefined : one.target));
  }
}

function changesOf(options: EditOptions): TorrentChanges {
  const changes: TorrentChanges = {};
  const put = <K extends keyof TorrentChanges>(key: K, value: Removable<TorrentChanges[K]> | undefined) => {
    if (value !== undefined) changes[key] = (value === false ? null : value) as TorrentChanges[K];
  };
  put('trackers', options.trackers === false ? false : options.tracker);
  put('addTrackers', options.addTracker);
  put('removeTrackers', options.removeTracker);
  put('urlList', options.webseeds === false ? false : options.webseed);
  put('addWebseeds', options.addWebseed);
  put('removeWebseeds', options.removeWebseed);
  put('comment', options.comment);
  put('createdBy', options.createdBy);
  put('creationDate', options.date);
  put('name', options.name);
  put('source', options.source);
  put('similar', options.similar);
  put('collections', options.collections === false ? false : options.collection);
  put('httpseeds', options.httpseeds === false ? false : options.httpseed);
  put('nodes', options.nodes === false ? false : options.node);
  put('updateUrl', options.updateUrl);
  if (options.private !== undefined) changes.private = options.private;
  for (const text of options.set ?? []) {
    const at = text.indexOf('=');
    if (at < 1) throw new MetainfoError('ERR_INVALID_ARGUMENT', `--set takes KEY=TEXT, not ${text}.`);
    other(changes, text.slice(0, at), text.slice(at + 1));
  }
  for (const key of options.unset ?? []) other(changes, key, null);
  return changes;
}

function other(changes: TorrentChanges, key: string, value: string | null): void {
  if (key.startsWith('info.')) changes.infoExtra = { ...changes.infoExtra, [key.slice(5)]: value };
  else changes.extra = { ...changes.extra, [key]: value };
}

function toJson({ file, target, before, after, changed }: Edited, dryRun: boolean) {
  const infohash = { v1: after.infohashV1, v2: after.infohashV2 };
  const infohashChanged = !hasSameInfo(before, after);
  const changes = changed.map(({ key, before: from, after: to }) => ({
    key: textOfKey(key),
    before: from === undefined ? null : shownValue(from),
    after: to === undefined ? null : shownValue(to),
  }));
  return { file, output: dryRun ? null : target, infohash, infohashChanged, changes };
}

function linesOf({ file, target, before, after, changed }: Edited, moved: boolean): string[] {
  if (changed.length === 0) return [`${printable(file)}: nothing changes`];
  const line = (name: string, from: string | null, to: string | null) =>
    from === null || to === null || from === to ? [] : [`  ${name}  ${from} -> ${to}`];
  const hashes = hasSameInfo(before, after)
    ? []
    : [
        ...line('infohash v1', before.infohashV1, after.infohashV1),
        ...line('infohash v2', before.infohashV2, after.infohashV2),
      ];
  const where = moved ? ` -> ${nameOfTarget(target)}` : '';
  return [
    `${printable(file)}${where}: ${hashes.length > 0 ? 'another infohash' : 'the same infohash'}`,
    ...hashes,
    ...changed.map(({ key, before: from, after: to }) => {
      const name = `  ${printable(textOfKey(key))}`;
      if (from === undefined) return `${name}  + ${shownValue(to)}`;
      return to === undefined ? `${name}  - ${shownValue(from)}` : `${name}  ${shownValue(from)} -> ${shownValue(to)}`;
    }),
  ];
}

/** Keys are one char a byte. */
function textOfKey(key: string): string {
  const bytes = Buffer.from(key, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : key;
}

const MOST_SHOWN = 200;

/** A decoded value for people, in one line. */
function shownValue(value: unknown): string {
  const text = JSON.stringify(plain(value, { left: MOST_SHOWN }));
  return printable(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN - 3)}...` : text);
}

/** As JSON can have it; of what is long, no more than there is room for. */
function plain(value: unknown, room: { left: number }): unknown {
  room.left -= 1;
  if (typeof value === 'bigint') return value.toString().slice(0, MOST_SHOWN);
  if (Array.isArray(value)) return [...within(value, room)].map((item) => plain(item, room));
  if (value instanceof Map) {
    const entries = [...within(value as Map<string, unknown>, room)];
    const shown = entries.map(([key, item]) => {
      room.left -= key.length;
      return [textOfKey(key), plain(item, room)];
    });
    return Object.fromEntries(shown);
  }
  if (!(value instanceof Uint8Array)) return value;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  // A character that is cut is beyond what is shown.
  const text = bytes.subarray(0, 4 * MOST_SHOWN).toString(isUtf8(bytes) ? 'utf8' : 'hex');
  room.left -= text.length;
  return text;
}

/** Items as long as there is room, and one more: what is cut says so. */
function* within<T>(items: Iterable<T>, room: { left: number }): Generator<T> {
  for (const item of items) {
    yield item;
    if (room.left < 0) return;
    room.left -= 1;
  }
}
