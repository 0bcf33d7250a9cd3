/** Reads the jobs of `metainfo create --batch`: a JSON array, or NDJSON without an end. */
import { type Command, CommanderError } from 'commander';
import { untilAbort } from '../../errors/cancel.ts';
import { MetainfoError, shown } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { joinFirst } from '../../text/printable.ts';
import { tiersOf } from '../config/config-options.ts';
import { yqAdvice } from '../config/parse.ts';
import { type OptionsFor, optionsFrom } from '../config/resolve-options.ts';
import { createOptions } from '../create/options.ts';
import { HintingCommand, hintFor } from '../options/hints.ts';
import { inputChunks, nameOfInput } from '../terminal/standard-input.ts';
import { type CreateJob, jobOf, type ListedJob, requireDistinct } from './jobs-of-folders.ts';
import { type JsonRecord, jsonRecords } from './json-records.ts';
import type { Jobs } from './run-many.ts';

const HINT = { what: 'a list of jobs', example: 'cat jobs.json | metainfo create --batch -' };
/** The largest array, and the longest line, in bytes. */
const LIMITS = { array: 64 * 2 ** 20, line: 2 ** 20 };
/** The problems that a message lists. */
const MAX_LISTED = 10;
/** How a list begins that is YAML, as other programs read. */
const YAML = /^(?:---|%YAML|#|- |[\w-]+:(?:\s|$))/;

/**
 * The jobs of a list. An array is checked as a whole before this returns. Of lines, each job is read when it is about to start, and
 * may be a `BrokenJob`.
 *
 * @param optionsFor Completes the options of a job with those of the command line and of the configuration.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` with every problem of an array; `ERR_LIMIT`; the error of reading the file
 */
export async function jobsOfFile(file: string, optionsFor: OptionsFor, signal: AbortSignal): Promise<Jobs<ListedJob>> {
  const parse = jobParser(optionsFor);
  const records = jsonRecords(inputChunks(file, HINT, signal), LIMITS);
  const { value: first, done } = await untilAbort(signal, records.next());
  if (done) throw invalidList(file, ['there is no job']);
  if (YAML.test(first.text ?? '') && !first.isArray) throw invalidList(file, [`it is YAML: ${yqAdvice('JSON')}`]);
  if (first.isArray) return jobsOfArray(first, file, parse);
  async function* jobs() {
    yield await jobOfLine(first, parse);
    for await (const record of records) yield await jobOfLine(record, parse);
  }
  return jobs();
}

async function jobOfLine({ line, text }: JsonRecord, parse: ParseJob): Promise<ListedJob> {
  try {
    if (text === null) throw tooLong('the line', LIMITS.line);
    return await parse(parsedJson(text));
  } catch (error) {
    if (error instanceof MetainfoError) return { place: { line }, error };
    throw error;
  }
}

async function jobsOfArray({ text }: JsonRecord, file: string, parse: ParseJob): Promise<CreateJob[]> {
  if (text === null) throw tooLong(`The array in ${nameOfInput(file)}`, LIMITS.array, '; write one job a line instead');
  const jobs: CreateJob[] = [];
  const problems: string[] = [];
  const attempt = async (place: string, action: () => Promise<unknown>) => {
    await action().catch((error: unknown) => {
      if (!(error instanceof MetainfoError)) throw error;
      problems.push(`${place}: ${error.message}`);
    });
  };
  let values: unknown[] = [];
  await attempt('the array', async () => {
    values = parsedJson(text) as unknown[];
  });
  for (const [index, value] of values.entries())
    await attempt(`job ${index}`, async () => jobs.push(await parse(value)));
  if (jobs.length + problems.length === 0) problems.push('there is no job');
  if (problems.length > 0) throw invalidList(file, problems);
  requireDistinct(jobs);
  return jobs;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidArgument((error as SyntaxError).message);
  }
}

function invalidList(file: string, problems: readonly string[]): MetainfoError {
  const message = `The list of jobs in ${nameOfInput(file)} is not valid: ${joinFirst(problems, MAX_LISTED)}`;
  return invalidArgument(message, { path: file });
}

function tooLong(what: string, most: number, advice = ''): MetainfoError {
  return new MetainfoError('ERR_LIMIT', `${what} has more than ${most / 2 ** 20} MiB${advice}.`);
}

/** Options that are about the command as a whole. */
const NOT_IN_JOBS = ['dry-run', 'quiet', 'json', 'verbose', 'magnet'];

/** Parses the JSON value of a job. It rejects with a {@link MetainfoError} for a value that is no job. */
type ParseJob = (value: unknown) => Promise<CreateJob>;

/** A parser of jobs. @param optionsFor As in {@link jobsOfFile}. */
function jobParser(optionsFor: OptionsFor): ParseJob {
  // One command for all jobs: declaring its options takes longer than parsing those of a job.
  const command = createOptions(
    new HintingCommand('job')
      .helpOption(false)
      .exitOverride()
      .configureOutput({ writeErr: () => {} }),
  );
  return async (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalidArgument(`expected an object, got ${shown(value)}`);
    const { path: single, paths = single, ...rest } = value as Record<string, unknown>;
    if (single !== undefined && paths !== single) throw invalidArgument('expected `path` or `paths`, not both');
    const list = [paths].flat();
    if (list.length === 0 || list.some((entry) => typeof entry !== 'string' || entry === ''))
      throw invalidArgument('expected `path`, or `paths` with at least one path');
    parse(
      command,
      Object.entries(rest).flatMap((entry) => wordsOf(entry, command)),
    );
    return jobOf(list as string[], optionsFor(list as string[], optionsFrom(command, 'cli')));
  };
}

/** Commander's message for a key that is no option, and its suggestion. */
const UNKNOWN_KEY = /^error: unknown option '--([^'=]+).*?(?:Did you mean (?:one of )?([^?]+)|$)/s;

function unknownKey(key: string, similar: string | undefined): string {
  const meant = (similar ?? hintFor(`--${key}`))?.replaceAll(/--([\w-]+)/g, '"$1"');
  const hint = meant?.startsWith('none') ? meant : meant && `did you mean ${meant}?`;
  return `unknown key ${shown(key)}${hint ? `: ${hint}` : ''}`;
}

function parse(command: Command, words: string[]): void {
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const [, key, similar] = UNKNOWN_KEY.exec(error.message) ?? [];
    if (key !== undefined && command.options.some(({ long }) => long === `--${key}`))
      throw invalidArgument(`expected true or false for ${key}`);
    if (key !== undefined) throw invalidArgument(unknownKey(key, similar));
    throw invalidArgument(error.message.replace(/^error: |\.$/g, '').replace(/\.?\n\(/, ' ('));
  }
}

function wordsOf([key, value]: [string, unknown], { options }: Command): string[] {
  if (NOT_IN_JOBS.includes(key) || key.length < 2) throw invalidArgument(`${shown(key)} is no option of a job`);
  const isKnown = options.some(({ long }) => long === `--${key}`);
  if (value === true || !isKnown) return [`--${key}`];
  // Clears the value of the command line or the configuration.
  const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (value === false || (isEmpty && options.some(({ long }) => long === `--no-${key}`))) return [`--no-${key}`];
  const values = key === 'tracker' ? (tiersOf(value) ?? [value]) : [value].flat();
  return values.map((one) => {
    if (typeof one === 'string' || typeof one === 'number') return `--${key}=${one}`;
    throw invalidArgument(`expected text, a number, true or false for ${key}, got ${shown(one)}`);
  });
}
