#!/usr/bin/env node
import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { addCreate } from './commands/create.ts';
import { addKernels } from './commands/kernels.ts';
import { addShow } from './commands/show.ts';
import { addValidate } from './commands/validate.ts';
import { exitCodeOf, USAGE } from './exit.ts';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

function program(): Command {
  const command = new Command('metainfo')
    .description('Create, read and check BitTorrent metainfo files: v1, v2 and hybrid.')
    .version(version)
    .showHelpAfterError('(add --help for the options)')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C (143: by SIGTERM).')
    .exitOverride();
  addCreate(command);
  addShow(command);
  addValidate(command);
  addKernels(command);
  return command;
}

// A closed pipe (`metainfo show x | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

// A closed terminal or log takes no progress; the work goes on.
process.stderr.on('error', () => {});

program()
  .parseAsync()
  .catch((error: unknown) => {
    // Commander has said what it had to say; its help and version leave with 0.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE;
    else process.exitCode = exitCodeOf(error, process.argv.includes('--json'));
  });
