/** Runs the `metainfo` command with the arguments of the process, and sets the exit code. */
import { CommanderError } from 'commander';
import { exitCodeOf, exitCodeOfUsage } from './exit.ts';
import { isCommand, program } from './program.ts';

// Warnings of Node are for those who write programs. Every problem of the command has a message of its own.
process.removeAllListeners('warning');

const [name = '', topic = ''] = process.argv.slice(2);
// Commander answers `help creat` with the general help.
const isUnknownTopic = name === 'help' && topic !== '' && !topic.startsWith('-') && !isCommand(topic);
program(name)
  .parseAsync(isUnknownTopic ? [topic] : process.argv.slice(2), { from: 'user' })
  .catch(async (error: unknown) => {
    process.exitCode = error instanceof CommanderError ? exitCodeOfUsage(error) : await exitCodeOf(error);
  });
