import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { decode } from '../bencode/decode.ts';
import { DEFAULT_LIMITS, NO_LIMITS } from '../bencode/limits.ts';
import { readWithin } from '../disk/read-file.ts';
import { exists, outputExists } from '../disk/write-file.ts';
import { fromSystemError, MetainfoError } from '../errors/errors.ts';
import { printable } from '../layout/text.ts';
import { infodictDiscriminator } from '../model/discriminator.ts';
import type { Torrent } from '../model/torrent.ts';
import { stderr, stdout, writeBytes } from './output.ts';

/** The output that is standard output, as other programs have it; `./-` is a file. */
const STDOUT = '-';

/** Whether a torrent goes to standard output; what the command says of it then goes to standard error. */
export const isStdout = (target: string | undefined): boolean => target === STDOUT;

/** The file that a target is; undefined for standard output. */
export const fileOf = (target: string): string | undefined => (isStdout(target) ? undefined : path.resolve(target));

/** Where the command says what it did. */
export const reportTo = (target: string | undefined): typeof stdout => (isStdout(target) ? stderr : stdout);

/** A target for people. */
export const nameOfTarget = (target: string): string => (isStdout(target) ? 'standard output' : printable(target));

/**
 * Where a changed torrent goes: to the output, a file or a folder, to standard output, or in place.
 *
 * @param count How many torrents go to that output.
 */
export async function targetOf(file: string, output: string | undefined, count = 1): Promise<string> {
  // A link stays one.
  if (output === undefined) return resolved(file);
  if (isStdout(output)) {
    if (count === 1) return output;
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `Standard output takes one torrent, not ${count}.`);
  }
  if (await isFolder(output)) return path.join(output, path.basename(file));
  if (count === 1) return output;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `${output} must be a folder: there are ${count} torrents.`);
}

/** Whether the path of an output ends as only a folder's does. */
export function saysFolder(output: string, { sep } = path): boolean {
  return output.endsWith('/') || output.endsWith(sep);
}

/** Whether an output is a folder, to put a file into. */
export async function isFolder(output: string): Promise<boolean> {
  if (saysFolder(output)) return true;
  return stat(output).then(
    (status) => status.isDirectory(),
    () => false,
  );
}

/** The folder of an output without links; before the work, so that a missing one is not found after it. */
export async function realFolder(target: string): Promise<string> {
  return resolved(path.dirname(path.resolve(target)));
}

async function resolved(file: string): Promise<string> {
  return realpath(file).catch((error: unknown) => {
    throw fromSystemError(error, file, 'write');
  });
}

/**
 * An output that is no part of the torrent: none where another file than a torrent is there already,
 * for that is content, which the output must not replace.
 */
export async function ownOutput(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  if (!(await exists(file))) return [file];
  try {
    const { value } = decode(await readWithin(file, DEFAULT_LIMITS.bytes), { tolerant: true, limits: NO_LIMITS });
    return value instanceof Map && infodictDiscriminator(value.get('info')) ? [file] : [];
  } catch {
    return [];
  }
}

/** When a torrent file was written. */
export async function mtimeOf(file: string): Promise<Date> {
  const { mtime } = await stat(file).catch((error: unknown) => {
    throw fromSystemError(error, file, 'read');
  });
  return mtime;
}

/** Before the work: there is a folder, and what is there stays, unless it is the torrent itself or to be replaced. */
export async function requireFree(
  target: string,
  { output, force, json }: { output?: string; force?: boolean; json?: boolean },
): Promise<void> {
  if (isStdout(target)) {
    requireStdout(json);
    return;
  }
  await realFolder(target);
  if (output !== undefined && !force && (await exists(target))) throw outputExists(target);
}

function requireStdout(json: boolean | undefined): void {
  const problem = json
    ? '--json and -o - both need standard output: leave one out'
    : stdout().isTTY && 'a torrent is not text for a terminal: redirect standard output, or leave -o - out';
  if (problem) throw new MetainfoError('ERR_INVALID_ARGUMENT', `${problem}.`);
}

/** Writes a torrent to its target. */
export async function writeTorrent(
  torrent: Torrent,
  target: string,
  options: { force: boolean; mtime: Date },
): Promise<void> {
  if (isStdout(target)) await writeBytes(torrent.bencode());
  else await torrent.write(target, options);
}
