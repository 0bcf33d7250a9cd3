/** Controls a running qbittorrent-nox through its web API. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Program, type Scope } from './clients.ts';
import { clientMissing } from './external.ts';
import { freePort } from './free-port.ts';
import { temporaryFolder } from './tree.ts';

export const qbittorrentMissing = () => clientMissing('qbittorrent-nox');

// It uses only this machine, asks for no password, and does not search for peers.
const settings = (port: number) => `[BitTorrent]
Session\\DHTEnabled=false
Session\\Interface=lo
Session\\InterfaceAddress=127.0.0.1
Session\\LSDEnabled=false
Session\\PeXEnabled=false
Session\\Port=${port}

[Network]
PortForwardingEnabled=false

[Preferences]
Connection\\ResolvePeerCountries=false
WebUI\\Address=127.0.0.1
WebUI\\LocalHostAuth=false
WebUI\\UseUPnP=false
`;

/** A running qbittorrent-nox. Its web API is described at https://github.com/qbittorrent/qBittorrent/wiki (WebUI API). */
export class QBittorrent extends Program {
  /** The address of its web UI. */
  readonly address: string;

  private constructor(scope: Scope, profile: string, port: number) {
    const args = [`--profile=${profile}`, '--confirm-legal-notice', `--webui-port=${port}`];
    super(scope, 'qbittorrent-nox', args, { HOME: profile, LC_ALL: 'C.UTF-8', QT_QPA_PLATFORM: 'minimal' });
    this.address = `http://127.0.0.1:${port}`;
  }

  /**
   * Starts qbittorrent-nox with a new profile.
   *
   * @param prepare Gets the folder in which qBittorrent keeps its torrents and their resume data.
   */
  static async start(scope: Scope, prepare = async (_backup: string) => {}): Promise<QBittorrent> {
    const profile = await temporaryFolder(scope);
    const backup = path.join(profile, 'qBittorrent', 'data', 'BT_backup');
    await mkdir(backup, { recursive: true });
    await prepare(backup);
    const config = path.join(profile, 'qBittorrent', 'config');
    await mkdir(config, { recursive: true });
    await writeFile(path.join(config, 'qBittorrent.conf'), settings(await freePort()));
    const started = new QBittorrent(scope, profile, await freePort());
    await started.ready(async () => (await started.version()) !== '');
    return started;
  }

  async version(): Promise<string> {
    return (await (await this.get('app/version')).text()).replace(/^v/, '');
  }

  get(method: string, query: Record<string, string> = {}): Promise<Response> {
    return this.#ask(`${method}?${new URLSearchParams(query)}`, {});
  }

  post(method: string, fields: Record<string, string> | FormData): Promise<Response> {
    return this.#ask(method, {
      method: 'POST',
      body: fields instanceof FormData ? fields : new URLSearchParams(fields),
    });
  }

  async #ask(what: string, init: RequestInit): Promise<Response> {
    const response = await fetch(`${this.address}/api/v2/${what}`, init);
    if (!response.ok) assert.fail(`${what}: ${response.status} ${await response.text()}`);
    return response;
  }
}
