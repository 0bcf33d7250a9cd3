import { CommanderError } from 'commander';
import { exitCodeOf, USAGE } from './exit.ts';
import { program } from './program.ts';

program()
  .parseAsync()
  .catch(async (error: unknown) => {
    // Commander has said what it had to say; its help and version leave with 0.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE;
    else process.exitCode = await exitCodeOf(error, process.argv.includes('--json'));
  });
