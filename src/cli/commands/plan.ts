/** `metainfo plan`: tells everything about a torrent that is known before its content is read. */
import type { Command } from 'commander';
import { configFileOptions, readCommandLine } from '../config/command-line.ts';
import { createOptions } from '../create/options.ts';
import { showPlan } from '../create/plan-report.ts';
import { interruptible } from '../interrupt.ts';

const EXAMPLES = `
Examples:
  metainfo plan album                         sizes, and every problem
  metainfo plan album -p -t udp://a:6969/x --strict
  metainfo plan album -k v1 --json

plan takes the options of create and does the same as create --dry-run: it lists
the files, reads none of them and writes nothing.

Exit codes: 0 the torrent can be created, 1 a finding is an error, 2 wrong
usage.`;

export function addPlan(program: Command): void {
  const command = program
    .command('plan')
    .description('show what create would make, and every problem, before anything is hashed')
    .argument('<path...>', 'a file or folder; the root of several paths is their common folder. Or one URL, or -');
  configFileOptions(createOptions(command))
    .addHelpText('after', EXAMPLES)
    .action((paths: string[]) =>
      interruptible(async (signal) => {
        const { optionsFor } = await readCommandLine(command);
        return showPlan(paths, optionsFor(paths), signal);
      }),
    );
}
