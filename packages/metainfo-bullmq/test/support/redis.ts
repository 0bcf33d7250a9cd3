/** Starts a Redis server for a test: on a random port of 127.0.0.1, with an append-only file in a temporary folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { missing } from '../../../../test/support/external.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { temporaryFolder } from '../../../../test/support/tree.ts';

/** Returns why a test that needs Redis must skip. Streams and the blocking commands of BullMQ need 6.2. */
export const redisMissing = (): string | false =>
  missing('redis-server', 'redis-server', ['--version'], { oldest: '6.2' });

/** A running server. */
export interface RedisServer {
  url: string;
  /** Kills the server as a crash does. */
  kill(): Promise<void>;
  /** Starts it again with the same port and folder. */
  start(): Promise<void>;
  /** The append-only files. */
  folder: string;
  client: Redis;
}

/** Starts a server that ends with the test. */
export async function redisServer(
  t: { after(work: () => Promise<void>): void },
  { program = 'redis-server', password = '', isPersistent = true } = {},
): Promise<RedisServer> {
  const folder = await temporaryFolder(t);
  const port = await freePort();
  let child: ChildProcess | null = null;
  const start = async () => {
    const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder];
    if (isPersistent) options.push('--appendonly', 'yes', '--appendfsync', 'always');
    const secret = password === '' ? [] : ['--requirepass', password];
    const started = spawn(program, [...options, '--save', '', ...secret], { stdio: ['ignore', 'pipe', 'ignore'] });
    child = started;
    await new Promise<void>((resolve) => {
      let text = '';
      started.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.includes('eady to accept connections')) resolve();
      });
    });
  };
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  await start();
  const url = `redis://${password === '' ? '' : `:${password}@`}127.0.0.1:${port}`;
  const client = new Redis(url, { maxRetriesPerRequest: null });
  client.on('error', () => {});
  t.after(async () => {
    client.disconnect();
    await kill();
    await delay(10);
  });
  return { url, kill, start, folder: path.join(folder, 'appendonlydir'), client };
}
