import assert from 'node:assert/strict';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { freePort, KINDS, Program, type Scope, scopeOf, share, TEST_TIMEOUT, until } from '../support/clients.ts';
import { client, missing } from '../support/external.ts';
import { tried } from '../support/interop.ts';
import { temporaryFolder } from '../support/tree.ts';

/** What `torrents/info` says of a torrent. */
interface State {
  hash: string;
  infohash_v1: string;
  infohash_v2: string;
  progress: number;
  state: string;
}

/** qbittorrent-nox and its web API, in a profile of its own. */
class QBittorrent {
  readonly #program: Program;
  readonly #api: string;

  private constructor(program: Program, port: number) {
    this.#program = program;
    this.#api = `http://127.0.0.1:${port}/api/v2`;
  }

  static async start(scope: Scope): Promise<QBittorrent> {
    const profile = await temporaryFolder(scope);
    const port = await freePort();
    const config = path.join(profile, 'qBittorrent', 'config');
    await mkdir(config, { recursive: true });
    await writeFile(path.join(config, 'qBittorrent.conf'), await settings());
    const args = [`--profile=${profile}`, '--confirm-legal-notice', `--webui-port=${port}`];
    const started = new QBittorrent(
      new Program(scope, 'qbittorrent-nox', args, { HOME: profile, QT_QPA_PLATFORM: 'minimal' }),
      port,
    );
    await started.#program.ready(async () => (await started.version()) !== '');
    return started;
  }

  async version(): Promise<string> {
    return (await this.#ask('app/version')).replace(/^v/, '');
  }

  /** Adds a torrent without starting it. */
  async add(file: string, folder: string): Promise<void> {
    const form = new FormData();
    form.set('torrents', new Blob([await readFile(file)]), 'x.torrent');
    form.set('savepath', folder);
    form.set('stopped', 'true');
    assert.equal(await this.#ask('torrents/add', form), 'Ok.');
  }

  async recheck(): Promise<void> {
    await this.#ask('torrents/recheck', new URLSearchParams({ hashes: 'all' }));
  }

  async state(): Promise<State | undefined> {
    return (JSON.parse(await this.#ask('torrents/info')) as State[])[0];
  }

  /** Waits until it does nothing any more, and has found as much of the files as it should. */
  async found(isSo: (progress: number) => boolean): Promise<State> {
    let last: State | undefined;
    const isChecked = async () => {
      last = await this.state();
      return last?.state.startsWith('stopped') === true && isSo(last.progress);
    };
    await until('qBittorrent checks the files', isChecked, async () =>
      [JSON.stringify(last), await this.#program.log()].join('\n'),
    );
    return last as State;
  }

  async #ask(what: string, body?: FormData | URLSearchParams): Promise<string> {
    const response = await fetch(`${this.#api}/${what}`, body ? { method: 'POST', body } : {});
    const text = await response.text();
    assert.equal(response.status, 200, `${what}: ${text}`);
    return text;
  }
}

/** On 127.0.0.1 alone, where nobody needs a password. */
async function settings(): Promise<string> {
  return `[BitTorrent]
Session\\DHTEnabled=false
Session\\Interface=lo
Session\\InterfaceAddress=127.0.0.1
Session\\LSDEnabled=false
Session\\PeXEnabled=false
Session\\Port=${await freePort()}

[Network]
PortForwardingEnabled=false

[Preferences]
Connection\\ResolvePeerCountries=false
WebUI\\Address=127.0.0.1
WebUI\\LocalHostAuth=false
WebUI\\UseUPnP=false
`;
}

describe('qBittorrent', {
  skip: missing('qbittorrent-nox', client('qbittorrent-nox'), ['--version']),
  concurrency: 3,
}, () => {
  for (const kind of KINDS) {
    it(`finds all files of ${kind}, and a byte that is wrong`, { timeout: TEST_TIMEOUT }, async (t) => {
      const scope = scopeOf(t);
      const { torrent, file, parent } = await share(scope, kind);
      const qBittorrent = await QBittorrent.start(scope);
      await qBittorrent.add(file, parent);
      await qBittorrent.found(() => true);
      await qBittorrent.recheck();
      const { infohash_v1, infohash_v2 } = await qBittorrent.found((progress) => progress === 1);
      assert.deepEqual([infohash_v1, infohash_v2], [torrent.infohashV1 ?? '', torrent.infohashV2 ?? '']);

      const exact = await open(path.join(parent, 'content', 'exact'), 'r+');
      const { buffer } = await exact.read(Buffer.alloc(1), 0, 1, 0);
      const write = (byte: number) => exact.write(Uint8Array.of(byte), 0, 1, 0);
      try {
        const right = buffer[0] as number;
        await write(right ^ 1);
        await qBittorrent.recheck();
        await qBittorrent.found((progress) => progress > 0 && progress < 1);
        await write(right);
        await qBittorrent.recheck();
        await qBittorrent.found((progress) => progress === 1);
      } finally {
        await exact.close();
      }
      tried({
        client: 'qBittorrent',
        version: await qBittorrent.version(),
        kind,
        what: 'checks the files',
      });
    });
  }
});
