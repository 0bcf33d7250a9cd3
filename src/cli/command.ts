/** Runs the `metainfo` command with the arguments of the process, and sets the exit code. */
import { CommanderError } from 'commander';
import { printable } from '../text/printable.ts';
import { exitCodeOf, exitCodeOfUsage } from './exit.ts';
import { isCommand, program } from './program.ts';

// Warnings of Node stay hidden: they are for those who write programs. The library's own look like all others of the command.
process.removeAllListeners('warning');
process.on('warning', ({ name, message, code }: Error & { code?: string }) => {
  if (name === 'MetainfoWarning') process.stderr.write(`warning: ${printable(message)} [${code}]\n`);
});

const args = process.argv.slice(2);
const [name = '', topic = '', ...rest] = args;
// Commander answers `help creat` with the general help, and drops what follows the topic, as in `help create --all`.
const isHelpOf = name === 'help' && topic !== '' && !topic.startsWith('-');
const helpArgs = isCommand(topic) ? [topic, '--help', ...rest] : [topic];
program(name)
  .parseAsync(isHelpOf ? helpArgs : args, { from: 'user' })
  .catch(async (error: unknown) => {
    process.exitCode = error instanceof CommanderError ? exitCodeOfUsage(error) : await exitCodeOf(error);
  });
