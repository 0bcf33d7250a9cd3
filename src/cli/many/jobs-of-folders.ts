/** The jobs of `metainfo create --each`, and what all lists of jobs have in common. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type FolderNames, isSystemFile, namesIn, strayKind } from '../../disk/entry-names.ts';
import { exists } from '../../disk/write-file.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { fromSystemError } from '../../errors/system-error.ts';
import { isTorrentFileName } from '../../layout/safe-path.ts';
import { withoutSecrets } from '../../text/urls.ts';
import { isUrl } from '../create/inputs.ts';
import type { CreateOptions } from '../create/options.ts';
import { targetFor } from '../create/prepare.ts';
import { countingFilter } from '../options/content.ts';
import { hasPlaceholders } from '../options/output-template.ts';
import { isStdout, makeFolder, makesFolder } from '../options/target.ts';
import { isStdin } from '../terminal/standard-input.ts';

/** One creation among many. */
export interface CreateJob {
  paths: string[];
  options: CreateOptions;
  /** The torrent file. */
  target: string;
}

/** An entry of a list or a folder that is no job. */
export interface BrokenJob {
  /** The number of the line, from 1; or the path of the entry. */
  place: { line: number } | { path: string };
  error: MetainfoError;
}

/** A job of a list, or what stands in its place. */
export type ListedJob = CreateJob | BrokenJob;

/**
 * A job for every entry of some folders. Hidden entries, system files and torrents are left out.
 *
 * The folder for the torrents is made. An entry whose name is not UTF-8 is a {@link BrokenJob}.
 *
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_NO_FILES`, `ERR_WRITE`, `ERR_INVALID_ARGUMENT` for two jobs with one output
 */
export async function jobsOfFolders(folders: readonly string[], given: CreateOptions): Promise<ListedJob[]> {
  const { output } = given;
  // Many torrents need a folder: an output that does not exist is one, too.
  const isFolderName = output === undefined || isStdout(output) || makesFolder(output);
  const options = isFolderName ? given : { ...given, output: `${output}/` };
  const jobs: CreateJob[] = [];
  const broken: BrokenJob[] = [];
  for (const folder of folders) {
    requireFolder(folder);
    const { names, errors } = await contentNames(folder, given);
    for (const { name, own } of await chosenEntries(folder, names, options))
      jobs.push(await jobOf([path.join(folder, name)], own));
    for (const error of errors) broken.push({ place: { path: error.path as string }, error });
  }
  if (jobs.length + broken.length === 0)
    throw new MetainfoError('ERR_NO_FILES', `There are no entries in ${folders.join(', ')}.`);
  requireDistinct(jobs);
  if (output !== undefined && !hasPlaceholders(output) && !given.dryRun) await makeFolder(output);
  return [...jobs, ...broken];
}

/**
 * The entries that the patterns choose: `--exclude` leaves out files and folders, `--include` files. Gives each with its options: patterns
 * do not apply to a single file again, and one that has chosen entries need not match anything in their folders.
 */
async function chosenEntries(folder: string, names: readonly string[], options: CreateOptions) {
  const { exclude, include, excludeFrom, ...ofFile } = options;
  if (!exclude && !include && !excludeFrom) return names.map((name) => ({ name, own: options }));
  const { filter, unmatched } = await countingFilter(options, folder, []);
  const entries: { name: string; isFile: boolean }[] = [];
  for (const name of names) {
    const isExcluded = filter.exclude?.(name) ?? false;
    const isFile = (await stat(path.join(folder, name)).catch(() => null))?.isFile() ?? false;
    const isIncluded = filter.include?.(name) ?? true;
    if (!isExcluded && (isIncluded || !isFile)) entries.push({ name, isFile });
  }
  const unused = new Set(unmatched().map(({ option }) => option));
  const matched = new Set((['exclude', 'include'] as const).filter((option) => !unused.has(`--${option}`)));
  const ofFolder = { ...options, matched };
  return entries.map(({ name, isFile }) => ({ name, own: isFile ? ofFile : ofFolder }));
}

/**
 * The names in a folder that are content, sorted: no hidden entries, system files or torrents.
 *
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_INVALID_ARGUMENT` for a file
 */
export async function contentNames(
  folder: string,
  { systemFiles = true }: Pick<CreateOptions, 'systemFiles'> = {},
): Promise<FolderNames> {
  const { names, errors } = await namesIn(folder).catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR' && (await exists(folder))) {
      const message = `${folder} is a file, not a folder: omit --each, or name the folder that contains it`;
      throw invalidArgument(message, { path: folder });
    }
    throw fromSystemError(error, folder, 'read');
  });
  const isStray = (name: string) => isSystemFile(name) || (!systemFiles && strayKind(name) !== null);
  const isContent = (name: string) => !name.startsWith('.') && !isStray(name) && !isTorrentFileName(name);
  return {
    names: names.filter(isContent).sort(),
    errors: errors.filter(({ path: shown = '' }) => isContent(path.basename(shown))),
  };
}

/** Refuses a URL or standard input where `--each` needs a folder. */
function requireFolder(folder: string): void {
  if (isUrl(folder))
    throw invalidArgument(
      `--each needs a folder, and ${folder} is a URL: omit --each, or list several URLs with --batch`,
    );
  if (isStdin(folder))
    throw invalidArgument('--each needs a folder, not standard input (-): use --batch - for a list of jobs');
}

/** A job from its paths and options. */
export async function jobOf(paths: string[], options: CreateOptions): Promise<CreateJob> {
  if (paths.some(isStdin)) throw invalidArgument('Standard input (-) cannot be the content of one job among many');
  const target = await targetFor(paths, options);
  if (!isStdout(target)) return { paths, options, target };
  throw invalidArgument('Standard output cannot take many torrents: use -o with a folder');
}

/** The first path of a job, or its place in the list. */
export function nameOfJob(job: ListedJob): string {
  if (!('error' in job)) return withoutSecrets(job.paths[0] as string, /$/);
  return 'line' in job.place ? `line ${job.place.line}` : job.place.path;
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for two jobs that write one file: a torrent, or a magnet link */
export function requireDistinct(jobs: Iterable<CreateJob>): void {
  const outputs = new Map<string, CreateJob>();
  for (const job of jobs)
    for (const file of [job.target, job.options.linkFile]) {
      if (file === undefined) continue;
      const output = path.resolve(file);
      const other = outputs.get(output);
      if (other && other !== job) {
        const message = `${other.paths[0]} and ${job.paths[0]} would both be written to ${file}: give them other outputs`;
        throw invalidArgument(message, { path: file });
      }
      outputs.set(output, job);
    }
}
