/** Shortens the `--help` of a command to the options that most people need. `--help --all` shows the others. */
import { type Command, Option } from 'commander';
import { USAGE } from '../run.ts';

/** The parts of a help that has too many lines as a whole. */
export interface HelpParts {
  /** The long names of the options to show, without dashes. Other options, and new ones, are shown only with `--all`. */
  common: readonly string[];
  examples: string;
  /** The text below the examples, with `--all`. */
  more: string;
}

/** Shortens the help of a command. The man page, the reference and the completion go on to have all options. */
export function shortHelp(command: Command, { common, examples, more }: HelpParts): Command {
  const isWhole = () => command.opts()['all'] === true;
  const others = () => command.options.filter(({ hidden, long = '' }) => !hidden && !common.includes(long.slice(2)));
  const whole = command.helpInformation.bind(command);
  command.helpInformation = (context) => {
    const left = isWhole() ? [] : others();
    for (const option of left) option.hidden = true;
    const text = whole(context);
    for (const option of left) option.hidden = false;
    return text;
  };
  return command
    .addOption(new Option('--all').hideHelp())
    .hook('preAction', () => {
      if (isWhole()) command.error('error: --all belongs to --help: omit it, or add --help', { exitCode: USAGE });
    })
    .addHelpText('after', () => `${examples}\n${isWhole() ? more : pointer(command, others())}`);
}

/** The end of a short help: how to see the other options, and the names of groups that it leaves out. */
function pointer(command: Command, others: readonly Option[]): string {
  const shown = command.options.filter((option) => !option.hidden && !others.includes(option)).map(groupOf);
  const groups = [...new Set(others.map(groupOf))].filter((group) => !shown.includes(group));
  const also = groups.length === 0 ? '' : `\n(also ${groups.join(', ')})`;
  return `\n${others.length} more options: metainfo ${command.name()} --help --all${also}`;
}

const groupOf = ({ helpGroupHeading = '' }: Option) => helpGroupHeading.replace(/:$/, '');
