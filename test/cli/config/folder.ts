/** Working folders with a configuration file. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { metainfo, type Result, type RunOptions, workFolder } from '../run.ts';

/** Makes a working folder with `album`, and writes the user's configuration file. */
export async function folderWith(t: TestContext, toml: string | Uint8Array | null): Promise<RunOptions> {
  const cwd = await workFolder(t);
  const env = { XDG_CONFIG_HOME: path.join(cwd, 'xdg'), APPDATA: path.join(cwd, 'xdg') };
  await mkdir(path.join(cwd, 'xdg', 'metainfo'), { recursive: true });
  if (toml !== null) await writeFile(configOf({ cwd }), toml);
  return { cwd, env };
}

/** Adds a file to `album` that is large enough for the cache. */
export const addLargeFile = ({ cwd }: RunOptions): Promise<void> =>
  writeFile(path.join(cwd, 'album', 'large'), Buffer.alloc(2 ** 20));

export const configOf = ({ cwd }: RunOptions): string => path.join(cwd, 'xdg', 'metainfo', 'config.toml');

/** The values that `metainfo config --json` shows. */
export interface Shown {
  path: string;
  exists: boolean;
  create: Record<string, { value: unknown; from: string; line?: number; host?: string; preset?: string }>;
  presets: string[];
  trackers: Record<string, string[][]>;
  hosts: Record<string, object>;
  read: { profile: string };
}

export async function shownBy(run: RunOptions, ...args: string[]): Promise<Shown> {
  const { code, stdout, stderr } = await metainfo(['config', '--json', ...args], run);
  if (code !== 0 || stderr !== '') throw new Error(stdout + stderr);
  return JSON.parse(stdout) as Shown;
}

/** Plans `album` and returns the plan. */
export async function plan(run: RunOptions, ...args: string[]) {
  const result = await metainfo(['plan', 'album', '--json', ...args], run);
  const { findings = [], ...rest } = JSON.parse(result.stdout) as PlanJson;
  return { ...result, ...rest, rules: findings.filter(({ code }) => code === 'tracker_rule'), findings };
}

interface PlanJson {
  version: string;
  pieceLength: number;
  files: number;
  findings?: { code: string; severity: string; path: string; message: string }[];
  error?: { code: string; message: string };
}

export const create = (run: RunOptions, ...args: string[]): Promise<Result> =>
  metainfo(['create', 'album', '-o', 'album.torrent', '--force', ...args], run);
