import assert from 'node:assert/strict';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import Server from 'bittorrent-tracker/server';
import {
  assertWhole,
  CLIENTS,
  done,
  type Kind,
  Libtorrent,
  type Scope,
  scopeOf,
  share,
  TEST_TIMEOUT,
  until,
} from '../support/clients.ts';
import { tried } from '../support/interop.ts';

type Protocol = 'http' | 'udp';

/** A tracker on 127.0.0.1: its URL, and how many peers have told it of themselves. */
async function startTracker(scope: Scope, protocol: Protocol) {
  const server = new Server({ http: protocol === 'http', udp: protocol === 'udp', ws: false, stats: false });
  // Of its IPv6 socket, where there is no IPv6.
  server.on('error', () => {});
  const peers = new Set<string>();
  server.on('start', (address: string) => peers.add(address));
  const socket = (protocol === 'http' ? server.http : server.udp4) as HttpServer | Socket;
  const listening = once(socket, 'listening');
  server.listen(0, { http: '127.0.0.1', udp: '127.0.0.1', udp6: '::1' });
  await listening;
  scope.after(async () => {
    server.http?.closeAllConnections();
    server.close();
  });
  return { url: `${protocol}://127.0.0.1:${(socket.address() as AddressInfo).port}/announce`, peers };
}

describe('clients find each other by the tracker of a torrent', {
  skip: CLIENTS.libtorrent.skip,
  concurrency: 6,
}, () => {
  const cases: [name: keyof typeof CLIENTS, kind: Kind, protocol: Protocol][] = [
    ['libtorrent', 'v1', 'udp'],
    ['libtorrent', 'v2', 'http'],
    ['libtorrent', 'hybrid', 'udp'],
    ['Transmission', 'v1', 'http'],
    ['Transmission', 'hybrid', 'http'],
    // It has trackers on UDP only where it has a DHT.
    ['aria2', 'v1', 'http'],
    ['aria2', 'hybrid', 'http'],
  ];
  for (const [name, kind, protocol] of cases) {
    const { skip, start } = CLIENTS[name];
    it(`${name} and the seed of a ${kind}, ${protocol}`, { skip, timeout: TEST_TIMEOUT }, async (t) => {
      const scope = scopeOf(t);
      const { url, peers } = await startTracker(scope, protocol);
      const shared = await share(scope, kind, ['--tracker', url]);
      const folder = await shared.newFolder();
      const peer = await start(scope, shared.file, folder);
      // The seed comes later, so that it is told of the other: Transmission connects to nobody on 127.0.0.1.
      await until('the first to announce itself', async () => peers.size > 0, peer.log.bind(peer));
      const seed = await Libtorrent.seed(scope, shared);
      await done([peer], [seed]);
      await assertWhole(shared, folder);
      const expected = [seed, peer].map(({ port }) => `127.0.0.1:${port}`).sort();
      assert.deepEqual([...peers].sort(), expected);
      tried({ client: peer.client, version: peer.version, kind, what: 'finds peers by a tracker' });
    });
  }
});
