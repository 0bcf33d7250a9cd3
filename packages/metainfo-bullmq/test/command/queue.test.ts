import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOf, command, entries, finish, metainfoProcess, start } from '../../../../test/cli/run.ts';
import { openFilesIn } from '../../../../test/support/proc.ts';
import { sparseFile, temporaryFolder, writeTree } from '../../../../test/support/tree.ts';
import { postgresMissing, postgresServer } from '../support/postgres.ts';
import { type RedisServer, redisMissing, redisServer } from '../support/redis.ts';

const KIB = 1024;
const SECRET = 'secret-password';
const skip = redisMissing();

/** Waits for a condition, a minute at most. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries += 1) {
    assert.ok(tries < 3000);
    await delay(20);
  }
}

/** A server with a password, content and the arguments of commands. */
async function setUp(t: TestContext) {
  const redis = await redisServer(t, { password: SECRET });
  const cwd = await temporaryFolder(t);
  await writeTree(cwd, { 'data/set/a': 300 * KIB, 'data/set/b': 5, 'store/keep': 1 });
  const shared = ['--root', 'data=data', '--store', 'store'];
  const worker = (...more: string[]) => {
    const child = start(['worker', '--redis', redis.url, ...shared, ...more], { cwd });
    t.after(async () => void child.kill('SIGKILL'));
    return child;
  };
  const queued = (...args: string[]) => [...args, '--queue', redis.url, ...shared, '--part-size', '32KiB'];
  return { redis, cwd, worker, queued };
}

describe('metainfo worker with a server of another kind', () => {
  /** A server that greets each client with some bytes, or with none. */
  async function serverOf(t: TestContext, greeting: string) {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}));
      if (greeting !== '') socket.once('data', () => socket.end(greeting));
    }).listen(0, '127.0.0.1');
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }
  // Redis waits for the end of a line, which PostgreSQL never sends. PostgreSQL answers with an error packet.
  const CASES = [
    ['postgres', '', /does not answer as PostgreSQL does/],
    ['redis', 'E\0\0\0\x0eSFATAL\0\0\0', /does not answer as Redis does/],
  ] as const;
  for (const [scheme, greeting, expected] of CASES)
    it(`says so, and ends at once when it is told to: ${scheme}`, async (t) => {
      const cwd = await temporaryFolder(t);
      await writeTree(cwd, { 'data/a': 1, 'store/keep': 1 });
      const url = `${scheme}://127.0.0.1:${await serverOf(t, greeting)}/${scheme === 'redis' ? '' : 'jobs'}`;
      const child = start(['worker', '--queue', url, '--root', 'data=data', '--store', 'store'], { cwd });
      let said = '';
      child.stderr.on('data', (text: Buffer) => {
        said += text;
      });
      await until(() => expected.test(said));
      child.kill('SIGTERM');
      const ended = child.exitCode ?? child.signalCode ?? once(child, 'exit');
      // A worker that waits for its server takes 20 seconds.
      assert.notEqual(await Promise.race([ended, delay(5000, 'late', { ref: false })]), 'late');
    });
});

const noPostgres = await postgresMissing();

describe('commands that the server of a queue refuses', () => {
  const SERVERS = [
    { name: 'Redis, a wrong password', skip, start: refusing(({ url }) => url.replace(SECRET, 'wrong'), /WRONGPASS/) },
    { name: 'Redis, no password', skip, start: refusing(({ url }) => url.replace(/\/\/.*@/, '//'), /NOAUTH/) },
    { name: 'Redis, no permission', skip, start: refusing(({ url }) => url.replace('//:', '//reader:'), /NOPERM/) },
    {
      name: 'PostgreSQL, no database',
      skip: noPostgres,
      start: async (t: TestContext) => ({ url: `${await postgresServer(t)}x`, reason: /"postgresx" does not exist/ }),
    },
  ];
  function refusing(urlOf: (redis: RedisServer) => string, reason: RegExp) {
    return async (t: TestContext) => {
      const redis = await redisServer(t, { password: SECRET });
      const rules = ['on', `>${SECRET}`, '~*', '&*', '+@all', '-eval', '-evalsha'];
      await redis.client.call('ACL', 'SETUSER', 'reader', ...rules);
      return { url: urlOf(redis), reason };
    };
  }
  for (const { name, skip, start } of SERVERS)
    it(`end with exit code 1: ${name}`, { skip }, async (t) => {
      const { url, reason } = await start(t);
      const cwd = await temporaryFolder(t);
      await writeTree(cwd, { 'data/a': 1, 'store/keep': 1 });
      await metainfoProcess(['create', 'data/a', '-o', 'a.torrent'], { cwd });
      const shared = ['--queue', url, '--root', 'data=data', '--store', 'store'];
      for (const args of [
        ['worker'],
        ['create', 'data/a', '-o', 'data/a.torrent'],
        ['verify', 'a.torrent', 'data/a'],
      ]) {
        const { code, stdout, stderr } = await metainfoProcess([...args, ...shared], { cwd });
        assert.deepEqual([code, stdout], [1, ''], stderr);
        assert.match(stderr, reason);
        assert.match(stderr, /\[ERR_QUEUE\]\n$/);
      }
    });
});

describe('metainfo worker without its server', () => {
  for (const scheme of ['redis', 'postgres'])
    it(`says so once, keeps trying, and ends when it is told to: ${scheme}`, async (t) => {
      const cwd = await temporaryFolder(t);
      await writeTree(cwd, { 'data/a': 1, 'store/keep': 1 });
      let attempts = 0;
      const server = createServer((socket) => {
        attempts += 1;
        socket.on('error', () => {}).destroy();
      }).listen(0, '127.0.0.1');
      t.after(async () => void server.close());
      await once(server, 'listening');
      const name = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const child = start(['worker', '--queue', name, '--root', 'data=data', '--store', 'store'], { cwd });
      t.after(async () => void child.kill('SIGKILL'));
      const ended = finish(child);
      let said = '';
      child.stderr.on('data', (text: string) => {
        said += text;
      });
      await until(() => said !== '');
      const before = attempts;
      await until(() => attempts > before + 6);
      child.kill('SIGTERM');
      const { code, stdout, stderr } = await ended;
      assert.deepEqual([code, stdout], [0, '']);
      assert.match(stderr, new RegExp(`^error: no answer from ${name}: .+; trying again \\[ERR_QUEUE\\]\n$`));
    });
});

describe('metainfo worker, create --queue and verify --queue', { skip }, () => {
  it('make the torrent that create makes, and find damage', async (t) => {
    const { cwd, worker, queued } = await setUp(t);
    const child = worker();
    const create = ['create', 'data/set', '-l', '16KiB', '-o', 'data/x.torrent'];
    const made = await metainfoProcess(queued(...create), { cwd });
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^data\/x\.torrent: hybrid, 2 files, 300 KiB, from 10 parts\ninfohash v1 /);
    assert.match(made.stderr, /^queued 10 parts of at most 32 KiB at redis:\/\/127\.0\.0\.1:\d+\n/);
    await metainfoProcess(['create', 'data/set', '-l', '16KiB', '-o', 'whole.torrent'], { cwd });
    assert.ok((await bytesOf(cwd, 'data/x.torrent')).equals(await bytesOf(cwd, 'whole.torrent')));

    const check = ['verify', 'whole.torrent', 'data/set'];
    const good = await metainfoProcess(queued(...check), { cwd });
    // On a busy machine it takes long enough to show its progress.
    assert.deepEqual([good.code, good.stderr.replace(/^ *\d+ % .*\n/gm, '')], [0, '']);
    const file = path.join(cwd, 'data/set/a');
    const bytes = await readFile(file);
    bytes[200 * KIB] = (bytes[200 * KIB] as number) ^ 1;
    await writeFile(file, bytes);
    const bad = await metainfoProcess(queued(...check, '--json'), { cwd });
    assert.equal(bad.code, 1);
    assert.deepEqual(JSON.parse(bad.stdout).badPieces, [[12, 12]]);

    child.kill('SIGTERM');
    const { code, stdout, stderr } = await finish(child);
    assert.deepEqual(
      [code, stderr.replace(/:\d+,/, ':PORT,')],
      [0, 'working for redis://127.0.0.1:PORT, until SIGTERM or Ctrl-C\n'],
    );
    assert.match(stdout, /^part \d+ of [0-9a-f]{8} in data: done, 32 KiB in \d+\.\d s \(.*\/s\)\n/);
  });

  it('never show the password of the server', async (t) => {
    const { cwd, redis, worker, queued } = await setUp(t);
    const texts: string[] = [];
    const run = async (...args: string[]) => {
      const { stdout, stderr } = await metainfoProcess(args, { cwd });
      texts.push(stdout, stderr);
    };
    const child = worker('--json');
    await run(...queued('create', 'data/set', '-o', 'data/x.torrent', '--json'));
    child.kill('SIGTERM');
    const { stdout, stderr } = await finish(child);
    texts.push(stdout, stderr);
    await redis.kill();
    const bad = redis.url.replace(SECRET, `${SECRET}%zz`);
    await run('worker', '--redis', bad.replace('redis:', 'ftp:'), '--root', 'a=.', '--store', 'store');
    await run('worker', '--redis', `://${SECRET}`, '--root', 'a=.', '--store', 'store');
    await run(...queued('create', 'data/set', '-o', 'data/y.torrent', '--json'));
    await run(...queued('verify', 'data/x.torrent', 'data/set'));
    assert.ok(texts.join('').length > 200);
    assert.ok(
      !texts.join('').includes(SECRET),
      texts.find((text) => text.includes(SECRET)),
    );
  });

  it('a worker that is stopped gives its part back within a second, and another one ends it', async (t) => {
    const { cwd, worker, redis } = await setUp(t);
    await sparseFile(path.join(cwd, 'data'), 'large', 6 * 2 ** 30);
    const first = worker('--threads', '1', '-q', '--grace', '0s');
    const args = ['create', 'data/large', '--queue', redis.url, '--root', 'data=data', '--store', 'store', '-k', 'v1'];
    const create = start([...args, '-o', 'data/large.torrent', '-q'], { cwd });
    t.after(async () => void create.kill('SIGKILL'));
    const isActive = async () => Number(await redis.client.llen('metainfo:metainfo-parts-data:active')) > 0;
    await until(isActive);
    const stopped = performance.now();
    first.kill('SIGTERM');
    assert.equal((await finish(first)).code, 0);
    t.diagnostic(`${Math.round(performance.now() - stopped)} ms from SIGTERM to the exit`);
    assert.equal(await isActive(), false);
    worker('-q');
    const { code, stderr } = await finish(create);
    assert.deepEqual([code, stderr], [0, '']);
  });

  it('an interrupted create leaves the torrent to the workers, and a second one attaches to it', async (t) => {
    const { cwd, worker, queued } = await setUp(t);
    const args = queued('create', 'data/set', '-o', 'data/x.torrent');
    const first = start(args, { cwd });
    const ready = new Promise((resolve) => first.stderr.once('data', resolve));
    await ready;
    first.kill('SIGINT');
    const { code, stderr } = await finish(first);
    assert.equal(code, 130);
    assert.match(stderr, /interrupted: the torrent stays in the queue; run the same command to see its progress\n$/);
    const second = start(args, { cwd });
    const attached = new Promise((resolve) => second.stderr.once('data', resolve));
    assert.match(String(await attached), /^attached to 10 parts of at most 32 KiB at /);
    // Not before: it could end the torrent before the second command asks for it.
    worker();
    const ended = await finish(second);
    assert.equal(ended.code, 0, ended.stderr);
  });

  it('say as JSON what may delete their jobs, once', async (t) => {
    const { cwd, worker, queued, redis } = await setUp(t);
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const child = worker('--json', '-q');
    const made = await metainfoProcess(queued('create', 'data/set', '-o', 'data/x.torrent', '--json'), { cwd });
    assert.equal(made.code, 0, made.stderr);
    child.kill('SIGTERM');
    for (const { stderr } of [made, await finish(child)]) {
      const { event, code, message } = JSON.parse(stderr);
      assert.deepEqual([event, code], ['warning', 'ERR_QUEUE']);
      assert.match(message, /set its maxmemory-policy to noeviction, not allkeys-lru/);
    }
  });

  it('says as JSON that an interrupted torrent stays in the queue', async (t) => {
    const { cwd, queued, redis } = await setUp(t);
    const child = start(queued('create', 'data/set', '-o', 'data/x.torrent', '--json'), { cwd });
    await until(async () => (await redis.client.keys('metainfo:metainfo-joins-data:*-join')).length === 1);
    child.kill('SIGINT');
    const { code, stdout } = await finish(child);
    const { error } = JSON.parse(stdout);
    assert.deepEqual([code, error.code], [130, 'ERR_ABORTED']);
    assert.match(error.message, /stays in the queue/);
  });

  it('says that the torrent is lost after the server lost its data', async (t) => {
    const { cwd, queued, redis } = await setUp(t);
    const child = start(queued('create', 'data/set', '-o', 'data/x.torrent'), { cwd });
    await new Promise((resolve) => child.stderr.once('data', resolve));
    await redis.client.flushall();
    const { code, stderr } = await finish(child);
    assert.equal(code, 1);
    assert.match(stderr, /error: The torrent is no longer in the queue: .* \[ERR_QUEUE\]\n$/);
  });

  it('an interrupted verification goes on with the same command, and leaves nothing in the store', async (t) => {
    const { cwd, worker, redis } = await setUp(t);
    const pieces = 128;
    await sparseFile(path.join(cwd, 'data'), 'large', pieces * 2 ** 24);
    const hash = createHash('sha1')
      .update(Buffer.alloc(2 ** 24))
      .digest();
    const head = `d4:infod6:lengthi${pieces * 2 ** 24}e4:name5:large12:piece lengthi${2 ** 24}e6:pieces${pieces * 20}:`;
    const torrent = Buffer.concat([Buffer.from(head), ...Array<Buffer>(pieces).fill(hash), Buffer.from('ee')]);
    await writeFile(path.join(cwd, 'large.torrent'), torrent);
    const child = worker('--threads', '1');
    const shared = ['--queue', redis.url, '--root', 'data=data', '--store', 'store', '--part-size', '256MiB'];
    const run = () => start(['verify', 'large.torrent', 'data/large', ...shared], { cwd });
    const hashed = async () => (await readdir(path.join(cwd, 'store'), { recursive: true })).length > 3;
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGKILL', null],
    ] as const) {
      const verify = run();
      t.after(async () => void verify.kill('SIGKILL'));
      await until(hashed);
      verify.kill(signal);
      const ended = await finish(verify);
      assert.equal(ended.code, code);
      if (signal === 'SIGINT')
        assert.match(ended.stderr, /interrupted: the verification stays in the queue; run the same/);
    }
    const last = await finish(run());
    assert.equal(last.code, 0, last.stderr);
    child.kill('SIGTERM');
    assert.equal((await finish(child)).stdout.match(/: done, 256 MiB/g)?.length, pieces / 16);
    assert.deepEqual(await entries(path.join(cwd, 'store')), ['keep']);
  });

  it('take the server from QUEUE_URL, but only with an option of queues', async (t) => {
    const { cwd, worker, redis } = await setUp(t);
    worker('-q');
    const env = { QUEUE_URL: redis.url };
    const local = await metainfoProcess(['create', 'data/set', '-o', 'data/local.torrent'], { cwd, env });
    assert.deepEqual([local.code, await redis.client.keys('*joins*join')], [0, []]);
    const shared = ['--root', 'data=data', '--store', 'store'];
    const made = await metainfoProcess(['create', 'data/set', '-o', 'data/x.torrent', ...shared], { cwd, env });
    assert.match(made.stderr, /^queued 1 part of at most 320 KiB at redis:/);
    const tiny = [
      'create',
      'data/set',
      '-l',
      '16KiB',
      '-o',
      'data/tiny.torrent',
      ...shared,
      '--part-size',
      '1',
      '--json',
    ];
    const { parts, partSize } = JSON.parse((await metainfoProcess(tiny, { cwd, env })).stdout);
    assert.deepEqual([parts, partSize], [20, 16 * KIB]);
    assert.equal((await metainfoProcess(['verify', 'data/x.torrent', 'data/set', ...shared], { cwd, env })).code, 0);
    assert.ok((await bytesOf(cwd, 'data/x.torrent')).equals(await bytesOf(cwd, 'data/local.torrent')));
  });

  it('a second signal ends the grace time of a worker, and its part goes back', async (t) => {
    const { cwd, worker, redis } = await setUp(t);
    await sparseFile(path.join(cwd, 'data'), 'large', 2 ** 40);
    const child = worker('--threads', '1', '--grace', '1h');
    const args = ['create', 'data/large', '--queue', redis.url, '--root', 'data=data', '--store', 'store', '-k', 'v1'];
    const create = start([...args, '-o', 'data/large.torrent', '-q', '--part-size', '1TiB'], { cwd });
    t.after(async () => void create.kill('SIGKILL'));
    const active = async () => Number(await redis.client.llen('metainfo:metainfo-parts-data:active'));
    await until(async () => (await active()) === 1);
    child.kill('SIGTERM');
    await delay(500);
    assert.deepEqual([child.exitCode, await active()], [null, 1]);
    child.kill('SIGTERM');
    assert.equal((await finish(child)).code, 0);
    assert.deepEqual([await active(), await redis.client.llen('metainfo:metainfo-parts-data:wait')], [0, 1]);
  });

  it('a worker tells of each outage of its server once, and of its end', async (t) => {
    const { worker, redis } = await setUp(t);
    const texts = [worker(), worker('--json')].map((child) => {
      const read = { child, stderr: '' };
      child.stderr.on('data', (text: Buffer) => {
        read.stderr += text;
      });
      return read;
    });
    const said = (pattern: RegExp, times: number) =>
      until(() => texts.every(({ stderr }) => (stderr.match(pattern) ?? []).length === times));
    await said(/working for/g, 1);
    for (const times of [1, 2]) {
      await redis.kill();
      await said(/no answer from/g, times);
      await redis.start();
      await said(/answers again/g, times);
    }
    for (const { child } of texts) child.kill('SIGTERM');
    await until(() => texts.every(({ child }) => child.exitCode === 0));
    const server = redis.url.replace(/:[^:]*@/, '');
    // A connection that had begun when the server ended is reset instead.
    const reasons = ['read ECONNRESET', `connect ECONNREFUSED ${server.replace('redis://', '')}`];
    const outage = `error: no answer from ${server}: (${reasons.join('|')}); trying again \\[ERR_QUEUE\\]\n${server} answers again\n`;
    assert.match(
      texts[0]?.stderr ?? '',
      new RegExp(`^working for ${server}, until SIGTERM or Ctrl-C\n(${outage}){2}$`),
    );
    const lines = texts[1]?.stderr.trimEnd().split('\n') ?? [];
    const events = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      events.map(({ event, code }) => [event, code]),
      [
        ['ready', null],
        ['outage', 'ERR_QUEUE'],
        ['connected', null],
        ['outage', 'ERR_QUEUE'],
        ['connected', null],
      ],
    );
    assert.equal(events[1].server, server);
    assert.ok(reasons.includes(events[1].reason));
  });

  it('a worker without a job ends when it is told to, although its server does not answer', async (t) => {
    const { worker, redis } = await setUp(t);
    const server = Number(/process_id:(\d+)/.exec(await redis.client.info('server'))?.[1]);
    const child = worker('--grace', '1h');
    await once(child.stderr, 'data');
    process.kill(server, 'SIGSTOP');
    child.kill('SIGTERM');
    assert.equal((await finish(child)).code, 0);
  });

  it('a worker that is told to end while its server is gone ends its part first, or at once when told again', async (t) => {
    const { cwd, worker, redis } = await setUp(t);
    const queued = async (name: string, size: number) => {
      await sparseFile(path.join(cwd, 'data'), name, size);
      const args = ['create', `data/${name}`, '--queue', redis.url, '--root', 'data=data', '--store', 'store'];
      const create = start([...args, '-k', 'v1', '-o', `data/${name}.torrent`, '-q', '--part-size', '1TiB'], { cwd });
      t.after(async () => void create.kill('SIGKILL'));
      const child = worker('--threads', '1', '--grace', '1h');
      // The worker has read the job that it took when it has the file open.
      await until(() => openFilesIn(path.join(cwd, 'data'), child.pid).length > 0);
      await redis.kill();
      child.kill('SIGTERM');
      return { create, child };
    };
    const { create, child } = await queued('large', 2 ** 40);
    await delay(1000);
    assert.equal(child.exitCode, null);
    child.kill('SIGTERM');
    assert.equal((await finish(child)).code, 0);
    create.kill('SIGKILL');
    await redis.start();
    await redis.client.flushall();
    const small = await queued('small', 2 ** 33);
    assert.equal((await finish(small.child)).code, 0);
    const parts = (await readdir(path.join(cwd, 'store'), { recursive: true })).filter((file) =>
      file.endsWith('.part'),
    );
    assert.deepEqual(
      parts.map((file) => path.basename(file)),
      ['0.part'],
    );
  });

  it('tell those who wait that nobody works for a root, and of an outage of the server', async (t) => {
    const { cwd, worker, queued, redis } = await setUp(t);
    await metainfoProcess(['create', 'data/set', '-l', '16KiB', '-o', 'whole.torrent'], { cwd });
    const commands = [
      queued('create', 'data/set', '-l', '16KiB', '-o', 'data/x.torrent', '--json'),
      queued('verify', 'whole.torrent', 'data/set', '--json'),
      queued('create', 'data/set/a', '-l', '16KiB', '-o', 'data/y.torrent', '-q'),
    ];
    const children = commands.map((args) => start(args, { cwd }));
    t.after(async () => {
      for (const child of children) child.kill('SIGKILL');
    });
    const texts = children.map(() => '');
    for (const [i, child] of children.entries())
      child.stderr.on('data', (text: Buffer) => {
        texts[i] += String(text);
      });
    const ended = children.map(finish);
    await until(() => texts.every((text) => /no worker serves the root data/.test(text)));
    await redis.kill();
    await until(() => texts.every((text) => /no answer from redis:/.test(text)));
    await redis.start();
    await until(() => texts.every((text) => /answers again/.test(text)));
    worker('-q');
    const results = await Promise.all(ended);
    assert.deepEqual(
      results.map(({ code }) => code),
      [0, 0, 0],
    );
    for (const { stdout, stderr } of results.slice(0, 2)) {
      // The last of them: after the outage, nobody works for a while again.
      const events = stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const [first] = events;
      assert.deepEqual([first.event, first.code, first.root, first.workers], ['no_worker', 'ERR_QUEUE', 'data', 0]);
      assert.ok(first.waiting > 0);
      assert.equal(events.filter(({ event }) => event === 'outage').length, 1);
      assert.equal(events.filter(({ event }) => event === 'connected').length, 1);
      assert.equal(stdout.trimEnd().split('\n').length, 1);
    }
    const lines = results[2]?.stderr.trimEnd().split('\n') ?? [];
    assert.match(
      lines[0] ?? '',
      /^warning: no worker serves the root data at redis:\/\/127\.0\.0\.1:\d+ \(\d+ waiting jobs?, 0 active, 0 delayed, 0 failed\): start metainfo worker --root data=PATH \[ERR_QUEUE\]$/,
    );
  });

  it('Ctrl-C in a terminal asks whether to cancel', async (t) => {
    const { cwd, queued } = await setUp(t);
    const line = command(queued('create', 'data/set', '-o', 'data/x.torrent'))
      .map((word) => `'${word}'`)
      .join(' ');
    const child = spawn('script', ['-qec', line, '/dev/null'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    let text = '';
    const seen = (what: RegExp) => until(() => what.test(text));
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await seen(/queued/);
    child.stdin.write('\x03');
    await seen(/Cancel the torrent\? \[y\/N\]/);
    child.stdin.write('y\n');
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.equal(code, 130);
    assert.match(text, /cancelled: no torrent is written/);
  });

  it('create --queue --dry-run shows the plan, and queues nothing', async (t) => {
    const { cwd, redis, queued } = await setUp(t);
    const args = queued('create', 'data/set', '-l', '16KiB', '-o', 'data/x.torrent', '--dry-run');
    const { code, stdout, stderr } = await metainfoProcess(args, { cwd });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^output {9}data\/x\.torrent\nname {11}set\n/);
    assert.equal(await redis.client.dbsize(), 0);
    assert.deepEqual(await entries(path.join(cwd, 'store')), ['keep']);
  });

  it('a worker ends on SIGTERM while its server is unreachable', async (t) => {
    const cwd = await temporaryFolder(t);
    const child = start(['worker', '--redis', 'redis://127.0.0.1:1', '--root', 'm=.', '--store', 'store'], { cwd });
    t.after(async () => void child.kill('SIGKILL'));
    let text = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await until(() => text.includes('error: '));
    child.kill('SIGTERM');
    await until(() => child.exitCode !== null || child.signalCode !== null);
    assert.deepEqual([child.exitCode, child.signalCode], [0, null]);
    assert.doesNotMatch(text, /working for/);
  });

  it('refuse options that are missing, and paths beneath no root', async (t) => {
    const { cwd, queued, redis } = await setUp(t);
    const cases: [args: string[], message: RegExp][] = [
      [['create', 'data/set', '--queue', redis.url], /--queue needs --root NAME=PATH/],
      [['create', 'data/set', '--queue', redis.url, '--root', 'a=.'], /--queue needs --store/],
      [['create', 'data/set', '--store', 'x'], /--store needs a queue: give --queue URL, or set QUEUE_URL/],
      [['create', 'data/set', '--priority', '5'], /--priority needs a queue/],
      [['create', 'data/set', '--priority', '1001'], /Expected a whole number from 1 to 1000/],
      [
        [
          'create',
          'data/set',
          '--queue',
          'redis://127.0.0.1/name',
          '--root',
          'data=data',
          '--store',
          'x',
          '-o',
          'data/x',
        ],
        /Redis numbers its databases/,
      ],
      [['worker', '--redis', `${redis.url}/name`, '--root', 'a=.', '--store', 'x'], /Redis numbers its databases/],
      [['worker', '--redis', redis.url, '--root', 'a=none', '--store', 'x'], /none: no such file or folder/],
      [['worker', '--redis', redis.url, '--root', 'a=data/set/a', '--store', 'x'], /the root a must be a folder/],
      [['worker', '--root', 'a=.', '--store', 'x'], /Name the server of the queue/],
      [['worker', '--redis', 'x', '--root', 'a', '--store', 'x'], /Expected NAME=PATH/],
      [queued('create', 'data/set', '-o', 'x.torrent'), /beneath no root of the workers/],
      [queued('create', '--each', 'data', '-o', 'data'), /--queue makes one torrent/],
      [queued('create', 'data/set', '-o', '-'), /A worker writes the torrent/],
      [queued('create', 'data/set', '--magnet'), /--magnet does not work with --queue/],
      [queued('create', 'data/set', '--link-file', 'x'), /--link-file does not work with --queue/],
      [queued('create', 'data/set', '--cache'), /--cache does not work with --queue/],
    ];
    for (const [args, message] of cases) {
      const { code, stdout, stderr } = await metainfoProcess(args, { cwd });
      assert.ok(code === 2 || code === 1, args.join(' '));
      assert.equal(stdout, '');
      assert.match(stderr, message);
    }
    assert.deepEqual(await entries(path.join(cwd, 'data')), ['set']);
  });

  it('fail when the server cannot be reached', async (t) => {
    const { cwd, redis, queued } = await setUp(t);
    await redis.kill();
    await metainfoProcess(['create', 'data/set', '-o', 'whole.torrent'], { cwd });
    const commands = [
      queued('create', 'data/set', '-o', 'data/x.torrent'),
      queued('verify', 'whole.torrent', 'data/set'),
    ];
    const ended = commands.map(async (args) => {
      const { code, stderr } = await metainfoProcess(args, { cwd });
      assert.equal(code, 1);
      // Each tells of the outage before it fails.
      assert.match(
        stderr,
        /no answer from redis:.*The server of the queue does not answer \(connect ECONNREFUSED 127\.0\.0\.1:\d+\)\. \[ERR_QUEUE\]/s,
      );
      return performance.now();
    });
    const [created = 0, verified = 0] = await Promise.all(ended);
    assert.ok(Math.abs(created - verified) < 7000, 'verify waited twice for the server');
  });
});
