/** Writes resume data after a verification (`--resume-data`), and refuses it beforehand where it cannot be written. */
import { unlink } from 'node:fs/promises';
import nodePath from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_LIMITS } from '../../bencode/limits.ts';
import { requireNoInput } from '../../disk/output-not-input.ts';
import { readWithin } from '../../disk/read-file.ts';
import { exists, requireOutput, writeWhole } from '../../disk/write-file.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { invalidArgument } from '../../errors/guard.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { printable } from '../../text/printable.ts';
import type { VerifyReport } from '../../verify/report.ts';
import { type ResumeClient, resumePlaceOf } from '../../verify/resume/place.ts';
import { isSavePath, resumeData } from '../../verify/resume/resume-data.ts';
import { isFolder, isStdout, realFolder } from '../options/target.ts';
import { USAGE } from '../run.ts';

/** The options of resume data. */
export interface ResumeOptions {
  resumeData?: ResumeClient;
  savePath?: string;
  output?: string;
  force?: boolean;
}

/** Adds the options of resume data to a command. */
export function resumeOptions(command: Command): void {
  command
    .optionsGroup('Resume data for clients:')
    .addOption(
      new Option('--resume-data <client>', 'write resume data, so that the client need not check again')
        .choices(['qbittorrent', 'libtorrent', 'rtorrent'])
        .conflicts(['fast', 'torrentVersion']),
    )
    .option('-o, --output <path>', 'with --resume-data: the folder for it, or its file (default: the current folder)')
    .option(
      '--save-path <folder>',
      'with --resume-data: the folder that holds the content, as the client sees it in its container',
      parseSavePath,
    )
    .option('--force', 'with --resume-data: replace files that exist');
}

/** Takes the path of another system as it is written. */
function parseSavePath(text: string): string {
  if (isSavePath(text)) return text;
  throw new InvalidArgumentError('Expected an absolute path, such as /downloads.');
}

/** Ends the command if options of resume data lack `--resume-data`. */
export function requireResumeData(command: Command, options: ResumeOptions): void {
  const given = { output: options.output, 'save-path': options.savePath, force: options.force };
  const lonely = Object.entries(given).find(([, value]) => value !== undefined)?.[0];
  if (options.resumeData === undefined && lonely)
    command.error(`error: --${lonely} needs --resume-data with the name of a client`, { exitCode: USAGE });
}

/** Throws `ERR_INVALID_ARGUMENT` if the resume data of many torrents does not go into a folder, where each has files of its own. */
export async function requireOutputFolder({ resumeData, output = '.' }: ResumeOptions): Promise<void> {
  if (resumeData === undefined || (await isFolder(output))) return;
  const message = `${output} must be a folder that exists, because there are several torrents`;
  throw invalidArgument(message, { path: output });
}

/** The files of resume data that a command will write. */
export interface ResumeTarget {
  client: ResumeClient;
  path: string;
  /** The output files, in the order in which they are written. */
  files: string[];
  force: boolean;
  savePath: string | undefined;
}

/**
 * Finds out, before content is read, where resume data goes; null if none is asked for.
 *
 * @param path The content.
 * @throws {MetainfoError} if the client cannot read the torrent, or the files cannot be written
 */
export async function resumeTarget(
  torrent: Torrent,
  path: string,
  { resumeData: client, output = '.', force = false, savePath }: ResumeOptions,
): Promise<ResumeTarget | null> {
  if (client === undefined) return null;
  const { names, folder, paths } = await resumePlaceOf(torrent, { client, path });
  const contentFiles = torrent.files.map(({ length }, i) => {
    return { length, diskPath: nodePath.join(folder, paths[i] as string) };
  });
  const files = await outputFiles(names, output);
  for (const file of files) {
    await realFolder(file);
    if (!force) await requireOutput(file);
    if (client === 'rtorrent') await requireNoSessionData(file);
    await requireNoInput(file, { withLength: (length) => contentFiles.filter((one) => one.length === length) });
  }
  return { client, path, files, force, savePath };
}

/** rtorrent writes its resume data beside the torrent, and reads that first. */
async function requireNoSessionData(file: string): Promise<void> {
  const own = `${file}.libtorrent_resume`;
  if (!(await exists(own))) return;
  const message = `${own} exists, and rtorrent would read it instead: close rtorrent, and remove that file.`;
  throw new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: own });
}

async function outputFiles(names: readonly string[], output: string): Promise<string[]> {
  if (isStdout(output)) throw invalidArgument('Resume data cannot go to standard output: name a file or folder');
  if (await isFolder(output)) return names.map((name) => nodePath.join(output, name));
  if (names.length === 1) return [output];
  const message = `${output} must be a folder that exists, because ${names.length} files go there: ${names.join(', ')}`;
  throw invalidArgument(message, { path: output });
}

/** Writes resume data: all files, or none that was not there before. */
export async function writeResume(torrent: Torrent, report: VerifyReport, target: ResumeTarget): Promise<void> {
  const { client, path, files, force, savePath } = target;
  const last = files.at(-1) as string;
  // Nothing is kept of a file that is too large or not readable.
  const previous =
    force && client !== 'rtorrent' ? await readWithin(last, DEFAULT_LIMITS.bytes).catch(() => null) : null;
  const made = await resumeData(torrent, report, { client, path, savePath, previous });
  const created: string[] = [];
  try {
    for (const [i, { bytes }] of made.entries()) {
      const file = files[i] as string;
      const isNew = !(await exists(file));
      await writeWhole(file, bytes, { force });
      if (isNew) created.push(file);
    }
  } catch (error) {
    for (const file of created) await unlink(file).catch(() => {});
    throw error;
  }
}

/** Lines with the files that were written, and the empty files that were made for them. */
export function resumeLines({ client, files }: ResumeTarget, made: readonly string[]): string[] {
  return [
    ...made.map((file) => `made the empty file ${printable(file)}, which ${client} needs`),
    ...files.map((file) => `${printable(file)}: resume data for ${client}`),
  ];
}
