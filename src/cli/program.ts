import { Command } from 'commander';
import { VERSION } from '../create/torrent-create.ts';
import { printable } from '../layout/text.ts';
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
import { wantsJson } from './exit.ts';
import { stderr, stdout } from './output.ts';

const HELP = `
Examples:
  metainfo create album                  album.torrent, a hybrid
  metainfo show album.torrent
  metainfo verify album.torrent album    each command's --help has more

Environment:
  METAINFO_ENGINE     what hashes: native, or node, which needs no native code
                      (default: native, where it loads)
  METAINFO_KERNEL     the kernel to begin with: metainfo kernels lists them
  SOURCE_DATE_EPOCH   the creation date of torrents that are given none,
                      in seconds since 1970
  NO_COLOR            no colours

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C
(143: by SIGTERM).`;

/** The command with all that it can do, not yet run. */
export function program(): Command {
  const command = new Command('metainfo')
    .description('Create, read and check BitTorrent metainfo files: v1, v2 and hybrid.')
    .version(VERSION)
    .showHelpAfterError('(add --help for the options)')
    .addHelpText('after', HELP)
    .configureOutput({
      writeOut: (text) => stdout().write(text),
      // With --json an error is one object on standard output, and nothing else.
      writeErr: (text) => {
        if (!wantsJson()) stderr().write(text);
      },
      // It names what it was given, which a glob may have found; a line that it adds stays one.
      outputError: (text, write) => {
        const lines = text.trimEnd().split(/\n(?=\(Did you mean )/);
        write(`${lines.map(printable).join('\n')}\n`);
      },
    })
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
