import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import { MetainfoError, ValidationError } from '../../src/errors/errors.ts';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import type { Digests, HashJob, HashRequest } from '../../src/hash/hash-request.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { iterBlocks } from '../../src/hashers/records.ts';
import type { Progress } from '../../src/jobs/watch.ts';
import { sortV1, sortV2 } from '../../src/layout/order.ts';
import type { FileItem } from '../../src/model/file-item.ts';
import type { Torrent } from '../../src/model/torrent/torrent.ts';
import type { SourceData } from '../../src/sources/source-data.ts';
import type { Source } from '../../src/sources/sources.ts';
import { noise } from '../hash/reference.ts';
import { runs } from '../support/runs.ts';
import { cpuSeconds } from '../support/timing.ts';
import { HUGE, sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

/** Bytes in chunks of the given sizes, over and over. */
function* chunks(bytes: Buffer, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] as number;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Data that says at its end that it was cut, as the file streams of busboy do at their size limit. */
function truncated<T extends object>(data: T): T {
  return Object.assign(data, { truncated: true });
}

async function* slowly(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks(bytes, sizes)) {
    await null;
    yield chunk;
  }
}

/** The same memory for every chunk, like a reader that reuses its buffer. */
async function* reused(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const memory = Buffer.alloc(Math.max(...sizes));
  for (const chunk of chunks(bytes, sizes)) {
    memory.set(chunk);
    yield memory.subarray(0, chunk.length);
    memory.fill(0xee);
  }
}

const FORMS: Record<string, (bytes: Buffer, sizes: readonly number[]) => SourceData> = {
  Uint8Array: (bytes) => new Uint8Array(bytes),
  Buffer: (bytes) => bytes,
  Blob: (bytes) => new Blob([bytes]),
  Readable: (bytes, sizes) => Readable.from(chunks(bytes, sizes), { objectMode: false }),
  'AsyncIterable of memory used again': reused,
  'async generator': slowly,
  'AsyncIterable that can be read again': (bytes, sizes) => ({ [Symbol.asyncIterator]: () => slowly(bytes, sizes) }),
  ReadableStream: (bytes, sizes) => ReadableStream.from(chunks(bytes, sizes)) as ReadableStream<Uint8Array>,
  'range reader': (bytes) => ({
    size: bytes.length,
    read: async (offset, length) => {
      await sleep(0);
      return bytes.subarray(offset, offset + length);
    },
  }),
};

interface Piece {
  path: string;
  size: number;
  seed: number;
  form: string;
  sized: boolean;
  sizes: number[];
}

const size = fc.oneof(
  fc.constantFrom(0, 1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 32 * KIB, 48 * KIB, 64 * KIB, 64 * KIB + 1, 128 * KIB),
  fc.nat(300 * KIB),
);
const piece = fc.record({
  size,
  seed: fc.integer({ min: 1, max: 3 }),
  form: fc.constantFrom('file', ...Object.keys(FORMS)),
  sized: fc.boolean(),
  // Primes, blocks, and more than a piece.
  sizes: fc.array(fc.constantFrom(997, 4099, 16 * KIB, 64 * KIB, 65_537, 200_003), { minLength: 1, maxLength: 3 }),
});
const content = fc
  .array(piece, { minLength: 1, maxLength: 6 })
  .filter((files) => files.some((file) => file.size > 0))
  .map((files) => files.map((file, i): Piece => ({ ...file, path: i % 2 === 0 ? `${i}` : `folder/${9 - i}` })));

/** The input of a draft of files and sources, and the same content as a list of files: sorted `paths`, then the sources. */
function fieldsOf(files: readonly Piece[]): { paths: string[]; sources: Source[]; listed: FileItem[] } {
  const paths = files.filter(({ form }) => form === 'file').map((file) => file.path);
  const others = files.filter(({ form }) => form !== 'file');
  const sources = others.map(({ path: name, size: length, seed, form, sized, sizes }): Source => {
    const data = (FORMS[form] as (typeof FORMS)[string])(noise(length, seed), sizes);
    return sized ? { path: name, size: length, data } : { path: name, data };
  });
  const list = (some: readonly Piece[]) => some.map((file) => ({ path: file.path.split('/'), length: file.size }));
  const onDisk = list(files.filter(({ form }) => form === 'file'));
  return { paths, sources, listed: [...sortV1(onDisk), ...list(others)] };
}

describe('sources', () => {
  let root = '';
  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'metainfo-'));
  });
  after(() => rm(root, { recursive: true, force: true }));

  for (const version of VERSIONS) {
    it(`give the torrent of the same files: ${version}`, async () => {
      let count = 0;
      const options = fc.record({
        pieceLength: fc.constantFrom(16 * KIB, 64 * KIB, 128 * KIB),
        memoryLimit: fc.constantFrom(undefined, 128 * KIB, 300_000, MIB),
        threads: fc.constantFrom(1, 2),
        padding: fc.boolean(),
        engine: fc.constantFrom(undefined, nodeEngine()),
      });
      await fc.assert(
        fc.asyncProperty(content, options, async (files, { pieceLength, memoryLimit, ...rest }) => {
          count += 1;
          const folder = path.join(root, `${version} ${count}`);
          await mkdir(folder);
          await writeTree(folder, Object.fromEntries(files.map((file) => [file.path, noise(file.size, file.seed)])));
          const { paths, sources, listed } = fieldsOf(files);
          const fields = { pathRoot: folder, info: { name: 'x' }, pieceLength };
          const info = { name: 'x', files: listed };
          const expected = await new TorrentCreate({ ...fields, info }).generate({ version, ...rest });
          if (sources.length === 0) return;
          const draft = new TorrentCreate({ ...fields, ...(paths.length > 0 && { paths }), sources });
          const limit = memoryLimit && (version === 'v2' ? memoryLimit : Math.max(memoryLimit, 2 * pieceLength));
          const made = await draft.generate({ version, memoryLimit: limit, ...rest });
          assert.deepEqual(Buffer.from(made.bencode()), Buffer.from(expected.bencode()));
          await rm(folder, { recursive: true });
        }),
        { numRuns: runs(120) },
      );
    });
  }

  it('give one torrent in chunks of a byte and in one chunk', async () => {
    const bytes = noise(40_000);
    const make = (sizes: number[]) =>
      new TorrentCreate({ sources: [{ path: 'a', data: slowly(bytes, sizes) }], pieceLength: 16 * KIB }).generate();
    const [one, all] = [await make([1]), await make([1_000_000])];
    assert.equal(one.infohashV2, all.infohashV2);
    assert.equal(one.infohashV1, all.infohashV1);
  });

  it('build trees of pieces that are larger than a segment', async () => {
    const bytes = noise(3 * MIB + 5);
    for (const pieceLength of [256 * KIB, MIB, 4 * MIB]) {
      const from = (data: SourceData, memoryLimit?: number) =>
        new TorrentCreate({ sources: [{ path: 'a', data }], pieceLength }).generate({ version: 'v2', memoryLimit });
      const expected = await from(bytes);
      const made = await from(slowly(bytes, [70_001]), 128 * KIB);
      assert.equal(made.infohashV2, expected.infohashV2);
      assert.deepEqual(made.pieceLayers, expected.pieceLayers);
    }
  });

  it('need neither a size nor a piece length', async () => {
    for (const version of VERSIONS) {
      const sources = [
        { path: 'a', data: slowly(noise(5), [2]) },
        { path: 'b', data: slowly(noise(2 * MIB), [2 ** 16]) },
      ];
      const torrent = await new TorrentCreate({ info: { name: 'x' }, sources }).generate({ version });
      assert.equal(torrent.info.pieceLength, MIB);
      assert.deepEqual(
        torrent.files.map((file) => file.length),
        [5, 2 * MIB],
      );
    }
  });

  it('get the same piece length as files on disk if all sizes are known', async () => {
    const bytes = noise(40 * MIB);
    const torrent = await new TorrentCreate({
      sources: [{ path: 'a', size: bytes.length, data: slowly(bytes, [MIB]) }],
    }).generate();
    assert.equal(torrent.info.pieceLength, 32 * KIB);
  });

  it('need a size in a hybrid without a tail pad', async () => {
    const sources = () => [
      { path: 'a', data: noise(5) },
      { path: 'b', data: slowly(noise(5), [5]) },
    ];
    const make = (given: Source[]) =>
      new TorrentCreate({ info: { name: 'x' }, sources: given }).generate({ tailPad: false });
    await assert.rejects(make(sources()), { code: 'ERR_SIZE_UNKNOWN', path: 'b' });
    const sized = sources().map((source) => ({ ...source, size: 5 }));
    const torrent = await make(sized);
    assert.equal(torrent.torrentVersion, 'hybrid');
    const files = (torrent as Torrent & { torrentVersion: 'hybrid' }).info.files;
    assert.deepEqual(
      files?.map((file) => file.attr ?? ''),
      ['', 'p', ''],
    );
  });

  it('name the torrent if there is only one, and else need a name', async () => {
    const single = await new TorrentCreate({ sources: [{ path: 'a.bin', data: noise(9) }] }).generate({
      version: 'v1',
    });
    assert.equal(single.name, 'a.bin');
    assert.equal((single as Torrent & { torrentVersion: 'v1' }).info.length, 9);
    const folder = await new TorrentCreate({
      info: { name: 'x' },
      sources: [{ path: 'a', data: noise(9) }],
    }).generate();
    assert.deepEqual(
      folder.files.map((file) => file.path),
      ['a'],
    );
    const two = ['a', 'b'].map((at) => ({ path: at, data: noise(9) }));
    assert.throws(() => new TorrentCreate({ sources: two }), { code: 'ERR_NAME' });
  });

  it('are listed by getPaths without being read', async () => {
    const sources = [
      { path: 'b', data: slowly(noise(5), [5]) },
      { path: 'a', data: noise(3) },
    ];
    const draft = new TorrentCreate({ info: { name: 'x' }, sources });
    assert.deepEqual(await draft.getPaths(), ['a', 'b']);
    assert.deepEqual(await draft.getPaths({ v1Order: true }), ['b', 'a']);
    assert.deepEqual(await draft.getPaths({ clean: false }), ['b', 'a']);
    assert.deepEqual(await new TorrentCreate({ sources: [{ path: 'a.bin', data: noise(1) }] }).getPaths(), ['a.bin']);
    const made = await draft.generate();
    assert.deepEqual(
      made.files.map((file) => file.path),
      sortV2(['b', 'a']),
    );
  });

  it('may be bytes of another realm', async () => {
    const foreign = (size: number) => runInNewContext(`new Uint8Array(${size}).fill(7)`) as Uint8Array;
    for (const version of VERSIONS)
      for (const size of [5, MIB]) {
        const infoOf = async (data: SourceData) =>
          (await new TorrentCreate({ sources: [{ path: 'a', data }] }).generate({ version })).infoBytes;
        const expected = await infoOf(new Uint8Array(size).fill(7));
        assert.deepEqual(await infoOf(foreign(size)), expected);
        assert.deepEqual(await infoOf({ size, read: async (_, length) => foreign(length) }), expected);
        const sources = [{ path: 'a', size, data: Readable.from([foreign(size)]) }];
        assert.deepEqual((await new TorrentCreate({ sources }).generate({ version })).infoBytes, expected);
      }
  });

  it('are rejected with every problem at once', () => {
    const stream = slowly(noise(1), [1]);
    const wrong: [unknown, (string | number)[]][] = [
      [{ path: '/a', data: noise(1) }, ['sources', 0, 'path']],
      [{ path: '../a', data: noise(1) }, ['sources', 1, 'path']],
      [{ path: 'a//b', data: noise(1) }, ['sources', 2, 'path']],
      [{ path: 7, data: noise(1) }, ['sources', 3, 'path']],
      [{ path: 'a', size: -1, data: noise(1) }, ['sources', 4, 'size']],
      [{ path: 'a', size: 2, data: noise(1) }, ['sources', 5, 'size']],
      [{ path: 'a', data: 'text' }, ['sources', 6, 'data']],
      [{ path: 'a', data: null }, ['sources', 7, 'data']],
      [{ path: 'a', data: { size: 1.5, read: async () => noise(1) } }, ['sources', 8, 'data']],
      [null, ['sources', 9]],
      [{ path: 'a', data: stream }, []],
      [{ path: 'b', data: stream }, ['sources', 11, 'data']],
    ];
    assert.throws(
      () =>
        new TorrentCreate({ info: { name: 'x' }, sources: wrong.map(([source]) => source) } as Record<string, unknown>),
      (error: ValidationError) => {
        assert.deepEqual(
          error.issues.map((issue) => issue.path),
          wrong.map(([, at]) => at).filter((at) => at.length > 0),
        );
        return error.issues.every((issue) => issue.code === 'sources');
      },
    );
    for (const sources of [[], {}, 'a'])
      assert.throws(
        () => new TorrentCreate({ info: { name: 'x' }, sources } as Record<string, unknown>),
        ValidationError,
      );
  });

  it('are rejected if all are empty', async () => {
    const make = (data: SourceData) => new TorrentCreate({ sources: [{ path: 'a', data }] }).generate();
    const expected = { code: 'ERR_NO_DATA', message: 'All sources are empty: there is nothing to hash.' };
    await assert.rejects(make(Buffer.alloc(0)), expected);
    await assert.rejects(make(slowly(Buffer.alloc(0), [1])), expected);
    await assert.rejects(make({ size: 0, read: async () => Buffer.alloc(0) }), expected);
  });

  it('are rejected if paths repeat, or one is the folder of another', async () => {
    for (const names of [
      ['a', 'a'],
      ['a', 'a/b'],
      ['a/b/c', 'a'],
    ]) {
      const sources = names.map((name) => ({ path: name, data: noise(3) }));
      const draft = new TorrentCreate({ info: { name: 'x' }, sources });
      for (const version of VERSIONS) await assert.rejects(draft.generate({ version }), { code: 'ERR_DUPLICATE_PATH' });
    }
  });

  it('are copied if they are in memory that may be transferred', async () => {
    const buffer = Reflect.construct(ArrayBuffer, [50_000, { maxByteLength: 100_000 }]) as ArrayBuffer;
    const shared = new SharedArrayBuffer(50_000);
    const expected = await new TorrentCreate({
      info: { name: 'x' },
      sources: [{ path: 'a', data: Buffer.alloc(50_000) }],
    }).generate();
    for (const memory of [buffer, shared]) {
      const draft = new TorrentCreate({ info: { name: 'x' }, sources: [{ path: 'a', data: new Uint8Array(memory) }] });
      const made = draft.generate();
      (buffer as ArrayBuffer & { resize?: (size: number) => void }).resize?.(0);
      assert.equal((await made).infohashV2, expected.infohashV2);
    }
  });
});

describe('a source that fails', () => {
  const good = () => {
    const stream = Readable.from(slowly(noise(MIB), [1000]), { objectMode: false });
    return { path: 'good', data: stream };
  };
  const endless = async function* () {
    for (;;) yield Buffer.alloc(1000);
  };

  const CASES: Record<string, [data: () => SourceData, size: number | undefined, expected: object]> = {
    'ends early': [() => slowly(noise(999), [7]), 1000, { code: 'ERR_SOURCE_SIZE', path: 'bad' }],
    'is longer than it says': [() => slowly(noise(1001), [7]), 1000, { code: 'ERR_SOURCE_SIZE', path: 'bad' }],
    'is endless and longer than it says': [endless, 5000, { code: 'ERR_SOURCE_SIZE', path: 'bad' }],
    'gives text': [() => Readable.from(['text']), undefined, { code: 'ERR_SOURCE', path: 'bad' }],
    'gives null': [
      () =>
        (async function* () {
          yield null as never;
        })(),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    throws: [
      async function* () {
        yield noise(10);
        throw new Error('the wire broke');
      },
      undefined,
      { code: 'ERR_SOURCE', path: 'bad', message: 'bad could not be read: the wire broke' },
    ],
    'throws something that is no error': [
      async function* () {
        yield noise(10);
        throw 7;
      },
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'throws what has no text': [
      async function* () {
        yield noise(10);
        throw Object.create(null);
      },
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'gives what has no text': [
      async function* () {
        yield Object.create(null) as never;
      },
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'throws an error of this library': [
      async function* () {
        for await (const { chunk } of iterBlocks('/absent')) yield chunk;
      },
      undefined,
      { code: 'ERR_SOURCE', path: 'bad', message: 'bad could not be read: /absent: no such file or folder.' },
    ],
    'throws as if it had been aborted': [
      async function* () {
        yield noise(1);
        throw new MetainfoError('ERR_ABORTED', 'not by you');
      },
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'cannot begin': [
      () => ({
        [Symbol.asyncIterator]() {
          throw new Error('no');
        },
      }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad', message: 'bad could not be read: no' },
    ],
    'has no iterator': [
      () => ({ [Symbol.asyncIterator]: () => null as never }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'has an iterator that gives nothing': [
      () => ({ [Symbol.asyncIterator]: () => ({ next: async () => undefined as never }) }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'fails and cannot be ended': [
      () => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            throw new Error('real');
          },
          return: undefined as never,
        }),
      }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad', message: 'bad could not be read: real' },
    ],
    'fails and throws when it is ended': [
      () => ({
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ value: 'text' as never, done: false }),
          return: () => {
            throw new Error('not this');
          },
        }),
      }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'is a file that is not there': [() => createReadStream('/absent'), undefined, { code: 'ERR_SOURCE', path: 'bad' }],
    'is destroyed': [
      () =>
        new Readable({
          read() {
            this.destroy();
          },
        }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'is a web stream with an error': [
      () => new ReadableStream({ pull: (controller) => controller.error(new Error('no')) }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'is truncated at a limit': [
      () => truncated(Readable.from(slowly(noise(999), [7]))),
      undefined,
      { code: 'ERR_SOURCE_TRUNCATED', path: 'bad' },
    ],
    'is truncated at a limit, and has the size that it should have': [
      () => truncated(Readable.from(slowly(noise(999), [7]))),
      999,
      { code: 'ERR_SOURCE_TRUNCATED', path: 'bad' },
    ],
    'is truncated before its first byte': [
      () => truncated(Readable.from([])),
      undefined,
      { code: 'ERR_SOURCE_TRUNCATED', path: 'bad' },
    ],
    'is a web stream that is truncated': [
      () => truncated(ReadableStream.from(chunks(noise(10), [3])) as ReadableStream<Uint8Array>),
      undefined,
      { code: 'ERR_SOURCE_TRUNCATED', path: 'bad' },
    ],
    'is an iterable that is truncated': [
      () => truncated({ [Symbol.asyncIterator]: () => slowly(noise(10), [3]) }),
      undefined,
      { code: 'ERR_SOURCE_TRUNCATED', path: 'bad' },
    ],
    'is a range reader that gives too little': [
      () => ({ size: 100, read: async () => noise(99) }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'is a range reader that throws at once': [
      () => ({
        size: 100,
        read: () => {
          throw new Error('no');
        },
      }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
    'has an iterator that throws': [
      () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            throw new Error('no');
          },
        }),
      }),
      undefined,
      { code: 'ERR_SOURCE', path: 'bad' },
    ],
  };
  for (const [what, [data, size, expected]] of Object.entries(CASES)) {
    for (const version of VERSIONS) {
      it(`fails with its path if it ${what}, and destroys the others: ${version}`, async () => {
        const [before, after] = [{ ...good(), path: 'before' }, good()];
        const sources = [before, { path: 'bad', size, data: data() }, after];
        const draft = new TorrentCreate({ info: { name: 'x' }, pieceLength: 16 * KIB, sources });
        await assert.rejects(draft.generate({ version, memoryLimit: MIB }), expected);
        await sleep(1);
        assert.ok(after.data.destroyed, 'the stream after it');
        assert.ok(before.data.destroyed, 'the stream before it');
      });
    }
  }

  it('is whole unless `truncated` is true', async () => {
    for (const flag of [false, undefined, null, 0, 'true']) {
      const data = Object.assign(Readable.from([noise(10)]), { truncated: flag });
      const torrent = await new TorrentCreate({ sources: [{ path: 'a', data }] }).generate();
      assert.equal(torrent.totalSize, 10);
    }
  });

  it('does not end the process while another one is read', async () => {
    const bad = new Readable({ read() {} });
    const first = (async function* () {
      yield noise(100);
      bad.destroy(new Error('too early'));
      await sleep(10);
      yield noise(100);
    })();
    const sources = [
      { path: 'a', data: first },
      { path: 'b', data: bad },
    ];
    const draft = new TorrentCreate({ info: { name: 'x' }, sources });
    await assert.rejects(draft.generate({ version: 'v1' }), { code: 'ERR_SOURCE', path: 'b' });
  });

  it('is rejected if it failed before, or is read elsewhere', async () => {
    const gone = createReadStream('/absent').on('error', () => {});
    await sleep(20);
    const locked = ReadableStream.from(chunks(noise(10), [3])) as ReadableStream<Uint8Array>;
    locked.getReader();
    for (const [data, message] of [
      [gone, /ENOENT/],
      [locked, /read elsewhere/],
    ] as const) {
      const fresh = good();
      const sources = [fresh, { path: 'bad', data }];
      const made = new TorrentCreate({ info: { name: 'x' }, sources }).generate();
      await assert.rejects(made, { code: 'ERR_SOURCE', path: 'bad', message });
      assert.ok(fresh.data.destroyed);
    }
  });

  it('leaves the others destroyed if it cannot be destroyed', async () => {
    const stubborn = new Readable({ read() {} });
    stubborn.destroy = () => {
      throw new Error('not this');
    };
    const last = good();
    const sources = [{ path: 'a', data: stubborn }, { path: 'bad', data: slowly(noise(1), [1]), size: 2 }, last];
    const made = new TorrentCreate({ info: { name: 'x' }, sources }).generate({ version: 'v2' });
    await assert.rejects(made, { code: 'ERR_SOURCE_SIZE', path: 'bad' });
    assert.ok(last.data.destroyed);
  });

  it('is rejected if its bytes were transferred', async () => {
    const bytes = new Uint8Array(100);
    const draft = new TorrentCreate({ sources: [{ path: 'a', data: bytes }] });
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    await assert.rejects(draft.generate(), { code: 'ERR_SOURCE_SIZE', path: 'a' });
  });

  it('stops the hashing of files on disk at once', async (t) => {
    const folder = await temporaryFolder(t);
    await sparseFile(folder, 'big', HUGE);
    // v1 without pad files reads one file after the other.
    for (const version of ['v2', 'hybrid'] as const) {
      const bad = (async function* () {
        yield noise(1);
        throw new Error('no');
      })();
      const draft = new TorrentCreate({ pathRoot: folder, paths: ['big'], sources: [{ path: 'bad', data: bad }] });
      // To hash the whole file takes far longer.
      const before = cpuSeconds();
      await assert.rejects(draft.generate({ version }), { code: 'ERR_SOURCE', path: 'bad' });
      assert.ok(cpuSeconds() - before < 5);
    }
  });

  it('is rejected if it was read before', async () => {
    const makers: (() => SourceData)[] = [
      () => slowly(noise(10), [3]),
      () => Readable.from(chunks(noise(10), [3])),
      () => ReadableStream.from(chunks(noise(10), [3])) as ReadableStream<Uint8Array>,
    ];
    for (const make of makers) {
      const draft = new TorrentCreate({ sources: [{ path: 'a', data: make() }] });
      await draft.generate();
      await assert.rejects(draft.generate(), { code: 'ERR_SOURCE', path: 'a' });
    }
    const again = new TorrentCreate({ sources: [{ path: 'a', data: noise(10) }] });
    assert.equal((await again.generate()).infohashV1, (await again.generate()).infohashV1);
  });

  it('stops at once when the signal fires, even if it never answers', async () => {
    for (const version of VERSIONS) {
      const never = new Readable({ read() {} });
      const web = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
      let told: AbortSignal | undefined;
      const ranges = {
        size: 100,
        read: (_: number, __: number, signal: AbortSignal) => {
          told = signal;
          return new Promise<Uint8Array>(() => {});
        },
      };
      for (const data of [never, web, ranges]) {
        const controller = new AbortController();
        const draft = new TorrentCreate({ sources: [{ path: 'a', data }], pieceLength: 16 * KIB });
        const made = draft.generate({ version, signal: controller.signal });
        setTimeout(() => controller.abort(new Error('enough')), 20);
        await assert.rejects(made, { name: 'AbortError', code: 'ERR_ABORTED' });
      }
      await sleep(1);
      assert.ok(never.destroyed);
      assert.equal(told?.aborted, true);
    }
  });

  it('is destroyed if the options are invalid or the signal fired before', async () => {
    for (const options of [{ threads: -1 }, { signal: AbortSignal.abort() }, { version: 'v3' as never }]) {
      const stream = good();
      await assert.rejects(new TorrentCreate({ sources: [stream] }).generate(options), { name: /Error/ });
      assert.ok(stream.data.destroyed);
    }
  });

  it('is destroyed if hashing fails before it ends', async () => {
    for (const version of VERSIONS) {
      const real = defaultEngine();
      const broken = {
        ...real,
        start: () => ({
          done: Promise.reject(new MetainfoError('ERR_NO_MEMORY', 'none left')),
          progress: () => ({ bytes: 0, fileIndex: 0, queued: 0 }),
          cancel: () => {},
        }),
      };
      const stalled = (async function* () {
        yield Buffer.alloc(MIB);
        await sleep(50);
        yield Buffer.alloc(1);
        await new Promise(() => {});
      })();
      const draft = new TorrentCreate({ sources: [{ path: 'a', data: stalled }], pieceLength: 16 * KIB });
      const made = draft.generate({ version, memoryLimit: 256 * KIB, engine: broken });
      await assert.rejects(made, { code: 'ERR_NO_MEMORY' });
    }
  });

  it('is destroyed if a file on disk fails', async (t) => {
    const folder = await temporaryFolder(t);
    const stream = good();
    const draft = new TorrentCreate({ pathRoot: folder, paths: ['absent'], sources: [stream] });
    await assert.rejects(draft.generate(), (error: MetainfoError) => error.code === 'ERR_NOT_FOUND');
    assert.ok(stream.data.destroyed);
  });
});

describe('the event loop with streams', () => {
  it('stays free while every chunk is ready at once', async () => {
    for (const size of [0, 1]) {
      const endless = async function* () {
        for (;;) yield Buffer.alloc(size);
      };
      const draft = new TorrentCreate({ sources: [{ path: 'a', data: endless() }] });
      // If the event loop were not free, the signal would never fire.
      await assert.rejects(draft.generate({ version: 'v2', signal: AbortSignal.timeout(50) }), { code: 'ERR_ABORTED' });
    }
  });
});

describe('hashing with streams', () => {
  it('uses as many threads as the options allow', async (t) => {
    const folder = await temporaryFolder(t);
    const names = Array.from({ length: 12 }, (_, i) => `file ${i}`);
    await writeTree(folder, Object.fromEntries(names.map((name, i) => [name, noise(MIB, i + 1)])));
    for (const version of VERSIONS) {
      for (const threads of [1, 2, 4]) {
        const real = defaultEngine();
        const running = new Set<HashRequest>();
        let [mostThreads, mostMemory, reads] = [0, 0, 0];
        const engine = {
          ...real,
          start: (plan: HashRequest) => {
            const job = real.start(plan);
            running.add(plan);
            const sum = (of: (plan: HashRequest) => number) => [...running].reduce((all, one) => all + of(one), 0);
            mostThreads = Math.max(
              mostThreads,
              sum((one) => one.threads),
            );
            mostMemory = Math.max(
              mostMemory,
              sum((one) => one.memoryLimit),
            );
            reads = Math.max(reads, plan.readSize);
            const done = job.done.finally(() => running.delete(plan));
            return { done, progress: () => job.progress(), cancel: () => job.cancel() };
          },
        };
        const sources = names.map((name, i) => ({ path: `stream ${name}`, data: slowly(noise(MIB, i + 1), [99_991]) }));
        const draft = new TorrentCreate({ pathRoot: folder, paths: names, sources, pieceLength: 64 * KIB });
        await draft.generate({ version, threads, memoryLimit: 4 * MIB, readSize: 32 * KIB, engine });
        // A stream needs a thread besides the one for files.
        assert.ok(mostThreads <= Math.max(2, threads), `${mostThreads} threads of ${threads}`);
        assert.ok(mostMemory <= MIB, `${mostMemory} bytes`);
        assert.ok(reads <= 32 * KIB, `reads of ${reads} bytes`);
      }
    }
  });

  it('names the stream that is read', async (t) => {
    const folder = await temporaryFolder(t);
    await sparseFile(folder, 'big', 512 * MIB);
    const sources = [{ path: 'small', data: slowly(noise(10), [1]) }];
    const draft = new TorrentCreate({ pathRoot: folder, paths: ['big'], sources });
    const files = new Set<string>();
    await draft.generate({ version: 'v2', onProgress: ({ file, bytes }) => bytes > 0 && files.add(file) });
    assert.deepEqual([...files], ['big']);
  });
});

describe('the memory of streams', () => {
  for (const version of VERSIONS) {
    it(`stays below the limit however fast the producer is: ${version}`, async () => {
      const limit = 8 * MIB;
      let given = 0;
      let most = 0;
      let hashed = 0;
      const chunk = Buffer.alloc(64 * KIB, 7);
      const producer = async function* () {
        for (; given < 256 * MIB; given += chunk.length) {
          most = Math.max(most, given - hashed);
          yield chunk;
        }
      };
      // An engine that reports released memory.
      const real = defaultEngine();
      const engine = {
        ...real,
        start: (plan: Parameters<typeof real.start>[0]) => {
          const job = real.start(plan);
          const bytes = [...plan.files].reduce((sum, file) => sum + (file.data ? file.length : 0), 0);
          return {
            ...job,
            progress: () => job.progress(),
            cancel: () => job.cancel(),
            done: job.done.finally(() => {
              hashed += bytes;
            }),
          };
        },
      };
      const draft = new TorrentCreate({ sources: [{ path: 'a', data: producer() }], pieceLength: MIB });
      let last: Progress | undefined;
      await draft.generate({
        version,
        memoryLimit: limit,
        engine,
        onProgress: (progress) => {
          last = progress;
        },
      });
      assert.ok(most <= limit, `${most} bytes waited`);
      assert.equal(given, 256 * MIB);
      assert.equal(last?.bytes, 256 * MIB);
      assert.equal(last?.totalBytes, 256 * MIB);
    });
  }

  for (const [name, hasSize, isOnDisk] of [
    ['of known size', true, false],
    ['of unknown size', false, false],
    ['beside files on disk', true, true],
  ] as const)
    for (const version of VERSIONS)
      it(`tells how many bytes of a stream ${name} have arrived before any is hashed: ${version}`, async (t) => {
        const pathRoot = await temporaryFolder(t);
        await writeTree(pathRoot, { 'a.bin': 300_000 });
        const seen: Progress[] = [];
        let wake = () => {};
        let given = 0;
        /** Gives the next chunk only when the last one was reported. */
        async function* upload(): AsyncGenerator<Uint8Array> {
          for (let i = 0; i < 5; i += 1) {
            given += 100_000;
            yield noise(100_000);
            const isReported = () => (seen.at(-1)?.arrivedBytes ?? 0) >= given;
            while (!isReported()) {
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
            }
          }
        }
        const source = { path: 'z.bin', data: upload(), ...(hasSize && { size: 500_000 }) };
        const onDisk = isOnDisk ? { pathRoot, paths: ['a.bin'] } : {};
        const draft = new TorrentCreate({ name: 'x', pieceLength: 2 * MIB, sources: [source], ...onDisk });
        const onProgress = (progress: Progress) => {
          seen.push(progress);
          wake();
        };
        await draft.generate({ version, onProgress });
        const total = 500_000 + (isOnDisk ? 300_000 : 0);
        for (const [i, { bytes, arrivedBytes, totalBytes, totalGrows }] of seen.entries()) {
          assert.ok(bytes <= arrivedBytes && arrivedBytes <= totalBytes && totalBytes <= total);
          assert.ok(arrivedBytes >= (seen[i - 1]?.arrivedBytes ?? 0));
          assert.equal(totalGrows ?? false, !hasSize);
          // A piece of the stream is not complete before its end.
          if (arrivedBytes < total) assert.ok(bytes <= 300_000);
        }
        const { bytes, arrivedBytes, totalBytes } = seen.at(-1) as Progress;
        assert.deepEqual([bytes, arrivedBytes, totalBytes], [total, total, total]);
      });

  it('must hold two v1 pieces of a stream', async () => {
    const draft = new TorrentCreate({ sources: [{ path: 'a', data: slowly(noise(10), [3]) }], pieceLength: MIB });
    await assert.rejects(draft.generate({ version: 'v1', memoryLimit: MIB }), { code: 'ERR_INVALID_ARGUMENT' });
  });
});

describe('an engine of the caller', () => {
  it('may hold the data of a job when later jobs run', async () => {
    const held: Uint8Array[] = [];
    const engine = {
      ...nodeEngine(),
      start: (plan: HashRequest) => {
        for (const { data } of plan.files) if (data) held.push(data);
        return nodeEngine().start(plan);
      },
    };
    for (let i = 1; i <= 4; i += 1) {
      const options = i === 1 ? { engine } : {};
      await new TorrentCreate({ sources: [{ path: 'a', data: noise(20 * KIB, i) }] }).generate(options);
    }
    assert.deepEqual(
      held.map((data) => Buffer.from(data)),
      [noise(20 * KIB, 1)],
    );
  });

  it('may write over its digests once the job has ended', async (t) => {
    const pathRoot = await temporaryFolder(t);
    // So many that native threads encode the list of files, while the event loop runs.
    await writeTree(pathRoot, Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${i}`, i])));
    const real = nodeEngine();
    let digests: Digests | null = null;
    const recorder = { ...real, start: (plan: HashRequest) => recorded(real.start(plan)) };
    const recorded = (job: HashJob): HashJob => ({
      ...job,
      done: job.done.then((found) => {
        digests = structuredClone(found);
        return found;
      }),
    });
    const draft = new TorrentCreate({ pathRoot });
    const wanted = await draft.generate({ engine: recorder });
    const hasty = {
      ...real,
      start: (): HashJob => {
        const { v1, v2, missing } = structuredClone(digests as unknown as Digests);
        setImmediate(() => [v1, v2?.roots, v2?.layers].map((bytes) => bytes?.fill(0)));
        const done = Promise.resolve({ missing, ...(v1 && { v1 }), ...(v2 && { v2 }) });
        return { done, progress: () => ({ bytes: 0, fileIndex: 0, queued: 0 }), cancel: () => {} };
      },
    };
    const torrent = await draft.generate({ engine: hasty });
    assert.deepEqual(torrent.bencode(), wanted.bencode());
  });
});
