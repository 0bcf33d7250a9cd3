// `npm run generate` writes docs/errors.md from the tables of codes in the source. test/docs.test.ts checks the page.
import { BENCODE_CODES } from '../src/bencode/bencode-error.ts';
import { CATEGORIES } from '../src/errors/category.ts';
import { ERROR_CODES, ISSUE_CODES, type MetainfoErrorCode } from '../src/errors/codes.ts';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const code = (name: string) => `\`${name}\``;

/** Returns the text of docs/errors.md. */
export function errorsPage(): string {
  const errors = Object.entries(ERROR_CODES).map(([name, summary]) => [
    code(name),
    summary,
    CATEGORIES[name as MetainfoErrorCode],
  ]);
  const issues = Object.entries(ISSUE_CODES).map(([name, issue]) => {
    const { summary, spec = '' } = issue as { summary: string; spec?: string };
    return [code(name), summary, spec];
  });
  const bencodeCodes = Object.entries(BENCODE_CODES).map(([name, summary]) => [code(name), summary]);
  return `# Error codes

Each error and each issue has a code that says what happened. Codes are stable, so compare codes in your program. Messages may change: show them,
but do not parse them. [Handling errors](guides/errors.md) shows how to catch errors. A *draft* is a TorrentCreate, and its *path root* is the folder
or file that the torrent is made of.

- [Codes of a MetainfoError](#codes-of-a-metainfoerror): a failed operation
- [Issues of a ValidationError](#issues-of-a-validationerror): the problems of an invalid torrent
- [Codes of a BencodeError](#codes-of-a-bencodeerror): bytes that are not bencode

<!-- \`npm run generate\` writes this page from the source. -->

## Codes of a MetainfoError

Every error that this library reports is a \`MetainfoError\`. Its \`message\` says what happened, to what, and what to do
next. Its \`path\` names the file and its \`cause\` is the underlying error, if there is one. \`errorCategory(error)\` gives the category, which says who
can do something about the error: [HTTP codes](guides/servers.md#errors-and-http-codes) explains the categories.

- A \`ValidationError\` about a draft, an edit, a hasher or a magnet link is \`input\`, and so is a file name that is too long for the system.
- \`ERR_SOURCE\` has the category of its cause, if that has one. Without a cause, it is \`input\`.

${table(['code', 'meaning', 'category'], errors)}

## Issues of a ValidationError

\`issues\` lists every issue, errors before warnings: \`{ code, severity, path, message, spec?, offset? }\`. \`path\` has the keys and list
indexes from the top of the torrent (or the fields of a draft). \`offset\` is the byte where the value begins. An \`error\` makes a
torrent invalid; a \`warning\` does not: \`torrent.warnings\` lists the warnings of a valid torrent. At most 1,000 issues of each severity
are listed, and \`too_many_issues\` counts the rest. [Validation](validation.md) describes how strict each profile is.

${table(['code', 'meaning', 'specification'], issues)}

## Codes of a BencodeError

Bytes that are not bencode cannot be validated any further. The error is \`ERR_BENCODE\`, with \`bencodeCode\` and the \`offset\` in bytes.

${table(['code', 'meaning'], bencodeCodes)}
`;
}
