/** Runs the built command in tests. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

export const MAIN = fileURLToPath(new URL('../../dist/cli/main.cjs', import.meta.url));

// No test reads the configuration of the developer: every program that a test starts inherits these variables. A file cannot
// contain the folder, so there is no configuration.
process.env['XDG_CONFIG_HOME'] = path.join(MAIN, 'no-configuration');
process.env['APPDATA'] = process.env['XDG_CONFIG_HOME'];

export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
}

export interface Result {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** The program and arguments that start the built command. */
export const command = (args: readonly string[]): [string, ...string[]] => [process.execPath, MAIN, ...args];

export function start(args: readonly string[], options: RunOptions): Child {
  return startProgram(command(args), options);
}

/** Starts a program without the environment variables that change the output of the command. */
export function startProgram([program, ...args]: [string, ...string[]], { cwd, env = {} }: RunOptions): Child {
  const { SOURCE_DATE_EPOCH: _, NO_COLOR: __, FORCE_COLOR: ___, CI: ____, ...rest } = process.env;
  return spawn(program, args, { cwd, env: { ...rest, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

export function finish(child: Child): Promise<Result> {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...texts }));
  });
}

/** Runs the built command and waits for its end. */
export const metainfo = (args: readonly string[], options: RunOptions): Promise<Result> => finish(start(args, options));

/** Makes a temporary working folder that contains the folder `album`. */
export async function workFolder(t: TestContext): Promise<string> {
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'album/a.txt': 20_000, 'album/b/c.nfo': 5 });
  return cwd;
}

export const read = (cwd: string, name: string): Promise<Torrent> => Torrent.read(path.join(cwd, name));

/** The sorted names in a folder, to check that no other file was left there. */
export const entries = async (folder: string): Promise<string[]> => (await readdir(folder)).sort();

export const bytesOf = (cwd: string, name: string): Promise<Buffer> => readFile(path.join(cwd, name));

/** Runs the built command with standard output closed at the other end. */
export function metainfoUnread(args: readonly string[], options: RunOptions): Promise<Result> {
  const child = start(args, options);
  child.stdout.destroy();
  return finish(child);
}
