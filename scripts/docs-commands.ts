// `npm run docs:commands`: writes docs/commands/*.md from the commands and their help. test/cli/reference.test.ts checks the pages.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Help } from 'commander';
import { program } from '../src/cli/program.ts';
import { commandsBelow, hasColumns, type NamedCommand, paragraphsBelow, sentence, termsOf } from './command-help.ts';

const FOLDER = new URL('../docs/commands/', import.meta.url);

/** Guides for each command: what the help has no room for. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  create: ['creating', 'many', 'sources', 'configuration'],
  plan: ['creating', 'parts'],
  'hash-part': ['parts'],
  join: ['parts'],
  show: ['reading'],
  validate: ['reading'],
  verify: ['verifying', 'many'],
  edit: ['editing'],
  update: ['updating'],
  upgrade: ['updating'],
  magnet: ['magnets'],
  worker: ['queues'],
  config: ['configuration'],
  cache: ['updating'],
};

const code = (text: string): string => `\`${text}\``;

/** Text in Markdown, outside code and of tables. */
const escaped = (text: string): string => text.replace(/[\\<>*_|[\]]/g, '\\$&');

const table = (rows: readonly (readonly [string, string])[]): string =>
  rows.map(([term, description]) => `| ${code(term)} | ${escaped(description)} |`).join('\n');

function paragraph(text: string, level: string): string {
  const [, title, rest = ''] = /^(\w[\w ]*):\n([\s\S]*)$/.exec(text) ?? [];
  const block = (lines: string) => `\`\`\`text\n${lines.replace(/^ {2}/gm, '')}\n\`\`\``;
  if (title !== undefined) return `${level} ${title}\n\n${block(rest)}`;
  return hasColumns(text) ? block(text) : escaped(text);
}

function section({ command, title }: NamedCommand, help: Help, level: string): string {
  const terms = termsOf(command, help);
  const isArgument = ([term]: readonly [string, string]) => !term.startsWith('-');
  const tableOf = (name: string, rows: readonly (readonly [string, string])[]) =>
    rows.length === 0 ? [] : [`| ${name} | meaning |\n| --- | --- |\n${table(rows)}`];
  return [
    `${level} metainfo ${title}`,
    sentence(escaped(command.description())),
    `\`\`\`sh\n${help.commandUsage(command)}\n\`\`\``,
    ...tableOf('argument', terms.filter(isArgument)),
    ...tableOf(
      'option',
      terms.filter((term) => !isArgument(term)),
    ),
    ...paragraphsBelow(command).map((text) => paragraph(text, `#${level}`)),
  ].join('\n\n');
}

/** The pages by their file names. */
export function commandPages(): Map<string, string> {
  const command = program();
  const help = command.createHelp();
  help.helpWidth = 80;
  const pages = new Map<string, string>();
  for (const one of commandsBelow({ command, title: '' })) {
    const [name = ''] = one.title.split(' ');
    const file = `${name}.md`;
    const before = pages.get(file);
    const guides = before === undefined ? (GUIDES[name] ?? []) : [];
    const more = guides.map((guide) => `[${guide}](../guides/${guide}.md)`).join(', ');
    const text = section(one, help, before === undefined ? '#' : '##') + (more && `\n\nGuides: ${more}.`);
    pages.set(file, before === undefined ? `${text}\n` : `${before}\n${text}\n`);
  }
  return pages;
}

if (process.argv[1]?.endsWith('docs-commands.ts')) {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [file, text] of commandPages()) writeFileSync(new URL(file, FOLDER), text);
}
