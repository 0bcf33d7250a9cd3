import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { client, missing } from './external.ts';
import { until } from './timing.ts';
import { temporaryFolder } from './tree.ts';

const PROGRAM = client('qbittorrent-nox');
/** How long one answer may take. */
const ANSWER_MS = 30_000;

export const qbittorrentMissing = () => missing('qbittorrent-nox', PROGRAM, ['--version']);

/** A running qBittorrent, by its web API: https://github.com/qbittorrent/qBittorrent/wiki (WebUI API). */
export interface Qbittorrent {
  /** As it says itself, without the `v`. */
  version: string;
  get(method: string, query?: Record<string, string>): Promise<Response>;
  post(method: string, fields?: Record<string, string>): Promise<Response>;
}

// It talks to nobody but this machine, asks for no password, and looks for no peers.
const settings = (port: number) => `[LegalNotice]
Accepted=true

[Preferences]
WebUI\\Address=127.0.0.1
WebUI\\LocalHostAuth=false

[BitTorrent]
Session\\Interface=lo
Session\\InterfaceAddress=127.0.0.1
Session\\Port=${port}
Session\\DHTEnabled=false
Session\\LSDEnabled=false
Session\\PeXEnabled=false

[Network]
PortForwardingEnabled=false
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts qBittorrent with a new profile; it is killed after the test. */
export async function startQbittorrent(test: { after(work: () => Promise<void>): void }): Promise<Qbittorrent> {
  // Hooks run in their order: it is gone before its profile is removed.
  let stop = async () => {};
  test.after(() => stop());
  const profile = await temporaryFolder(test);
  const config = path.join(profile, 'qBittorrent', 'config');
  await mkdir(config, { recursive: true });
  await writeFile(path.join(config, 'qBittorrent.conf'), settings(await freePort()));

  const port = await freePort();
  const args = ['--confirm-legal-notice', `--profile=${profile}`, `--webui-port=${port}`];
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  const child = spawn(PROGRAM, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  stop = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }

  const ask = async (method: string, query: Record<string, string>, init: RequestInit): Promise<Response> => {
    const url = `http://127.0.0.1:${port}/api/v2/${method}?${new URLSearchParams(query)}`;
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
    if (!response.ok) throw new Error(`qBittorrent: ${method}: ${response.status} ${await response.text()}`);
    return response;
  };
  const get = (method: string, query = {}) => ask(method, query, {});
  const post = (method: string, fields = {}) => ask(method, {}, { method: 'POST', body: new URLSearchParams(fields) });

  const answer = await until(
    () => `an answer of qBittorrent, which said: ${output}`,
    () => {
      assert.equal(child.exitCode ?? child.signalCode, null, `qBittorrent has ended: ${output}`);
      return get('app/version').catch(() => null);
    },
  );
  return { version: (await answer.text()).replace(/^v/, ''), get, post };
}
