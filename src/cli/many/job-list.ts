/** Reads the jobs of `metainfo create --each` and `--batch`. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { isSystemFile } from '../../disk/entry-names.ts';
import { fromSystemError, MetainfoError, shown } from '../../errors/errors.ts';
import { optionsFrom } from '../config/command-line.ts';
import { type CreateOptions, createOptions } from '../create/options.ts';
import { targetFor } from '../create/run-create.ts';
import { type InputHint, readInput } from '../standard-input.ts';
import { isStdout } from '../target.ts';

/** One creation among many. */
export interface CreateJob {
  paths: string[];
  options: CreateOptions;
  /** The torrent file. */
  target: string;
}

/** The largest list of jobs in bytes. */
const MAX_BYTES = 64 * 2 ** 20;
const JOBS_INPUT: InputHint = { what: 'a list of jobs', example: 'cat jobs.json | metainfo create --batch -' };
/** The problems that a message lists. */
const MAX_LISTED = 10;

/**
 * A job for every entry of some folders. Hidden entries, system files and torrents are left out.
 *
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_NO_FILES`, `ERR_INVALID_ARGUMENT` for two jobs with one output
 */
export async function jobsOfFolders(folders: readonly string[], options: CreateOptions): Promise<CreateJob[]> {
  const jobs: CreateJob[] = [];
  for (const folder of folders) {
    const names = await readdir(folder).catch((error: unknown) => {
      throw fromSystemError(error, folder, 'read');
    });
    const chosen = names.filter((name) => !name.startsWith('.') && !isSystemFile(name) && !/\.torrent$/i.test(name));
    for (const name of chosen.sort()) jobs.push(await jobOf([path.join(folder, name)], options));
  }
  if (jobs.length === 0) throw new MetainfoError('ERR_NO_FILES', `There are no entries in ${folders.join(', ')}.`);
  requireDistinct(jobs);
  return jobs;
}

/**
 * The jobs of a file: a JSON array, or one JSON object a line. All of them are checked.
 *
 * @param optionsFor Completes the options of a job with those of the command line and of the configuration.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` with every problem; the error of reading the file
 */
export async function jobsOfFile(
  file: string,
  optionsFor: (paths: readonly string[], own: Partial<CreateOptions>) => CreateOptions,
): Promise<CreateJob[]> {
  const text = Buffer.from(await readInput(file, MAX_BYTES, JOBS_INPUT)).toString();
  const jobs: CreateJob[] = [];
  const problems: string[] = [];
  for (const { place, read } of valuesOf(text.replace(/^\ufeff/, ''))) {
    try {
      const { paths, own } = parseJob(read());
      jobs.push(await jobOf(paths, optionsFor(paths, own)));
    } catch (error) {
      if (!(error instanceof MetainfoError || error instanceof CommanderError || error instanceof SyntaxError))
        throw error;
      problems.push(
        `${place}: ${error.message
          .replace(/^error: /, '')
          .replace(/\.?\n\(/, ' (')
          .replace(/\.$/, '')}`,
      );
    }
  }
  if (jobs.length + problems.length === 0) problems.push('there is no job');
  if (problems.length > 0) {
    const more = problems.length > MAX_LISTED ? `; and ${problems.length - MAX_LISTED} more` : '';
    const list = `${problems.slice(0, MAX_LISTED).join('; ')}${more}`;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `The list of jobs in ${file} is not valid: ${list}.`, {
      path: file,
    });
  }
  requireDistinct(jobs);
  return jobs;
}

async function jobOf(paths: string[], options: CreateOptions): Promise<CreateJob> {
  const target = await targetFor(paths, options);
  if (!isStdout(target)) return { paths, options, target };
  throw new MetainfoError('ERR_INVALID_ARGUMENT', 'Standard output cannot take many torrents: use -o with a folder.');
}

function requireDistinct(jobs: readonly CreateJob[]): void {
  const targets = new Map<string, CreateJob>();
  for (const job of jobs) {
    const target = path.resolve(job.target);
    const other = targets.get(target);
    if (other) {
      const message = `${other.paths[0]} and ${job.paths[0]} would both be written to ${job.target}: give them other outputs.`;
      throw new MetainfoError('ERR_INVALID_ARGUMENT', message, { path: job.target });
    }
    targets.set(target, job);
  }
}

interface ListedValue {
  /** Where it is in the file. */
  place: string;
  /** @throws {SyntaxError} */
  read: () => unknown;
}

function valuesOf(text: string): ListedValue[] {
  if (text.trimStart().startsWith('[')) {
    let list: unknown;
    try {
      list = JSON.parse(text);
    } catch (error) {
      return [
        {
          place: 'the array',
          read: () => {
            throw error;
          },
        },
      ];
    }
    return (list as unknown[]).map((value, index) => ({ place: `job ${index}`, read: () => value }));
  }
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), place: `line ${index + 1}` }));
  return lines.flatMap(({ line, place }) => (line === '' ? [] : [{ place, read: () => JSON.parse(line) as unknown }]));
}

/** Options that are about the command as a whole. */
const NOT_IN_JOBS = ['dry-run', 'quiet', 'json', 'verbose', 'magnet'];

/**
 * Parses one job: its options are those of the command line, without the two dashes.
 *
 * @throws {CommanderError} for an option that does not exist or has a wrong value
 */
function parseJob(value: unknown): { paths: string[]; own: Partial<CreateOptions> } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `expected an object, got ${shown(value)}`);
  const { path: single, paths = single, ...rest } = value as Record<string, unknown>;
  const list = [paths].flat();
  if (list.length === 0 || list.some((entry) => typeof entry !== 'string' || entry === ''))
    throw new MetainfoError('ERR_INVALID_ARGUMENT', 'expected `path`, or `paths` with at least one path');
  const command = createOptions(new Command('job').exitOverride().configureOutput({ writeErr: () => {} }));
  command.parse(Object.entries(rest).flatMap(wordsOf), { from: 'user' });
  return { paths: list as string[], own: optionsFrom(command, 'cli') };
}

function wordsOf([key, value]: [string, unknown]): string[] {
  if (NOT_IN_JOBS.includes(key) || key.length < 2)
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `${shown(key)} is no option of a job`);
  if (value === true) return [`--${key}`];
  if (value === false) return [`--no-${key}`];
  return [value].flat().map((one) => {
    if (typeof one === 'string' || typeof one === 'number') return `--${key}=${one}`;
    throw new MetainfoError(
      'ERR_INVALID_ARGUMENT',
      `expected text, a number, true or false for ${key}, got ${shown(one)}`,
    );
  });
}
