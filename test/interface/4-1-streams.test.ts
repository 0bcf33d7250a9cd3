// Section 4.1 of the interface: Torrent.read of streams.
import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { Torrent } from '../../src/index.ts';
import { single, torrent } from '../support/build.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const BYTES = torrent(single);
/** The bytes in chunks of `size`. */
const chunks = (size = 7) =>
  Array.from({ length: Math.ceil(BYTES.length / size) }, (_, i) => BYTES.subarray(i * size, (i + 1) * size));

describe('4.1 Torrent.read of a stream', () => {
  const streams: Record<string, () => Parameters<typeof Torrent.read>[0]> = {
    'a Readable': () => Readable.from(chunks()),
    'a web stream': () => new Blob(chunks()).stream(),
    'a web stream of several chunks': () => ReadableStream.from(chunks()),
    'the body of a Response': () => new Response(BYTES).body as ReadableStream<Uint8Array>,
    'a web stream that is no async iterable': () => {
      const stream = ReadableStream.from(chunks());
      return { getReader: () => stream.getReader() } as never;
    },
    'a generator': () =>
      (async function* () {
        yield* chunks();
      })(),
    'a stream that uses its memory again': () =>
      (async function* () {
        const memory = new Uint8Array(7);
        for (const chunk of chunks()) {
          memory.set(chunk);
          yield memory.subarray(0, chunk.length);
        }
      })(),
  };
  for (const [what, stream] of Object.entries(streams))
    it(`reads ${what}`, async () => {
      const read = await Torrent.read(stream());
      assert.deepEqual(Buffer.from(read.bencode()), BYTES);
    });

  it('reads the stream of a file', async (t) => {
    const folder = await temporaryFolder(t);
    await writeTree(folder, { a: BYTES });
    const stream = createReadStream(path.join(folder, 'a'));
    assert.equal((await Torrent.read(stream)).name, 'a');
    assert.ok(stream.destroyed);
  });

  it('reads as many bytes as the limit, and destroys a stream with more', async () => {
    const limits = { bytes: BYTES.length };
    assert.equal((await Torrent.read(Readable.from(chunks()), { limits })).name, 'a');
    const endless = new Readable({
      read() {
        this.push(BYTES);
      },
    });
    await assert.rejects(Torrent.read(endless, { limits }), { code: 'ERR_LIMIT', limit: 'bytes' });
    assert.ok(endless.destroyed);
    let cancelled = false;
    const web = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(BYTES),
      cancel: () => {
        cancelled = true;
      },
    });
    await assert.rejects(Torrent.read(web, { limits }), { code: 'ERR_LIMIT' });
    assert.ok(cancelled);
    let ended = false;
    const generator = (async function* () {
      try {
        for (;;) yield BYTES;
      } finally {
        ended = true;
      }
    })();
    await assert.rejects(Torrent.read(generator, { limits }), { code: 'ERR_LIMIT' });
    assert.ok(ended);
  });

  it('says what a stream is instead of bencode', async () => {
    const page = Readable.from([Buffer.from('<!doctype html>'), BYTES]);
    await assert.rejects(Torrent.read(page, { limits: { bytes: 20 } }), { message: /a web page/ });
  });

  it('cancels a stream that waits for a chunk', async () => {
    const waiting = new PassThrough();
    waiting.write(BYTES.subarray(0, 5));
    let reason: unknown;
    const web = new ReadableStream<Uint8Array>({
      cancel: (given) => {
        reason = given ?? 'cancelled';
      },
    });
    for (const stream of [waiting, web]) {
      const controller = new AbortController();
      const read = Torrent.read(stream, { signal: controller.signal });
      setImmediate(() => controller.abort());
      await assert.rejects(read, { name: 'AbortError', code: 'ERR_ABORTED' });
    }
    assert.ok(waiting.destroyed);
    assert.equal(reason, 'cancelled');
  });

  it('destroys a stream if the signal was aborted before', async () => {
    const stream = new PassThrough();
    await assert.rejects(Torrent.read(stream, { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
    assert.ok(stream.destroyed);
  });

  it('names the argument where a stream gives no bytes', async () => {
    for (const [wrong, got] of [
      [Readable.from(['text']), /^file must be a stream of Uint8Arrays, not of "text"/],
      [Readable.from([5]), /not of 5/],
    ] as const)
      await assert.rejects(Torrent.read(wrong), { code: 'ERR_INVALID_ARGUMENT', message: got });
  });

  it('fails with the error of the stream', async () => {
    const failing = new PassThrough();
    failing.destroy(new Error('the line is cut'));
    await assert.rejects(Torrent.read(failing), { code: 'ERR_READ', message: /^a stream: .*the line is cut/ });
    const locked = new Blob([BYTES]).stream();
    locked.getReader();
    await assert.rejects(Torrent.read(locked), { code: 'ERR_READ', message: /^a stream: cannot read it/ });
  });

  it('names the stream in the errors of its torrent', async () => {
    const cut = ReadableStream.from([BYTES.subarray(0, 20)]);
    await assert.rejects(Torrent.read(cut), { code: 'ERR_BENCODE', path: 'a stream' });
    await assert.rejects(Torrent.read(Readable.from([])), { code: 'ERR_BENCODE', path: 'a stream' });
  });
});
