/** `metainfo show`: prints the contents of a torrent file. */
import type { Command } from 'commander';
import type { Terminal } from '../../print/print-file-tree.ts';
import { detailLines, fieldLines, type Verbosity } from '../../print/print-torrent.ts';
import { printable } from '../../text/printable.ts';
import { readingOptions } from '../config/load.ts';
import { forEachFile, readTorrent } from '../options/arguments.ts';
import type { ProfileOptions } from '../options/option-values.ts';
import { eachOption, torrentsOf } from '../options/torrents-of.ts';
import { printableJson, stdout, writeLines } from '../terminal/output.ts';
import { nameOfInput } from '../terminal/standard-input.ts';

interface ShowOptions extends ProfileOptions {
  json?: boolean;
  verbose: Verbosity;
}

const EXAMPLES = `
Examples:
  metainfo show album.torrent           version, infohashes, size, trackers
  metainfo show -vv album.torrent       also every file, and short hashes
  metainfo show --compat --json --each torrents     every torrent of a folder
  metainfo show - < album.torrent

Trackers with the same number share a tier; without numbers, each has its own.

Exit codes: 0 success, 1 the torrent is invalid (metainfo validate reports every
problem) or cannot be read, 2 wrong usage.`;

export function addShow(program: Command): void {
  const command = program
    .command('show')
    .description('print the contents of a torrent')
    .argument('[file...]', 'torrent files, or - for standard input; with --each, folders of torrents')
    .option('-v, --verbose', 'list the files and unknown keys; -vv: also short hashes; -vvv: full hashes', more, 0)
    .option('--json', 'print one line per file, each a JSON object');
  readingOptions(eachOption(command)).addHelpText('after', EXAMPLES).action(show);
}

function more(_: string, before: number): number {
  return Math.min(before + 1, 3);
}

/** The terminal that the tree must fit; undefined for a pipe or a file, which get whole names. */
async function terminal(verbose: Verbosity): Promise<Terminal | undefined> {
  const { isTTY, columns } = stdout();
  if (verbose === 0 || !isTTY || !columns) return undefined;
  const { shorten } = await import('../terminal/shorten.ts');
  return { columns, shorten };
}

async function show(names: string[], options: ShowOptions): Promise<void> {
  const { files, isMany } = await torrentsOf(names, options);
  await forEachFile(files, async (file) => {
    const torrent = await readTorrent(file, options);
    if (options.json) await writeLines([printableJson({ torrent: file, ...torrent.toJSON() })]);
    else {
      const heading = !isMany ? [] : [...(file === files[0] ? [] : ['']), printable(nameOfInput(file))];
      await writeLines(heading);
      await writeLines(fieldLines(torrent, options.verbose === 0));
      await writeLines(detailLines(torrent, options.verbose, await terminal(options.verbose)), stdout, { wrap: false });
    }
  });
}
