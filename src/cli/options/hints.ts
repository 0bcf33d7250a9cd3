/** Hints for commands and options that other torrent programs have under other names. */
import { existsSync } from 'node:fs';
import { Command, type Option, type ParseOptionsResult } from 'commander';
import { isTorrentFileName } from '../../layout/safe-path.ts';
import { withoutSecrets } from '../../text/urls.ts';
import { currentRun } from '../run.ts';
import { shellWords } from '../terminal/advice.ts';
import { kebab } from '../terminal/messages.ts';

/** Our words, each with those of other programs that do the same. `none` stands for those without a counterpart, with the reason. */
type Hints = Readonly<Record<string, string>>;

/** Commands of mkbrr, imdl, torrenttools, create-torrent and git. */
export const COMMANDS: Hints = {
  create: 'add build generate hash make new torrent',
  'validate (the torrent file) or verify (the content)': 'check',
  show: 'dump info inspect print stats',
  'show -v': 'ls tree',
  magnet: 'link',
  edit: 'modify set',
  plan: 'piece-length piece-size',
  verify: 'recheck',
  update: 'rehash update-torrent',
  completion: 'completions',
  '--version': 'version',
  'none, because clients need no pad files on disk': 'pad',
  'none, because metainfo asks no trackers and no peers': 'announce from-link',
};

/**
 * Options of mkbrr, torf, imdl, torrenttools, mktorrent, transmission-create and create-torrent, except those that we have under the same
 * name. The tables of docs/guides/switching.md have the same: a test compares them in both directions.
 */
export const OPTIONS: Hints = {
  '--add-tracker': '--list-mode -m',
  '--add-webseed': '--list-mode -m',
  '--allow': '-A',
  '--batch': '-b',
  '--compat': '--novalidate',
  '--compat, or metainfo --version': '-V',
  '--config with TOML: docs/guides/switching.md converts YAML': '--from',
  '--config': '--preset-file --trackers-config -f',
  '--created-by': '--createdBy --creator',
  '--date': '--creation-date -d',
  '--dry-run': '--notorrent --plan -n -N',
  '--entropy': '-e -x --cross-seed --randomize-infohash --xseed',
  '--exclude': '--exclude-pattern -e --glob -g',
  '--exclude-from': '--ignore',
  '--force': '-y --yes -f',
  '--httpseed': '--http-seed',
  '--include': '--include-pattern --glob -g',
  '--json':
    '-U -j --nohuman --metainfo --raw --print --extract-pattern --show-pieces --show-binary --show-padding-files --flat --iso --truncate --prefix',
  '--json for details': '-v --verbose',
  '--magnet': '--link',
  '--max-piece-length': '--max-piece-size -m',
  '--name': '-n -N',
  '--no-comment': '-C --nocomment',
  '--no-config': '--noconfig -F',
  '--no-created-by': '-A --no-creator --nocreator --anonymize',
  '--no-private': '--noprivate',
  '--no-source': '--nosource -S',
  '--no-trackers': '-T --notracker',
  '--no-v1': '-v --protocol',
  '--no-v2': '-v --protocol',
  '--no-webseeds': '-W --nowebseed',
  '--node': '--dht-node -d',
  '--output': '--out --outfile',
  '--output -': '--stdout',
  '--output with a folder': '--output-dir',
  '--piece-length': '--pieceLength --piece-size --piecesize',
  '--preset': '-z',
  '--preset; to read a torrent, --strict or --compat': '--profile',
  '--read-size': '--io-block-size',
  '--replace-tracker': '--replace',
  '--reuse': '-r',
  '--select': '-s --select-only',
  '--source': '-r',
  '--strict, which makes a warning an error, with -k v1 as mkbrr makes': '--fail-on-season-warning',
  '--symlinks follow, which is the default': '-F --follow-symlinks',
  '--target-pieces': '--piece-count --target-piece-count',
  '--threads': '-t --workers',
  '--torrent-version': '-v --protocol',
  '--tracker': '--announce-list --announce-tier --announce-url',
  '--tracker with an alias of the configuration': '-g --announce-group',
  '--unset info.entropy': '-X --no-entropy --noxseed',
  '--webseed': '--url-list --web-seed',
  'metainfo --version': '--version',
  'metainfo show': '-S --show',
  'metainfo show --json': '-e -m',
  'the path alone': '-c -f --file --in --input',
  'the path alone; the summary needs no option': '-i',
  'none, because a renamed file is read again': '--rename',
  'none, because hidden files are added without it': '--include-hidden',
  'none, because it is for the developers of the other program': '--cpuprofile --debug-file',
  'none, because links have no peers': '-p --peer',
  'none, because metainfo starts no other program': '-O --open',
  'none, because no command is experimental': '--unstable',
  'none, because no date is written without --date; metainfo edit removes one with --no-date':
    '-d -D --no-creation-date --no-date --nodate',
  'none, because no link is printed without --magnet': '--nomagnet',
  'none, because no prefix of the tracker is added to the name': '--skip-prefix',
  'none, because nothing is reused without --reuse': '--noreuse',
  'none, because nothing is reused without --reuse; --no-created-by is the option of torf 4': '-R',
  'none, because patterns are globs': '-er -ir --exclude-regex --include-regex',
  'none, because plan measures the content': '--size',
  'none, because show reads every file that it is given': '-l',
  'none, because only .DS_Store, Thumbs.db, desktop.ini and torrents are left out, unless you name them':
    '-j --include-junk',
  'none, because text for people is the default, and no command is experimental': '-u',
  'none, because text for people is the default': '-H --human --human-readable',
  'none, because the order of the files is fixed': '--sort-by',
  'none, because the pieces have hashes already, and no link is printed without --magnet': '-M',
  'none, because the pieces have hashes already; v2 has one for each file too':
    '--checksum --checksum-algorithms --md5 --md5sum',
  'none, because the summary needs no option': '--info-only',
  'none, because the variable NO_COLOR decides': '--color --terminal',
};

const hintsIn = (hints: Hints, word: string): string[] =>
  Object.keys(hints).filter((ours) => hints[ours]?.split(' ').includes(word));

/** Options that a configuration can switch on or off, given with a value as in mkbrr: `--private=false`, `-p=false`. */
const SWITCH =
  /^(?:-p|--(?:attributes|entropy|follow-outside|hidden|ignore-case|magnet|padding|private|skip-unreadable|strict|system-files))=(.*)$/;

/**
 * Our options for one of another program, which may have a value, and words as in `--pieceLength` or `--piece_length`.
 *
 * @param known The options of the command. Options that it does not have are named only if no hint fits.
 */
export function hintFor(option: string, known?: readonly Option[]): string | undefined {
  const [, value] = SWITCH.exec(option) ?? [];
  if (value !== undefined) {
    const name = option.startsWith('--') ? option.slice(2, option.indexOf('=')) : 'private';
    return /^(?:false|no|off|0)$/i.test(value) ? `--no-${name}, or leave it out` : `--${name} without a value`;
  }
  const name = (option.split('=', 1)[0] as string).replaceAll('_', '-');
  const all = [name, kebab(name)].map((word) => hintsIn(OPTIONS, word)).find(({ length }) => length > 0) ?? [];
  const own = all.filter((hint) => {
    const [flag] = /^--[\w-]+/.exec(hint) ?? [];
    return !known || flag === undefined || known.some(({ long }) => long === flag);
  });
  const hints = own.length > 0 ? own : all;
  if (hints.length < 2) return hints[0];
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(
    hints.map((hint) => hint.replace(/^none/, 'nothing')),
  );
}

/** Options before any command. */
const BEFORE_COMMAND: Hints = {
  '-v': 'metainfo --version',
  ...Object.fromEntries(['-i', '-l', '--info', '--show'].map((option) => [option, 'metainfo show FILE.torrent'])),
};

/** A command that suggests an option for a misspelt one, also where a value follows `=`, and for one of another program. */
export class HintingCommand extends Command {
  #args: readonly string[] = [];
  /** Expands the arguments that are no options, and those of subcommands. */
  expand: ((words: readonly string[]) => string[]) | null = null;

  override createCommand(name: string): Command {
    return Object.assign(new HintingCommand(name), { expand: this.expand });
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    this.#args = args;
    const parsed = super.parseOptions(args);
    return this.expand ? { ...parsed, operands: this.expand(parsed.operands) } : parsed;
  }

  /** Commander calls it with the whole word, but splits short options: `-p=false` comes as `-=false`. */
  unknownOption(flag: string): void {
    const isSplit = (arg: string) => /^-[^-]/.test(arg) && arg.endsWith(flag.slice(1));
    const given = (flag.startsWith('-=') && this.#args.find(isSplit)) || flag;
    const hint = this.parent ? hintFor(given, this.options) : (BEFORE_COMMAND[given] ?? hintFor(given, this.options));
    // The hint replaces a suggestion of commander, which only looks alike.
    if (hint) this.error(`error: unknown option '${given}': ${withUse(hint)}`, { code: 'commander.unknownOption' });
    const word = given.replace(/^(--[^=]+)=.*/s, '$1');
    (Command.prototype as unknown as HintingCommand).unknownOption.call(this, word);
  }
}

const withUse = (hint: string, before = ''): string => (hint.startsWith('none') ? hint : `use ${before}${hint}`);

const MISSING = "missing required argument 'file'";
const FIND = '--find takes all words after it, so put it last: metainfo verify FILE PATH --find DIR';

/**
 * The message of a usage error with a hint, if it is about a command of another program, or if an option has taken the arguments.
 *
 * @param args The command line.
 */
export function withHint(given: string, args = currentRun().args): string {
  // Commander repeats the arguments.
  const message = withoutSecrets(given);
  if (message.includes(MISSING) && hasWordsAfterFind(args)) return message.replace(MISSING, `${MISSING}: ${FIND}`);
  const [, word = ''] = /unknown command '(.+)'/s.exec(message) ?? [];
  const hint = hintsIn(COMMANDS, word)[0] ?? hintForInput(word);
  if (!hint) return message;
  return `${message.replace(/\n?\(Did you mean [^)]*\)/, '').trimEnd()}: ${withUse(hint, 'metainfo ')}`;
}

/** The command for a file, a folder or a link in place of a command. */
function hintForInput(word: string): string | undefined {
  if (/^magnet:|^(?:[\da-f]{40}|[\da-f]{64})$/i.test(word))
    return word.startsWith('magnet:') ? 'magnet LINK' : `magnet ${word}`;
  if (word === '' || !existsSync(word)) return undefined;
  return `${isTorrentFileName(word) ? 'show' : 'create'} ${shellWords(word)}`;
}

/** Whether more than one word follows `--find`, up to the next option. */
function hasWordsAfterFind(args: readonly string[]): boolean {
  const start = args.indexOf('--find') + 1;
  return start > 0 && args.slice(start, start + 2).filter((word) => !word.startsWith('-')).length === 2;
}
