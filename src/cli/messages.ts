// What the command says of an error: options go by the names that they have on the command line.
import { type Issue, type MetainfoError, ValidationError } from '../errors/errors.ts';

/** Options of the library, as its messages name them. */
const OPTIONS: Record<string, string> = {
  keepInfohash: '--keep-infohash',
  memoryLimit: '--memory-limit',
  readSize: '--read-size',
  threads: '--threads',
};
const NAMED = new RegExp(`\\b(${Object.keys(OPTIONS).join('|')})\\b`, 'g');

/** The options that give the fields of a draft. */
const FIELDS: Record<string, string> = {
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

/** Where a message names an option of the library and of the command, as in `(info.name, --name)`, only the latter. */
export function ownNames(message: string): string {
  return message.replace(/\([^()-]*?, (--[\w-]+),?/g, '($1');
}

/** How the message of a scan ends. */
const EXCLUDE = ' use `exclude`.';

/** The message of a warning at a creation, for somebody who uses the command. */
export function messageOfWarning({ message }: Pick<Issue, 'message'>): string {
  return message.replace(/limits: \{ (\w+): N \}/, '--limit $1=N').replace("padNames: 'unique'", '--pad-names unique');
}

/** The message of an error for somebody who uses the command. */
export function messageOf(error: MetainfoError): string {
  return ownNames(ownMessage(error));
}

function ownMessage(error: MetainfoError): string {
  if (error instanceof ValidationError && error.subject === 'draft') return messageOfDraft(error.issues);
  const { code, message, path } = error;
  if (code === 'ERR_OUTPUT_EXISTS') return message.replace(/\(force: true\)\.$/, 'with --force.');
  if (code === 'ERR_LIMIT') return message.replace(/limits: \{ (\w+) \}(?= if you trust)/, '--limit $1=N');
  if (message.endsWith(EXCLUDE)) return message.replace(/`exclude`\.$/, '--exclude.');
  // A path may have these words in it.
  return path === undefined ? message.replace(NAMED, (name) => OPTIONS[name] as string) : message;
}

function messageOfDraft(issues: readonly Issue[]): string {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const lines = errors.map(({ path, message }) => {
    const field = path.find((key) => key !== 'info');
    return `${FIELDS[String(field)] ?? path.join('.')}: ${message}`;
  });
  return `Not valid: ${lines.join('; ')}.`;
}
