/** Starts a PostgreSQL server for a test: on a random port of 127.0.0.1, with its data in a temporary folder. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir } from 'node:fs/promises';
import path from 'node:path';
import { missing } from '../../../../test/support/external.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { temporaryFolder } from '../../../../test/support/tree.ts';

const NOBODY = 65534;
/** Debian keeps the programs of each version in a folder of its own. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder of the newest server; empty if the programs are on PATH or nowhere. */
async function binaries(): Promise<string> {
  const versions = await readdir(DEBIAN).catch(() => []);
  const newest = versions
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => b - a)[0];
  return newest === undefined ? '' : path.join(DEBIAN, String(newest), 'bin');
}

const program = (folder: string, name: string) => (folder === '' ? name : path.join(folder, name));

/** Returns why a test that needs PostgreSQL must skip. */
export async function postgresMissing(): Promise<string | false> {
  return missing('postgresql', program(await binaries(), 'postgres'), ['--version'], { oldest: '13.0' });
}

/** Starts a server that ends with the test, and returns its URL. */
export async function postgresServer(
  t: { after(work: () => Promise<void>): void },
  given?: { port: number },
): Promise<string> {
  const [folder, port, bin] = [await temporaryFolder(t), given?.port ?? (await freePort()), await binaries()];
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid !== undefined) await chown(folder, NOBODY, NOBODY);
  const data = path.join(folder, 'data');
  const options = { ...user, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  const made = spawnSync(program(bin, 'initdb'), ['-D', data, '-U', 'tester', '-A', 'trust', '-N'], {
    ...options,
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(made.stderr);
  const settings = ['-c', `unix_socket_directories=${folder}`, '-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1'];
  const server = spawn(program(bin, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let text = '';
    server.once('exit', () => reject(new Error(text)));
    server.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('ready to accept connections')) resolve();
    });
  });
  server.removeAllListeners('exit');
  t.after(async () => {
    server.kill('SIGINT');
    if (server.exitCode === null) await once(server, 'exit');
  });
  return `postgres://tester@127.0.0.1:${port}/postgres`;
}
