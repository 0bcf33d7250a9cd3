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

/** The arguments and options of a command with their descriptions. */
export function termsOf(command: Command, help: Help): [term: string, description: string][] {
  return [
    ...help
      .visibleArguments(command)
      .map((one): [string, string] => [help.argumentTerm(one), help.argumentDescription(one)]),
    ...help.visibleOptions(command).map((one): [string, string] => [help.optionTerm(one), help.optionDescription(one)]),
  ];
}

/** A command with all commands below it, without commander's `help`. */
export function commandsBelow({ command, title }: NamedCommand): NamedCommand[] {
  return command.commands.flatMap((below) => {
    const named = { command: below, title: `${title} ${below.name()}`.trim() };
    return [named, ...commandsBelow(named)];
  });
}
