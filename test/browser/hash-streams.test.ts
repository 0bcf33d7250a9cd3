// The bundle for browsers makes the torrents of the addon from any kind of source. Node has the parts of a browser that it needs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { SourceData } from '../../src/sources/source-data.ts';
import { content } from '../support/generated.ts';
import { runs } from '../support/runs.ts';

const bundle = '../../dist/browser/index.js';
const { TorrentCreate: WebCreate } = (await import(bundle)) as { TorrentCreate: typeof TorrentCreate };

const KIB = 1024;
const BLOCK = 16 * KIB;

/** The content of a source, of one of the kinds that a browser reads. */
const KINDS: Record<string, (bytes: Uint8Array, chunk: number) => SourceData> = {
  bytes: (bytes) => bytes,
  blob: (bytes) => new Blob([bytes]),
  stream: (bytes, chunk) => streamOf(bytes, chunk),
  generator: async function* (bytes, chunk) {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.slice(at, at + chunk);
  } as (bytes: Uint8Array, chunk: number) => AsyncIterable<Uint8Array>,
  'range reader': (bytes, chunk) => ({
    size: bytes.length,
    requestSize: chunk,
    read: async (offset, length) => bytes.slice(offset, offset + length),
  }),
};

function streamOf(bytes: Uint8Array, chunk: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + chunk));
      at += chunk;
    },
  }) as ReadableStream<Uint8Array>;
}

const size = fc.oneof(
  fc.constantFrom(0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 300 * KIB),
  fc.nat(200 * KIB),
);
const source = fc.record({
  kind: fc.constantFrom(...Object.keys(KINDS)),
  ...{ size, seed: fc.nat(9), chunk: fc.integer({ min: 1, max: 90 * KIB }), isSized: fc.boolean() },
});

describe('streams in a page', () => {
  it('are hashed as the addon hashes memory', async () => {
    const draft = fc.record({
      files: fc.array(source, { minLength: 1, maxLength: 5 }),
      version: fc.constantFrom('v1', 'v2', 'hybrid'),
      padding: fc.boolean(),
      pieceLength: fc.constantFrom(BLOCK, 64 * KIB, 1024 * KIB),
    });
    const property = fc.asyncProperty(draft, async ({ files, version, padding, pieceLength }) => {
      const all = files.map((file) => content(Math.max(file.size, file === files[0] ? 1 : 0), file.seed));
      // The order of the sources is not that of the torrent.
      const name = (i: number) => `${(i * 3) % 5}.bin`;
      const known = all.map((data, i) => ({ path: name(i), data }));
      const sources = files.map(({ kind, chunk, isSized }, i) => ({
        path: name(i),
        data: (KINDS[kind] as (typeof KINDS)[string])(all[i] as Uint8Array, chunk),
        ...(isSized && { size: all[i]?.length }),
      }));
      const options = { version, onWarning: () => {}, ...(version === 'v1' && { padding }) } as const;
      const fields = { info: { name: 'torrent' }, pieceLength, creationDate: null, createdBy: null };
      const [own, web] = [new TorrentCreate({ ...fields, sources: known }), new WebCreate({ ...fields, sources })];
      let [last, total] = [0, 0];
      const onProgress = ({ bytes, totalBytes }: { bytes: number; totalBytes: number }) => {
        [last, total] = [bytes, totalBytes];
      };
      const made = await web.generate({ ...options, onProgress });
      assert.deepEqual(made.bencode(), new Uint8Array((await own.generate(options)).bencode()));
      const bytes = all.reduce((sum, { length }) => sum + length, 0);
      assert.deepEqual([last, total], [bytes, bytes]);
    });
    await fc.assert(property, { numRuns: runs(150) });
  });

  const failing = (data: SourceData, sizes: { size?: number } = {}) =>
    new WebCreate({
      info: { name: 'torrent' },
      sources: [
        { path: 'a', data: streamOf(content(3 * BLOCK, 1), BLOCK) },
        { path: 'b/c', data, ...sizes },
      ],
    });

  for (const version of ['v1', 'v2', 'hybrid'] as const) {
    it(`fail with the name of the source (${version})`, async () => {
      const broken = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new Error('the line was cut')),
      }) as unknown as SourceData;
      const cases = [
        [failing(broken), 'ERR_SOURCE', /the line was cut/],
        [failing(streamOf(new Uint8Array(9), 2), { size: 10 }), 'ERR_SOURCE_SIZE', /ended after 9 of 10 bytes/],
        [failing(streamOf(new Uint8Array(11), 2), { size: 10 }), 'ERR_SOURCE_SIZE', /longer than 10 bytes/],
        [
          failing(Object.assign(streamOf(new Uint8Array(9), 2), { truncated: true })),
          'ERR_SOURCE_TRUNCATED',
          /truncated after 9 bytes/,
        ],
        [failing({ size: 10, read: async () => new Uint8Array(9) }), 'ERR_SOURCE', /expected 10 bytes from 0, got 9/],
      ] as const;
      for (const [draft, code, message] of cases) {
        await assert.rejects(draft.generate({ version }), (error: { code: string; path: string; message: string }) => {
          assert.deepEqual([error.code, error.path], [code, 'b/c']);
          assert.match(error.message, message);
          return true;
        });
      }
    });

    it(`end at once when they are cancelled (${version})`, async () => {
      let isClosed = false;
      const endless = new ReadableStream<Uint8Array>({
        cancel: () => {
          isClosed = true;
        },
      }) as unknown as SourceData;
      const controller = new AbortController();
      const made = failing(endless).generate({ version, signal: controller.signal });
      for (let round = 0; round < 20; round += 1) await new Promise(setImmediate);
      controller.abort();
      await assert.rejects(made, { code: 'ERR_ABORTED' });
      for (let round = 0; round < 1000 && !isClosed; round += 1) await new Promise(setImmediate);
      assert.ok(isClosed);
    });
  }

  it('fail if their memory is transferred while it is hashed', async () => {
    const data = content(40 * BLOCK, 3);
    const draft = new WebCreate({
      info: { name: 'torrent' },
      sources: [
        { path: 'a', data },
        { path: 'b', data: streamOf(new Uint8Array(5), 5) },
      ],
    });
    const made = draft.generate({ version: 'v1' });
    structuredClone(data.buffer, { transfer: [data.buffer as ArrayBuffer] });
    await assert.rejects(made, { code: 'ERR_SOURCE', path: 'a' });
  });
});
