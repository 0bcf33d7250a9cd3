/** Hints for commands and options that other torrent programs have under other names. */
import { Command } from 'commander';
import { kebab } from '../terminal/messages.ts';

/** Our words, each with those of other programs that do the same. `none` stands for those without a counterpart, with the reason. */
type Hints = Readonly<Record<string, string>>;

/** Commands of mkbrr, imdl, torrenttools, create-torrent and git. */
const COMMANDS: Hints = {
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
 * name. The tables of docs/guides/switching.md say the same.
 */
const OPTIONS: Hints = {
  '--add-tracker, --add-webseed': '--list-mode',
  '--allow, or --no-created-by': '-A',
  '--batch': '-b',
  '--compat': '--novalidate',
  '--compat, or metainfo --version': '-V',
  '--config': '--preset-file --trackers-config',
  '--config, --force, or the path alone': '-f',
  '--created-by': '--createdBy --creator',
  '--date': '--creation-date',
  '--date, --node, or none, because no date is written without --date': '-d',
  '--dry-run': '--notorrent --plan',
  '--entropy': '-x --cross-seed --randomize-infohash --xseed',
  '--exclude': '--exclude-pattern',
  '--exclude, --entropy for another infohash, or --json to extract keys': '-e',
  '--exclude-from': '--ignore',
  '--force': '-y --yes',
  '--httpseed': '--http-seed',
  '--include': '--include-pattern',
  '--include, --exclude': '--glob',
  '--json':
    '-U --nohuman --metainfo --raw --print --extract-pattern --show-pieces --show-binary --show-padding-files --flat --iso --truncate --prefix',
  '--json; system files such as .DS_Store are no content': '-j',
  '--json for details, --torrent-version, or --no-v1 and --no-v2 of magnet': '-v --verbose',
  '--magnet': '--link',
  '--max-piece-length': '--max-piece-size',
  '--max-piece-length, --json for all keys, or --add-tracker, --add-webseed': '-m',
  '--name, or --dry-run': '-n -N',
  '--no-comment': '-C --nocomment',
  '--no-config': '--noconfig',
  '--no-config, or --symlinks follow, which is the default': '-F',
  '--no-created-by': '--no-creator --nocreator --anonymize',
  '--no-private': '--noprivate',
  '--no-source': '--nosource',
  '--no-source, or metainfo show': '-S',
  '--no-trackers': '-T --notracker',
  '--no-webseeds': '-W --nowebseed',
  '--node': '--dht-node',
  '--output': '--out --outfile',
  '--output -': '--stdout',
  '--output with a folder': '--output-dir',
  '--piece-length': '--pieceLength --piece-size --piecesize',
  '--preset': '-z',
  '--preset; for the private flag, --private or --no-private': '-P',
  '--preset; to read a torrent, --strict or --compat': '--profile',
  '--read-size': '--io-block-size',
  '--select': '-s --select-only',
  '--source, or --reuse': '-r',
  '--strict, which makes a warning an error': '--fail-on-season-warning',
  '--symlinks follow, which is the default': '--follow-symlinks',
  '--target-pieces': '--piece-count --target-piece-count',
  '--threads': '-t --workers',
  '--torrent-version; for a link, --no-v1 or --no-v2': '--protocol',
  '--tracker': '--announce-list --announce-tier --announce-url',
  '--tracker with an alias, or --include and --exclude': '-g',
  '--tracker with an alias of the configuration': '--announce-group',
  '--unset info.entropy': '-X --no-entropy --noxseed',
  '--webseed': '--url-list --web-seed',
  'metainfo --version': '--version',
  'metainfo show': '--show',
  'the path alone': '-c --file --in --input',
  'the path alone; the summary needs no option': '-i',
  'none, because a renamed file is read again': '--rename',
  'none, because hidden files are added without it': '--include-hidden',
  'none, because it is for the developers of the other program': '--cpuprofile --debug-file',
  'none, because links have no peers': '-p --peer',
  'none, because metainfo starts no other program': '-O --open',
  'none, because no command is experimental': '--unstable',
  'none, because no date is written without --date; metainfo edit removes one with --no-date':
    '-D --no-creation-date --no-date --nodate',
  'none, because no link is printed without --magnet': '--nomagnet',
  'none, because no prefix of the tracker is added to the name': '--skip-prefix',
  'none, because nothing is reused without --reuse': '--noreuse',
  'none, because nothing is reused without --reuse; --no-created-by is the option of torf 4': '-R',
  'none, because patterns are globs': '-er -ir --exclude-regex --include-regex',
  'none, because plan measures the content': '--size',
  'none, because show reads every file that it is given': '-l',
  'none, because system files such as .DS_Store are no content': '--include-junk',
  'none, because text for people is the default, and no command is experimental': '-u',
  'none, because text for people is the default': '-H --human --human-readable',
  'none, because the order of the files is fixed': '--sort-by',
  'none, because the pieces have hashes already, and no link is printed without --magnet': '-M',
  'none, because the pieces have hashes already; v2 has one for each file too':
    '--checksum --checksum-algorithms --md5 --md5sum',
  'none, because the summary needs no option': '--info-only',
  'none, because the variable NO_COLOR decides': '--color --terminal',
};

const hintIn = (hints: Hints, word: string): string | undefined =>
  Object.keys(hints).find((ours) => hints[ours]?.split(' ').includes(word));

/** Options that a configuration can switch on or off, given with a value as in mkbrr: `--private=false`, `-p=false`. */
const SWITCH =
  /^(?:-p|--(?:attributes|entropy|follow-outside|hidden|ignore-case|magnet|padding|private|skip-unreadable|strict|system-files))=(.*)$/;

/** Our option for one of another program, which may have a value, and words as in `--pieceLength` or `--piece_length`. */
export function hintFor(option: string, args: readonly string[] = []): string | undefined {
  // Commander splits short options.
  const given = option.startsWith('-=') ? (args.find((arg) => arg === `-p${option.slice(1)}`) ?? option) : option;
  const [, value] = SWITCH.exec(given) ?? [];
  if (value !== undefined) {
    const name = given.startsWith('--') ? given.slice(2, given.indexOf('=')) : 'private';
    return /^(?:false|no|off|0)$/i.test(value) ? `--no-${name}, or leave it out` : `--${name} without a value`;
  }
  const name = (given.split('=', 1)[0] as string).replaceAll('_', '-');
  return hintIn(OPTIONS, name) ?? hintIn(OPTIONS, kebab(name));
}

/** A command that suggests an option for a misspelt one, also where a value follows `=`. */
export class HintingCommand extends Command {
  override createCommand(name: string): Command {
    return new HintingCommand(name);
  }

  /** Commander calls it with the whole word. */
  unknownOption(flag: string): void {
    const word = hintFor(flag) ? flag : flag.replace(/^(--[^=]+)=.*/s, '$1');
    (Command.prototype as unknown as HintingCommand).unknownOption.call(this, word);
  }
}

const MISSING = "missing required argument 'file'";
const FIND = '--find takes all words after it, so put it last: metainfo verify FILE PATH --find DIR';

/**
 * The message of a usage error with a hint, if it is about a word of another program, or if an option has taken the arguments.
 *
 * @param args The command line.
 */
export function withHint(message: string, args: readonly string[] = process.argv): string {
  if (message.includes(MISSING) && hasWordsAfterFind(args)) return message.replace(MISSING, `${MISSING}: ${FIND}`);
  const [, type, word = ''] = /unknown (command|option) '([^']+)'/.exec(message) ?? [];
  const isCommand = type === 'command';
  const hint = isCommand ? hintIn(COMMANDS, word) : hintFor(word, args);
  if (!hint) return message;
  const start = hint.startsWith('none') ? '' : `use ${isCommand ? 'metainfo ' : ''}`;
  // The hint replaces a suggestion of commander, which only looks alike.
  return `${message.replace(/\n?\(Did you mean [^)]*\)/, '').trimEnd()}: ${start}${hint}`;
}

/** Whether more than one word follows `--find`, up to the next option. */
function hasWordsAfterFind(args: readonly string[]): boolean {
  const start = args.indexOf('--find') + 1;
  return start > 0 && args.slice(start, start + 2).filter((word) => !word.startsWith('-')).length === 2;
}
