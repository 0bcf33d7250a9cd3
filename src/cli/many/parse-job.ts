/** Parses one job of `metainfo create --batch`: its options are those of the command line, without the two dashes. */
import { type Command, CommanderError } from 'commander';
import { shown } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { type OptionsFor, optionsFrom } from '../config/command-line.ts';
import { createOptions } from '../create/options.ts';
import { HintingCommand, hintFor } from '../options/hints.ts';
import { type CreateJob, jobOf } from './jobs-of-folders.ts';

/** Options that are about the command as a whole. */
const NOT_IN_JOBS = ['dry-run', 'quiet', 'json', 'verbose', 'magnet'];

/** Parses the JSON value of a job. It rejects with a {@link MetainfoError} for a value that is no job. */
export type ParseJob = (value: unknown) => Promise<CreateJob>;

/**
 * A parser of jobs.
 *
 * @param optionsFor Completes the options of a job with those of the command line and of the configuration.
 */
export function jobParser(optionsFor: OptionsFor): ParseJob {
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
    parse(command, Object.entries(rest).flatMap(wordsOf));
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

function wordsOf([key, value]: [string, unknown]): string[] {
  if (NOT_IN_JOBS.includes(key) || key.length < 2) throw invalidArgument(`${shown(key)} is no option of a job`);
  if (value === true) return [`--${key}`];
  if (value === false) return [`--no-${key}`];
  return [value].flat().map((one) => {
    if (typeof one === 'string' || typeof one === 'number') return `--${key}=${one}`;
    throw invalidArgument(`expected text, a number, true or false for ${key}, got ${shown(one)}`);
  });
}
