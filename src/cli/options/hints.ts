/** Hints for commands and options that other torrent programs have under other names. */
import { Command } from 'commander';
import { kebab } from '../terminal/messages.ts';

/** Commands of other programs: mkbrr, imdl, torrenttools, create-torrent and git. */
const COMMANDS: Readonly<Record<string, string>> = {
  add: 'create',
  build: 'create',
  check: 'validate (the torrent file) or verify (the content)',
  dump: 'show',
  generate: 'create',
  hash: 'create',
  info: 'show',
  inspect: 'show',
  link: 'magnet',
  ls: 'show -v',
  make: 'create',
  modify: 'edit',
  new: 'create',
  'piece-length': 'plan',
  print: 'show',
  recheck: 'verify',
  rehash: 'update',
  set: 'edit',
  stats: 'show',
  tree: 'show -v',
};

/** Options of other programs, except those that commander suggests by their spelling: mkbrr, imdl, torf, torrenttools, mktorrent, transmission-create and create-torrent. */
const OPTIONS: Readonly<Record<string, string>> = {
  '-D': 'no option: a new torrent has no date without --date',
  '-P': '--preset',
  '-R': '--no-created-by',
  '-b': '--batch',
  '-d': '--date; without it, a new torrent has no date',
  '-e': '--exclude, or --entropy for another infohash',
  '-i': 'the path alone',
  '-j': '--json',
  '-m': '--max-piece-length',
  '-n': '--name',
  '-x': '--entropy',
  '-z': '--preset',
  '--announce-list': '--tracker',
  '--announce-tier': '--tracker',
  '--announce-url': '--tracker',
  '--creation-date': '--date',
  '--creator': '--created-by',
  '--cross-seed': '--entropy',
  '--dht-node': '--node',
  '--exclude-pattern': '--exclude',
  '--in': 'the path alone',
  '--include-pattern': '--include',
  '--input': 'the path alone',
  '--link': '--magnet',
  '--max-piece-size': '--max-piece-length',
  '--md5': 'no option: v1 clients check the SHA-1 of each piece',
  '--md5sum': 'no option: v1 clients check the SHA-1 of each piece',
  '--no-creation-date': 'no option: a new torrent has no date without --date',
  '--no-creator': '--no-created-by',
  '--no-date': 'no option: a new torrent has no date without --date',
  '--nocreator': '--no-created-by',
  '--nodate': 'no option: a new torrent has no date without --date',
  '--out': '--output',
  '--outfile': '--output',
  '--output-dir': '--output with a folder',
  '--piece-count': '--target-pieces',
  '--piece-size': '--piece-length',
  '--piecesize': '--piece-length',
  '--profile': '--preset; to read a torrent, --strict or --compat',
  '--protocol': '--torrent-version',
  '--randomize-infohash': '--entropy',
  '--target-piece-count': '--target-pieces',
  '--url-list': '--webseed',
  '--workers': '--threads',
  '--xseed': '--entropy',
};

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
  for (const known of [name, kebab(name)]) if (Object.hasOwn(OPTIONS, known)) return OPTIONS[known];
  return undefined;
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
  const hint = isCommand ? Object.hasOwn(COMMANDS, word) && COMMANDS[word] : hintFor(word, args);
  if (!hint) return message;
  const start = isCommand ? 'metainfo ' : '';
  // The hint replaces a suggestion of commander, which only looks alike.
  return `${message.replace(/\n?\(Did you mean [^)]*\)/, '').trimEnd()}: use ${start}${hint}`;
}

/** Whether more than one word follows `--find`, up to the next option. */
function hasWordsAfterFind(args: readonly string[]): boolean {
  const start = args.indexOf('--find') + 1;
  return start > 0 && args.slice(start, start + 2).filter((word) => !word.startsWith('-')).length === 2;
}
