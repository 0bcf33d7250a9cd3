/** Finds the programs that tests need, and says why a test skips: absence, or a version that is too old. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

/** The requirements of a test on a program. */
interface Requirements {
  /** The oldest version that does what the test needs. The command must then print its version. */
  oldest?: string | undefined;
  /** Whether the command may fail as long as it prints a version. */
  ignoreStatus?: boolean;
}

/** The environment of other programs: qBittorrent aborts where test/cli/run.ts looks for configurations in vain. */
export function otherPrograms(): NodeJS.ProcessEnv {
  const { XDG_CONFIG_HOME: _, ...env } = process.env;
  return env;
}

/**
 * Returns why a test that needs a program must skip, for `{ skip }`; false if it can run.
 *
 * @throws {Error} in CI, where tests must not skip
 */
export function missing(
  name: string,
  command: string,
  args: readonly string[],
  { oldest, ignoreStatus = false }: Requirements = {},
): string | false {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env: otherPrograms() });
  const version = /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0];
  const isInstalled = !error && (status === 0 || (ignoreStatus && version !== undefined));
  let reason: string | false = false;
  if (!isInstalled) reason = `${name} is not installed`;
  else if (oldest !== undefined && isOlder(version ?? '', oldest))
    reason = `${name} is ${version ?? 'of an unknown version'}, but the test needs ${oldest} or newer`;
  if (reason && process.env['CI']) throw new Error(`${reason}, and tests are not skipped in CI`);
  return reason;
}

/** Compares the numbers of two versions from the left. Text without a version is older than any version. */
function isOlder(version: string, oldest: string): boolean {
  const [found = [], needed = []] = [version, oldest].map((text) => text.split('.').map(Number));
  for (const [i, number] of needed.entries()) {
    const other = found[i] ?? 0;
    if (other !== number) return !(other > number);
  }
  return false;
}

/** Returns the path of a BitTorrent program: in the folder METAINFO_CLIENTS, which `.ci/clients` makes, or of this system. */
export function client(name: string): string {
  const folder = process.env['METAINFO_CLIENTS'];
  return folder ? path.join(folder, name) : name;
}

/**
 * How to ask each BitTorrent program for its version, and the oldest version that passes the tests. `.ci/clients` says what older
 * ones get wrong.
 */
const CLIENT_PROGRAMS: Readonly<Record<string, Requirements & { args: readonly string[] }>> = {
  aria2c: { args: ['--version'], oldest: '1.37' },
  buildtorrent: { args: ['-V'], oldest: '0.8' },
  mktorrent: { args: ['-h'], oldest: '1.1' },
  'qbittorrent-nox': { args: ['--version'], oldest: '5.0' },
  // Some builds of rtorrent exit with status 1 after their help, which names the version.
  rtorrent: { args: ['-h'], oldest: '0.9.8', ignoreStatus: true },
  // 3.00 normalizes file names to composed Unicode.
  'transmission-create': { args: ['--version'], oldest: '4.0' },
  'transmission-daemon': { args: ['--version'], oldest: '4.0' },
  'transmission-show': { args: ['--version'], oldest: '4.0' },
};

/** Returns why a test that needs a BitTorrent program must skip. `oldest` is for tests that need a newer version than others. */
export function clientMissing(name: string, oldest?: string): string | false {
  const program = CLIENT_PROGRAMS[name];
  if (!program) throw new Error(`${name} is not in the list of client programs`);
  return missing(name, client(name), program.args, { ...program, oldest: oldest ?? program.oldest });
}

/** Debian's Python, whatever comes first on PATH: python3-libtorrent is installed for this one. */
export const PYTHON = '/usr/bin/python3';

/** Returns why a test that needs python3-libtorrent must skip. Before 2.0.8, libtorrent adds no tail pad. */
export const libtorrentMissing = (): string | false =>
  missing('python3-libtorrent', PYTHON, ['-c', 'import libtorrent; print(libtorrent.__version__)'], {
    oldest: '2.0.8',
  });
