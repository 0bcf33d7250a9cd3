import type { Command } from 'commander';
import { MetainfoError } from '../../errors/errors.ts';
import { printable, printableJson } from '../../layout/text.ts';
import { type Magnet, parseMagnet, peerText, selectText } from '../../magnet/magnet.ts';
import { readTorrent } from '../arguments.ts';
import { collect, type ProfileOptions, profileOptions } from '../options.ts';
import { writeLines } from '../output.ts';

interface MagnetOptions extends ProfileOptions {
  trackers: boolean;
  webseeds: boolean;
  v1: boolean;
  v2: boolean;
  select?: string[];
  json?: boolean;
}

const EXAMPLES = `
Examples:
  metainfo magnet album.torrent
  metainfo magnet album.torrent --no-v2 --json     for clients without v2
  metainfo magnet album.torrent --select notes     a part of the files
  metainfo magnet 'magnet:?xt=urn:btih:39fe2490c2f99dfc67e946a77a1b3242c1ff632e'

Exit codes: 0 done, 1 no valid torrent, 2 wrong usage or no valid link.`;

export function addMagnet(program: Command): void {
  const command = program
    .command('magnet')
    .description('the magnet link of a torrent file; or what a magnet link says')
    .argument('<file-or-link>', 'a torrent file, or a link (in quotes: it holds &)')
    .option('--no-trackers', 'a link without the trackers')
    .option('--no-webseeds', 'a link without the webseeds')
    .option('--no-v1', 'of a hybrid, a link without the v1 infohash')
    .option('--no-v2', 'of a hybrid, a link without the v2 infohash: some clients refuse links that have one')
    .option('--select <path>', 'only these files or folders are to be downloaded (repeatable)', collect)
    .option('--json', 'one JSON object');
  profileOptions(command).addHelpText('after', EXAMPLES).action(magnet);
}

async function magnet(input: string, options: MagnetOptions): Promise<void> {
  if (/^magnet:/i.test(input)) {
    const parsed = parseMagnet(input);
    await writeLines(options.json ? [printableJson(parsed)] : linesOf(parsed));
    return;
  }
  const torrent = await readTorrent(input, options);
  const { torrentVersion: version } = torrent;
  for (const one of ['v1', 'v2'] as const)
    if (!options[one] && (version === one || (!options.v1 && !options.v2)))
      throw new MetainfoError(
        'ERR_INVALID_ARGUMENT',
        `--no-${one} would leave no infohash: the torrent is ${version}.`,
      );
  const link = torrent.magnet({
    ...(options.v1 ? {} : { infohashV1: null }),
    ...(options.v2 ? {} : { infohashV2: null }),
    ...(options.select && { selectOnly: torrent.selectFiles(options.select.map(plainPath)) }),
    ...(options.trackers ? {} : { trackers: [] }),
    ...(options.webseeds ? {} : { webseeds: [] }),
  });
  await writeLines([options.json ? printableJson({ path: input, magnet: link }) : link]);
}

/** As the torrent has it, where a shell wrote `./notes/`. */
function plainPath(path: string): string {
  return path.replace(/^(\.\/+)+/, '').replace(/\/+$/, '');
}

function linesOf(link: Magnet): string[] {
  const rows: [string, string | null][] = [
    ['name', link.displayName],
    ['infohash v1', link.infohashV1],
    ['infohash v2', link.infohashV2],
    ['size', link.length === null ? null : `${link.length} bytes`],
    ...link.trackers.map((url): [string, string] => ['tracker', url]),
    ...link.webseeds.map((url): [string, string] => ['webseed', url]),
    ...link.acceptableSources.map((url): [string, string] => ['source', url]),
    ...link.exactSources.map((url): [string, string] => ['source', url]),
    ...link.peers.map((one): [string, string] => ['peer', peerText(one)]),
    ['files', link.selectOnly && selectText(link.selectOnly)],
    ...link.extra.map(([key, value]): [string, string] => [key, value]),
  ];
  return rows.flatMap(([key, value]) => (value === null ? [] : [`${printable(key).padEnd(12)} ${printable(value)}`]));
}
