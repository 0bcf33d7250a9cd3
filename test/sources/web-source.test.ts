import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { MetainfoErrorCode } from '../../src/errors/codes.ts';
import { MetainfoError } from '../../src/errors/errors.ts';
import { type WebFileOptions, webFile } from '../../src/sources/web-source.ts';
import { noise } from '../hash/reference.ts';
import { missing } from '../support/external.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/tree.ts';
import { type Exchange, type WebObject, type WebServer, webServer } from '../support/web-server.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

async function torrentOf(url: string, options: WebFileOptions = {}, generate: object = {}) {
  const data = await webFile(url, options);
  const draft = new TorrentCreate({ sources: [{ path: data.name ?? 'object', data }], urlList: [data.url] });
  return draft.generate({ version: 'hybrid', ...generate });
}

/** Lies once the first answer has been honest. */
const later =
  (lie: (exchange: Exchange) => unknown) =>
  (exchange: Exchange): unknown =>
    exchange.index === 0 ? exchange.answer() : lie(exchange);

describe('webFile', () => {
  for (const version of VERSIONS)
    it(`gives the torrent of the same file on disk, at the edges of blocks, pieces and requests: ${version}`, async (t) => {
      const web = await webServer(t, Buffer.alloc(0));
      const folder = await temporaryFolder(t);
      const file = path.join(folder, 'film.mkv');
      const edges = [16 * KIB, 32 * KIB, 64 * KIB, 4 * MIB, 8 * MIB].flatMap((size) => [size - 1, size, size + 1]);
      const size = fc.oneof(fc.constantFrom(1, ...edges), fc.integer({ min: 1, max: 5 * MIB }));
      const options = fc.record({
        readSize: fc.constantFrom(undefined, 16 * KIB, 64 * KIB, MIB),
        memoryLimit: fc.constantFrom(undefined, 2 * MIB, 64 * MIB),
      });
      await fc.assert(
        fc.asyncProperty(size, options, async (length, generate) => {
          const content = noise(length);
          web.object = { ...web.object, content };
          await writeFile(file, content);
          const expected = await new TorrentCreate({ pathRoot: file }).generate({ version });
          const got = await torrentOf(web.url(), {}, { version, ...generate });
          assert.equal(got.torrentVersion, version);
          assert.deepEqual(Buffer.from(got.infoBytes), Buffer.from(expected.infoBytes));
          assert.deepEqual(got.urlList, [web.url()]);
        }),
        { numRuns: runs(15) },
      );
    });

  it('sends conditional requests of several MiB, uncompressed, over few connections', async (t) => {
    const content = noise(18 * MIB + 1);
    const web = await webServer(t, content);
    let connections = 0;
    web.server.on('connection', () => {
      connections += 1;
    });
    await torrentOf(web.url());
    const [first, ...others] = web.requests.map(({ headers }) => headers);
    assert.equal(first?.range, 'bytes=0-0');
    assert.equal(others.length, 5);
    assert.equal(others.map(({ range }) => range).sort()[0], `bytes=0-${4 * MIB - 1}`);
    assert.ok(others.every((headers) => headers['if-match'] === '"one"'));
    assert.ok(
      web.requests.every(({ headers, method }) => headers['accept-encoding'] === 'identity' && method === 'GET'),
    );
    assert.ok(connections <= 5, `${connections} connections`);
  });

  it('describes the file', async (t) => {
    const web = await webServer(t, noise(100));
    const { url, finalUrl, name, size, etag, lastModified, validator } = await webFile(
      `${web.url('/a/my%20film.mkv?x=1#y')}`,
    );
    assert.equal(url, web.url('/a/my%20film.mkv?x=1'));
    assert.equal(finalUrl, url);
    assert.deepEqual(
      [name, size, etag, lastModified, validator],
      ['my film.mkv', 100, '"one"', web.object.lastModified, 'etag'],
    );
  });

  it('reports an empty file as ERR_NO_DATA, in each way that servers answer', async (t) => {
    const web = await webServer(t, Buffer.alloc(0));
    await assert.rejects(torrentOf(web.url()), { code: 'ERR_NO_DATA' });
    const whole = await webServer(t, Buffer.alloc(0), ({ response }) =>
      response.writeHead(200, { 'content-length': 0 }).end(),
    );
    await assert.rejects(torrentOf(whole.url()), { code: 'ERR_NO_DATA' });
  });

  for (const [url, message] of [
    ['ftp://host/file', /scheme ftp: but only http: and https:/],
    ['file:///etc/passwd', /scheme file:/],
    ['http://host/folder/', /ends with a slash/],
    ['http://host', /ends with a slash/],
    ['http://host/get?dir=/', /ends with a slash/],
    ['film.mkv', /is not a URL/],
    ['http://user:secret@host:99999/x', /is not a URL/],
    ['http://user:sec/ret@host:99999/x', /is not a URL/],
    [7 as unknown as string, /7 is not a URL/],
  ] as const)
    it(`refuses ${url}`, async () => {
      await assert.rejects(webFile(url), (error: MetainfoError) => {
        assert.equal(error.code, 'ERR_INVALID_ARGUMENT');
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /sec|ret/);
        return true;
      });
    });

  for (const [path, name] of [
    ['/%C3%A4.bin', 'ä.bin'],
    ['/a%2Fb', null],
    ['/%FF', null],
    ['/%00', null],
    ['/x/?id=5', null],
    ['/C%3A%5Cx', null],
  ] as const)
    it(`names the file at ${path} ${name}`, async (t) => {
      const web = await webServer(t, noise(1));
      assert.equal((await webFile(web.url(path))).name, name);
    });
});

describe('credentials in a URL', () => {
  it('are sent to its server only, and are in nothing else', async (t) => {
    const other = await webServer(t, noise(100));
    const web = await webServer(t, noise(100), ({ request, response, answer }) =>
      request.url === '/moved' ? response.writeHead(302, { location: other.url('/x') }).end() : answer(),
    );
    const withCredentials = (where: string) => where.replace('//', '//me:se%20cret@');
    const file = await webFile(withCredentials(web.url()));
    assert.doesNotMatch(JSON.stringify(file), /cret/);
    const torrent = await torrentOf(withCredentials(web.url()));
    assert.doesNotMatch(Buffer.from(torrent.bencode()).toString('latin1'), /cret/);
    const expected = `Basic ${Buffer.from('me:se cret').toString('base64')}`;
    assert.ok(web.requests.every(({ headers }) => headers.authorization === expected));
    await torrentOf(withCredentials(web.url('/moved')));
    assert.ok(other.requests.length > 1);
    assert.ok(other.requests.every(({ headers }) => headers.authorization === undefined));
  });

  it('are in no error', async (t) => {
    const web = await webServer(t, noise(100), ({ response }) => response.writeHead(403).end());
    await assert.rejects(webFile(web.url().replace('//', '//me:secret@')), (error: MetainfoError) => {
      assert.match(error.message, /status 403: it may need credentials/);
      assert.doesNotMatch(JSON.stringify([error.message, error.path, String(error.cause), error.stack]), /secret/);
      return true;
    });
  });
});

describe('redirects', () => {
  it('are followed, and the webseed stays the given URL', async (t) => {
    const web = await webServer(t, noise(100), ({ request, response, answer }) => {
      const hop = Number(/^\/hop(\d)$/.exec(request.url ?? '')?.[1] ?? 0);
      if (hop > 0)
        response.writeHead(302 + (hop % 2) * 5, { location: hop === 1 ? '/film.mkv' : `hop${hop - 1}` }).end();
      else answer();
    });
    const file = await webFile(web.url('/hop9'));
    assert.deepEqual([file.url, file.finalUrl, file.name], [web.url('/hop9'), web.url(), 'hop9']);
    const before = web.requests.length;
    await file.read(0, 100, new AbortController().signal);
    assert.equal(web.requests.length, before + 1, 'goes straight to the final URL');
  });

  it('start again when the final URL has expired', async (t) => {
    let valid = 1;
    const web = await webServer(t, noise(9 * MIB), ({ request, response, answer }) => {
      if (request.url === '/film.mkv') response.writeHead(302, { location: `/signed?key=${valid}` }).end();
      else if (request.url === `/signed?key=${valid}`) answer();
      else response.writeHead(403).end();
    });
    const file = await webFile(web.url());
    valid = 2;
    const torrent = await new TorrentCreate({ sources: [{ path: 'film.mkv', data: file }] }).generate();
    const inMemory = new TorrentCreate({ sources: [{ path: 'film.mkv', data: web.object.content }] });
    assert.equal(torrent.infohashV2, (await inMemory.generate()).infohashV2);
  });

  for (const [what, location, message] of [
    ['in a loop', '/film.mkv', /redirects more than 10 times/],
    ['to another scheme', 'ftp://host/x', /redirects to the scheme ftp:/],
    ['to nowhere', null, /without saying where/],
    ['to a malformed URL', 'http://[', /without saying where/],
  ] as const)
    it(`${what} are refused`, async (t) => {
      const web = await webServer(t, noise(1), ({ response }) =>
        response.writeHead(302, location === null ? {} : { location }).end(),
      );
      await assert.rejects(webFile(web.url()), { code: 'ERR_HTTP', message });
    });
});

describe('https', { skip: missing('openssl', 'openssl', ['version']) }, () => {
  /** Starts a server with a certificate of its own, which redirects to a URL. */
  async function secureServer(t: TestContext, location: string): Promise<string> {
    const folder = await temporaryFolder(t);
    const [key, cert] = [path.join(folder, 'key'), path.join(folder, 'cert')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const files = ['-keyout', key, '-out', cert, '-days', '2'];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', ['req', '-x509', ...curve, ...files, ...subject], { stdio: 'ignore' });
    const server = createServer({ key: await readFile(key), cert: await readFile(cert) }, (_, response) =>
      response.writeHead(302, { location }).end(),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}/film.mkv`;
  }

  it('an unknown certificate is refused at once', async (t) => {
    const url = await secureServer(t, '/x');
    await assert.rejects(webFile(url), {
      code: 'ERR_HTTP',
      message: /the connection failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    });
  });

  it('a redirect to http is refused, and one from http is followed', async (t) => {
    const web = await webServer(t, noise(10), ({ request, response, answer }) =>
      request.url === '/up' ? response.writeHead(301, { location: secure }).end() : answer(),
    );
    const secure = await secureServer(t, web.url());
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    t.after(() => {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    });
    for (const url of [secure, web.url('/up')])
      await assert.rejects(webFile(url), { code: 'ERR_HTTP', message: /redirects from https to http \(127\.0\.0\.1:/ });
  });

  it('a server without TLS is refused', async (t) => {
    const web = await webServer(t, noise(10));
    const url = web.url().replace('http:', 'https:');
    await assert.rejects(webFile(url, { retries: 0 }), { code: 'ERR_HTTP', message: /the connection failed/ });
  });
});

describe('a server that', () => {
  type Lie = readonly [what: string, code: MetainfoErrorCode, message: RegExp, handle: (exchange: Exchange) => unknown];
  const more = (bytes: number) => Buffer.alloc(bytes, 'x');
  const lies: readonly Lie[] = [
    [
      'ignores ranges',
      'ERR_HTTP',
      /does not support range requests: download the file/,
      ({ response }) => response.writeHead(200).end(more(100_000)),
    ],
    [
      'ignores ranges later',
      'ERR_HTTP',
      /ignores a range request/,
      later(({ response }) => response.writeHead(200).end(more(100_000))),
    ],
    [
      'refuses ranges',
      'ERR_HTTP',
      /does not support range requests/,
      ({ answer }) => answer({ status: 416, headers: { 'content-range': null } }),
    ],
    ['refuses a range later', 'ERR_FILE_CHANGED', /status 416/, later(({ answer }) => answer({ status: 416 }))],
    ['does not have the file', 'ERR_HTTP', /status 404: check the URL/, ({ answer }) => answer({ status: 404 })],
    ['loses the file', 'ERR_FILE_CHANGED', /no longer has it/, later(({ answer }) => answer({ status: 404 }))],
    ['forbids it later', 'ERR_HTTP', /status 403/, later(({ answer }) => answer({ status: 403 }))],
    ['sends 204', 'ERR_HTTP', /status 204/, ({ response }) => response.writeHead(204).end()],
    [
      'gives no Content-Range',
      'ERR_HTTP',
      /Content-Range: none instead of bytes 0-0/,
      ({ answer }) => answer({ headers: { 'content-range': null } }),
    ],
    [
      'gives no Content-Range later',
      'ERR_HTTP',
      /Content-Range: none/,
      later(({ answer }) => answer({ headers: { 'content-range': null } })),
    ],
    [
      'gives no total',
      'ERR_HTTP',
      /does not tell the size/,
      ({ answer }) => answer({ headers: { 'content-range': 'bytes 0-0/*' } }),
    ],
    [
      'gives a total that no number holds',
      'ERR_HTTP',
      /instead of bytes 0-0/,
      ({ answer }) => answer({ headers: { 'content-range': `bytes 0-0/${'9'.repeat(20)}` } }),
    ],
    [
      'gives another range',
      'ERR_HTTP',
      /bytes 1-100000\/100000 instead of bytes 0-99999\/100000/,
      later(({ answer }) => answer({ headers: { 'content-range': 'bytes 1-100000/100000' } })),
    ],
    [
      'gives a shorter range',
      'ERR_HTTP',
      /instead of/,
      later(({ answer }) =>
        answer({ headers: { 'content-range': 'bytes 0-9/100000', 'content-length': '10' }, body: more(10) }),
      ),
    ],
    [
      'gives another total',
      'ERR_FILE_CHANGED',
      /size changed from 100000 to 100001 bytes/,
      later(({ answer }) => answer({ headers: { 'content-range': 'bytes 0-99999/100001' } })),
    ],
    [
      'gives a malformed range',
      'ERR_HTTP',
      /Content-Range: bytes x instead/,
      later(({ answer }) => answer({ headers: { 'content-range': 'bytes x' } })),
    ],
    [
      'gives a very long header',
      'ERR_HTTP',
      /y{70,77}\.\.\. instead/,
      later(({ answer }) => answer({ headers: { 'content-range': 'y'.repeat(5000) } })),
    ],
    [
      'announces more bytes',
      'ERR_HTTP',
      /announces 10000000000 bytes for a range of 100000/,
      later(({ response }) =>
        response
          .writeHead(206, { etag: '"one"', 'content-range': 'bytes 0-99999/100000', 'content-length': 1e10 })
          .write('x'),
      ),
    ],
    [
      'compresses',
      'ERR_HTTP',
      /compresses the file \(Content-Encoding: gzip\)/,
      ({ answer }) => answer({ headers: { 'content-encoding': 'gzip' } }),
    ],
    [
      'compresses later',
      'ERR_HTTP',
      /compresses the file/,
      later(({ answer }) => answer({ headers: { 'content-encoding': 'br' } })),
    ],
    [
      'changes the ETag',
      'ERR_FILE_CHANGED',
      /ETag changed from "one" to "two"/,
      later(({ answer }) => answer({ headers: { etag: '"two"' } })),
    ],
    [
      'drops the ETag',
      'ERR_FILE_CHANGED',
      /ETag changed from "one" to none/,
      later(({ answer }) => answer({ headers: { etag: null } })),
    ],
    [
      'finds that If-Match fails',
      'ERR_FILE_CHANGED',
      /was replaced while it was read \(the server answers with status 412\)/,
      later(({ answer }) => answer({ status: 412 })),
    ],
    [
      'is busy for an hour',
      'ERR_HTTP',
      /status 429: try again later \(Retry-After: 3600\)/,
      ({ answer }) => answer({ status: 429, headers: { 'retry-after': '3600' } }),
    ],
    [
      'is always busy',
      'ERR_HTTP',
      /status 503: try again later/,
      ({ answer }) => answer({ status: 503, headers: { 'retry-after': '0' } }),
    ],
    ['resets every connection', 'ERR_HTTP', /the connection failed/, ({ response }) => response.destroy()],
    [
      'ends every body early',
      'ERR_HTTP',
      /the connection failed|sent 10 of 100000 bytes/,
      later(({ answer }) => answer({ body: more(10), headers: { 'content-length': null } })),
    ],
    [
      'speaks no HTTP',
      'ERR_HTTP',
      /the connection failed/,
      ({ response }) => response.socket?.end('SSH-2.0-hello\r\n'),
    ],
    ['says nothing', 'ERR_HTTP', /: 127\.0\.0\.1:\d+ did not answer within 0\.3 s: try again later\.$/, () => {}],
    ['says nothing later', 'ERR_HTTP', /sent nothing, or next to nothing, for 0\.3 s/, later(() => {})],
    [
      'stops in the middle',
      'ERR_HTTP',
      /next to nothing/,
      later(({ response }) =>
        response
          .writeHead(206, { etag: '"one"', 'content-range': 'bytes 0-99999/100000', 'content-length': 100_000 })
          .write(more(50_000)),
      ),
    ],
    ['sends a byte at a time', 'ERR_HTTP', /next to nothing/, later(drip)],
  ];

  function drip({ response }: Exchange): void {
    response.writeHead(206, { etag: '"one"', 'content-range': 'bytes 0-99999/100000', 'content-length': 100_000 });
    const timer = setInterval(() => response.write('x'), 20);
    response.once('close', () => clearInterval(timer));
  }

  for (const [what, code, message, handle] of lies)
    it(`${what} gets ${code}`, async (t) => {
      const web = await webServer(t, noise(100_000), handle);
      const failed = torrentOf(web.url(), { idleTimeout: 300, retries: 1 });
      await assert.rejects(failed, (error: MetainfoError) => {
        assert.ok(error instanceof MetainfoError, String(error));
        assert.deepEqual([error.code, error.path], [code, web.url()], error.message);
        assert.match(error.message, message);
        return true;
      });
    });

  it('sends control characters in a header puts none into an error', async (t) => {
    const evil = '\x9b31m\x85\xad\tevil';
    const changes: [part: number, status: number, headers: Record<string, string>][] = [
      [0, 206, { 'content-range': evil }],
      [0, 206, { 'content-encoding': evil }],
      [0, 503, { 'retry-after': evil }],
      [0, 302, { location: `http://${evil}/` }],
      [0, 302, { location: `${evil}:x` }],
      [0, 302, { location: `/a${evil}` }],
      [1, 206, { etag: `"${evil}"` }],
      [1, 206, { 'content-range': `bytes ${evil}` }],
      [1, 206, { 'content-encoding': evil }],
      [1, 429, { 'retry-after': evil }],
    ];
    for (const [from, status, headers] of changes)
      assertPlain(
        await failureOf(t, ({ index, answer }) => answer(index < from ? {} : { status, headers })),
        JSON.stringify([status, headers]),
      );
    const dated = await failureOf(t, ({ index, answer }) =>
      answer({ headers: { etag: null, ...(index > 0 && { 'last-modified': evil }) } }),
    );
    assert.match(dated.message, /its date changed from .* to \\x9b31m/);
    assertPlain(dated, 'last-modified');
  });

  it('breaks HTTP with control characters puts none into an error', async (t) => {
    const answers = [
      'garbage \x1b[31m\r\n\r\n',
      'HTTP/1.1 206 Partial\r\nETag: "\x1b[31m"\r\nContent-Length: 1\r\n\r\nx',
      'HTTP/1.1 404 \x1b[31m\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 206 OK\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes 0-0/9\r\n\r\n\x1b[31m\r\n',
    ];
    for (const answer of answers)
      assertPlain(
        await failureOf(t, ({ response }) => response.socket?.end(Buffer.from(answer, 'latin1'))),
        JSON.stringify(answer),
      );
  });

  /** The error of a torrent of a server's file. */
  async function failureOf(t: TestContext, handle: (exchange: Exchange) => unknown): Promise<MetainfoError> {
    const web = await webServer(t, noise(100_000), handle);
    const failure = await torrentOf(web.url(), { idleTimeout: 300, retries: 0 }).catch((error: unknown) => error);
    assert.ok(failure instanceof MetainfoError, String(failure));
    return failure;
  }

  /** Nothing of an error or its causes controls a terminal. */
  function assertPlain(error: MetainfoError, about: string): void {
    for (let at: unknown = error; at instanceof Error; at = at.cause)
      for (const text of [at.message, ...Object.values(at)])
        assert.doesNotMatch(String(text), /[\p{Cc}\u00ad]/u, `${about}: ${JSON.stringify(text)}`);
  }

  it('does not answer the first request: it fails at once, and names the host', async (t) => {
    const web = await webServer(t, noise(1000), () => {});
    await assert.rejects(webFile(web.url(), { idleTimeout: 300 }), {
      code: 'ERR_HTTP',
      path: web.url(),
      message: `${web.url()}: ${new URL(web.url()).host} did not answer within 0.3 s: try again later.`,
    });
    assert.equal(web.requests.length, 1);
  });

  it('sends gigabytes for a small range is not read further', async (t) => {
    let sent = 0;
    const block = more(MIB);
    const web = await webServer(
      t,
      noise(100_000),
      later(({ response }) => {
        response.writeHead(206, { etag: '"one"', 'content-range': 'bytes 0-99999/100000' });
        const write = () => {
          while (!response.destroyed && sent < 2 ** 33 && response.write(block)) sent += MIB;
        };
        response.on('drain', write);
        write();
      }),
    );
    await assert.rejects(torrentOf(web.url()), { code: 'ERR_HTTP', message: /sends more than the 100000 bytes/ });
    assert.ok(sent < 64 * MIB, `${sent} bytes`);
  });

  it('cannot be reached gets ERR_HTTP at once', async (t) => {
    const web = await webServer(t, noise(1));
    const url = web.url();
    await new Promise((resolve) => web.server.close(resolve));
    await assert.rejects(webFile(url), { code: 'ERR_HTTP', message: /the connection failed \(ECONNREFUSED\)/ });
    await assert.rejects(webFile('http://127.0.0.1:1/x'), {
      code: 'ERR_HTTP',
      message: /the connection failed \(bad port\)/,
    });
  });

  for (const [what, fail] of [
    ['is busy', ({ answer }: Exchange) => answer({ status: 503, headers: { 'retry-after': '0' } })],
    [
      'is busy until a date',
      ({ answer }: Exchange) => answer({ status: 429, headers: { 'retry-after': new Date().toUTCString() } }),
    ],
    ['resets a connection', ({ response }: Exchange) => response.destroy()],
    [
      'resets a connection in the middle of a body',
      ({ response, range }: Exchange) => {
        response.writeHead(206, { etag: '"one"', 'content-range': `bytes ${range?.[0]}-${range?.[1]}/${9 * MIB}` });
        response.write(Buffer.alloc(70_000), () => response.destroy());
      },
    ],
    ['stalls', () => {}],
  ] as const)
    it(`${what} once is asked again`, async (t) => {
      let failures = 0;
      const web = await webServer(t, noise(9 * MIB), (exchange) => {
        if (failures < exchange.index / 2 && failures < 2) {
          failures += 1;
          fail(exchange);
        } else exchange.answer();
      });
      const torrent = await torrentOf(web.url(), { idleTimeout: 300 });
      assert.equal(failures, 2);
      const inMemory = new TorrentCreate({ sources: [{ path: 'film.mkv', data: web.object.content }] });
      assert.equal(torrent.infohashV2, (await inMemory.generate()).infohashV2);
    });
});

describe('a replaced file', () => {
  const WHEN = 'Sun, 01 Feb 2026 00:00:00 GMT';
  const cases: readonly [
    what: string,
    first: Partial<WebObject>,
    second: Partial<WebObject>,
    validator: string | null,
  ][] = [
    ['with a strong ETag', {}, { etag: '"two"' }, 'etag'],
    ['with a weak ETag and a date', { etag: 'W/"one"' }, { lastModified: WHEN }, 'last-modified'],
    ['with a weak ETag alone', { etag: 'W/"one"', lastModified: null }, { etag: 'W/"two"' }, null],
    ['with a date alone', { etag: null }, { lastModified: WHEN }, 'last-modified'],
    ['that has grown, without ETag and date', { etag: null, lastModified: null }, { content: noise(10 * MIB) }, null],
  ];
  for (const [what, first, second, validator] of cases)
    it(`${what} is found out`, async (t) => {
      let web: WebServer | null = null;
      web = await webServer(t, noise(9 * MIB), (exchange) => {
        const server = web as WebServer;
        if (exchange.index === 2) server.object = { ...server.object, content: noise(9 * MIB, 2), ...second };
        exchange.answer();
      });
      web.object = { ...web.object, ...first };
      const file = await webFile(web.url());
      assert.equal(file.validator, validator);
      const draft = new TorrentCreate({ sources: [{ path: 'film.mkv', data: file }] });
      await assert.rejects(draft.generate(), { code: 'ERR_FILE_CHANGED', message: /create the torrent again\.$/ });
    });
});

describe('a cancelled job', () => {
  it('stops waiting for the first answer', async (t) => {
    const controller = new AbortController();
    const web = await webServer(t, noise(1), () => controller.abort('enough'));
    await assert.rejects(webFile(web.url(), { signal: controller.signal }), { code: 'ERR_ABORTED', cause: 'enough' });
    await assert.rejects(webFile(web.url(), { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
    assert.equal(web.requests.length, 1);
  });

  it('closes the connections of its requests', async (t) => {
    const web = await webServer(
      t,
      noise(9 * MIB),
      later(() => {}),
    );
    const closed: Promise<unknown>[] = [];
    web.server.on('connection', (socket) => closed.push(once(socket, 'close')));
    const failed = torrentOf(web.url(), {}, { signal: AbortSignal.timeout(200) });
    await assert.rejects(failed, { code: 'ERR_ABORTED' });
    assert.ok(closed.length >= 3);
    // The first connection may stay open for later requests.
    await Promise.all(closed.slice(1));
  });

  it('does not wait for the time that a busy server names', async (t) => {
    const busy = later(({ answer }) => answer({ status: 503, headers: { 'retry-after': '30' } }));
    const web = await webServer(t, noise(9 * MIB), busy);
    const started = performance.now();
    const failed = torrentOf(web.url(), {}, { signal: AbortSignal.timeout(200) });
    await assert.rejects(failed, { code: 'ERR_ABORTED' });
    assert.ok(performance.now() - started < 20_000);
  });

  it('can have a timeout that no timer holds', async (t) => {
    const web = await webServer(t, noise(100), ({ answer }) => setTimeout(answer, 50));
    await torrentOf(web.url(), { idleTimeout: Number.MAX_SAFE_INTEGER, retries: 0 });
  });

  it('refuses wrong options', async () => {
    await assert.rejects(webFile('http://x/y', { retries: -1 }), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /retries must be/,
    });
    await assert.rejects(webFile('http://x/y', { retry: 1 } as object), { message: /unknown option "retry"/ });
  });
});
