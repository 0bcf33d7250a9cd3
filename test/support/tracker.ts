/** A minimal tracker on 127.0.0.1, over HTTP (BEP 3, BEP 23) or UDP (BEP 15), with which clients find each other. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from './clients.ts';

const HOST = '127.0.0.1';
const INTERVAL_SECONDS = 600;
/** The first 8 bytes that a client sends over UDP. */
const PROTOCOL_ID = 0x41727101980n;
const ACTIONS = { connect: 0, announce: 1 };
const STOPPED = 3;

/** The peers of each torrent, and the answers to their announcements. */
class Swarms {
  readonly #ports = new Map<string, Set<number>>();
  /** All peers that announced themselves, as `host:port`. */
  readonly peers = new Set<string>();

  /** The other peers of a torrent in compact form: 4 bytes of address and 2 of port each. */
  announce(infohash: string, port: number, hasStopped: boolean): Buffer {
    const ports = this.#ports.get(infohash) ?? new Set<number>();
    this.#ports.set(infohash, ports);
    const others = [...ports].filter((one) => one !== port);
    if (hasStopped) ports.delete(port);
    else {
      ports.add(port);
      this.peers.add(`${HOST}:${port}`);
    }
    return Buffer.concat(others.map((one) => Buffer.from([127, 0, 0, 1, one >> 8, one & 0xff])));
  }
}

/** The URL of a running tracker, and the peers that announced themselves. */
export interface Tracker {
  url: string;
  peers: ReadonlySet<string>;
}

/** Starts a tracker that ends with the test. */
export async function startTracker(scope: Scope, protocol: 'http' | 'udp'): Promise<Tracker> {
  const swarms = new Swarms();
  const port = await (protocol === 'http' ? listenHttp(scope, swarms) : listenUdp(scope, swarms));
  return { url: `${protocol}://${HOST}:${port}/announce`, peers: swarms.peers };
}

async function listenHttp(scope: Scope, swarms: Swarms): Promise<number> {
  const server = createServer((request, response) => {
    const [path, query = ''] = (request.url ?? '').split('?', 2);
    if (path !== '/announce') return response.writeHead(404).end();
    // An infohash is bytes, not UTF-8.
    const values = new Map(query.split('&').map((pair) => pair.split('=', 2) as [string, string]));
    const infohash = Buffer.from(unescape(values.get('info_hash') ?? ''), 'latin1').toString('hex');
    const peers = swarms.announce(infohash, Number(values.get('port')), values.get('event') === 'stopped');
    const start = `d8:intervali${INTERVAL_SECONDS}e5:peers${peers.length}:`;
    return response.end(Buffer.concat([Buffer.from(start), peers, Buffer.from('e')]));
  }).listen(0, HOST);
  await once(server, 'listening');
  scope.after(async () => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function listenUdp(scope: Scope, swarms: Swarms): Promise<number> {
  const socket = createSocket('udp4');
  const connection = Buffer.from('metainfo');
  socket.on('message', (message, client) => {
    const isConnect = message.length === 16 && message.readBigUInt64BE(0) === PROTOCOL_ID;
    if (!isConnect && !(message.length >= 98 && message.subarray(0, 8).equals(connection))) return;
    const head = Buffer.alloc(8);
    head.writeUInt32BE(isConnect ? ACTIONS.connect : ACTIONS.announce, 0);
    message.copy(head, 4, 12, 16);
    const body = isConnect ? [connection] : announced(swarms, message);
    socket.send(Buffer.concat([head, ...body]), client.port, client.address);
  });
  socket.bind(0, HOST);
  await once(socket, 'listening');
  scope.after(async () => {
    socket.close();
  });
  return socket.address().port;
}

/** The answer to an announcement after its header: interval, leechers, seeders, peers. */
function announced(swarms: Swarms, message: Buffer): Buffer[] {
  const infohash = message.toString('hex', 16, 36);
  const peers = swarms.announce(infohash, message.readUInt16BE(96), message.readUInt32BE(80) === STOPPED);
  const counts = Buffer.alloc(12);
  counts.writeUInt32BE(INTERVAL_SECONDS, 0);
  counts.writeUInt32BE(peers.length / 6, 4);
  return [counts, peers];
}
