// The engine of browsers gives what the node engine gives; its Blobs are those of Node.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { webEngine } from '../../src/browser/web-engine.ts';
import type { Digests, HashRequest, RequestedFile } from '../../src/hash/engine.ts';
import { requestedMemory, requestedPadFile } from '../../src/hash/make-requested-files.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { noise } from '../hash/reference.ts';
import { content } from '../support/generated.ts';
import { runs } from '../support/runs.ts';

const KIB = 1024;
const BLOCK = 16 * KIB;
const MIB = 2 ** 20;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

const requestOf = (files: RequestedFile[], changes: Partial<HashRequest> = {}): HashRequest => ({
  ...{ files, version: 'hybrid', pieceLength: BLOCK, onMissing: 'fail' },
  ...{ threads: 1, readSize: BLOCK, memoryLimit: 64 * MIB },
  ...changes,
});

/** A request file that the engine of browsers reads as a Blob. */
const blobFile = (bytes: Uint8Array, offset = 0, length = bytes.length): RequestedFile => {
  const { data: _, ...file } = requestedMemory(bytes, offset, length);
  return { ...file, path: 'blob.bin', blob: new Blob([bytes]) };
};

const inHex = ({ v1, v2, missing }: Digests) => ({
  v1: v1 && Buffer.from(v1).toString('hex'),
  roots: v2 && Buffer.from(v2.roots).toString('hex'),
  layers: v2 && Buffer.from(v2.layers).toString('hex'),
  missing,
});

/** A file of a generated request. */
interface Content {
  kind: 'memory' | 'blob' | 'pad';
  size: number;
  /** Bytes before the content and after it. */
  around: [before: number, after: number];
  seed: number;
}

/** Starts both engines with the same content and compares their digests and progress. */
async function assertSame(contents: readonly Content[], changes: Partial<HashRequest>): Promise<Digests> {
  const files = (isWeb: boolean) =>
    contents.map(({ kind, size, around: [before, after], seed }) => {
      if (kind === 'pad') return requestedPadFile(size);
      const bytes = content(before + size + after, seed);
      return kind === 'blob' && isWeb ? blobFile(bytes, before, size) : requestedMemory(bytes, before, size);
    });
  const [web, node] = [
    webEngine().start(requestOf(files(true), changes)),
    nodeEngine().start(requestOf(files(false), changes)),
  ];
  const digests = await web.done;
  assert.deepEqual(inHex(digests), inHex(await node.done));
  assert.equal(web.progress().bytes, node.progress().bytes);
  return digests;
}

describe('the engine of browsers', () => {
  const pieceLength = fc.constantFrom(BLOCK, 2 * BLOCK, 4 * BLOCK, 256 * KIB, MIB);
  /** At and around the borders of blocks and pieces. */
  const size = fc.oneof(
    fc.constantFrom(0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 4 * BLOCK - 1, 4 * BLOCK, 4 * BLOCK + 1),
    fc.constantFrom(256 * KIB - 1, 256 * KIB, 256 * KIB + 1, MIB - 1, MIB, MIB + 1),
    fc.nat(200 * KIB),
  );
  const around = fc.tuple(fc.nat(3), fc.nat(3));
  const file: fc.Arbitrary<Content> = fc.record({
    kind: fc.constantFrom('memory', 'blob', 'blob'),
    ...{ size, around, seed: fc.nat(9) },
  });

  it('gives the digests of the node engine for any request', async () => {
    const request = fc.record({
      version: fc.constantFrom(...VERSIONS),
      pieceLength,
      files: fc.array(file, { maxLength: 8 }),
      padded: fc.nat(8),
      /** How the pieces of a hybrid are aligned. */
      hasPadFiles: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ version, pieceLength: length, files, padded, hasPadFiles }) => {
        const pad = (one: Content): Content => ({
          ...one,
          kind: 'pad',
          size: (length - (one.size % length)) % length,
        });
        const withPads = files.flatMap((one) => (one.size % length === 0 ? [one] : [one, pad(one)]));
        if (hasPadFiles) await assertSame(withPads, { version, pieceLength: length });
        else {
          const paddedFiles = version === 'hybrid' ? files.length : Math.min(padded, files.length);
          await assertSame(files, { version, pieceLength: length, paddedFiles });
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it('hashes more files at once than it requests', async () => {
    const files = Array.from({ length: 1500 }, (_, i): Content => {
      return { kind: i % 3 === 0 ? 'memory' : 'blob', size: (i * 37) % 3000, around: [0, 1], seed: i % 7 };
    });
    for (const version of VERSIONS) await assertSame(files, { version, paddedFiles: files.length });
  });

  it('hashes a file with more blocks than it keeps at once', async () => {
    // 4,096 blocks, and some more.
    const data = new Uint8Array(64 * MIB + 3 * BLOCK + 5);
    for (let at = 0; at < data.length; at += 5 * MIB + 1) data[at] = at % 251;
    for (const pieces of [BLOCK, MIB]) {
      const [web, node] = [blobFile(data), requestedMemory(data)].map((one) =>
        requestOf([one], { pieceLength: pieces }),
      );
      const digests = await webEngine().start(web as HashRequest).done;
      assert.deepEqual(inHex(digests), inHex(await nodeEngine().start(node as HashRequest).done));
    }
  });

  it('keeps pieces apart that end within requests of several files', async () => {
    const bytes = noise(20 * MIB + 7);
    const files = [blobFile(bytes, 3), blobFile(bytes, 1, 9 * MIB), requestedMemory(bytes, 5, 100)];
    const plain = [
      requestedMemory(bytes, 3, bytes.length - 3),
      requestedMemory(bytes, 1, 9 * MIB),
      requestedMemory(bytes, 5, 100),
    ];
    const first = { ...(files[0] as RequestedFile), length: bytes.length - 3 };
    const web = webEngine().start(requestOf([first, ...files.slice(1)], { version: 'v1', pieceLength: 64 * KIB }));
    const node = nodeEngine().start(requestOf(plain, { version: 'v1', pieceLength: 64 * KIB }));
    assert.deepEqual(inHex(await web.done), inHex(await node.done));
  });

  it('hashes nothing of an empty request', async () => {
    for (const version of VERSIONS) {
      await assertSame([], { version });
      await assertSame([{ kind: 'blob', size: 0, around: [0, 0], seed: 1 }], { version });
    }
  });

  /** Runs work in a page without WebCrypto. */
  async function withoutWebCrypto(work: () => Promise<unknown>): Promise<void> {
    const own = Object.getOwnPropertyDescriptor(globalThis, 'crypto') as PropertyDescriptor;
    Object.defineProperty(globalThis, 'crypto', { configurable: true, value: { getRandomValues: () => {} } });
    try {
      await work();
    } finally {
      Object.defineProperty(globalThis, 'crypto', own);
    }
  }

  it('hashes in JavaScript where there is no WebCrypto', async () => {
    await withoutWebCrypto(async () => {
      assert.equal(webEngine().kernel, 'JavaScript');
      for (const version of VERSIONS)
        await assertSame([{ kind: 'blob', size: 3 * MIB + 1, around: [1, 1], seed: 1 }], { version, paddedFiles: 1 });
    });
    assert.equal(webEngine().kernel, 'WebCrypto');
  });

  it('fails with the error of WebCrypto', async () => {
    const own = crypto.subtle.digest;
    crypto.subtle.digest = () => Promise.reject(new Error('out of memory'));
    try {
      const data = new Uint8Array(9 * BLOCK);
      await assert.rejects(webEngine().start(requestOf([blobFile(data)])).done, { message: 'out of memory' });
    } finally {
      crypto.subtle.digest = own;
    }
  });

  /** A Blob that reads its parts with a function. */
  function blobThat(size: number, arrayBuffer: (start: number, end: number) => Promise<ArrayBuffer>): RequestedFile {
    const slice = (start: number, end: number) => ({ arrayBuffer: () => arrayBuffer(start, end) });
    const blob = { size, slice, arrayBuffer: () => arrayBuffer(0, size) };
    return {
      ...blobFile(new Uint8Array(0)),
      path: null,
      blob: Object.assign(blob, { name: 'film.mkv' }) as never,
      length: size,
      size,
    };
  }

  it('says which Blob fails or is shorter than it was', async () => {
    for (const version of VERSIONS) {
      const failing = blobThat(20 * MIB, async (start, end) => {
        if (start > 0) throw new Error('NotReadableError');
        return new ArrayBuffer(end - start);
      });
      const shorter = blobThat(20 * MIB, async (start, end) => new ArrayBuffer(Math.min(end, 19 * MIB) - start));
      for (const [file, why] of [
        [failing, /NotReadableError/],
        [shorter, /its size has changed/],
      ] as const) {
        const job = webEngine().start(requestOf([blobFile(new Uint8Array(3)), file], { version, paddedFiles: 1 }));
        await assert.rejects(job.done, (error: { code: string; path: string; message: string }) => {
          assert.deepEqual([error.code, error.path], ['ERR_READ', 'film.mkv']);
          assert.match(error.message, why);
          return true;
        });
      }
    }
  });

  /** A Blob whose content is a stream. `cancelled` is told when nobody reads it any more. */
  function blobOfStream(
    size: number,
    chunk: (at: number) => Uint8Array | Error | null,
    cancelled = () => {},
  ): RequestedFile {
    let at = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const next = chunk(at);
      if (next instanceof Error) controller.error(next);
      else if (next) controller.enqueue(next);
      else controller.close();
      at += next instanceof Uint8Array ? next.length : 0;
    };
    const file = blobThat(size, () => assert.fail('it is a stream'));
    const slice = () => ({ stream: () => new ReadableStream({ pull, cancel: cancelled }) });
    return { ...file, blob: Object.assign(file.blob as object, { slice }) as never };
  }

  it('takes chunks of any size from a stream', async () => {
    const bytes = noise(9 * MIB + 5);
    const sizes = [1, 3, 70_000, BLOCK, MIB - 1, MIB, 3 * MIB + 1];
    for (const version of VERSIONS)
      for (const length of [BLOCK, MIB, 2 * MIB]) {
        let chunks = 0;
        const file = blobOfStream(bytes.length, (at) =>
          bytes.subarray(at, at + (sizes[chunks++ % sizes.length] as number)),
        );
        const changes = { version, pieceLength: length, paddedFiles: 2 };
        const last = requestedMemory(bytes, 0, 100_000);
        const job = webEngine().start(requestOf([file, last], changes));
        const node = nodeEngine().start(requestOf([requestedMemory(bytes), last], changes));
        assert.deepEqual(inHex(await job.done), inHex(await node.done));
      }
  });

  it('says which stream fails, is shorter or longer', async () => {
    const streams = {
      NotReadableError: (at: number) => (at > MIB ? new Error('NotReadableError') : new Uint8Array(MIB)),
      'its size has': (at: number) => (at > MIB ? null : new Uint8Array(MIB)),
      'size has changed': () => new Uint8Array(MIB),
    };
    for (const [message, chunk] of Object.entries(streams)) {
      const { done } = webEngine().start(requestOf([blobOfStream(5 * MIB + 1, chunk)]));
      await assert.rejects(done, (error: { code: string; path: string; message: string }) => {
        assert.deepEqual([error.code, error.path], ['ERR_READ', 'film.mkv']);
        assert.ok(error.message.includes(message), error.message);
        return true;
      });
    }
  });

  it('closes the stream of a job that is cancelled', async () => {
    let isClosed = false;
    const chunk = (at: number) => {
      if (at === 3 * MIB) job.cancel();
      return new Uint8Array(MIB);
    };
    const close = () => {
      isClosed = true;
    };
    const job = webEngine().start(
      requestOf([blobOfStream(1000 * MIB, chunk, close)], { version: 'v1', pieceLength: MIB }),
    );
    await assert.rejects(job.done, { code: 'ERR_ABORTED' });
    for (let round = 0; round < 1000 && !isClosed; round += 1) await new Promise(setImmediate);
    assert.ok(isClosed);
  });

  it('reads few bytes ahead of the hashing', async () => {
    let [open, most] = [0, 0];
    const counted = blobThat(200 * MIB, async (start, end) => {
      open += end - start;
      most = Math.max(most, open);
      await new Promise(setImmediate);
      open -= end - start;
      return new ArrayBuffer(end - start);
    });
    await webEngine().start(requestOf([counted], { version: 'v1', pieceLength: MIB })).done;
    assert.ok(most <= 32 * MIB, `${most} bytes`);
  });

  it('ends a cancelled job at once, even if a read never ends', async () => {
    for (const version of VERSIONS) {
      const job = webEngine().start(requestOf([blobThat(MIB, () => new Promise(() => {}))], { version }));
      await new Promise(setImmediate);
      job.cancel();
      await assert.rejects(job.done, { code: 'ERR_ABORTED' });
      job.cancel();
    }
  });

  it('reads no further after it was cancelled', async () => {
    let reads = 0;
    const file = blobThat(1000 * MIB, async (start, end) => {
      reads += 1;
      if (reads === 4) job.cancel();
      return new ArrayBuffer(end - start);
    });
    const job = webEngine().start(requestOf([file], { version: 'v1', pieceLength: MIB }));
    await assert.rejects(job.done, { code: 'ERR_ABORTED' });
    for (let round = 0; round < 50; round += 1) await new Promise(setImmediate);
    assert.ok(reads < 20, `${reads} reads`);
  });

  it('lets the page go on while it hashes', async () => {
    let rounds = 0;
    const count = setInterval(() => {
      rounds += 1;
    });
    await withoutWebCrypto(
      () => webEngine().start(requestOf([blobFile(new Uint8Array(30 * MIB))], { version: 'v1' })).done,
    );
    clearInterval(count);
    assert.ok(rounds >= 5, `${rounds} rounds`);
  });
});
