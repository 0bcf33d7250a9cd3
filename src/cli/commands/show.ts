import type { Command } from 'commander';
import { printableJson } from '../../layout/text.ts';
import { formatTorrent, type Verbosity } from '../../model/pprint.ts';
import { readTorrent } from '../arguments.ts';
import { type ProfileOptions, profileOptions } from '../options.ts';
import { writeLines } from '../output.ts';

interface ShowOptions extends ProfileOptions {
  json?: boolean;
  verbose: Verbosity;
}

const EXAMPLES = `
Examples:
  metainfo show album.torrent             kind, infohashes, size, trackers
  metainfo show -vv album.torrent         every file and hash too, hashes cut
  metainfo show --compat --json old.torrent

Exit codes: 0 shown, 1 not valid (metainfo validate says all that is wrong)
or not there, 2 wrong usage.`;

export function addShow(program: Command): void {
  const command = program
    .command('show')
    .description('show what a torrent says')
    .argument('<file>', 'a torrent file')
    .option('-v, --verbose', 'the files too; -vv: and the start of the hashes; -vvv: and all of them', more, 0)
    .option('--json', 'one JSON object');
  profileOptions(command).addHelpText('after', EXAMPLES).action(show);
}

function more(_: string, before: number): number {
  return Math.min(before + 1, 3);
}

async function show(file: string, options: ShowOptions): Promise<void> {
  const torrent = await readTorrent(file, options);
  if (options.json) await writeLines([printableJson({ path: file, ...torrent.toJSON() })]);
  else await writeLines(formatTorrent(torrent, { verbose: options.verbose }));
}
