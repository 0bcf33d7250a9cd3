/** Controls a running rtorrent through its XML-RPC interface: https://github.com/rakshasa/rtorrent/wiki/RPC-Setup-XMLRPC. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { type Peer, Program, type Scope } from './clients.ts';
import { client, clientMissing } from './external.ts';
import { freePort } from './free-port.ts';
import { temporaryFolder } from './tree.ts';

const VERSION = /version (\d+\.\d+\.\d+)/;

/** Returns the help of rtorrent, which names its version. */
function versionText(): string {
  return spawnSync(client('rtorrent'), ['-h'], { encoding: 'utf8' }).stdout ?? '';
}

/** Returns why a test that needs rtorrent must skip. */
export const rtorrentMissing = (): string | false => clientMissing('rtorrent');

// It uses only this machine, without DHT, peer exchange or terminal.
const settings = (port: number, session: string, socket: string, folder: string) => `
system.daemon.set = true
session.path.set = ${session}
directory.default.set = ${folder}
network.scgi.open_local = ${socket}
network.bind_address.set = 127.0.0.1
network.port_range.set = ${port}-${port}
network.port_random.set = no
dht.mode.set = disable
protocol.pex.set = no
trackers.use_udp.set = no
protocol.encryption.set = allow_incoming
pieces.hash.on_completion.set = yes
`;

/** rtorrent with one torrent. The torrent needs a tracker: without one, rtorrent refuses it unless DHT is on. */
export class Rtorrent extends Program implements Peer {
  readonly client = 'rtorrent';
  readonly version: string;
  readonly port: number;
  readonly #socket: string;

  private constructor(scope: Scope, config: string, socket: string, port: number) {
    super(scope, 'rtorrent', ['-n', '-o', `import=${config}`], { TERM: 'dumb' });
    this.version = VERSION.exec(versionText())?.[1] ?? '';
    this.port = port;
    this.#socket = socket;
  }

  static async start(scope: Scope, file: string, folder: string): Promise<Rtorrent> {
    const started = await Rtorrent.resume(scope, async () => {}, folder);
    await started.#call('load.start_verbose', ['', file]);
    return started;
  }

  /**
   * Starts rtorrent with the torrents of its session folder.
   *
   * @param prepare Gets the session folder.
   * @param folder Where torrents without a folder of their own go.
   */
  static async resume(scope: Scope, prepare: (session: string) => Promise<void>, folder: string): Promise<Rtorrent> {
    const session = await temporaryFolder(scope);
    await prepare(session);
    const [config, socket] = [path.join(session, 'rtorrent.rc'), path.join(session, 'rpc.socket')];
    const port = await freePort();
    await writeFile(config, settings(port, session, socket, folder));
    const started = new Rtorrent(scope, config, socket, port);
    await started.ready(async () => (await started.#call('system.client_version', [])) !== '');
    return started;
  }

  async isDone(): Promise<boolean> {
    return (await this.progress()) === 1;
  }

  /** Returns the share of the content that it has, from 0 to 1; null while it checks the files on disk. */
  async progress(): Promise<number | null> {
    const fields = ['d.hashing=', 'd.is_hash_checked=', 'd.completed_bytes=', 'd.size_bytes='];
    const text = await this.#call('d.multicall2', ['', 'main', ...fields]);
    const numbers = [...text.matchAll(/<i[48]>(-?\d+)<\/i[48]>/g)].map(([, number]) => Number(number));
    if (numbers.length === 0) return null;
    const [hashing, checked, completed, size] = numbers as [number, number, number, number];
    return hashing === 0 && checked === 1 ? completed / size : null;
  }

  /** Makes an XML-RPC call over SCGI (a netstring of headers, then the body) and returns the XML of the answer. */
  async #call(method: string, args: readonly string[]): Promise<string> {
    const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const params = args.map((arg) => `<param><value><string>${escaped(arg)}</string></value></param>`).join('');
    const body = `<?xml version="1.0"?><methodCall><methodName>${method}</methodName><params>${params}</params></methodCall>`;
    const headers = `CONTENT_LENGTH\0${Buffer.byteLength(body)}\0SCGI\x001\0`;
    const socket = connect(this.#socket);
    await once(socket, 'connect');
    socket.write(`${headers.length}:${headers},${body}`);
    let answer = '';
    for await (const part of socket.setEncoding('utf8')) answer += part;
    assert.ok(answer.includes('<methodResponse>') && !answer.includes('<fault>'), answer);
    return answer;
  }
}
