/** Decides where a command writes a torrent, and refuses outputs that would overwrite something else. */
import { access, constants, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { decode } from '../../bencode/decode.ts';
import { DEFAULT_LIMITS, NO_LIMITS } from '../../bencode/limits.ts';
import { readWithin } from '../../disk/read-file.ts';
import { exists, removeAbandoned, requireOutput } from '../../disk/write-file.ts';
import { invalidArgument } from '../../errors/guard.ts';
import { fromSystemError, throwSystemError } from '../../errors/system-error.ts';
import { infodictDiscriminator } from '../../model/discriminator.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { printable } from '../../text/printable.ts';
import { ofRun } from '../run.ts';
import { stderr, stdout, writeBytes } from '../terminal/output.ts';
import { isStdin } from '../terminal/standard-input.ts';
import { relativeTo } from './content.ts';
import { hasPlaceholders } from './output-template.ts';

/** The output name for standard output, as in other programs. `./-` is a file. */
const STDOUT = '-';

/** Whether the torrent goes to standard output. The summary then goes to standard error. */
export const isStdout = (target: string | undefined): boolean => target === STDOUT;

/** The absolute path of a target; undefined for standard output. */
export const fileOf = (target: string): string | undefined => (isStdout(target) ? undefined : path.resolve(target));

/** The stream for the summary. */
export const reportTo = (target: string | undefined): typeof stdout => (isStdout(target) ? stderr : stdout);

/** The name of a target in a summary. */
export const nameOfTarget = (target: string): string => (isStdout(target) ? 'standard output' : printable(target));

/**
 * The target of a changed torrent: the output file, a file in the output folder, standard output, or the file itself. A torrent
 * from standard input goes to standard output by default.
 *
 * @param count The number of torrents that the command changes.
 */
export async function targetOf(file: string, output: string | undefined, count = 1): Promise<string> {
  // Resolve a symlink, so that its target is replaced and the link stays.
  if (output === undefined) return isStdin(file) ? STDOUT : resolved(file);
  if (isStdout(output)) {
    if (count === 1) return output;
    throw invalidArgument(`Standard output takes one torrent, but there are ${count}: use -o with a folder`);
  }
  if (await isFolder(output)) {
    if (!isStdin(file)) return path.join(output, path.basename(file));
    const message = `A torrent from standard input has no file name: name the output file in ${output}`;
    throw invalidArgument(message, { path: output });
  }
  if (count === 1) return output;
  throw invalidArgument(`${output} must be a folder, because there are ${count} torrents`);
}

/** Whether an output ends with a slash, as only the path of a folder does. */
export function endsWithSlash(output: string, { sep } = path): boolean {
  return output.endsWith('/') || output.endsWith(sep);
}

/** Whether the folder of an output is made: a path that ends with a slash says so, and a template whose folder depends on the torrent. */
export const makesFolder = (output: string): boolean => endsWithSlash(output) || hasPlaceholders(output);

/** Whether an output is a folder: an existing one, or one by its trailing slash. */
export async function isFolder(output: string): Promise<boolean> {
  return endsWithSlash(output) || ((await stat(output).catch(() => null))?.isDirectory() ?? false);
}

/** Makes the folder of outputs, unless it exists. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fromSystemError(error, folder, 'write');
    const message = `${folder} is a file, not a folder: give another -o`;
    throw invalidArgument(message, { path: folder });
  });
}

/** The resolved folder of an output. Called before hashing, so that a missing folder fails at once. */
export async function realFolder(target: string): Promise<string> {
  return resolved(path.dirname(path.resolve(target)));
}

/** The path of an output whose folder has no links in its path; undefined for standard output. */
export async function realFile(target: string): Promise<string | undefined> {
  return isStdout(target) ? undefined : path.join(await realFolder(target), path.basename(target));
}

/**
 * Checks, before hashing, that the folder of an output exists and may be written.
 *
 * @returns Its real path.
 * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_WRITE`
 */
export async function requireWritableFolder(target: string): Promise<string> {
  const folder = await realFolder(target);
  await access(folder, constants.W_OK).catch(throwSystemError(target, 'write'));
  return folder;
}

async function resolved(file: string): Promise<string> {
  return realpath(file).catch(throwSystemError(file, 'write'));
}

/**
 * The output as a list of paths to leave out of the torrent. Empty if it is not within the path root, or exists and is not a torrent:
 * it may be content then, which must not be replaced.
 */
export async function outputToSkip(file: string | undefined, pathRoot: string): Promise<string[]> {
  if (file === undefined || (await relativeTo(pathRoot, file)) === null) return [];
  if (!(await exists(file))) return [file];
  try {
    const { value } = decode(await readWithin(file, DEFAULT_LIMITS.bytes), { tolerant: true, limits: NO_LIMITS });
    return value instanceof Map && infodictDiscriminator(value.get('info')) ? [file] : [];
  } catch {
    return [];
  }
}

/** The modification time of a torrent file. */
export async function mtimeOf(file: string): Promise<Date> {
  const { mtime } = await stat(file).catch(throwSystemError(file, 'read'));
  return mtime;
}

/** The real paths of the folders of outputs: a run with many outputs makes, resolves and checks each folder once. */
const outputFolders = ofRun(() => new Map<string, string>());

/** An output that can be written. */
export interface Output {
  /** Its path in a folder without links; undefined for standard output. */
  file: string | undefined;
  /** Whether it did not exist before, and is not replaced if it does later. */
  isNew: boolean;
}

/**
 * Checks, before hashing, that the folder of the target exists and may be written, and that nothing is replaced without `--force`. Makes
 * the folder if {@link makesFolder} says so.
 */
export async function requireWritable(
  target: string,
  { output, force, json }: { output?: string; force?: boolean; json?: boolean },
): Promise<Output> {
  if (isStdout(target)) {
    requireStdout(json);
    return { file: undefined, isNew: false };
  }
  const folders = outputFolders();
  const named = path.dirname(target);
  if (!folders.has(named)) {
    if (output !== undefined && makesFolder(output)) await makeFolder(named);
    folders.set(named, await requireWritableFolder(target));
  }
  const file = path.join(folders.get(named) as string, path.basename(target));
  if (output === undefined) return { file, isNew: false };
  const isThere = await requireOutput(target, { force });
  return { file, isNew: !isThere && !force };
}

function requireStdout(json: boolean | undefined): void {
  const problem = json
    ? '--json and -o - both write to standard output: use only one of them, or name a file with -o'
    : stdout().isTTY &&
      'a torrent is binary and cannot be shown in a terminal: redirect standard output, or name a file with -o';
  if (problem) throw invalidArgument(problem);
}

/** Folders without names that killed processes have left there: each is looked at once. */
const cleanedFolders = ofRun(() => new Set<string>());

/** Writes a torrent to its target. Only a process that replaces files can leave names behind. */
export async function writeTorrent(
  torrent: Torrent,
  target: string,
  options: { force: boolean; mtime: Date },
): Promise<void> {
  if (isStdout(target)) return writeBytes(torrent.bencode(), 'torrent');
  const folder = path.dirname(target);
  const cleaned = cleanedFolders();
  if (options.force && !cleaned.has(folder)) {
    cleaned.add(folder);
    await removeAbandoned(folder);
  }
  return torrent.write(target, options);
}
