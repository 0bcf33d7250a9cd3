/** Rewords the library's messages for users of the command: library options become command-line options. */
import type { Finding } from '../create/findings.ts';
import { type Issue, type MetainfoError, ValidationError } from '../errors/errors.ts';

/** Options of the library that its messages name, and the options of the command. */
const OPTIONS: Record<string, string> = {
  keepInfohash: '--keep-infohash',
  maxPieceLength: '--max-piece-length',
  maxTorrentSize: '--max-torrent-size',
  memoryLimit: '--memory-limit',
  readSize: '--read-size',
  targetPieces: '--target-pieces',
  threads: '--threads',
};
const OPTION_NAMES = new RegExp(`\\b(${Object.keys(OPTIONS).join('|')})\\b`, 'g');

/** The options that set the fields of a draft. */
const FIELD_OPTIONS: Record<string, string> = {
  announce: '--tracker',
  announceList: '--tracker',
  collections: '--collection',
  comment: '--comment',
  createdBy: '--created-by',
  creationDate: '--date',
  httpseeds: '--httpseed',
  name: '--name',
  pieceLength: '--piece-length',
  private: '--private',
  similar: '--similar',
  nodes: '--node',
  source: '--source',
  trackers: '--tracker',
  updateUrl: '--update-url',
  urlList: '--webseed',
};

/** Advice in library messages. Advice comes last, so a path before it can contain the same text. */
const LIMITS = /limits: \{ (\w+)(?:: N)? \}(?!.*limits: \{)/s;
const FORCE = /force: true(?!.*force: true)/s;
const PAD_NAMES = /padNames: 'unique'(?!.*padNames: )/s;
const EXCLUDE = /`exclude`\.$/;

/** The field of the draft that holds the paths of a command line. */
const TWICE = / is listed twice in `paths`(?=[.;])/g;

/** A wish about the piece length that needs the sizes of all files. A path before it can contain the same text. */
const SIZE_WISH = /\b(?:targetPieces|maxTorrentSize)(?= needs the size of all files\.$)/;

/** The start of a refusal of a key that `--set` or `--unset` put into `extra` or `infoExtra`. */
const EXTRA = /^(?:extra|infoExtra) cannot hold /;

/** Shortens `(info.name, --name)`, which names an option of the library and one of the command, to `(--name)`. */
export function commandNames(message: string): string {
  return message.replace(/\([^()-]*?, (--[\w-]+),?/g, '($1');
}

/** Two piece lengths, or a piece length and a wish, that contradict each other. */
const LENGTHS = /\b(pieceLength|maxPieceLength|targetPieces|maxTorrentSize)\b/g;

function withLengthOptions(message: string): string {
  return message.replace(LENGTHS, (name) => OPTIONS[name] ?? FIELD_OPTIONS[name] ?? name);
}

/** The message of a finding during a creation. */
export function messageOfWarning({ code, message }: Pick<Finding, 'code' | 'message'>): string {
  if (code === 'ERR_PIECE_LENGTH') return withLengthOptions(message);
  if (code === 'ERR_OUTPUT_EXISTS') return message.replace(FORCE, '--force');
  if (code === 'ERR_DUPLICATE_PATH') return message.replace(TWICE, ' is given twice');
  return message.replace(LIMITS, '--limit $1=N').replace(PAD_NAMES, '--pad-names unique');
}

/** Library words in advice, and the options of the command. */
const ADVICE_OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bskip everything that is unreadable\b/, 'pass --skip-unreadable'],
  [/\bskip all links\b/, 'pass --symlinks skip'],
  [/\b[Ff]ollow links to the outside\b/, 'Pass --symlinks follow --follow-outside'],
  [/\bfollow, skip or store links\b/, 'pass --symlinks follow, skip or store'],
  [/\ba piece length of (\d+) ([KMG]iB)\b/, '--piece-length $1$2'],
  [/\b([Mm]ake a (v1|v2) torrent)\b/, '$1 (-k $2)'],
  [PAD_NAMES, '--pad-names unique'],
  [/\bexclude it\b/, 'pass --exclude'],
  [/\b(leave (?:it|the link) out)\b/, '$1 (--exclude)'],
];

/** The advice of a finding. */
export function commandAdvice(advice: string): string {
  return ADVICE_OPTIONS.reduce((text, [words, option]) => text.replace(words, option), advice);
}

/** The message of an error. */
export function messageOf(error: MetainfoError): string {
  return commandNames(withCommandOptions(error));
}

function withCommandOptions(error: MetainfoError): string {
  if (error instanceof ValidationError && error.subject === 'draft') return messageOfDraft(error.issues);
  const { code, message, path } = error;
  if (code === 'ERR_OUTPUT_EXISTS') return message.replace(FORCE, '--force');
  if (code === 'ERR_DUPLICATE_PATH') return message.replace(TWICE, ' is given twice');
  if (code === 'ERR_PIECE_LENGTH') return withLengthOptions(message);
  if (code === 'ERR_SIZE_UNKNOWN') return message.replace(SIZE_WISH, (name) => OPTIONS[name] as string);
  if (code === 'ERR_LIMIT') return message.replace(LIMITS, '--limit $1=N');
  if (EXTRA.test(message))
    return message
      .replace(EXTRA, '--set and --unset cannot change ')
      .replace(/: set the field \w+\.$/, ': use the option for it.');
  if (EXCLUDE.test(message)) return message.replace(EXCLUDE, '--exclude.');
  // A path can contain the name of an option. An option of the command is never null.
  return path === undefined
    ? message.replace(OPTION_NAMES, (name) => OPTIONS[name] as string).replace(/ or null, not /, ', not ')
    : message;
}

function messageOfDraft(issues: readonly Issue[]): string {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const lines = errors.map(({ path, message }) => {
    const field = path.find((key) => key !== 'info');
    return `${FIELD_OPTIONS[String(field)] ?? path.join('.')}: ${message}`;
  });
  return `${lines.join('; ')}.`;
}
