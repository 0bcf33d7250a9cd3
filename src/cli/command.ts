import { Command, CommanderError } from 'commander';
import { VERSION } from '../create/torrent-create.ts';
import { addCache } from './commands/cache.ts';
import { addCompletion } from './commands/completion.ts';
import { addCreate } from './commands/create.ts';
import { addEdit } from './commands/edit.ts';
import { addKernels } from './commands/kernels.ts';
import { addMagnet } from './commands/magnet.ts';
import { addShow } from './commands/show.ts';
import { addUpdate } from './commands/update.ts';
import { addUpgrade } from './commands/upgrade.ts';
import { addValidate } from './commands/validate.ts';
import { addVerify } from './commands/verify.ts';
import { exitCodeOf, USAGE } from './exit.ts';
import { stderr, stdout } from './output.ts';

function program(): Command {
  const command = new Command('metainfo')
    .description('Create, read and check BitTorrent metainfo files: v1, v2 and hybrid.')
    .version(VERSION)
    .showHelpAfterError('(add --help for the options)')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C (143: by SIGTERM).')
    .configureOutput({ writeOut: (text) => stdout().write(text), writeErr: (text) => stderr().write(text) })
    .exitOverride();
  addCreate(command);
  addShow(command);
  addValidate(command);
  addVerify(command);
  addEdit(command);
  addUpdate(command);
  addUpgrade(command);
  addMagnet(command);
  addCache(command);
  addKernels(command);
  addCompletion(command);
  return command;
}

program()
  .parseAsync()
  .catch(async (error: unknown) => {
    // Commander has said what it had to say; its help and version leave with 0.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE;
    else process.exitCode = await exitCodeOf(error, process.argv.includes('--json'));
  });
