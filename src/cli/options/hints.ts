/** Hints for commands and options that other torrent programs have under other names. */

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

/** Options of other programs: mkbrr, imdl, torf, torrenttools, mktorrent, transmission-create and create-torrent. */
const OPTIONS: Readonly<Record<string, string>> = {
  '--announce-list': '--tracker',
  '--announce-tier': '--tracker',
  '--announce-url': '--tracker',
  '--creator': '--created-by',
  '--dht-node': '--node',
  '--http-seed': '--webseed',
  '--input': 'the path alone',
  '--link': '--magnet',
  '--md5': 'no option: v1 clients check the SHA-1 of each piece',
  '--md5sum': 'no option: v1 clients check the SHA-1 of each piece',
  '--no-creation-date': 'no option: a new torrent has no date without --date',
  '--nodate': 'no option: a new torrent has no date without --date',
  '--out': '--output',
  '--outfile': '--output',
  '--piece-size': '--piece-length',
  '--piecesize': '--piece-length',
  '--protocol': '--torrent-version',
  '--randomize-infohash': '--entropy',
  '--url-list': '--webseed',
  '--web-seed': '--webseed',
  '--webseeds': '--webseed',
  '--xseed': '--entropy',
};

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
  const hints = type === 'command' ? COMMANDS : OPTIONS;
  if (type === undefined || !Object.hasOwn(hints, word)) return message;
  const start = type === 'command' ? 'metainfo ' : '';
  // The hint replaces a suggestion of commander, which only looks alike.
  return `${message.replace(/\n?\(Did you mean [^)]*\)/, '').trimEnd()}: use ${start}${hints[word]}`;
}

/** Whether more than one word follows `--find`, up to the next option. */
function hasWordsAfterFind(args: readonly string[]): boolean {
  const start = args.indexOf('--find') + 1;
  return start > 0 && args.slice(start, start + 2).filter((word) => !word.startsWith('-')).length === 2;
}
