/** `metainfo verify`: checks files on disk against a torrent. */
import { type Command, Option } from 'commander';
import { printable, printableJson } from '../../layout/text.ts';
import type { Torrent } from '../../model/torrent.ts';
import { verify } from '../../verify/verify.ts';
import { contentPlace, readTorrent } from '../arguments.ts';
import { colorsFor } from '../colors.ts';
import { FAILED } from '../exit.ts';
import { interruptible } from '../interrupt.ts';
import { type HashingOptions, hashingOptions, type ProfileOptions, profileOptions } from '../options.ts';
import { showsProgress, stderr, stdout, writeLines } from '../output.ts';
import { reportLines } from '../verify-report.ts';

interface VerifyOptions extends ProfileOptions, HashingOptions {
  torrentVersion?: 'v1' | 'v2';
  fast?: boolean;
  quiet?: boolean;
  json?: boolean;
}

const EXAMPLES = `
Examples:
  metainfo verify album.torrent                    checks ./album
  metainfo verify album.torrent /srv/album
  metainfo verify film.torrent /srv/film.mkv --json

The parent folder of the torrent's folder is understood too.

--json prints { path, ok, files, badPieces, extraFiles, goodBytes,
totalSize, sampledPieces, bitfield }.

Exit codes: 0 all files are complete, 1 a file is missing or corrupt,
2 wrong usage.`;

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('check files against a torrent: report missing, corrupt or extra files')
    .argument('<file>', 'the torrent file, or - for standard input')
    .argument(
      '[path]',
      "the folder with its files, or its single file (default: the torrent's name in the current folder)",
    )
    .addOption(
      new Option('-k, --torrent-version <version>', 'check only the v1 or v2 hashes of a hybrid').choices(['v1', 'v2']),
    )
    .option('--fast', 'check file sizes and a sample of the pieces only');
  hashingOptions(command)
    .option('-q, --quiet', 'print no progress, and only incomplete files')
    .option('--json', 'print one JSON object');
  profileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, path: string | undefined, options: VerifyOptions) => {
      // Not interruptible: reading a pipe without a writer ends only with the process.
      const torrent = await readTorrent(file, options, path);
      const place = await contentPlace(torrent, path);
      if (place.note !== null && !options.quiet && !options.json) await writeLines([printable(place.note)], stderr);
      await interruptible((signal) => run(torrent, { path: place.path, options, signal }));
    });
}

interface Invocation {
  path: string;
  options: VerifyOptions;
  signal: AbortSignal;
}

async function run(torrent: Torrent, { path, options, signal }: Invocation): Promise<void> {
  const progress = showsProgress(options);
  const { torrentVersion, fast, memoryLimit } = options;
  const threads = options.threads ?? null;
  const report = await verify(torrent, path, { version: torrentVersion, fast, threads, memoryLimit, progress, signal });
  if (!report.ok) process.exitCode = FAILED;
  if (options.json)
    await writeLines([printableJson({ path, ...report, bitfield: Buffer.from(report.bitfield).toString('hex') })]);
  else await writeLines(reportLines(torrent.name, report, await colorsFor(stdout()), options.quiet));
}
