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

const [name = '', topic = ''] = process.argv.slice(2);
// Commander answers `help creat` with the general help.
const isUnknownTopic = name === 'help' && topic !== '' && !topic.startsWith('-') && !isCommand(topic);
program(name)
  .parseAsync(isUnknownTopic ? [topic] : process.argv.slice(2), { from: 'user' })
  .catch(async (error: unknown) => {
    process.exitCode = error instanceof CommanderError ? exitCodeOfUsage(error) : await exitCodeOf(error);
  });
