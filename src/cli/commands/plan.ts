/** `metainfo plan`: tells everything about a torrent that is known before its content is read. */
import { type Command, Option } from 'commander';
import { invalidArgument } from '../../errors/guard.ts';
import { configFileOptions } from '../config/load.ts';
import { readCommandLine } from '../config/resolve-options.ts';
import { COMMON, createOptions } from '../create/options.ts';
import { showPlan } from '../create/plan-report.ts';
import { interruptible } from '../exit.ts';
import { parseCount, parsePartSize } from '../options/option-values.ts';
import { shortHelp } from '../options/short-help.ts';

const EXAMPLES = `
Examples:
  metainfo plan album                         sizes, and every problem
  metainfo plan album -p -t udp://a:6969/x --strict
  metainfo plan album -k v1 --json
  metainfo plan album -w https://host/ --check-webseeds
  metainfo plan /data/set -o plan.json --part-size 16GiB
  metainfo plan /data/set --part-size auto --workers 40`;

const MORE = `
plan takes the options of create and does the same as create --dry-run: it lists
the files, reads none of them and writes nothing. Only --check-webseeds asks
servers.

With --part-size it also writes the plan as JSON (default: NAME.plan.json).
metainfo hash-part hashes its parts, on any machine that can read the files,
and metainfo join makes the torrent.

Exit codes: 0 the torrent can be created, 1 a finding is an error, 2 wrong
usage.`;

/** The options of plans for other machines. */
interface PartOptions {
  partSize?: number | 'auto';
  workers?: number;
}

export function addPlan(program: Command): void {
  const command = program
    .command('plan')
    .description('show what create would make, and every problem, before anything is hashed')
    .argument('<path...>', 'a file or folder; the root of several paths is their common folder. Or one URL, or -');
  createOptions(command);
  const output = command.options.find(({ long }) => long === '--output');
  if (output) output.description = 'the torrent file that create would write; with --part-size, the plan';
  configFileOptions(command)
    .optionsGroup('Many torrents:')
    .addOption(
      new Option('--each', 'plan a torrent for every entry of the given folders').conflicts(['partSize', 'name']),
    )
    .optionsGroup('Webseeds:')
    .option('--check-webseeds', 'ask each webseed for the size of every file, and for a range of it')
    .optionsGroup('Other machines:')
    .option(
      '--part-size <size>',
      'write the plan to the output, in parts of this much content; auto suits the content',
      parsePartSize,
    )
    .option('--workers <n>', 'with --part-size auto: about how many workers hash at once (default: 256)', parseCount)
    .optionsGroup('Output:')
    .helpOption('-h, --help', 'display help for command');
  shortHelp(command, {
    common: [...COMMON, 'each', 'check-webseeds', 'part-size'],
    examples: EXAMPLES,
    more: MORE,
  }).action(async (paths: string[], { partSize, workers }: PartOptions) => {
    // Not interruptible: a configuration file can be a pipe without a writer.
    const optionsFor = await readCommandLine(command);
    await interruptible(async (signal) => {
      const options = optionsFor(paths);
      if (workers !== undefined && partSize !== 'auto')
        throw invalidArgument('--workers chooses the part size: give --part-size auto, or omit --workers');
      if (partSize !== undefined && options.reuse && !options.fromConfig?.has('reuse'))
        throw invalidArgument('--reuse does not work with --part-size: omit one of them');
      if (partSize !== undefined && options.checkWebseeds)
        throw invalidArgument('--check-webseeds does not work with --part-size: omit one of them');
      if (options.each) {
        const { createMany } = await import('../many/create-many.ts');
        return createMany(paths, (...given) => ({ ...optionsFor(...given), dryRun: true }), signal);
      }
      if (partSize === undefined) return showPlan(paths, options, signal);
      const { planInParts } = await import('../parts/plan-in-parts.ts');
      // The output of a configuration is for torrents.
      if (options.fromConfig?.has('output')) delete options.output;
      return planInParts(paths, { ...options, partSize, workers }, signal);
    });
  });
}
