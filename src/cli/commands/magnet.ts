/** `metainfo magnet`: prints the magnet link of a torrent, or decodes a magnet link. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { HEAD } from '../../bencode/other-format.ts';
import { magnetFindings } from '../../create/findings/tracker-findings.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { type Magnet, parseMagnet, peerText, selectText } from '../../magnet/magnet.ts';
import { printable } from '../../text/printable.ts';
import { readingOptions } from '../config/load.ts';
import { forEachFile, readStdin, readTorrent, torrentFromStdin } from '../options/arguments.ts';
import { collect, contextOf, type ProfileOptions } from '../options/option-values.ts';
import { warningsOf, writeResult } from '../terminal/output.ts';
import { isStdin } from '../terminal/standard-input.ts';

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
  metainfo magnet *.torrent
  metainfo magnet album.torrent --no-v2 --json     for v1-only clients
  metainfo magnet album.torrent --select notes     download only these files
  metainfo magnet 'magnet:?xt=urn:btih:39fe2490c2f99dfc67e946a77a1b3242c1ff632e'
  metainfo magnet 39fe2490c2f99dfc67e946a77a1b3242c1ff632e
  metainfo magnet - < links.txt                    one link per line

A link needs only its infohash: other invalid parameters are left out, with a
warning. --strict refuses them.
Exit codes: 0 success, 1 the torrent is invalid or cannot be read, 2 wrong usage
or an invalid link.`;

export function addMagnet(program: Command): void {
  const command = program
    .command('magnet')
    .description('print the magnet links of torrents and infohashes, or decode magnet links')
    .argument(
      '<file-or-link...>',
      'torrent files, magnet links in quotes, infohashes, or - for these on standard input',
    )
    .option('--no-trackers', 'omit the trackers')
    .option('--no-webseeds', 'omit the webseeds')
    .option('--no-v1', 'omit the v1 infohash of a hybrid')
    .option('--no-v2', 'omit the v2 infohash of a hybrid, which some clients refuse')
    .option('--select <path>', 'a file or folder to download, instead of everything (repeatable)', collect)
    .option('--json', 'print one line per argument, each a JSON object');
  readingOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((inputs: string[], options: MagnetOptions) => forEachFile(inputs, (input) => printLink(input, options)));
}

const HASH = /^(?:[\da-f]{40}|[\da-f]{64})$/i;
/** The start of a magnet link, or an infohash on a line of its own. */
const LINK = /^\s*(?:magnet:|(?:[\da-f]{40}|[\da-f]{64})\s*(?:\n|$))/i;

async function printLink(input: string, options: MagnetOptions): Promise<void> {
  const bytes = isStdin(input) ? await readStdin(options) : null;
  const isFile = !bytes && HASH.test(input) && existsSync(input);
  if (!isFile && LINK.test(bytes ? Buffer.from(bytes.subarray(0, HEAD)).toString() : input)) {
    const text = bytes ? Buffer.from(bytes).toString() : input;
    const links = text.split('\n').filter((line) => line.trim() !== '');
    return forEachFile(links, (link) => printDecoded(link.trim(), options));
  }
  const torrent = bytes ? torrentFromStdin(bytes, options) : await readTorrent(input, options);
  const { torrentVersion: version } = torrent;
  for (const omitted of ['v1', 'v2'] as const)
    if (!options[omitted] && (version === omitted || (!options.v1 && !options.v2))) {
      const message = `--no-${omitted} would leave the link without an infohash, because the torrent is ${version}`;
      throw invalidArgument(message);
    }
  const link = torrent.magnet({
    ...(options.v1 ? {} : { infohashV1: null }),
    ...(options.v2 ? {} : { infohashV2: null }),
    ...(options.select && { selectOnly: torrent.selectFiles(options.select.map(plainPath)) }),
    ...(options.trackers ? {} : { trackers: [] }),
    ...(options.webseeds ? {} : { webseeds: [] }),
  });
  const { list: warnings, onWarning } = warningsOf(options);
  for (const finding of magnetFindings(torrent.info.private)) await onWarning(finding);
  await writeResult(options, { torrent: input, magnet: link, ...(warnings.length > 0 && { warnings }) }, [link]);
}

async function printDecoded(link: string, options: MagnetOptions): Promise<void> {
  if (HASH.test(link)) {
    const magnet = `magnet:?xt=urn:${link.length === 40 ? 'btih:' : 'btmh:1220'}${link.toLowerCase()}`;
    const infohash = {
      v1: link.length === 40 ? link.toLowerCase() : null,
      v2: link.length === 64 ? link.toLowerCase() : null,
    };
    return writeResult(options, { infohash, magnet }, [magnet]);
  }
  const { profile = 'default' } = contextOf(options);
  const parsed = parseMagnet(link, { context: { profile } });
  await writeResult(options, parsed, linesOf(parsed));
}

/** The path as it is in the torrent: shells complete `notes` to `./notes/`. */
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
    ...link.peers.map((peer): [string, string] => ['peer', peerText(peer)]),
    ['files', link.selectOnly && selectText(link.selectOnly)],
    ...link.extra.map(([key, value]): [string, string] => [key, value]),
    ...link.warnings.map(({ path, message }): [string, string] => ['warning', `${path.join('.')}: ${message}`]),
  ];
  return rows.flatMap(([key, value]) => (value === null ? [] : [`${printable(key).padEnd(12)} ${printable(value)}`]));
}
