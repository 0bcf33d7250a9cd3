/** Ports for the servers of tests: each of them is free, and no two servers of a process get the same one. */

import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST = 10_000;
const COUNT = 22_000;
/** Each call goes on from here, so that two servers of one test never get the same port. */
let next = Math.floor(Math.random() * COUNT);

/** Returns a free port of 127.0.0.1 below the ephemeral range, so that no outgoing connection takes it before the server does. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (next++ % COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
