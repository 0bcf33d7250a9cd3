/** The options of `metainfo create`: their declarations and their types. */
import { type Command, Option } from 'commander';
import type { Finding } from '../../create/findings/findings.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import { type ContentOptions, contentOptions } from '../options/content.ts';
import { DESCRIPTION, type KeyValues, keyOptions, PEERS } from '../options/key-options.ts';
import * as values from '../options/option-values.ts';
import { type ProgressOptions, progressOption } from '../terminal/progress.ts';
import { collectCode, type FindingOptions, type RuledPlan } from './findings.ts';

/** The options that set fields of the torrent. */
export interface MetadataOptions extends KeyValues {
  set?: values.ExtraKey[];
  entropy?: boolean;
}

/** The options of a creation. */
export interface CreateOptions
  extends MetadataOptions,
    values.CacheOptions,
    ContentOptions,
    values.HashingOptions,
    FindingOptions,
    values.OutputOptions,
    values.PadNamesOptions,
    ProgressOptions {
  torrentVersion: TorrentVersion;
  normalize?: 'nfc';
  pieceLength: number | 'auto';
  pieceLengths?: values.LengthsBySize;
  maxPieceLength?: number;
  targetPieces?: number;
  maxTorrentSize?: number;
  readSize?: number;
  reuse?: string[];
  reuseVerify?: boolean;
  padding?: boolean;
  magnet?: boolean;
  linkFile?: string;
  dryRun?: boolean;
  checkWebseeds?: boolean;
  each?: boolean;
  batch?: string;
  jobs?: number;
  resume?: boolean;
  verbose?: boolean;
  preset?: string;
  /** Limits that only the rules of hosts have. */
  minPieceLength?: number;
  maxPathLength?: number;
  /** The findings for a plan that breaks the rules of its trackers' hosts, from the configuration file. */
  ruleFindings?: (plan: RuledPlan) => Finding[];
  /** The options that come from the configuration file, and their places there. They apply where they fit. */
  fromConfig?: ReadonlyMap<keyof CreateOptions, string>;
  /** The options whose patterns have chosen entries of `--each`, so they need not match anything in each torrent. */
  matched?: ReadonlySet<'exclude' | 'include'>;
}

/** The options that a configuration file cannot set, each with the reason. It can set a new option, unless that is listed here. */
export const COMMAND_LINE_ONLY: Readonly<Record<string, string>> = {
  'link-file': 'each torrent has its own link file',
  name: 'each torrent has its own name',
  force: 'replacing a file is decided each time',
  json: 'the caller of the command chooses the form of its output',
  progress: 'the caller of the command chooses the form of its output',
  'dry-run': 'use metainfo plan',
  announce: 'use tracker',
  preset: 'presets are chosen on the command line or by a job',
};

/** Pairs of options that set the same value: the command line, a preset or another table has one of them, which replaces the other. */
export const SAME_VALUE: readonly (readonly [keyof CreateOptions, keyof CreateOptions])[] = [
  ['pieceLengths', 'pieceLength'],
];

/** All torrent versions. */
export const VERSIONS: readonly TorrentVersion[] = ['v1', 'v2', 'hybrid'];

/** The options that `--help` shows without `--all`. */
export const COMMON: readonly string[] = [
  ...['output', 'force', 'dry-run', 'magnet', 'quiet', 'json', 'torrent-version', 'piece-length', 'max-piece-length'],
  ...['tracker', 'private', 'webseed', 'name', 'comment', 'source', 'date', 'exclude', 'include', 'cache', 'preset'],
];

/** Adds the options of {@link CreateOptions} to a command. */
export function createOptions(command: Command): Command {
  command
    .optionsGroup('Output:')
    .option(
      '-o, --output <file>',
      'the torrent file, a folder for it, or - for standard output; {name}, {tracker}, {version} and {preset} are filled in (default: NAME.torrent in the current folder)',
      values.parseOutput,
    )
    .option('--force', 'replace the output if it exists')
    .option('--dry-run', 'plan only: list every problem, and read and write nothing')
    .option('--magnet', 'also print the magnet link')
    .option('--link-file <file>', 'also write the magnet link to a file', values.parseFile)
    .option('-v, --verbose', 'name the files on disk that the torrent does not have');
  values
    .summaryOptions(command)
    .addOption(progressOption())
    .optionsGroup('Version and piece length:')
    .addOption(new Option('-k, --torrent-version <version>', 'torrent version').choices(VERSIONS).default('hybrid'))
    .addOption(
      new Option(
        '-l, --piece-length <size>',
        'a power of two such as 1MiB, its exponent from 14 to 31 (20 is 1MiB), or auto',
      )
        .argParser(values.parsePieceLength)
        .default('auto'),
    )
    .option('--max-piece-length <size>', 'the longest piece length to choose (20 is 1MiB)', values.parseMaxPieceLength)
    .option(
      '--piece-lengths <sizes>',
      'piece length by the size of the content: 1GiB=1MiB,8GiB=4MiB; above the last size, auto',
      values.parsePieceLengths,
    )
    .option('--target-pieces <n>', 'choose the piece length that gives about this number of pieces', values.parseCount)
    .option(
      '--max-torrent-size <size>',
      'choose a piece length that keeps the torrent file within this size',
      values.parsePositiveSize,
    )
    .option(
      '--padding',
      'add pad files to a v1 torrent, so that each file starts at a piece boundary; hybrids have them',
    )
    .addOption(values.padNamesOption());
  contentOptions(metadataOptions(command))
    .addOption(
      new Option('--normalize <form>', 'write all names in a Unicode form: macOS may give decomposed ones').choices([
        'nfc',
      ]),
    )
    .optionsGroup('Warnings and errors:')
    .option('--strict', 'fail for every warning, before anything is hashed')
    .option('--allow <code>', 'accept a finding in spite of --strict or a tracker rule (repeatable)', collectCode);
  values
    .hashingOptions(command)
    .option(
      '--read-size <size>',
      'bytes per read, a power of two (default: 1MiB for v2, else 128KiB)',
      values.parseSize,
    );
  values
    .cacheOptions(command)
    .option(
      '--reuse <path>',
      'take file hashes from a torrent, or a folder of torrents (repeatable)',
      values.collectTorrents,
    )
    .option('--reuse-verify', 'with --reuse: hash all files all the same, and compare')
    .optionsGroup('Configuration file:')
    .option('-P, --preset <name>', 'take the options of a preset of the configuration', values.parsePreset);
  for (const [name, other] of SAME_VALUE)
    command.options.find((option) => option.attributeName() === name)?.conflicts(other);
  return switchable(command);
}

/**
 * Adds the hidden opposite of each flag that a configuration can set, such as `--no-private` and `--hidden`, and one that clears each
 * value, such as `--no-source`: an empty list takes the place of the configuration's value.
 */
function switchable(command: Command): Command {
  const names = new Set(command.options.map(({ long }) => long));
  for (const { long = '', required, negate, defaultValue, hidden } of [...command.options]) {
    const other = negate ? long.replace('--no-', '--') : long.replace('--', '--no-');
    if (hidden || (required && defaultValue !== undefined) || names.has(other) || long.slice(2) in COMMAND_LINE_ONLY)
      continue;
    command.addOption(required ? new Option(other).preset([]).hideHelp() : new Option(other).hideHelp());
  }
  return command;
}

/** Adds the options for making many torrents. */
export function manyOptions(command: Command): Command {
  return command
    .optionsGroup('Many torrents:')
    .addOption(new Option('--each', 'make a torrent of every entry of the given folders').conflicts(['batch', 'name']))
    .option(
      '--batch <file>',
      'make the torrents of a list of jobs: JSON or NDJSON, - for standard input',
      values.parseFile,
    )
    .option(
      '--jobs <n>',
      'with --each or --batch: torrents that are made at once (default: 64, of which 4 above 64 MiB)',
      values.parseThreads,
    )
    .option('--resume', 'with --each or --batch: skip torrents that are up to date');
}

function metadataOptions(command: Command): Command {
  keyOptions(command.optionsGroup('Trackers and peers:'), 'create', PEERS);
  keyOptions(command.optionsGroup('Description:'), 'create', DESCRIPTION);
  return command
    .option(
      '--set <key=text>',
      'set any other key to this text, or KEY:=JSON to a number, list and so on; info.KEY changes the infohash (repeatable)',
      values.collectKey,
    )
    .option('--entropy', 'add a random key to info: another infohash for the same content');
}
