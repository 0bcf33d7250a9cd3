/** The options of `metainfo create`: their declarations and their types. */
import { type Command, Option } from 'commander';
import type { TorrentVersion } from '../../model/discriminator.ts';
import { type GlobOptions, globOptions } from '../globs.ts';
import {
  type CacheOptions,
  cacheOptions,
  collect,
  collectTier,
  type HashingOptions,
  hashingOptions,
  type OutputOptions,
  type PadNamesOptions,
  padNamesOption,
  parseDate,
  parsePieceLength,
  parseSize,
  type SummaryOptions,
  summaryOptions,
} from '../options.ts';

/** The options that set fields of the torrent. */
export interface MetadataOptions {
  tracker?: string[][];
  webseed?: string[];
  comment?: string;
  source?: string;
  private?: boolean;
  name?: string;
  similar?: string[];
  collection?: string[];
  createdBy?: string | boolean;
  date?: Date;
}

/** The options of a creation. */
export interface CreateOptions
  extends MetadataOptions,
    CacheOptions,
    GlobOptions,
    HashingOptions,
    OutputOptions,
    PadNamesOptions,
    SummaryOptions {
  maker: 'metainfo' | 'libtorrent';
  torrentVersion: TorrentVersion;
  /** The value of `--kind`, which stands for `--torrent-version`. */
  kind?: TorrentVersion;
  pieceLength: number | 'auto';
  readSize?: number;
}

const VERSIONS: readonly TorrentVersion[] = ['v1', 'v2', 'hybrid'];

/** Adds the options of {@link CreateOptions} to a command. */
export function createOptions(command: Command): Command {
  command
    .option(
      '-o, --output <file>',
      'the torrent file, a folder for it, or - for standard output (default: NAME.torrent in the current folder)',
    )
    .addOption(new Option('-k, --torrent-version <version>', 'torrent version').choices(VERSIONS).default('hybrid'))
    .addOption(new Option('--kind <version>').choices(VERSIONS).conflicts('torrentVersion').hideHelp())
    .addOption(
      new Option('--piece-length <size>', 'a power of two such as 1MiB, or auto')
        .argParser(parsePieceLength)
        .default('auto'),
    )
    .addOption(padNamesOption());
  metadataOptions(command).addOption(
    new Option('--maker <maker>', 'code that creates the torrent; libtorrent needs `npm run build:libtorrent`')
      .choices(['metainfo', 'libtorrent'])
      .default('metainfo'),
  );
  hashingOptions(command).option(
    '--read-size <size>',
    'bytes per read, a power of two (default: 1MiB for v2, else 128KiB)',
    parseSize,
  );
  cacheOptions(globOptions(command)).option('--force', 'replace the output if it exists');
  return summaryOptions(command);
}

function metadataOptions(command: Command): Command {
  return command
    .option(
      '-t, --tracker <url>',
      'tracker URL; repeat it for more tiers, or list the URLs of one tier with commas',
      collectTier,
    )
    .option('-w, --webseed <url>', 'webseed URL (repeatable)', collect)
    .option('--comment <text>', 'comment')
    .option('--source <text>', 'source tag (changes the infohash)')
    .option('--private', 'get peers from the trackers only')
    .option('--name <name>', 'name of the torrent (default: that of the file or folder)')
    .option('--similar <infohash>', 'a torrent that may share files with this one (repeatable)', collect)
    .option('--collection <name>', 'a collection that the torrent belongs to (repeatable)', collect)
    .option('--created-by <text>', 'creating program (default: metainfo and its version)')
    .option('--no-created-by', 'omit the creating program')
    .option(
      '--date <date>',
      'creation date: now, seconds since 1970 or ISO 8601 (default: SOURCE_DATE_EPOCH, else none)',
      parseDate,
    );
}
