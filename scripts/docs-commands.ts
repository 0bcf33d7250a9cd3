// `npm run generate` writes docs/commands/*.md, which the site shows, from the commands and their help.
import { readFileSync } from 'node:fs';
import type { Help } from 'commander';
import { program } from '../src/cli/program.ts';
import {
  argumentsOf,
  commandsBelow,
  hasColumns,
  type NamedCommand,
  optionGroupsOf,
  paragraphsBelow,
  sentence,
  type Term,
} from './command-help.ts';

const command = await program();

/** Guides for each command: what the help has no room for. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  create: ['creating', 'many', 'sources', 'configuration'],
  plan: ['creating', 'parts'],
  'hash-part': ['parts'],
  join: ['parts'],
  show: ['reading', 'many'],
  validate: ['reading', 'many'],
  verify: ['verifying', 'many'],
  diff: ['reading'],
  edit: ['editing', 'many'],
  update: ['updating'],
  upgrade: ['updating'],
  magnet: ['magnets'],
  worker: ['queues'],
  config: ['configuration'],
  cache: ['updating'],
};

/** A link to a guide with its title. */
function linkTo(guide: string): string {
  const text = readFileSync(new URL(`../docs/guides/${guide}.md`, import.meta.url), 'utf8');
  return `[${/^# (.+)$/m.exec(text)?.[1]}](../guides/${guide}.md)`;
}

const code = (text: string): string => `\`${text}\``;

/** Text in Markdown, outside code and of tables. */
const escaped = (text: string): string => text.replace(/[\\<>*_|[\]]/g, '\\$&');

const table = (name: string, terms: readonly Term[]): string =>
  [
    `| ${name} | meaning |\n| --- | --- |`,
    ...terms.map(([term, description]) => `| ${code(term)} | ${escaped(description)} |`),
  ].join('\n');

function paragraph(text: string, level: string): string {
  const [, title, rest = ''] = /^(\w[\w ]*):\n([\s\S]*)$/.exec(text) ?? [];
  const block = (lines: string) => `\`\`\`text\n${lines.replace(/^ {2}/gm, '')}\n\`\`\``;
  if (title !== undefined) return `${level} ${title}\n\n${block(rest)}`;
  return hasColumns(text) ? block(text) : escaped(text);
}

function section({ command, title }: NamedCommand, help: Help, level: string): string {
  const taken = argumentsOf(command, help);
  const groups = optionGroupsOf(command, help);
  const heading = (title: string) => (groups.length > 1 ? `#${level} ${title}\n\n` : '');
  return [
    `${level} metainfo ${title}`,
    sentence(escaped(command.description())),
    `\`\`\`sh\n${help.commandUsage(command)}\n\`\`\``,
    ...(taken.length > 0 ? [table('argument', taken)] : []),
    ...groups.map(({ title: group, options }) => heading(group) + table('option', options)),
    ...paragraphsBelow(command).map((text) => paragraph(text, `#${level}`)),
  ].join('\n\n');
}

/** The pages by their file names. */
export function commandPages(): Map<string, string> {
  const help = command.createHelp();
  help.helpWidth = 80;
  const pages = new Map<string, string>();
  for (const one of commandsBelow({ command, title: '' })) {
    const [name = ''] = one.title.split(' ');
    const file = `${name}.md`;
    const before = pages.get(file);
    const guides = before === undefined ? (GUIDES[name] ?? []) : [];
    const more = guides.map(linkTo).join(' · ');
    const text = section(one, help, before === undefined ? '#' : '##') + (more && `\n\nGuides: ${more}`);
    const end = '\n<!-- `npm run generate` writes this page from src/cli/commands. -->\n';
    pages.set(file, `${before === undefined ? '' : before.replace(end, '\n')}${text}\n${end}`);
  }
  return pages;
}
