// A server for bench/servers.ts: answers small requests with its use of the processor, and drains or hashes uploads. It prints its port.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { create } from '../../src/create/create.ts';

export const MODES = [
  'drained',
  'hashed by node:crypto',
  'hashed by node:crypto in a worker',
  'hashed by metainfo',
] as const;
type Mode = (typeof MODES)[number];

/** Milliseconds of the clock, and those of all processors that this server has used. */
export interface Usage {
  time: number;
  cpu: number;
}

const [PIECE, BLOCK] = [2 ** 18, 2 ** 14];

/** The work of a hybrid without its Merkle nodes: SHA-1 of each piece, SHA-256 of each block. */
function hashPieces(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PIECE)
    createHash('sha1')
      .update(bytes.subarray(at, at + PIECE))
      .digest();
  for (let at = 0; at < bytes.length; at += BLOCK)
    createHash('sha256')
      .update(bytes.subarray(at, at + BLOCK))
      .digest();
}

/** Collects an upload into segments of whole pieces, and hashes them one at a time. */
async function hashSegments(
  upload: IncomingMessage,
  pieces: number,
  hash: (segment: Uint8Array<ArrayBuffer>) => unknown,
) {
  let [waiting, size]: [Uint8Array[], number] = [[], 0];
  const flush = async () => {
    const segment = new Uint8Array(Buffer.concat(waiting));
    [waiting, size] = [[], 0];
    await hash(segment);
  };
  for await (const chunk of upload as AsyncIterable<Uint8Array>) {
    waiting.push(chunk);
    size += chunk.length;
    if (size >= pieces * PIECE) await flush();
  }
  await flush();
}

/** Workers without an upload. They stay, as a server would keep them. */
const free: Worker[] = [];

async function hashInWorker(upload: IncomingMessage): Promise<void> {
  const worker = free.pop() ?? new Worker(fileURLToPath(import.meta.url));
  await hashSegments(upload, 16, async (segment) => {
    worker.postMessage(segment, [segment.buffer]);
    await once(worker, 'message');
  });
  free.push(worker);
}

const HANDLERS: Record<Mode, (upload: IncomingMessage) => Promise<unknown>> = {
  drained: (upload) => once(upload.resume(), 'end'),
  'hashed by node:crypto': (upload) => hashSegments(upload, 1, hashPieces),
  'hashed by node:crypto in a worker': hashInWorker,
  'hashed by metainfo': (upload) => create([{ path: 'upload', data: upload }], { pieceLength: PIECE }),
};

if (!isMainThread)
  parentPort?.on('message', (segment: Uint8Array) => {
    hashPieces(segment);
    parentPort?.postMessage(null);
  });
else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const handle = HANDLERS[process.argv[2] as Mode];
  const server = createServer(async (request, response) => {
    if (request.method === 'PUT') await handle(request);
    const { user, system } = process.cpuUsage();
    const usage: Usage = { time: performance.now(), cpu: (user + system) / 1000 };
    response.end(JSON.stringify(usage));
  });
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
}
