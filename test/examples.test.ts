import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import S3rver from '@20minutes/s3rver';
import { TorrentCreate } from '../src/create/draft.ts';
import { Torrent } from '../src/model/torrent/torrent.ts';
import { noise } from './hash/reference.ts';
import { temporaryFolder } from './support/tree.ts';

const EXAMPLES = fileURLToPath(new URL('../examples', import.meta.url));

/** The expected output of each example. Examples import the built package by its name. */
const OUTPUT: Record<string, RegExp> = {
  'common.cjs': /^album: 4 files, complete\na second time: ERR_OUTPUT_EXISTS \(conflict\)$/m,
  'folder.mjs':
    /^notes\/readme\.txt: \d+ bytes$[\s\S]*^infohash v2 663e53b47c945ca3a66f41889fcc99f85f99ebb6136a071c586681c6bc2c022c$/m,
  'many.mjs': /^1000 torrents in /,
  'object-store.mjs': /^2 objects, 9050000 bytes in 6 requests$/m,
  'opentelemetry.mjs': new RegExp(
    [
      '^POST /torrents > metainfo create: 10 bytes, ok',
      'POST /verifications > metainfo create: 10 bytes, ok',
      'POST /verifications > metainfo verify: 10 bytes, ERR_NOT_FOUND',
      'client > POST /torrents: - bytes, ok',
      'client > POST /verifications: - bytes, ok\n$',
    ].join('\n'),
  ),
  'partial-download.mjs': /^film\.mkv: pieces 0, 1, 3, 7 of 11 are valid$/m,
  'pino.mjs':
    /^\{"level":"info",.*"operation":"create".*"bytes":10,.*"msg":"job done"\}\n\{"level":"info",.*"code":"ERR_NOT_FOUND",.*"msg":"job failed"\}\n\{"level":"warn",.*"code":"ERR_SOURCE",.*"msg":"job failed"\}\n$/,
  's3-parts.mjs':
    /^3 parts, infohash v2 [0-9a-f]{64}\ngenerate makes the same: true\nafter the film was replaced: ERR_FILE_CHANGED$/m,
  'upload.mjs': /^the file on disk has the same infohash$/m,
};

describe('examples', () => {
  it('have an expected output each', () => {
    assert.deepEqual(
      readdirSync(EXAMPLES).filter((name) => /\.[mc]js$/.test(name)),
      [...Object.keys(OUTPUT), 'express.mjs', 'fastify.mjs', 's3-upload.mjs'].sort(),
    );
  });

  it('have less than 100 lines each', () => {
    for (const name of readdirSync(EXAMPLES).filter((one) => one.endsWith('js')))
      assert.ok(readFileSync(path.join(EXAMPLES, name), 'utf8').split('\n').length <= 100, name);
  });

  for (const [name, expected] of Object.entries(OUTPUT)) {
    it(`${name} runs and prints its output`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(EXAMPLES, name)], { encoding: 'utf8' });
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
      assert.match(stdout, expected);
    });
  }
});

/** A running example. */
interface Server {
  url: string;
  /** Where it saves uploads. */
  folder: string;
  pid: number;
}

/** Starts an example that is a server. */
async function start(t: TestContext, name: string, ...more: string[]): Promise<Server> {
  const folder = await temporaryFolder(t);
  const server = spawn(process.execPath, [path.join(EXAMPLES, name), folder, '0', ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => server.kill('SIGKILL'));
  const [line] = (await server.stdout.setEncoding('utf8').take(1).toArray()) as [string];
  return { url: line.trim(), folder, pid: server.pid as number };
}

/** Waits until something is so. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(20);
}

const film = noise(3_000_000);
const expected = async (name: string) =>
  new TorrentCreate({ sources: [{ path: name, data: film }], pieceLength: 2 ** 20 }).generate();

/** Starts an upload, and breaks the connection when the server has saved some of it: without a name on Linux, else under a temporary one. */
async function breakOff({ folder, pid }: Server, url: string, method: string, head: string): Promise<void> {
  const before = readdirSync(folder).sort();
  const held = `/proc/${pid}/fd`;
  const unnamed = () => (existsSync(held) ? readdirSync(held).map((name) => path.join(held, name)) : []);
  const isSaved = (file: string) => targetOf(file).startsWith(`${folder}${path.sep}`);
  const sizes = () => [
    ...readdirSync(folder).map((name) => (before.includes(name) ? 0 : sizeOf(path.join(folder, name)))),
    ...unnamed().filter(isSaved).map(sizeOf),
  ];
  const type = head === '' ? 'application/octet-stream' : 'multipart/form-data; boundary=X';
  const upload = request(url, { method, headers: { 'content-type': type } });
  upload.on('error', () => {});
  upload.write(head);
  upload.write(film);
  await until(() => Math.max(0, ...sizes()) > 0);
  upload.destroy();
  await until(() => isDeepStrictEqual(readdirSync(folder).sort(), before) && Math.max(0, ...sizes()) === 0);
}

/** Where a descriptor leads; it may be closed meanwhile. */
function targetOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

describe('the servers of the examples', () => {
  it('fastify.mjs makes torrents of uploads, tells the progress, and survives clients that go away', async (t) => {
    const server = await start(t, 'fastify.mjs');
    const { url, folder } = server;
    const send = async (id: string, content: Uint8Array | null, name = 'film.mkv') => {
      const form = new FormData();
      if (content) form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name);
      const response = await fetch(`${url}/uploads/${id}`, { method: 'POST', body: form });
      return { code: response.status, body: (await response.json()) as Record<string, string> };
    };
    const events = await fetch(`${url}/uploads/one/progress`);
    assert.equal(events.headers.get('content-type'), 'text/event-stream');
    const { code, body } = await send('one', film);
    assert.deepEqual([code, body['torrent']], [201, '/torrents/one']);
    assert.match(await events.text(), /^event: progress\ndata: \d+\n\n[\s\S]*event: end\ndata: 0\n\n$/);
    const torrent = Torrent.fromBytes(new Uint8Array(await (await fetch(url + body['torrent'])).arrayBuffer()));
    assert.equal(torrent.infohashV2, (await expected('film.mkv')).infohashV2);
    assert.deepEqual(readFileSync(path.join(folder, 'one')), film);

    assert.deepEqual(await send('one', film), { code: 409, body: { error: 'ERR_OUTPUT_EXISTS' } });
    assert.deepEqual(await send('two', new Uint8Array()), { code: 422, body: { error: 'ERR_NO_DATA' } });
    assert.equal((await send('a b', film)).code, 400);
    assert.equal((await fetch(`${url}/torrents/none`)).status, 404);
    assert.ok(!existsSync(path.join(folder, 'two')));
    mkdirSync(path.join(folder, 'three.torrent'));
    assert.equal((await send('three', film)).code, 400);
    assert.ok(!existsSync(path.join(folder, 'three')));

    const head = '--X\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
    await breakOff(server, `${url}/uploads/gone`, 'POST', head);
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    await until(async () => /^metainfo\{stat="cancelled"\} 1$/m.test(await metrics()));
    assert.match(await metrics(), /^metainfo\{stat="running"\} 0\n[\s\S]*^metainfo\{stat="bytes"\} [3-9]\d{6}$/m);
    assert.equal((await send('gone', film)).code, 201);
  });

  it('express.mjs makes torrents of uploads and checks other copies', async (t) => {
    const server = await start(t, 'express.mjs');
    const { url } = server;
    const send = async (method: string, to: string, content: Uint8Array) => {
      const response = await fetch(url + to, { method, body: content as Uint8Array<ArrayBuffer> });
      return [response.status, await response.json()];
    };
    const { ...made } = { magnet: (await expected('film.mkv')).magnet() };
    assert.deepEqual(await send('PUT', '/files/film.mkv', film), [201, made]);
    const torrent = Torrent.fromBytes(
      new Uint8Array(await (await fetch(`${url}/files/film.mkv.torrent`)).arrayBuffer()),
    );
    assert.equal(torrent.magnet(), made.magnet);
    const good = { ok: true, badPieces: [], status: 'complete' };
    assert.deepEqual(await send('POST', '/check/film.mkv', film), [200, good]);
    const damaged = Buffer.from(film).fill('x', 2_000_000, 2_000_001);
    assert.deepEqual(await send('POST', '/check/film.mkv', damaged), [
      200,
      { ok: false, badPieces: [[1, 1]], status: 'partial' },
    ]);
    assert.deepEqual(await send('POST', '/check/other', film), [400, { error: 'ERR_NOT_FOUND' }]);
    assert.deepEqual(await send('PUT', '/files/film.mkv', film), [409, { error: 'ERR_OUTPUT_EXISTS' }]);
    assert.deepEqual(await send('PUT', '/files/..%2Fup', film), [400, { error: 'ERR_NAME' }]);
    await breakOff(server, `${url}/files/gone`, 'PUT', '');
    assert.equal((await send('PUT', '/files/gone', film))[0], 201);
  });

  it('fastify.mjs and express.mjs refuse uploads above their limit, and keep nothing of them', async (t) => {
    const most = 100_000;
    const servers = {
      'fastify.mjs': async (url: string, id: string, content: Uint8Array) => {
        const form = new FormData();
        form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), 'film.mkv');
        return fetch(`${url}/uploads/${id}`, { method: 'POST', body: form });
      },
      'express.mjs': async (url: string, id: string, content: Uint8Array) =>
        fetch(`${url}/files/${id}`, { method: 'PUT', body: content as Uint8Array<ArrayBuffer> }),
      // Without a content-length.
      'express.mjs with a stream': async (url: string, id: string, content: Uint8Array) =>
        fetch(`${url}/files/${id}`, {
          method: 'PUT',
          body: new Blob([content as Uint8Array<ArrayBuffer>]).stream(),
          duplex: 'half',
        }),
    };
    for (const [name, send] of Object.entries(servers)) {
      const { url, folder } = await start(t, name.replace(/ .*/, ''), String(most));
      for (const size of [most + 1, 2 * most]) {
        const answer = await send(url, 'large', film.subarray(0, size));
        assert.deepEqual([answer.status, readdirSync(folder)], [413, []], `${name}, ${size} bytes`);
        assert.match(((await answer.json()) as { error: string }).error, /^ERR_SOURCE/);
      }
      assert.equal((await send(url, 'small', film.subarray(0, most))).status, 201, name);
      assert.deepEqual(readdirSync(folder).sort(), ['small', 'small.torrent']);
    }
  });

  it('s3-upload.mjs uploads in parts and hashes at the same time', async (t) => {
    const folder = await temporaryFolder(t);
    await mkdir(path.join(folder, 'store'));
    const store = new S3rver({
      address: '127.0.0.1',
      port: 0,
      silent: true,
      directory: path.join(folder, 'store'),
      configureBuckets: [{ name: 'bucket', configs: [] }],
    });
    const { port } = await store.run();
    t.after(() => store.close());
    const content = noise(20_000_000);
    const file = path.join(folder, 'film.mkv');
    await writeFile(file, content);
    const env = {
      ...process.env,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      AWS_REGION: 'us-east-1',
    };
    const bucket = `http://127.0.0.1:${port}/bucket`;
    const run = (to: string) =>
      promisify(execFile)(process.execPath, [path.join(EXAMPLES, 's3-upload.mjs'), file, to], { env });
    const { stdout, stderr } = await run(bucket);
    const sources = [{ path: 'film.mkv', data: content }];
    const torrent = await new TorrentCreate({ sources, pieceLength: 2 ** 20 }).generate();
    const line = `film.mkv: ${content.length} bytes, infohash v2 ${torrent.infohashV2}\n`;
    assert.deepEqual([stdout, stderr], [line, '']);
    await assert.rejects(run(`${bucket}-of-nobody`), /the store answers with status 404/);
  });
});
