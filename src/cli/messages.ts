/** Rewords the library's messages for users of the command: library options become command-line options. */
import { type Issue, type MetainfoError, ValidationError } from '../errors/errors.ts';

/** Options of the library that its messages name, and the options of the command. */
const OPTIONS: Record<string, string> = {
  keepInfohash: '--keep-infohash',
  memoryLimit: '--memory-limit',
  readSize: '--read-size',
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
  name: '--name',
  pieceLength: '--piece-length',
  private: '--private',
  similar: '--similar',
  source: '--source',
  trackers: '--tracker',
  urlList: '--webseed',
};

/** Advice in library messages. Only its last occurrence is replaced: paths, which may contain the same text, come first. */
const ADVICE: readonly [library: RegExp, command: string][] = [
  [/limits: \{ (\w+)(?:: N)? \}(?!.*limits: \{)/s, '--limit $1=N'],
  [/force: true(?!.*force: true)/s, '--force'],
  [/padNames: 'unique'(?!.*padNames: )/s, '--pad-names unique'],
  [/`exclude`(?!.*`exclude`)/s, '--exclude'],
];

/** Shortens `(info.name, --name)`, which names an option of the library and one of the command, to `(--name)`. */
export function commandNames(message: string): string {
  return message.replace(/\([^()-]*?, (--[\w-]+),?/g, '($1');
}

/** The message of a warning during a creation. */
export function messageOfWarning({ message }: Pick<Issue, 'message'>): string {
  return withCommandAdvice(message);
}

/** The message of an error. */
export function messageOf(error: MetainfoError): string {
  if (error instanceof ValidationError && error.subject === 'draft') return commandNames(messageOfDraft(error.issues));
  const message = withCommandAdvice(error.message);
  // A path may contain the name of an option.
  if (error.path !== undefined) return commandNames(message);
  return commandNames(message.replace(OPTION_NAMES, (name) => OPTIONS[name] as string));
}

function withCommandAdvice(message: string): string {
  return ADVICE.reduce((text, [library, command]) => text.replace(library, command), message);
}

function messageOfDraft(issues: readonly Issue[]): string {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const lines = errors.map(({ path, message }) => {
    const field = path.find((key) => key !== 'info');
    return `${FIELD_OPTIONS[String(field)] ?? path.join('.')}: ${message}`;
  });
  return `${lines.join('; ')}.`;
}
