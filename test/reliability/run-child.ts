/** Runs scripts of reliability tests in processes of their own. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ScenarioName } from './child.ts';

export interface Ended<Told = Record<string, number>> {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The messages of the child, in order. */
  told: Told[];
  /** Seconds from the child's last `at` message to its end, on the monotonic clock that both processes share. */
  secondsFromAt: number;
}

/** Runs a scenario of child.ts as a process. */
export function runChild(scenario: ScenarioName, ...args: (string | number)[]): Promise<Ended> {
  return runScript('child.ts', [scenario, ...args]);
}

/** Runs a script of this folder as a process, with additional environment variables. */
export function runScript<Told extends object = Record<string, number>>(
  script: string,
  args: readonly (string | number)[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ended<Told>> {
  const child = spawn(
    process.execPath,
    [
      '--expose-gc',
      '--import',
      './scripts/ts.mjs',
      fileURLToPath(new URL(script, import.meta.url)),
      ...args.map(String),
    ],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    },
  );
  let ended = 0n;
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  child.once('exit', () => {
    ended = process.hrtime.bigint();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const lines = text.split('\n').filter((line) => line !== '');
      const told = lines.map((line) => JSON.parse(line) as Told);
      const last = told.findLast((message) => 'at' in message) as { at: number } | undefined;
      resolve({ code, signal, told, secondsFromAt: Number(ended) / 1e9 - (last?.at ?? Number.NaN) });
    });
  });
}

/** Why tests of descriptors, threads and memory must skip; false if they can run. */
export const procMissing: string | false = existsSync('/proc/self/task') ? false : 'there is no /proc';
