import { spawnSync } from 'node:child_process';
import path from 'node:path';

/**
 * Whether a real part that a test needs is installed, and not too old. In CI it must be: there a missing part fails the
 * test instead of skipping it. Elsewhere the reason goes into `{ skip }`.
 *
 * @param oldest The first version that does what the test needs; the command then prints its own.
 */
export function missing(name: string, command: string, args: readonly string[], oldest?: string): string | false {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  const version = /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? 'of an unknown version';
  let reason: string | false = false;
  if (error || status !== 0) reason = `${name} is not installed`;
  else if (oldest !== undefined && isOlder(version, oldest)) reason = `${name} is ${version}, older than ${oldest}`;
  if (reason && process.env['CI']) throw new Error(`${reason}, and tests are not skipped in CI`);
  return reason;
}

/** Compares numbers from the left; what is no version is older than any. */
function isOlder(version: string, than: string): boolean {
  const [ours = [], theirs = []] = [version, than].map((text) => text.split('.').map(Number));
  for (const [i, number] of theirs.entries()) {
    const other = ours[i] ?? 0;
    if (other !== number) return !(other > number);
  }
  return false;
}

/** A BitTorrent program: of the folder METAINFO_CLIENTS, which `.ci/clients` makes, or of this system. */
export function client(name: string): string {
  const folder = process.env['METAINFO_CLIENTS'];
  return folder ? path.join(folder, name) : name;
}

/** The first versions that do what the tests need: .ci/clients says what older ones get wrong. */
const OLDEST: Readonly<Record<string, string>> = {
  aria2c: '1.37',
  'qbittorrent-nox': '5.0',
  // 3.00 composes the names of files anew.
  'transmission-create': '4.0',
  'transmission-daemon': '4.0',
};

/** Whether a BitTorrent program is not installed, or too old. */
export const clientMissing = (name: string) => missing(name, client(name), ['--version'], OLDEST[name]);

/** Debian's Python, whatever comes first on PATH: it is the one that has python3-libtorrent. */
export const PYTHON = '/usr/bin/python3';

export const libtorrentMissing = () =>
  missing('python3-libtorrent', PYTHON, ['-c', 'import libtorrent; print(libtorrent.__version__)'], '2.0');
