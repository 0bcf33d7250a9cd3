import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { finish, metainfoProcess, start } from '../../../../test/cli/run.ts';
import { sparseFile, temporaryFolder, writeTree } from '../../../../test/support/tree.ts';
import { redisMissing, redisServer } from '../support/redis.ts';

const skip = redisMissing();

/** Waits for a condition, a minute at most. */
async function until<T>(condition: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (let tries = 0; tries < 3000; tries += 1) {
    const found = await condition();
    if (found) return found;
    await delay(20);
  }
  assert.fail('it never happened');
}

interface Answer {
  status: number;
  type: string | undefined;
  body: string;
}

function ask(url: string, method = 'GET', headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { method, headers, agent: false }, async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'], body });
    });
    request.on('error', reject).end();
  });
}

/** A server, and a worker with metrics at an address. */
async function setUp(t: TestContext, address: string) {
  const redis = await redisServer(t);
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'data/set/a': 100_000, 'store/keep': 1 });
  const shared = ['--queue', redis.url, '--root', 'data=data', '--store', 'store'];
  const child = start(['worker', ...shared, '--metrics', address, '--grace', '1h'], { cwd });
  t.after(async () => void child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text;
  });
  const url = await until(() => /metrics at (http:\S+)\/metrics,/.exec(said)?.[1]);
  return { redis, cwd, shared, child, url, said: () => said };
}

/** The value of a line of metrics; null if there is none. */
function sampleOf(body: string, line: string): number | null {
  const found = body.split('\n').find((text) => text.startsWith(`${line} `));
  return found === undefined ? null : Number(found.slice(line.length));
}

describe('metainfo worker --metrics', { skip }, () => {
  it('serves the jobs of the worker and of the queue, and its health', async (t) => {
    const { cwd, shared, child, url, redis } = await setUp(t, '127.0.0.1:0');
    await until(async () => (await ask(`${url}/healthz`)).status === 200);
    const create = ['create', 'data/set', '-l', '16KiB', '--part-size', '32KiB', '-o', 'data/x.torrent', ...shared];
    const made = await metainfoProcess(create, { cwd });
    assert.equal(made.code, 0, made.stderr);
    const { status, type, body } = await ask(`${url}/metrics`);
    assert.deepEqual([status, type], [200, 'text/plain; version=0.0.4; charset=utf-8']);
    assert.equal(sampleOf(body, 'metainfo_jobs_total{kind="part",root="data",result="ok"}'), 4);
    assert.equal(sampleOf(body, 'metainfo_hashed_bytes_total{root="data"}'), 100_000);
    assert.equal(sampleOf(body, 'metainfo_job_seconds_count{kind="part",root="data"}'), 4);
    assert.equal(sampleOf(body, 'metainfo_jobs_running'), 0);
    assert.equal(sampleOf(body, 'metainfo_queue_connected'), 1);
    assert.equal(sampleOf(body, 'metainfo_queue_workers{root="data"}'), 1);
    for (const state of ['waiting', 'active', 'delayed', 'failed'])
      assert.equal(sampleOf(body, `metainfo_queue_jobs{root="data",state="${state}"}`), 0);
    assert.ok((sampleOf(body, 'process_cpu_seconds_total') ?? 0) > 0);

    await redis.kill();
    await until(async () => (await ask(`${url}/healthz`)).status === 503);
    await until(async () => sampleOf((await ask(`${url}/metrics`)).body, 'metainfo_queue_connected') === 0);
    const later = await ask(`${url}/metrics`);
    assert.doesNotMatch(later.body, /metainfo_queue_jobs\{/);
    assert.equal(sampleOf(later.body, 'metainfo_hashed_bytes_total{root="data"}'), 100_000);
    await redis.start();
    await until(async () => (await ask(`${url}/healthz`)).status === 200);
    child.kill('SIGTERM');
    assert.equal((await finish(child)).code, 0);
  });

  it('is not ready before the worker is connected, nor while it ends', async (t) => {
    const { cwd, shared, child, url, redis } = await setUp(t, '127.0.0.1:0');
    await until(async () => (await ask(`${url}/healthz`)).status === 200);
    await sparseFile(path.join(cwd, 'data'), 'large', 2 ** 40);
    const args = ['create', 'data/large', ...shared, '-k', 'v1', '-o', 'data/large.torrent', '--part-size', '1TiB'];
    const create = start(args, { cwd });
    t.after(async () => void create.kill('SIGKILL'));
    await until(async () => sampleOf((await ask(`${url}/metrics`)).body, 'metainfo_jobs_running') === 1);
    child.kill('SIGTERM');
    await until(async () => (await ask(`${url}/healthz`)).status === 503);
    assert.equal(sampleOf((await ask(`${url}/metrics`)).body, 'metainfo_jobs_running'), 1);
    child.kill('SIGTERM');
    assert.equal((await finish(child)).code, 0);
    await redis.kill();

    const next = start(['worker', ...shared, '--metrics', '127.0.0.1:0', '--json'], { cwd });
    t.after(async () => void next.kill('SIGKILL'));
    const [line] = await once(next.stderr, 'data');
    const { event, url: metrics } = JSON.parse(String(line).split('\n')[0] as string);
    assert.equal(event, 'metrics');
    assert.equal((await ask(metrics.replace('/metrics', '/healthz'))).status, 503);
    assert.equal((await ask(metrics)).status, 200);
    next.kill('SIGTERM');
    assert.equal((await finish(next)).code, 0);
  });

  it('reads no more than a request needs, repeats nothing of it, and answers the next one', async (t) => {
    const { url, child } = await setUp(t, '[::1]:0');
    assert.match(url, /^http:\/\/\[::1\]:\d+$/);
    const cases: [path: string, method: string, status: number][] = [
      ['/metrics?x=<b>', 'GET', 200],
      ['/healthz', 'HEAD', 200],
      ['/metrics', 'POST', 405],
      ['/metrics', 'DELETE', 405],
      ['/', 'GET', 404],
      ['/<script>', 'GET', 404],
      ['/__proto__', 'GET', 404],
      ['/constructor', 'GET', 404],
      ['//metrics', 'GET', 404],
    ];
    await until(async () => (await ask(`${url}/healthz`)).status === 200);
    for (const [where, method, status] of cases) {
      const answer = await ask(url + where, method);
      assert.equal(answer.status, status, `${method} ${where}`);
      assert.doesNotMatch(answer.body, /<script|<b>/);
      if (status !== 200) assert.equal(answer.body, '');
    }
    assert.equal((await ask(`${url}/metrics`, 'GET', { 'X-Long': 'x'.repeat(20_000) })).status, 431);
    const { port } = new URL(url);
    const socket = connect(Number(port), '::1').on('error', () => {});
    socket.write('\0\x01not http\r\n\r\n');
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 400 /);
    assert.equal((await ask(`${url}/healthz`)).status, 200);
    child.kill('SIGTERM');
    assert.equal((await finish(child)).code, 0);
  });

  it('an address that cannot be used ends the command before it takes a job', async (t) => {
    const cwd = await temporaryFolder(t);
    const taken = createServer().listen(0, '127.0.0.1');
    t.after(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const run = (address: string) =>
      metainfoProcess(
        ['worker', '--redis', 'redis://127.0.0.1:1', '--root', 'a=.', '--store', 'store', '--metrics', address],
        { cwd },
      );
    const used = await run(`127.0.0.1:${port}`);
    assert.deepEqual([used.code, used.stdout], [2, '']);
    assert.match(
      used.stderr,
      new RegExp(`^error: --metrics cannot listen at 127.0.0.1:${port}: the address is in use\\.`),
    );
    for (const address of ['9464', '127.0.0.1', '127.0.0.1:65536', '::1:9464', '[::1]', 'http://x:1', 'a b:1', ':1']) {
      const { code, stderr } = await run(address);
      assert.equal(code, 2, address);
      assert.match(stderr, /Expected HOST:PORT such as 127\.0\.0\.1:9464 or \[::1\]:9464/);
    }
  });
});
