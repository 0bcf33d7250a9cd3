import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { isPermanent, s3File, s3Store, webStore } from '../../src/index.ts';
import type { PartStore, StoredObject } from '../../src/parts/store.ts';
import { exerciseStore, PLAN_ID } from '../support/exercise-store.ts';
import { s3Server } from '../support/s3.ts';
import { temporaryFolder } from '../support/tree.ts';

const ID = PLAN_ID;
const SECRET = 'geheim-123';

async function listed(store: PartStore): Promise<StoredObject[]> {
  const found: StoredObject[] = [];
  for await (const object of store.list?.() ?? []) found.push(object);
  return found;
}

/** A server whose answers a test makes. */
async function serverOf(t: TestContext, handle: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('s3Store', () => {
  it('keeps what was put, and gives null for everything else, also under a prefix with odd characters', async (t) => {
    const s3 = await s3Server(t);
    for (const prefix of ['', '/a b/ü+~%41/', "/x&'()!*?#"])
      await exerciseStore(s3Store(`s3://jobs${prefix}`, s3.options));
    assert.ok(s3.requests.some((line) => line.includes('/jobs/a%20b/%C3%BC%2B~%2541/abab')));
  });

  it('lists its own objects, over all pages, and nothing else', async (t) => {
    const s3 = await s3Server(t);
    const store = s3Store('s3://jobs/a b', s3.options);
    const before = Date.now();
    await store.put(ID, 0, Buffer.from('part'));
    assert.deepEqual(await listed(s3Store('s3://jobs/none', s3.options)), []);
    await store.put(ID, 'plan', Buffer.from('{}'));
    for (const key of ['a b/note', `a b/${ID}/note.json`, `a b/x/${ID}/0.part`, `a bc/${ID}/1.part`, `${ID}/2.part`])
      await s3.upload(key, Buffer.from('x'));
    const found = await listed(store);
    assert.deepEqual(
      found.map(({ planId, name, size }) => [planId, name, size]),
      [
        [ID, 0, 4],
        [ID, 'plan', 2],
      ],
    );
    assert.ok(found.every(({ mtimeMs }) => Math.abs(mtimeMs - before) < 60_000));
    // s3rver cannot give the next page on current versions of OpenSSL.
    const page = (index: number, next: string) =>
      `<ListBucketResult><Contents><Key>a b/${ID}/${index}.part</Key><LastModified>2026-01-31T00:00:00.000Z</LastModified><Size>5</Size></Contents>${next}</ListBucketResult>`;
    const first = '<NextContinuationToken>a+b/c==&amp;d e</NextContinuationToken>';
    s3.handle = ({ request, response }) => {
      const token = new URL(`http://x${request.url}`).searchParams.get('continuation-token');
      assert.ok(token === null || token === 'a+b/c==&d e', `${token}`);
      response.end(token === null ? page(1, first) : page(2, ''));
    };
    const mtimeMs = Date.UTC(2026, 0, 31);
    assert.deepEqual(
      await listed(store),
      [1, 2].map((name) => ({ planId: ID, name, size: 5, mtimeMs })),
    );
  });

  it('tries again after 503, 429, a cut connection and a slow server, and after a refused one for PUT', async (t) => {
    const s3 = await s3Server(t);
    const store = s3Store('s3://jobs', { ...s3.options, idleTimeout: 500 });
    await store.put(ID, 0, Buffer.alloc(5000, 'x'));
    s3.handle = ({ index, response, pass }) => {
      const turn = index % 5;
      if (turn === 1) response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      else if (turn === 2) response.destroy();
      else if (turn === 3) void pass({ cut: 100 });
      else if (turn === 0) void pass();
    };
    // Request 1: 503. Request 2: cut before the answer. Request 3: cut in the body. Request 4: silence.
    const bytes = await store.get(ID, 0);
    assert.equal(bytes?.length, 5000);
    assert.equal(s3.requests.length, 6);
    s3.handle = ({ index, response, pass }) =>
      index === 6 ? response.writeHead(429, { 'retry-after': '0' }).end() : void pass();
    await store.put(ID, 1, Buffer.from('y'));
    assert.equal(String(await store.get(ID, 1)), 'y');
  });

  it('gives up with ERR_HTTP, which may pass, when the server stays away', async (t) => {
    const s3 = await s3Server(t);
    s3.handle = ({ response }) => response.writeHead(500).end('<Error><Code>InternalError</Code></Error>');
    const error = await s3Store('s3://jobs/p', { ...s3.options, retries: 1 })
      .get(ID, 0)
      .catch((reason: Error) => reason);
    assert.match(String(error), new RegExp(`s3://jobs/p/${ID}/0\\.part: .* status 500 \\(InternalError\\)`));
    assert.equal(isPermanent(error), false);
    assert.equal(s3.requests.length, 2);
    const nobody = { ...s3.options, endpoint: 'http://127.0.0.1:9', retries: 1 };
    await assert.rejects(s3Store('s3://jobs', nobody).put(ID, 0, Buffer.from('x')), { code: 'ERR_HTTP' });
  });

  it('works through a server that fails 5 % of all requests', async (t) => {
    const s3 = await s3Server(t);
    s3.handle = ({ index, response, pass }) => {
      if (index % 20 !== 3) void pass();
      else if (index % 40 === 3) response.destroy();
      else response.writeHead(503).end();
    };
    const store = s3Store('s3://jobs', s3.options);
    const names = Array.from({ length: 60 }, (_, i) => i);
    await Promise.all(names.map((i) => store.put(ID, i, Buffer.from(`part ${i}`))));
    const texts = await Promise.all(names.map(async (i) => String(await store.get(ID, i))));
    assert.deepEqual(
      texts,
      names.map((i) => `part ${i}`),
    );
    assert.ok(s3.requests.length > 120);
  });

  it('says what to do about a refusal, and tells nobody the secret', async (t) => {
    const s3 = await s3Server(t);
    const accessKeyId = 'AKIANOBODY';
    const answer = (code: string, status: number, headers = {}) => {
      s3.handle = ({ response }) => response.writeHead(status, headers).end(`<Error><Code>${code}</Code></Error>`);
    };
    const refusal = async (options = {}, url = 's3://jobs') => {
      const store = s3Store(url, { ...s3.options, retries: 0, ...options });
      const error = await store.get(ID, 0).then(
        () => assert.fail('the store answers'),
        (reason: Error & { code: string; path: string | null }) => reason,
      );
      assert.ok(!JSON.stringify([error, error.message, error.stack, error.cause]).includes(SECRET));
      return `${error.code}: ${error.message}`;
    };
    const keys = { credentials: { accessKeyId, secretAccessKey: SECRET, sessionToken: SECRET } };
    assert.match(await refusal(keys), /^ERR_HTTP: s3:\/\/jobs\/.*403 \(InvalidAccessKeyId\): check AWS_ACCESS_KEY_ID/);
    const wrong = { credentials: { accessKeyId: 'S3RVER', secretAccessKey: SECRET } };
    assert.match(await refusal(wrong), /403 \(SignatureDoesNotMatch\): check AWS_ACCESS_KEY_ID/);
    assert.match(await refusal({}, 's3://nowhere'), /404 \(NoSuchBucket\): the bucket does not exist: create it/);
    answer('AccessDenied', 403);
    assert.match(await refusal(), /allow the keys s3:GetObject.*s3:ListBucket/);
    answer('ExpiredToken', 400);
    assert.match(await refusal(), /400 \(ExpiredToken\): the session token has expired/);
    answer('RequestTimeTooSkewed', 403);
    assert.match(await refusal(), /clock is wrong by more than 15 minutes: set it/);
    answer('PermanentRedirect', 301, { 'x-amz-bucket-region': 'eu-west-1', location: 'http://127.0.0.1:9/steal' });
    assert.match(await refusal(), /another region: set AWS_REGION=eu-west-1/);
    answer('TemporaryRedirect', 307, { location: 'http://127.0.0.1:9/steal' });
    assert.match(await refusal(), /307 \(TemporaryRedirect\): the bucket is elsewhere/);
    answer(`${'x'.repeat(100_000)}</Code>`, 400);
    assert.match(await refusal(), /status 400: check the bucket/);
    answer('\u001b[31mred', 400);
    assert.match(await refusal(), /status 400: check the bucket/);
    answer('', 418);
    const many = s3Store('s3://jobs', { ...s3.options, retries: 0 });
    await assert.rejects(listed(many), {
      code: 'ERR_HTTP',
      message: /^s3:\/\/jobs: the store answers with status 418/,
    });
    s3.handle = ({ response }) => response.end('<html>');
    await assert.rejects(listed(many), { code: 'ERR_HTTP', message: /does not list its objects \(status 200\)/ });
    const page = '<ListBucketResult><NextContinuationToken>t</NextContinuationToken></ListBucketResult>';
    s3.handle = ({ response }) => response.end(page);
    await assert.rejects(listed(many), { code: 'ERR_HTTP', message: /again and again/ });
  });

  it('lists objects below a prefix that the store writes with numbers of characters', async (t) => {
    const s3 = await s3Server(t);
    const entry = (key: string) =>
      `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00Z</LastModified><Size>4</Size></Contents>`;
    const keys = [`it&#39;s &#34;&#x41;&amp;#39;/${ID}/0.part`, `its/${ID}/1.part`];
    s3.handle = ({ response }) => response.end(`<ListBucketResult>${keys.map(entry).join('')}</ListBucketResult>`);
    const names = (await listed(s3Store(`s3://jobs/it's "A&#39;`, s3.options))).map(({ name }) => name);
    assert.deepEqual(names, [0]);
  });

  it('tells that the function for credentials has failed, which may pass', async (t) => {
    const s3 = await s3Server(t);
    const credentials = () => Promise.reject(new Error('no role'));
    const error = await s3Store('s3://jobs', { ...s3.options, credentials })
      .get(ID, 0)
      .catch((reason: Error & { code: string }) => reason);
    assert.match(String(error), /s3:\/\/jobs\/.*the option credentials gave no keys \(no role\)/);
    assert.equal(isPermanent(error), false);
    assert.deepEqual(s3.requests, []);
  });

  it('never keeps more of an answer than an object can have', async (t) => {
    const chunk = Buffer.alloc(2 ** 16);
    let sent = 0;
    const endpoint = await serverOf(t, (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', more).on('error', () => {});
      more();
    });
    const store = s3Store('s3://jobs', { endpoint, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
    await assert.rejects(store.get(ID, 0, 1000), { code: 'ERR_PART' });
    await assert.rejects(store.get(ID, 'items-0'), { code: 'ERR_HTTP', message: /more than the 16777216 bytes/ });
    assert.ok(sent < 2 ** 27, `${sent}`);
  });

  it('refuses URLs, endpoints and regions that lead elsewhere, without repeating credentials', async () => {
    const urls = [
      's3://',
      's3:///a',
      `s3://key:${SECRET}@jobs/a`,
      's3://jobs/../other',
      's3://jobs/a//b',
      's3://jobs/./b',
      'x',
      5,
    ];
    for (const url of urls)
      assert.throws(
        () => s3Store(url as string),
        ({ code, message }) => code === 'ERR_INVALID_ARGUMENT' && !message.includes(SECRET),
      );
    for (const options of [
      { endpoint: `https://key:${SECRET}@host` },
      { endpoint: 'ftp://host' },
      { endpoint: 'host:9000' },
      { region: 'evil.example/' },
    ])
      await assert.rejects(
        s3Store('s3://jobs', options).get(ID, 0),
        ({ code, message }) => code === 'ERR_INVALID_ARGUMENT' && !message.includes(SECRET),
      );
    assert.throws(() => s3Store('s3://jobs', { regoin: 'x' } as object), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

describe('s3File', () => {
  it('reads ranges, and notices an object that is replaced', async (t) => {
    const s3 = await s3Server(t);
    const content = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
    await s3.upload('films/my%20film.mkv', content);
    const file = await s3File('s3://jobs/films/my film.mkv', s3.options);
    assert.deepEqual([file.url, file.name, file.size], ['s3://jobs/films/my film.mkv', 'my film.mkv', 100_000]);
    const { signal } = new AbortController();
    assert.ok(content.subarray(70, 90).equals(await file.read(70, 20, signal)));
    await s3.upload('films/my%20film.mkv', Buffer.alloc(100_000));
    await assert.rejects(file.read(70, 20, signal), {
      code: 'ERR_FILE_CHANGED',
      message: /^s3:\/\/jobs\/films\/my film\.mkv: the file was replaced/,
    });
    await assert.rejects(s3File('s3://jobs/none', s3.options), {
      code: 'ERR_HTTP',
      message: /^s3:\/\/jobs\/none: .*404/,
    });
    await assert.rejects(s3File('s3://jobs/', s3.options), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

describe('webStore', () => {
  /** A server that keeps what is put, for those who know the password. */
  async function memoryServer(t: TestContext, { methods = ['GET', 'PUT', 'DELETE'] } = {}) {
    const objects = new Map<string, Buffer>();
    const origin = await serverOf(t, async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = '', url = '', headers } = request;
      if (headers.authorization !== `Basic ${btoa(`me:${SECRET}`)}`) return response.writeHead(401).end();
      if (!methods.includes(method)) return response.writeHead(405).end();
      if (method === 'PUT') objects.set(url, Buffer.concat(chunks));
      if (method === 'DELETE') return response.writeHead(objects.delete(url) ? 204 : 404).end();
      const found = objects.get(url);
      return method === 'PUT' ? response.writeHead(201).end() : response.writeHead(found ? 200 : 404).end(found);
    });
    return { origin, objects, url: `${origin.replace('//', `//me:${SECRET}@`)}/parts/` };
  }

  it('keeps what was put, and gives null for everything else', async (t) => {
    const { url, objects } = await memoryServer(t);
    await exerciseStore(webStore(url));
    assert.ok(objects.has(`/parts/${ID}/plan.json`));
    assert.equal(webStore(url).list, undefined);
    assert.equal(String(await webStore(new URL(url)).get(ID, 0)), 'other part');
  });

  it('says what to do about a refusal, without the password', async (t) => {
    const { url, origin } = await memoryServer(t, { methods: ['GET'] });
    const store = webStore(url);
    await assert.rejects(store.put(ID, 0, Buffer.from('x')), {
      code: 'ERR_HTTP',
      message: `${origin}/parts/${ID}/0.part: the server answers with status 405: a part store must take GET and PUT.`,
    });
    // Nothing is lost if a server keeps what nobody needs.
    await store.delete?.(ID, 0);
    const error = await webStore(`${origin}/parts`)
      .get(ID, 0)
      .catch((reason: Error) => reason);
    assert.match(String(error), /401: it may need credentials/);
    const conflict = await serverOf(t, (_, response) => response.writeHead(409).end());
    await assert.rejects(webStore(conflict).put(ID, 0, Buffer.from('x')), { message: /create_full_put_path on/ });
  });

  it('follows redirects of GET without the credentials, and refuses those of PUT', async (t) => {
    const seen: (string | undefined)[] = [];
    const other = await serverOf(t, ({ headers }, response) => {
      seen.push(headers.authorization);
      response.end('elsewhere');
    });
    const first = await serverOf(t, ({ url }, response) =>
      response.writeHead(307, { location: `${other}${url}` }).end(),
    );
    const store = webStore(first.replace('//', `//me:${SECRET}@`));
    assert.equal(String(await store.get(ID, 0)), 'elsewhere');
    assert.deepEqual(seen, [undefined]);
    await assert.rejects(store.put(ID, 0, Buffer.from('x')), { code: 'ERR_HTTP', message: /redirects a PUT/ });
    assert.equal(seen.length, 1);
  });

  it('refuses other URLs, without repeating their secrets', () => {
    for (const url of [
      `https://host/a?token=${SECRET}`,
      `https://host/a#${SECRET}`,
      `ftp://me:${SECRET}@host/`,
      `me:${SECRET}@host`,
      '',
      5,
    ])
      assert.throws(
        () => webStore(url as string),
        ({ code, message }) => code === 'ERR_INVALID_ARGUMENT' && !message.includes(SECRET),
      );
  });
});

describe('the settings of S3', () => {
  /** Sends a request with the settings that were found, and gives the key and the region of its signature. */
  async function signature(t: TestContext, env: Record<string, string>, files: Record<string, string> = {}) {
    let authorization = '';
    let token: string | undefined;
    const endpoint = await serverOf(t, ({ headers }, response) => {
      authorization = headers.authorization ?? '';
      token = headers['x-amz-security-token'] as string | undefined;
      response.writeHead(404).end();
    });
    const folder = await temporaryFolder(t);
    for (const [name, text] of Object.entries(files))
      await writeFile(path.join(folder, name), text.replace('ENDPOINT', endpoint));
    const { awsSettings } = await import('../../src/sources/aws-settings.ts');
    const settings = await awsSettings(
      {},
      {
        AWS_SHARED_CREDENTIALS_FILE: path.join(folder, 'credentials'),
        AWS_CONFIG_FILE: path.join(folder, 'config'),
        ...env,
      },
    );
    const credentials = await settings.credentials();
    const found = { endpoint, region: settings.region ?? undefined, credentials };
    await s3Store('s3://jobs', found).get(ID, 0);
    const [, key, region] = /Credential=([^/]+)\/\d+\/([^/]+)\/s3/.exec(authorization) ?? [];
    return { key, region, token, isOwnEndpoint: settings.endpoint === endpoint, endpoint: settings.endpoint };
  }
  const KEYS = { AWS_ACCESS_KEY_ID: 'env', AWS_SECRET_ACCESS_KEY: SECRET };
  const FILES = {
    credentials: `# comment\n[default]\naws_access_key_id = file\naws_secret_access_key=${SECRET}\n[two]\r\naws_access_key_id=two\r\naws_secret_access_key= ${SECRET}\r\naws_session_token = t==\r\n`,
    config: `[default]\nregion = eu-west-1\ns3 =\n  region = nested\n[profile two]\nregion=us-west-2\nendpoint_url = ENDPOINT\n[profile  three]\naws_access_key_id = three\naws_secret_access_key = ${SECRET}\n`,
  };

  it('come from the environment first', async (t) => {
    const env = {
      ...KEYS,
      AWS_SESSION_TOKEN: 't',
      AWS_REGION: 'eu-north-1',
      AWS_DEFAULT_REGION: 'x',
      AWS_ENDPOINT_URL: 'http://a',
    };
    const found = await signature(t, env, FILES);
    assert.deepEqual([found.key, found.region, found.token, found.endpoint], ['env', 'eu-north-1', 't', 'http://a']);
    const other = await signature(t, {
      ...KEYS,
      AWS_DEFAULT_REGION: 'eu-north-1',
      AWS_ENDPOINT_URL: 'http://a',
      AWS_ENDPOINT_URL_S3: 'http://b',
    });
    assert.deepEqual([other.region, other.token, other.endpoint], ['eu-north-1', undefined, 'http://b']);
  });

  it('come from the AWS SDK last, as in a container', async (t) => {
    let asked = 0;
    const url = await serverOf(t, (_, response) => {
      asked += 1;
      const Expiration = new Date(Date.now() + 3_600_000).toISOString();
      response.end(JSON.stringify({ AccessKeyId: 'role', SecretAccessKey: SECRET, Token: 't', Expiration }));
    });
    process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${url}/keys`;
    t.after(() => void delete process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI']);
    const env = { AWS_PROFILE: 'container' };
    const { key, token } = await signature(t, env);
    assert.deepEqual([key, token], ['role', 't']);
    // They are asked for again when they expire.
    assert.deepEqual([(await signature(t, env)).key, asked], ['role', 1]);
    assert.equal((await signature(t, { ...env, ...KEYS })).key, 'env');
  });

  it('come from the files of the AWS command', async (t) => {
    const { key, region, token, endpoint } = await signature(t, {}, FILES);
    assert.deepEqual([key, region, token, endpoint], ['file', 'eu-west-1', undefined, null]);
    const two = await signature(t, { AWS_PROFILE: 'two' }, FILES);
    assert.deepEqual([two.key, two.region, two.token, two.isOwnEndpoint], ['two', 'us-west-2', 't==', true]);
    const three = await signature(t, { AWS_PROFILE: 'three' }, FILES);
    assert.deepEqual([three.key, three.region], ['three', 'us-east-1']);
  });

  it('are asked for if they are missing', async (t) => {
    await assert.rejects(signature(t, {}), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /set AWS_ACCESS_KEY_ID.*profile default/,
    });
    await assert.rejects(signature(t, { AWS_PROFILE: 'none' }, FILES), { message: /profile none/ });
    await assert.rejects(signature(t, { AWS_ACCESS_KEY_ID: 'a' }, FILES), {
      message: /AWS_SECRET_ACCESS_KEY is missing/,
    });
    await assert.rejects(signature(t, { AWS_SECRET_ACCESS_KEY: SECRET }, FILES), {
      message: /AWS_ACCESS_KEY_ID is missing/,
    });
  });

  it('name the hosts of Amazon', async () => {
    const { s3Target } = await import('../../src/sources/s3-objects.ts');
    const href = async (bucket: string, region: string) => (await s3Target({ bucket, key: 'a b' }, { region })).href;
    assert.equal(await href('jobs', 'eu-west-1'), 'https://jobs.s3.eu-west-1.amazonaws.com/a%20b');
    assert.equal(await href('jobs', 'cn-north-1'), 'https://jobs.s3.cn-north-1.amazonaws.com.cn/a%20b');
    assert.equal(await href('my.jobs', 'eu-west-1'), 'https://s3.eu-west-1.amazonaws.com/my.jobs/a%20b');
  });

  it('may be a function of the caller, which is asked for each request', async (t) => {
    const s3 = await s3Server(t);
    const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
    let asked = 0;
    const store = s3Store('s3://jobs', {
      ...s3.options,
      credentials: async () => {
        asked += 1;
        return keys;
      },
    });
    await store.put(ID, 0, Buffer.from('x'));
    await store.get(ID, 0);
    assert.equal(asked, 2);
    const broken = s3Store('s3://jobs', { ...s3.options, credentials: (() => null) as never });
    await assert.rejects(broken.get(ID, 0), { code: 'ERR_INVALID_ARGUMENT' });
  });
});
