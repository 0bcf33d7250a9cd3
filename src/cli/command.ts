/** Runs the `metainfo` command with the arguments of the process, and sets the exit code. */
import { CommanderError } from 'commander';
import { exitCodeOf, exitCodeOfUsage } from './exit.ts';
import { program } from './program.ts';

program(process.argv[2])
  .parseAsync()
  .catch(async (error: unknown) => {
    process.exitCode = error instanceof CommanderError ? exitCodeOfUsage(error) : await exitCodeOf(error);
  });
