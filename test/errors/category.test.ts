import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import vm from 'node:vm';
import {
  ERROR_CODES,
  type ErrorCategory,
  errorCategory,
  hashPart,
  joinParts,
  MetainfoError,
  type MetainfoErrorCode,
  parseMagnet,
  planParts,
  Torrent,
  TorrentCreate,
  ValidationError,
} from '../../src/index.ts';
import { pageText } from '../support/pages.ts';

/** The codes of each category: a second list, so that no change of a category goes unnoticed. */
const CODES: Readonly<Record<ErrorCategory, readonly MetainfoErrorCode[]>> = {
  input: [
    'ERR_CONFIG',
    'ERR_DUPLICATE_PATH',
    'ERR_INVALID_ARGUMENT',
    'ERR_NAME',
    'ERR_NOT_A_FILE',
    'ERR_NOT_FOUND',
    'ERR_OUTPUT_IS_INPUT',
    'ERR_OUT_OF_RANGE',
    'ERR_PATH_OUTSIDE',
    'ERR_PIECE_LENGTH',
    'ERR_SIZE_UNKNOWN',
  ],
  content: [
    'ERR_BENCODE',
    'ERR_BROKEN_LINK',
    'ERR_FINDINGS',
    'ERR_HASH_MISMATCH',
    'ERR_LINK',
    'ERR_LINK_LOOP',
    'ERR_LINK_OUTSIDE',
    'ERR_NO_DATA',
    'ERR_NO_FILES',
    'ERR_PART',
    'ERR_PLAN',
    'ERR_SOURCE_SIZE',
    'ERR_SOURCE_TRUNCATED',
    'ERR_UNPROVEN',
    'ERR_VALIDATION',
  ],
  conflict: ['ERR_FILE_CHANGED', 'ERR_INFOHASH', 'ERR_OUTPUT_EXISTS'],
  limit: ['ERR_LIMIT', 'ERR_TOO_LARGE'],
  busy: ['ERR_NO_DESCRIPTORS', 'ERR_NO_MEMORY', 'ERR_PART_MISSING'],
  io: ['ERR_CACHE', 'ERR_HTTP', 'ERR_NO_SPACE', 'ERR_QUEUE', 'ERR_READ', 'ERR_SOURCE', 'ERR_UNREADABLE', 'ERR_WRITE'],
  cancelled: ['ERR_ABORTED'],
  bug: ['ERR_INTERNAL', 'ERR_KERNEL', 'ERR_MAKER', 'ERR_MAKER_UNAVAILABLE', 'ERR_NATIVE_UNAVAILABLE'],
};

/** The error that a function throws, or rejects with. */
const failure = async (run: () => unknown): Promise<unknown> => {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
};

const bytes = Buffer.from('content');
const draftOf = (data: unknown) => new TorrentCreate({ sources: [{ path: 'a', data: data as Buffer }] });

describe('errorCategory', () => {
  it('has one category for every code', () => {
    assert.deepEqual(Object.values(CODES).flat().sort(), Object.keys(ERROR_CODES).sort());
    for (const [category, codes] of Object.entries(CODES))
      for (const code of codes) {
        // Without a cause, a source gave something other than bytes.
        const cause = code === 'ERR_SOURCE' ? new Error('gone') : undefined;
        assert.equal(errorCategory(new MetainfoError(code, 'a message', { cause })), category, code);
      }
  });

  it('has an HTTP code in docs/guides/servers.md for every category', () => {
    const rows = [...pageText('docs/guides/servers.md').matchAll(/^\| `(\w+)` \| .+ \| (\d{3}) \|$/gm)];
    assert.deepEqual(rows.map(([, category]) => category).sort(), Object.keys(CODES).sort());
    const codes = rows.map(([, , code]) => Number(code));
    assert.equal(new Set(codes).size, codes.length);
    for (const code of codes) assert.ok(code >= 400 && code < 600);
    // The program on that page has the same codes.
    const [, program = ''] = /HTTP_CODES[^{]*\{([^}]*)\}/.exec(pageText('docs/guides/servers.md')) ?? [];
    const inProgram = [...program.matchAll(/(\w+): (\d+)/g)].map(([, category, code]) => `${category} ${code}`);
    assert.deepEqual(
      inProgram,
      rows.map(([, category, code]) => `${category} ${code}`),
    );
  });

  it('sorts the errors of real calls', async () => {
    const draft = new TorrentCreate({ sources: [{ path: 'a', data: bytes }] });
    const plan = planParts(new TorrentCreate({ pathRoot: import.meta.filename }), { partSize: 16_384 });
    const CASES: readonly (readonly [ErrorCategory, () => unknown])[] = [
      ['input', () => Torrent.read('missing.torrent')],
      ['input', () => Torrent.read('a\0b')],
      ['input', () => Torrent.read('/')],
      ['input', () => Torrent.read('/x'.repeat(5000))],
      ['input', () => new TorrentCreate({ pieceLength: 1000 })],
      ['input', () => parseMagnet('http://example.com')],
      ['input', () => draft.generate({ threads: 0 })],
      ['content', () => Torrent.fromBytes(Buffer.from('<html>'))],
      ['content', () => Torrent.fromBytes(Buffer.from('d4:infodee'))],
      ['content', () => draftOf(Buffer.alloc(0)).generate()],
      ['content', async () => hashPart({ ...(await plan), id: 'x' }, 0)],
      ['conflict', async () => (await draft.generate()).write(import.meta.filename)],
      ['limit', () => Torrent.fromBytes(Buffer.from('d4:infodee'), { limits: { bytes: 3 } })],
      ['busy', async () => joinParts(await plan, () => null)],
      ['cancelled', () => draft.generate({ signal: AbortSignal.abort() })],
      ['cancelled', () => Torrent.read('missing.torrent', { signal: AbortSignal.abort('gone') })],
    ];
    for (const [category, run] of CASES) {
      const error = await failure(run);
      assert.equal(errorCategory(error), category, `${run}: ${error}`);
    }
  });

  it('is content for invalid torrents only, and input for what a caller wrote', () => {
    for (const subject of ['draft', 'edit', 'hasher', 'magnet link'] as const)
      assert.equal(errorCategory(new ValidationError([], subject)), 'input');
    assert.equal(errorCategory(new ValidationError([])), 'content');
  });

  it('gives the failure of a source the category of its cause', async () => {
    const stream = (error: unknown) =>
      failure(() =>
        draftOf(
          // biome-ignore lint/correctness/useYield: it fails before its first chunk.
          (async function* () {
            throw error;
          })(),
        ).generate(),
      );
    const missing = await failure(() => readFile('missing'));
    const CASES: readonly (readonly [ErrorCategory, unknown])[] = [
      ['input', missing],
      ['io', Object.assign(new Error('aborted'), { code: 'ECONNRESET' })],
      ['io', Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })],
      ['io', new Error('the bucket is gone')],
      ['io', 'text'],
      ['cancelled', AbortSignal.abort().reason],
      ['limit', await failure(() => Torrent.fromBytes(bytes, { limits: { bytes: 1 } }))],
    ];
    for (const [category, cause] of CASES) {
      const error = await stream(cause);
      assert.equal((error as MetainfoError).code, 'ERR_SOURCE');
      assert.equal(errorCategory(error), category, String(cause));
    }
    const noBytes = await failure(() =>
      draftOf(
        (async function* () {
          yield 'text';
        })(),
      ).generate(),
    );
    assert.equal(errorCategory(noBytes), 'input');
  });

  it('knows system errors of Node', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'category-'));
    try {
      assert.equal(errorCategory(await failure(() => readFile(path.join(folder, 'missing')))), 'input');
      assert.equal(errorCategory(await failure(() => readFile(folder))), 'input');
      assert.equal(errorCategory(await failure(() => readFile(path.join(folder, 'x'.repeat(5000))))), 'input');
      await writeFile(path.join(folder, 'a'), '');
      assert.equal(
        errorCategory(await failure(() => writeFile(path.join(folder, 'a'), '', { flag: 'wx' }))),
        'conflict',
      );
      assert.equal(errorCategory(await failure(() => readdir(path.join(folder, 'a', 'b')))), 'input');
    } finally {
      await rm(folder, { recursive: true });
    }
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    assert.equal(errorCategory(await failure(() => once(net.connect(port, '127.0.0.1'), 'connect'))), 'io');
    // fetch wraps the system error.
    assert.equal(errorCategory(await failure(() => fetch(`http://127.0.0.1:${port}`))), 'io');
    for (const [code, category] of Object.entries({
      EMFILE: 'busy',
      ENOMEM: 'busy',
      EBUSY: 'busy',
      EFBIG: 'limit',
      EIO: 'io',
      ENOSPC: 'io',
      EACCES: 'io',
      EPIPE: 'io',
      ELOOP: 'content',
    }))
      assert.equal(errorCategory(Object.assign(new Error(code), { code })), category, code);
    // libuv has no name for the error of a full quota.
    const quota = Object.assign(new Error(), { code: 'Unknown system error -122', errno: -122 });
    assert.equal(errorCategory(quota), 'io');
  });

  it('knows aborted signals, also of fetch, timers and timeouts', async () => {
    const signal = AbortSignal.timeout(1);
    assert.equal(errorCategory(await failure(() => wait(60_000, null, { signal }))), 'cancelled');
    assert.equal(errorCategory(signal.reason), 'cancelled');
    assert.equal(errorCategory(AbortSignal.abort().reason), 'cancelled');
    assert.equal(errorCategory(new DOMException('x', 'TimeoutError')), 'cancelled');
    // Other libraries have a TimeoutError of their own, which may be any failure.
    assert.equal(errorCategory(Object.assign(new Error(), { name: 'TimeoutError' })), 'bug');
  });

  it('looks at the causes of unknown errors, which may be a loop', () => {
    const limit = new MetainfoError('ERR_LIMIT', 'x');
    assert.equal(errorCategory(new Error('upload', { cause: new Error('parser', { cause: limit }) })), 'limit');
    const loop = new Error('loop');
    loop.cause = loop;
    assert.equal(errorCategory(loop), 'bug');
    const own = new MetainfoError('ERR_SOURCE', 'loop', { cause: {} });
    Object.assign(own, { cause: own });
    assert.equal(errorCategory(own), 'io');
  });

  it('is bug for every other value, and never throws', () => {
    const throwing = new Proxy(
      {},
      {
        get: () => {
          throw new Error('getter');
        },
      },
    );
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const unknownCode = new MetainfoError('ERR_OF_A_NEWER_COPY' as never, 'x');
    const values = [
      undefined,
      null,
      0,
      'ERR_LIMIT',
      Symbol('x'),
      {},
      [],
      () => {},
      new TypeError('x'),
      throwing,
      proxy,
      unknownCode,
      Object.assign(new Error(), { code: 'ERR_INVALID_ARG_TYPE' }),
      Object.assign(new Error(), { code: 'toString' }),
      { code: 'constructor' },
      new MetainfoError('toString' as never, 'x'),
    ];
    for (const value of values) assert.equal(errorCategory(value), 'bug');
  });

  it('knows errors of another realm', () => {
    const error = vm.runInNewContext(`Object.assign(new Error('x'), { code: 'ENOSPC', errno: -28 })`);
    assert.equal(errorCategory(error), 'io');
  });
});
