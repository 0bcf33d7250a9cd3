// Writes docs/errors.md from the tables of codes in the source: `node --import tsx scripts/docs-errors.ts`.
// test/docs.test.ts holds the file against them.
import { writeFileSync } from 'node:fs';
import { BENCODE_CODES } from '../src/bencode/decode.ts';
import { ERROR_CODES, ISSUE_CODES } from '../src/errors/codes.ts';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const code = (name: string) => `\`${name}\``;

/** The whole page. */
export function errorsPage(): string {
  const errors = Object.entries(ERROR_CODES).map(([name, summary]) => [code(name), summary]);
  const issues = Object.entries(ISSUE_CODES).map(([name, issue]) => {
    const { summary, spec = '' } = issue as { summary: string; spec?: string };
    return [code(name), summary, spec];
  });
  const bencodeCodes = Object.entries(BENCODE_CODES).map(([name, summary]) => [code(name), summary]);
  return `# Errors

Generated from the source by \`npm run docs:errors\`. Codes are stable; messages are for people and may change.

## MetainfoError

Everything that this library throws on purpose is a \`MetainfoError\`: \`code\`, \`message\` (what happened, to what, what to do)
and, where there is one, the \`path\` of the file and the \`cause\`.

${table(['code', 'meaning'], errors)}

## Issues of a ValidationError

\`issues\` lists every failure, errors first: \`{ code, severity, path, message, spec?, offset? }\`. \`path\` is keys and indexes from
the top of the torrent (or the fields of a draft), \`offset\` the byte where the value begins. An \`error\` makes a torrent
invalid, a \`warning\` does not: \`torrent.warnings\` has those of a valid one. At most 1,000 of each severity are listed; what is more is counted
by \`too_many_issues\`. How strict each profile is: [validation](validation.md).

${table(['code', 'meaning', 'document'], issues)}

## Faults of a BencodeError

Bytes that are not bencode cannot be checked further: \`ERR_BENCODE\`, with the \`bencodeCode\` and its \`offset\` in bytes.

${table(['code', 'meaning'], bencodeCodes)}
`;
}

if (process.argv[1]?.endsWith('docs-errors.ts')) {
  writeFileSync(new URL('../docs/errors.md', import.meta.url), errorsPage());
}
