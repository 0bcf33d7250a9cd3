/** The help of the commands as data: the source of the man page and of the command reference. */
import type { Command, Help } from 'commander';

/** A command, and its name with those of the commands above it. */
export interface NamedCommand {
  command: Command;
  title: string;
}

/** The text that a command adds below its options. */
export function textBelow(command: Command): string {
  let text = '';
  // As with --help --all.
  command.setOptionValue('all', true);
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text.slice(command.helpInformation().length).trim();
}

/** Its paragraphs. */
export const paragraphsBelow = (command: Command): string[] =>
  textBelow(command)
    .split(/\n{2,}/)
    .filter(Boolean);

/** Whether a paragraph has columns or is indented, so that its lines must stay as they are. */
export const hasColumns = (paragraph: string): boolean =>
  paragraph.split('\n').some((line) => /^ |\S {2,}\S/.test(line));

/** A description as a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** An argument or option, and its description. */
export type Term = readonly [term: string, description: string];

/** The arguments of a command. */
export const argumentsOf = (command: Command, help: Help): Term[] =>
  help.visibleArguments(command).map((one) => [help.argumentTerm(one), help.argumentDescription(one)]);

/** Options under a heading of `--help`. */
export interface OptionGroup {
  title: string;
  options: Term[];
}

/** The options of a command by their groups in `--help`. */
export function optionGroupsOf(command: Command, help: Help): OptionGroup[] {
  const visible = help.visibleOptions(command);
  const groups = help.groupItems([...visible], visible, ({ helpGroupHeading = 'Options:' }) => helpGroupHeading);
  return [...groups].map(([heading, options]) => ({
    title: heading.replace(/:$/, ''),
    options: options.map((one) => [help.optionTerm(one), help.optionDescription(one)]),
  }));
}

/** A command with all commands below it, without commander's `help`. */
export function commandsBelow({ command, title }: NamedCommand): NamedCommand[] {
  return command.commands.flatMap((below) => {
    const named = { command: below, title: `${title} ${below.name()}`.trim() };
    return [named, ...commandsBelow(named)];
  });
}
