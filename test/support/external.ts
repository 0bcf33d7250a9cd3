import { spawnSync } from 'node:child_process';
import path from 'node:path';

/**
 * Whether a real part that a test needs is installed. In CI it must be: there a missing part fails the test instead of
 * skipping it. Elsewhere the reason goes into `{ skip }`.
 */
export function missing(name: string, command: string, args: readonly string[]): string | false {
  const { status, error } = spawnSync(command, args, { stdio: 'ignore' });
  const works = !error && status === 0;
  if (!works && process.env['CI']) throw new Error(`${name} is not installed, and tests are not skipped in CI`);
  return works ? false : `${name} is not installed`;
}

/** A BitTorrent program: of the folder METAINFO_CLIENTS, which `.ci/clients` makes, or of this system. */
export function client(name: string): string {
  const folder = process.env['METAINFO_CLIENTS'];
  return folder ? path.join(folder, name) : name;
}

/** Debian's Python, whatever comes first on PATH: it is the one that has python3-libtorrent. */
export const PYTHON = '/usr/bin/python3';

export const libtorrentMissing = () => missing('python3-libtorrent', PYTHON, ['-c', 'import libtorrent']);
