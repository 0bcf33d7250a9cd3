// Uploads for bench/servers.ts, from a process of their own: uploads.ts URL JSON. It prints a line when they begin, and their rate when they end.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';

export interface Uploads {
  seconds: number;
  /** Bytes of one upload. */
  size: number;
  /** Uploads at once. */
  uploads: number;
  /** Bytes per second of all uploads together, at most. */
  rate: number;
}

const CHUNK = Buffer.alloc(2 ** 16, 'upload');
const agent = new Agent({ keepAlive: true });

/** The bytes of an upload, no faster than this many bytes per second. */
async function* paced(size: number, rate: number): AsyncGenerator<Uint8Array> {
  const started = performance.now();
  for (let sent = 0; sent < size; sent += CHUNK.length) {
    const ahead = (sent / rate) * 1000 - (performance.now() - started);
    if (ahead >= 1) await delay(ahead);
    yield CHUNK.subarray(0, size - sent);
  }
}

const [url = '', settings = ''] = process.argv.slice(2);
const { seconds, size, uploads, rate } = JSON.parse(settings) as Uploads;
async function upload(length: number): Promise<void> {
  const sent = request(url, { method: 'PUT', agent });
  const answered = once(sent, 'response');
  await Promise.all([pipeline(Readable.from(paced(length, rate / uploads)), sent), answered]);
  const [response] = await answered;
  if (response.statusCode !== 200) throw new Error(`an upload was answered with ${response.statusCode}`);
  await response.resume().toArray();
}

const inEachLane = (lane: () => Promise<void>) => Promise.all(Array.from({ length: uploads }, lane));
// Small uploads first: the server loads its code and starts its threads.
await inEachLane(() => upload(CHUNK.length));
console.log('begun');
const started = performance.now();
let bytes = 0;
await inEachLane(async () => {
  do {
    await upload(size);
    bytes += size;
  } while (performance.now() - started < seconds * 1000);
});
console.log(bytes / ((performance.now() - started) / 1000));
agent.destroy();
