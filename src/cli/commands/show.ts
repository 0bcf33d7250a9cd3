/** `metainfo show`: prints the contents of a torrent file. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Torrent } from '../../model/torrent/torrent.ts';
import type { Terminal } from '../../print/print-file-tree.ts';
import { detailLines, fieldLines, type Verbosity } from '../../print/print-torrent.ts';
import { printable } from '../../text/printable.ts';
import { readingOptions } from '../config/load.ts';
import { forEachFile, readTorrent } from '../options/arguments.ts';
import { appended, type ProfileOptions } from '../options/option-values.ts';
import { eachOption, torrentsOf } from '../options/torrents-of.ts';
import { printableJson, stdout, writeLines } from '../terminal/output.ts';
import { nameOfInput } from '../terminal/standard-input.ts';

interface ShowOptions extends ProfileOptions {
  json?: boolean;
  verbose: Verbosity;
  field?: Field[];
}

/** The fields that `--field` prints, by the names of their keys in `--json`. */
const FIELDS = [
  ...['version', 'name', 'infohash-v1', 'infohash-v2', 'piece-length', 'pieces', 'files', 'total-size', 'trackers'],
  ...['webseeds', 'httpseeds', 'nodes', 'similar', 'collections', 'update-url', 'comment', 'created-by'],
  ...['creation-date', 'private', 'source', 'magnet'],
] as const;
type Field = (typeof FIELDS)[number];

const EXAMPLES = `
Examples:
  metainfo show album.torrent           version, infohashes, size, trackers
  metainfo show -vv album.torrent       also every file, and short hashes
  metainfo show --compat --json --each torrents     every torrent of a folder
  metainfo show --field infohash-v2 album.torrent   for scripts
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
    .option('--json', 'print one line per file, each a JSON object')
    .addOption(
      new Option('--field <name>', `print only this field, one value per line (repeatable): ${FIELDS.join(', ')}`)
        .argParser(collectField)
        .conflicts('json'),
    );
  readingOptions(eachOption(command)).addHelpText('after', EXAMPLES).action(show);
}

function more(_: string, before: number): number {
  return Math.min(before + 1, 3);
}

function collectField(name: string, before: Field[] = []): Field[] {
  if ((FIELDS as readonly string[]).includes(name)) return appended(before, name as Field);
  throw new InvalidArgumentError(`Expected one of ${FIELDS.join(', ')}.`);
}

/** The values of a field, a line each. A field that a torrent lacks has an empty line, an empty list none. */
function valuesOf(torrent: Torrent, field: Field): string[] {
  const { infohash, ...rest } = torrent.toJSON();
  const { v1 = null, v2 = null } = infohash;
  const magnet = field === 'magnet' ? torrent.magnet() : null;
  const all = { ...rest, infohashV1: v1, infohashV2: v2, magnet } as Record<string, unknown>;
  const value = all[field.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
  const textOf = (one: unknown) =>
    typeof one === 'object' && one !== null
      ? ((one as { path?: string }).path ?? JSON.stringify(one))
      : String(one ?? '');
  return [value].flat().map((one) => printable(textOf(one)));
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
    if (options.field) await writeLines(options.field.flatMap((field) => valuesOf(torrent, field)));
    else if (options.json) await writeLines([printableJson({ torrent: file, ...torrent.toJSON() })]);
    else {
      const heading = !isMany ? [] : [...(file === files[0] ? [] : ['']), printable(nameOfInput(file))];
      await writeLines(heading);
      await writeLines(fieldLines(torrent, options.verbose === 0));
      await writeLines(detailLines(torrent, options.verbose, await terminal(options.verbose)), stdout, { wrap: false });
    }
  });
}
