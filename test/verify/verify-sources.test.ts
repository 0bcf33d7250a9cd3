import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encode } from '../../src/bencode/encode.ts';
import type { BencodeMap } from '../../src/bencode/value.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { Engine } from '../../src/hash/engine.ts';
import type { HashRequest } from '../../src/hash/hash-request.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import type { SourceData } from '../../src/sources/source-data.ts';
import type { Source } from '../../src/sources/sources.ts';
import { webFile } from '../../src/sources/web-source.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { verify } from '../../src/verify/verify.ts';
import type { VerifySources } from '../../src/verify/verify-sources.ts';
import { noise, v1Pieces } from '../hash/reference.ts';
import { ENGINES } from '../support/choose-engine.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { webServer } from '../support/web-server.ts';

const PIECE = 2 ** 14;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
const engines = () => ENGINES.map((name) => (name === 'native' ? nativeEngine() : nodeEngine()));

function* chunksOf(content: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

/** The forms that a source may have. */
const FORMS: ((content: Buffer, chunk: number) => SourceData)[] = [
  (content) => content,
  (content) => new Blob([content]),
  (content) => ({
    size: content.length,
    read: async (at, length) => new Uint8Array(content.subarray(at, at + length)),
  }),
  (content, chunk) => Readable.from(chunksOf(content, chunk)),
  (content, chunk) => Readable.toWeb(Readable.from(chunksOf(content, chunk))) as ReadableStream<Uint8Array>,
  async function* (content, chunk) {
    yield* chunksOf(content, chunk);
  },
];

/** Those whose size is known. */
const EAGER = FORMS.slice(0, 3);

const DAMAGES: ((content: Buffer) => Buffer | null)[] = [
  (content) => content,
  (content) => content,
  () => null,
  (content) => content.subarray(0, 0),
  (content) => content.subarray(0, -1),
  (content) => content.subarray(0, content.length >> 1),
  (content) => content.subarray(0, Math.floor(content.length / 2 / PIECE) * PIECE),
  (content) => Buffer.concat([content, Buffer.from('more')]),
  (content) => {
    const copy = Buffer.from(content);
    if (copy.length > 0) copy[copy.length >> 1] = (copy[copy.length >> 1] as number) ^ 1;
    return copy;
  },
];

const withoutTimes = ({ files, ...report }: VerifyReport) => ({
  ...report,
  files: files.map(({ mtimeMs, ...file }) => file),
});

const statuses = ({ files }: VerifyReport) => files.map(({ status }) => status);

const fileSize = fc.oneof(
  fc.constantFrom(0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 7, 9 * PIECE),
  fc.nat(6 * PIECE),
);
const tree = fc
  .array(
    fc.record({
      size: fileSize,
      damage: fc.constantFrom(...DAMAGES),
      form: fc.constantFrom(...FORMS),
      chunk: fc.integer({ min: 1000, max: 3 * PIECE }),
      isSelected: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .filter((files) => files.some(({ size }) => size > 0));

describe('verify of sources', () => {
  for (const version of VERSIONS)
    it(`reports for ${version} what it reports of the same content on disk`, async (t) => {
      const root = await temporaryFolder(t);
      let count = 0;
      const options = fc.record({
        threads: fc.constantFrom(1, 2),
        memoryLimit: fc.constantFrom(undefined, 4 * PIECE, 40 * PIECE),
        engine: fc.constantFrom(...engines()),
        fast: fc.boolean(),
        version: version === 'hybrid' ? fc.constantFrom(null, 'v1' as const, 'v2' as const) : fc.constant(null),
      });
      const draft = fc.record({ pieceLength: fc.constantFrom(PIECE, 2 * PIECE), padding: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(tree, options, draft, fc.boolean(), async (given, checks, { pieceLength, padding }, some) => {
          const folder = path.join(root, String(count++));
          const files = given.map((file, i) => ({
            ...file,
            path: i % 2 ? `d/${i}` : `${i}`,
            content: noise(file.size, i),
          }));
          await mkdir(folder);
          await writeTree(folder, Object.fromEntries(files.map((file) => [file.path, file.content])));
          const torrent = await new TorrentCreate({ pathRoot: folder, pieceLength }).generate({ version, padding });
          const sources: Source[] = [];
          for (const { path: name, content, damage, form, chunk } of files) {
            const damaged = damage(content);
            if (damaged) await writeFile(path.join(folder, name), damaged);
            else await rm(path.join(folder, name));
            // The end of a stream is not known when a sample is chosen.
            const make = checks.fast && !EAGER.includes(form) ? (FORMS[0] as typeof form) : form;
            if (damaged) sources.push({ path: name, data: make(damaged, chunk) });
          }
          const selected = files.filter(({ isSelected }) => isSelected).map((file) => file.path);
          const choice = some && selected.length > 0 ? selected : null;
          const expected = await verify(torrent, folder, { ...checks, memoryLimit: null, files: choice });
          const report = await verify(torrent, sources, { ...checks, files: choice });
          assert.deepEqual(withoutTimes(report), withoutTimes(expected));
          await rm(folder, { recursive: true });
        }),
        { numRuns: runs(100) },
      );
    });

  /** A torrent of files `a`, `b` and `c`, and their content. */
  const three = async (version: (typeof VERSIONS)[number] = 'v2', sizes = [3 * PIECE + 5, PIECE, 2 * PIECE]) => {
    const contents = sizes.map((size, i) => noise(size, i + 1)) as [Buffer, Buffer, Buffer];
    const sources = contents.map((data, i) => ({ path: 'abc'[i] as string, data }));
    const torrent = await new TorrentCreate({ name: 'abc', sources, pieceLength: PIECE }).generate({ version });
    return { torrent, contents };
  };

  it('tells what is wrong with each stream, and destroys those that it does not need', async () => {
    for (const version of VERSIONS) {
      const { torrent, contents } = await three(version);
      const endless = new Readable({ read() {} });
      const long = Readable.from([contents[1], Buffer.from('x'), contents[0]]);
      const failing = Readable.from(
        (function* () {
          yield contents[2].subarray(0, PIECE);
          throw new Error('the disk is on fire');
        })(),
      );
      const report = await verify(torrent, [
        { path: 'a', data: Readable.from([contents[0].subarray(0, 2 * PIECE)]) },
        { path: 'b', data: long },
        { path: 'c', data: failing },
        { path: 'extra/one', data: endless },
      ]);
      assert.deepEqual(statuses(report), ['wrong-size', 'wrong-size', 'unreadable']);
      assert.match(report.files[2]?.problem ?? '', /^c could not be read: the disk is on fire$/);
      assert.deepEqual([report.ok, report.extraFiles], [false, ['extra/one']]);
      // The first two pieces of `a`, and in v2 and hybrid the only one of `b`.
      assert.equal(report.goodBytes, version === 'v1' ? 2 * PIECE : 3 * PIECE);
      assert.deepEqual([endless.destroyed, long.destroyed, failing.destroyed], [true, true, true]);
    }
  });

  it('calls a file unreadable whose stream was truncated, even if it has all bytes of the file', async () => {
    for (const version of VERSIONS) {
      const { torrent, contents } = await three(version);
      const data = (bytes: Uint8Array) => Object.assign(Readable.from([bytes]), { truncated: true });
      const report = await verify(torrent, [
        { path: 'a', data: contents[0] },
        { path: 'b', data: data(contents[1]) },
        { path: 'c', data: data(contents[2].subarray(0, PIECE)) },
      ]);
      assert.deepEqual([report.ok, ...statuses(report).slice(1)], [false, 'unreadable', 'unreadable'], version);
      assert.match(report.files[1]?.problem ?? '', /^b was truncated after \d+ bytes, at a size limit/);
    }
  });

  it('reads a stream even if no piece of it can be checked, because a later stream may wait for it', async () => {
    const { torrent, contents } = await three('v1', [5, 10, PIECE]);
    let release = () => {};
    const read = new Promise<void>((resolve) => {
      release = resolve;
    });
    async function* first() {
      yield contents[1];
      release();
    }
    async function* second() {
      await read;
      yield contents[2];
    }
    const report = await verify(torrent, [
      { path: 'c', data: second() },
      { path: 'b', data: first() },
    ]);
    assert.deepEqual(statuses(report), ['missing', 'partial', 'partial']);
    assert.deepEqual(report.badPieces, [[0, 0]]);
  });

  it('does not hang on a stream when it is cancelled, and destroys all', async () => {
    for (const version of VERSIONS) {
      const { torrent, contents } = await three(version);
      const stop = new AbortController();
      let reads = 0;
      const stuck = new Readable({
        read() {
          reads += 1;
          if (reads === 1) this.push(contents[0].subarray(0, PIECE));
          else stop.abort(new Error('the user left'));
        },
      });
      let isCancelled = false;
      const web = new ReadableStream<Uint8Array>({
        cancel() {
          isCancelled = true;
        },
      });
      const never = { next: () => new Promise<never>(() => {}), [Symbol.asyncIterator]: () => never };
      const job = verify(
        torrent,
        [
          { path: 'a', data: stuck },
          { path: 'b', data: web },
          { path: 'c', data: never as AsyncIterable<Uint8Array> },
        ],
        { signal: stop.signal },
      );
      await assert.rejects(job, { code: 'ERR_ABORTED', name: 'AbortError' });
      assert.deepEqual([stuck.destroyed, isCancelled], [true, true]);
    }
    const { torrent } = await three();
    const unread = Readable.from([]);
    const job = verify(torrent, [{ path: 'a', data: unread }], { signal: AbortSignal.abort() });
    await assert.rejects(job, { code: 'ERR_ABORTED' });
    assert.ok(unread.destroyed);
  });

  it('fails with the error of onProgress, and destroys the streams', async () => {
    const { torrent } = await three();
    const stuck = new Readable({ read() {} });
    const job = verify(torrent, [{ path: 'a', data: stuck }], {
      onProgress: () => {
        throw new Error('the bar broke');
      },
    });
    await assert.rejects(job, { message: 'the bar broke' });
    assert.ok(stuck.destroyed);
  });

  it('rejects what cannot be sources of the torrent, with a code', async () => {
    const { torrent, contents } = await three();
    const rejects = (content: unknown, code: string, message: RegExp) =>
      assert.rejects(verify(torrent, content as VerifySources), { code, message });
    const data = contents[0];
    await rejects(data, 'ERR_INVALID_ARGUMENT', /a single source, but the torrent has 3 files/);
    await rejects({}, 'ERR_INVALID_ARGUMENT', /a path, a source or a list of sources/);
    await rejects(new Map(), 'ERR_INVALID_ARGUMENT', /a path, a source or a list/);
    for (const none of [null, undefined, ''])
      await rejects(none, 'ERR_INVALID_ARGUMENT', /a path, a source or a list of sources, not (null|nothing|"")/);
    await rejects([data], 'ERR_INVALID_ARGUMENT', /sources\.0\.path: expected a path/);
    await rejects([{ path: '../a', data }], 'ERR_INVALID_ARGUMENT', /expected a relative path/);
    await rejects([{ path: 'a', data: 'text' }], 'ERR_INVALID_ARGUMENT', /sources\.0\.data: expected bytes/);
    await rejects([{ path: 'a', data, saveTo: 'copy' }], 'ERR_INVALID_ARGUMENT', /saveTo is for creations/);
    const twice = { path: 'a', data };
    await rejects([twice, twice], 'ERR_DUPLICATE_PATH', /Two sources have the path "a"/);
    const stream = Readable.from([data]);
    await rejects(
      [
        { path: 'a', data: stream },
        { path: 'b', data: stream },
      ],
      'ERR_INVALID_ARGUMENT',
      /a stream of its own/,
    );
    assert.ok(stream.destroyed);
    const unread = Readable.from([data]);
    await assert.rejects(verify(torrent, [{ path: 'a', data: unread }], { threads: 0 }), {
      code: 'ERR_INVALID_ARGUMENT',
    });
    assert.ok(unread.destroyed);
    const read = Readable.from([data]);
    await verify(torrent, [{ path: 'a', data: read }]);
    await rejects([{ path: 'a', data: read }], 'ERR_SOURCE', /pass a new stream/);
    for (const files of [['x'], [], 'a', [1]] as string[][])
      await assert.rejects(verify(torrent, [], { files }), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('reports a stream that fails at once, before anything listens to it', async (t) => {
    const { torrent } = await three();
    const missing = createReadStream(path.join(await temporaryFolder(t), 'missing'));
    const { files } = await verify(torrent, [{ path: 'a', data: missing }]);
    assert.deepEqual([files[0]?.status, files[1]?.status], ['unreadable', 'missing']);
    assert.match(files[0]?.problem ?? '', /ENOENT/);
    const failed = createReadStream('/nowhere');
    await once(failed, 'error');
    const later = await verify(torrent, [{ path: 'a', data: failed }]);
    assert.match(later.files[0]?.problem ?? '', /^a could not be read: ENOENT/);
  });

  it('takes the data of a single-file torrent, files by their names, and no source at all', async () => {
    const content = noise(100_000);
    const torrent = await new TorrentCreate({ sources: [{ path: 'film.mkv', data: content }] }).generate();
    const other = new File([content], 'copy.mkv', { lastModified: 1234 });
    for (const data of [content, new Blob([content]), Readable.from([content]), other] as SourceData[])
      assert.ok((await verify(torrent, data)).ok);
    assert.ok((await verify(torrent, [{ path: 'film.mkv', data: Readable.from([content]), size: 10 }])).ok);
    assert.equal((await verify(torrent, other)).files[0]?.mtimeMs, 1234);
    const named = new File([content], 'film.mkv');
    assert.deepEqual(statuses(await verify(torrent, [named])), ['complete']);
    const { files, extraFiles } = await verify(torrent, [other]);
    assert.deepEqual([files[0]?.status, extraFiles], ['missing', ['copy.mkv']]);
    const part = await verify(torrent, [{ path: 'film.mkv.part', data: content }]);
    assert.deepEqual([part.ok, part.files[0]?.foundAs], [true, 'film.mkv.part']);
    assert.deepEqual(statuses(await verify(torrent, [])), ['missing']);
  });

  it('reads a web object, and only the files that are selected', async (t) => {
    const { torrent, contents } = await three('hybrid');
    const web = await webServer(t, contents[1]);
    const film = await webFile(web.url('/b'));
    assert.deepEqual(statuses(await verify(torrent, [film], { files: ['b'] })), ['complete']);
    const unused = { size: 5, read: () => assert.fail('it is not selected') };
    const report = await verify(torrent, [film, { path: 'a', data: unused }], { files: ['b'] });
    assert.deepEqual([report.ok, report.totalSize, report.extraFiles], [true, PIECE, []]);
    web.object.etag = '"two"';
    const changed = await verify(torrent, [film]);
    assert.deepEqual(statuses(changed), ['missing', 'unreadable', 'missing']);
    assert.match(changed.files[1]?.problem ?? '', /replaced|changed/);
  });

  it('selects folders, and calls pieces that cross into other files neither good nor bad', async () => {
    const data = [noise(PIECE - 10, 1), noise(PIECE, 2), noise(30, 3)] as const;
    const sources = ['d/a', 'd/b', 'e'].map((name, i) => ({ path: name, data: data[i] as Buffer }));
    const torrent = await new TorrentCreate({ name: 'x', sources, pieceLength: PIECE }).generate({ version: 'v1' });
    const of = (files: string[]) => verify(torrent, sources, { files });
    const folder = await of(['d']);
    assert.deepEqual(statuses(folder), ['complete', 'complete']);
    assert.deepEqual(
      [folder.uncheckedPieces, folder.badPieces, folder.files[1]?.uncheckedBytes],
      [[[1, 1]], [], PIECE - 10],
    );
    assert.equal(Buffer.from(folder.bitfield).toString('hex'), '80');
    const last = await of(['e']);
    assert.deepEqual([last.ok, statuses(last), last.uncheckedPieces], [true, ['complete'], [[1, 1]]]);
    assert.deepEqual([last.goodBytes, last.files[0]?.uncheckedBytes], [20, 10]);
    const first = await of(['d/a']);
    assert.deepEqual([first.ok, statuses(first), first.goodBytes], [true, ['unchecked'], 0]);
  });

  it('fails a source whose memory is transferred while it is read', async () => {
    const { torrent } = await three('v2', [2 ** 20, PIECE, PIECE]);
    const memory = new Uint8Array(noise(2 ** 20));
    async function* chunks() {
      yield memory.subarray(0, 10);
      structuredClone(memory.buffer, { transfer: [memory.buffer] });
      yield memory;
    }
    const { files } = await verify(torrent, [{ path: 'a', data: chunks() }]);
    assert.equal(files[0]?.status, 'wrong-size');
    const read = async (offset: number, length: number) => new Uint8Array(length + (offset > 0 ? 1 : 0));
    const long = await verify(torrent, [{ path: 'a', data: { size: 2 ** 20, read, requestSize: PIECE } }], {
      readSize: PIECE,
    });
    assert.equal(long.files[0]?.status, 'unreadable');
  });

  it('verifies torrents without piece layers, and with pieces of any length', async () => {
    const { torrent: made, contents } = await three('v2');
    const top = made.modelDumpTorrent({ mode: 'binary' });
    top.delete('piece layers');
    const torrent = Torrent.fromBytes(encode(top), { context: { profile: 'compat' } });
    const streams = () =>
      contents.map((content, i) => ({ path: 'abc'[i] as string, data: Readable.from(chunksOf(content, 5000)) }));
    assert.ok((await verify(torrent, streams(), { memoryLimit: 4 * PIECE })).ok);
    contents[2][5] = (contents[2][5] as number) ^ 1;
    assert.deepEqual(statuses(await verify(torrent, streams())), ['complete', 'complete', 'partial']);

    const content = noise(1_000_000);
    const info = {
      length: content.length,
      name: 'old',
      'piece length': 10_007,
      pieces: Buffer.concat(v1Pieces(content, 10_007)),
    };
    const { torrent: old } = Torrent.inspect(encode({ info }), { context: { profile: 'compat' } });
    const data = Readable.from(chunksOf(content, 5000));
    if (old) assert.ok((await verify(old, data, { memoryLimit: 100_000 })).ok);
  });

  it('asks for one version of a hybrid whose files share pieces', async () => {
    const { torrent: made, contents } = await three('hybrid', [20_000, 20_000, 5]);
    const top = made.modelDumpTorrent({ mode: 'binary' });
    const info = top.get('info') as BencodeMap;
    const files = info.get('files') as BencodeMap[];
    info.set(
      'files',
      files.filter((file) => !file.has('attr')),
    );
    info.set('pieces', Buffer.concat(v1Pieces(Buffer.concat(contents), PIECE)));
    const { torrent } = Torrent.inspect(encode(top), { context: { padding: 'ignore' } });
    assert.ok(torrent);
    const streams = () => contents.map((content, i) => ({ path: 'abc'[i] as string, data: Readable.from([content]) }));
    const refused = streams();
    await assert.rejects(verify(torrent, refused), { code: 'ERR_INVALID_ARGUMENT', message: /version 'v1' or 'v2'/ });
    assert.ok(refused.every(({ data }) => data.destroyed));
    for (const version of ['v1', 'v2'] as const) assert.ok((await verify(torrent, streams(), { version })).ok);
  });

  /** An engine that records the memory of its requests. */
  function recording() {
    const seen = { buffers: new Set<ArrayBufferLike>(), bytes: 0, requests: 0 };
    const real = nodeEngine();
    const start = (request: HashRequest) => {
      seen.requests += 1;
      for (const { data, length } of request.files) {
        seen.bytes += length;
        if (data) seen.buffers.add(data.buffer);
      }
      return real.start(request);
    };
    return { seen, engine: { ...real, start } as Engine };
  }

  it('keeps within its memory limit, and hashes many pieces with each request', async () => {
    const size = 64 * 2 ** 20;
    const zeros = Buffer.alloc(2 ** 16);
    function* stream() {
      for (let at = 0; at < size; at += zeros.length) yield zeros;
    }
    for (const version of VERSIONS) {
      const sources = [{ path: 'zeros', size, data: Readable.from(stream()) }];
      const torrent = await new TorrentCreate({ sources, pieceLength: PIECE }).generate({ version });
      const { seen, engine } = recording();
      const memoryLimit = 4 * 2 ** 20;
      assert.ok((await verify(torrent, Readable.from(stream()), { engine, memoryLimit })).ok);
      const bytes = [...seen.buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
      assert.ok(bytes <= memoryLimit, `${bytes} bytes of buffers`);
      assert.ok(seen.requests <= torrent.nPieces / 16, `${seen.requests} requests`);
    }
  });

  it('hashes nothing in place of a long file whose stream ends early', async () => {
    const length = 2 ** 40;
    const pieceLength = 2 ** 24;
    const pieces = Buffer.alloc((length / pieceLength) * 20 + 20);
    const list = [
      { length, path: ['a'] },
      { length: 5, path: ['b'] },
    ];
    const info = { files: list, name: 'large', 'piece length': pieceLength, pieces };
    const torrent = Torrent.fromBytes(encode({ info }));
    const { seen, engine } = recording();
    const a = Readable.from([Buffer.alloc(10)]);
    const report = await verify(
      torrent,
      [
        { path: 'a', data: a },
        { path: 'b', data: Buffer.alloc(5) },
      ],
      { engine },
    );
    assert.deepEqual(statuses(report), ['wrong-size', 'partial']);
    assert.ok(seen.bytes <= 3 * pieceLength, `${seen.bytes} bytes`);
  });
});
