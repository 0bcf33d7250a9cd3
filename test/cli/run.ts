/** Runs the command in tests: within their process or, where a test is about processes, as the built command. */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Host } from '../../src/cli/run.ts';
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

/** The environment without the variables that change the output of the command. */
function environment(own: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { SOURCE_DATE_EPOCH: _, NO_COLOR: __, FORCE_COLOR: ___, CI: ____, ...rest } = process.env;
  return { ...rest, ...own };
}

/** Collects what is written, and takes it as slowly as a pipe. */
class Collector extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    setImmediate(done);
  }

  override toString(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

const home = process.cwd();
const running = new Set<Promise<unknown>>();

/** Calls a function in a folder. A process has one current folder: calls for another folder wait. */
async function inFolder<T>(folder: string, call: () => Promise<T>): Promise<T> {
  while (running.size > 0 && process.cwd() !== folder) await Promise.allSettled(running);
  process.chdir(folder);
  const done = call();
  running.add(done);
  try {
    return await done;
  } finally {
    running.delete(done);
    if (running.size === 0) process.chdir(home);
  }
}

/** How {@link metainfo} runs the command. */
export interface MetainfoOptions extends RunOptions {
  /** Standard input. */
  input?: string | Uint8Array;
  signal?: AbortSignal;
}

/** Variables that a process reads once. */
const OF_PROCESS = ['NODE_OPTIONS', 'METAINFO_ENGINE', 'METAINFO_KERNEL'];

/** Runs the command within this process. */
export async function metainfo(args: readonly string[], options: MetainfoOptions): Promise<Result> {
  const { cwd, env = {}, input = '', signal = new AbortController().signal } = options;
  assert.ok(!OF_PROCESS.some((name) => name in env), 'metainfoProcess takes these variables');
  const [stdout, stderr] = [new Collector(), new Collector()];
  const streams = { stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]), stdout, stderr };
  const host = { ...streams, env: environment(env), signal } as unknown as Host;
  // Files that only start processes do not need it.
  const { main } = await import('../../src/cli/program.ts');
  const code = await inFolder(await realpath(cwd), () => main(args, host));
  for (const stream of [stdout, stderr]) await new Promise<void>((resolve) => stream.end(resolve));
  return { code, signal: null, stdout: String(stdout), stderr: String(stderr) };
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** The program and arguments that start the built command. */
export const command = (args: readonly string[]): [string, ...string[]] => [process.execPath, MAIN, ...args];

export function start(args: readonly string[], options: RunOptions): Child {
  return startProgram(command(args), options);
}

/** Starts a program without the environment variables that change the output of the command. */
export function startProgram([program, ...args]: [string, ...string[]], { cwd, env }: RunOptions): Child {
  return spawn(program, args, { cwd, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] });
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

/** Runs the built command, and waits for its end. */
export const metainfoProcess = (args: readonly string[], options: RunOptions): Promise<Result> =>
  finish(start(args, options));

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
