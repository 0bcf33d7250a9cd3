/** Tells the runs of the command in one process apart: each has its own arguments, streams, environment and exit code. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';
import { type ProcessView, viewProcess } from '../platform/process.ts';

/** The process of a run, or an object that stands in for it. Relative paths start at the current folder of the process. */
export interface Host extends ProcessView {
  readonly stdin: Readable & { isTTY?: boolean; fd?: number };
  readonly stdout: NodeJS.WriteStream;
  exitCode?: NodeJS.Process['exitCode'];
  /** Cancels the run; by default, SIGINT and SIGTERM do. */
  readonly signal?: AbortSignal;
}

/** A run of the command. */
interface Run {
  /** The words behind the name of the command. */
  args: readonly string[];
  host: Host;
}

export const FAILED = 1;
export const USAGE = 2;

const runs = new AsyncLocalStorage<Run>();
const ofProcess: Run = { args: process.argv.slice(2), host: process };

/** The current run; outside of all others, that of the process. */
export const currentRun = (): Run => runs.getStore() ?? ofProcess;

/** The process of the current run, or the object that stands in for it. */
export const host = (): Host => currentRun().host;

viewProcess(host);

/** Starts a run. The process has one: code that has lost its context, such as the listener of an event, finds that. */
export function startRun<T>({ args, host: of }: Run, job: () => Promise<T>): Promise<T> {
  return runs.run(of === process ? Object.assign(ofProcess, { args }) : { args, host: of }, job);
}

/** Makes a value when a run first needs it; each run has its own. */
export function ofRun<T>(make: () => T): () => T {
  const values = new WeakMap<Run, T>();
  return () => {
    const run = currentRun();
    const known = values.get(run) ?? make();
    values.set(run, known);
    return known;
  };
}
