// The owner of memory transfers, resizes or writes it while it is read: jobs give the right result or an error, and never crash.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { decode } from '../../src/bencode/decode.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import { type Addon, addonOrNull } from '../../src/hash/addon.ts';
import { requestedMemory } from '../../src/hash/make-requested-files.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { HashPool } from '../../src/hashers/pool.ts';
import { V1Hasher } from '../../src/hashers/v1-hasher.ts';
import { type FileColumns, FileTable } from '../../src/layout/file-table.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import type { RangeReader, SourceData } from '../../src/sources/source-data.ts';
import { noise } from '../hash/reference.ts';
import { build } from '../model/build.ts';

const KIB = 1024;
const MIB = KIB * KIB;

const engines = addonOrNull() ? [nativeEngine(), nodeEngine()] : [nodeEngine()];

const id = ({ infohashV1, infohashV2 }: Torrent) => `${infohashV1} ${infohashV2}`;

type Resizable = ArrayBuffer & { resize(size: number): void };

/** Ways in which the owner of memory loses or changes it: how to make such memory, and how to change it. */
const LOSSES: Record<string, { hold: (bytes: Buffer) => Uint8Array; lose: (held: Uint8Array) => void }> = {
  transferred: {
    hold: (bytes) => new Uint8Array(bytes),
    lose: ({ buffer }) => structuredClone(buffer, { transfer: [buffer as ArrayBuffer] }),
  },
  shrunk: {
    hold: (bytes) => {
      const buffer = Reflect.construct(ArrayBuffer, [bytes.length, { maxByteLength: bytes.length }]) as Resizable;
      const held = new Uint8Array(buffer);
      held.set(bytes);
      return held;
    },
    lose: ({ buffer }) => (buffer as Resizable).resize(0),
  },
  'shared and overwritten': {
    hold: (bytes) => {
      const held = new Uint8Array(new SharedArrayBuffer(bytes.length));
      held.set(bytes);
      return held;
    },
    lose: (held) => held.fill(0),
  },
};

for (const [name, { hold, lose }] of Object.entries(LOSSES)) {
  describe(`memory that is ${name}`, () => {
    for (const engine of engines) {
      it(`when a job of the ${engine.name} engine has started does not change the result`, async () => {
        const bytes = Buffer.alloc(20 * MIB, 0x5a);
        const held = hold(bytes);
        const part = { offset: 5, length: bytes.length - 10 };
        const job = engine.start({
          files: [requestedMemory(held, part.offset, part.length)],
          version: 'v1',
          pieceLength: bytes.length,
          onMissing: 'fail',
          threads: 1,
          readSize: 128 * KIB,
          memoryLimit: 4 * MIB,
        });
        lose(held);
        const { v1 } = await job.done;
        const expected = createHash('sha1').update(bytes.subarray(5, -5)).digest();
        assert.deepEqual(Buffer.from(v1 ?? []), expected);
      });

      it(`when it was passed to a pool of the ${engine.name} engine does not change the result`, async () => {
        const bytes = noise(3 * 16 * KIB);
        const held = hold(bytes);
        const hasher = new V1Hasher({ paths: ['a'], pathRoot: '/', pieceLength: 16 * KIB });
        const pending = hasher.update({ path: 'a', chunk: held, idx: 0 }, new HashPool({ engine }));
        lose(held);
        const hashes = await Promise.all(pending);
        const piece = (i: number) =>
          createHash('sha1')
            .update(bytes.subarray(i * 16 * KIB, (i + 1) * 16 * KIB))
            .digest();
        assert.deepEqual(
          hashes.map(({ hash }) => Buffer.from(hash)),
          [piece(0), piece(1), piece(2)],
        );
      });

      it(`while generate with the ${engine.name} engine hashes it does not change the result of small content`, async () => {
        const bytes = noise(200 * KIB);
        const held = hold(bytes);
        const make = (data: SourceData) =>
          new TorrentCreate({ sources: [{ path: 'a', data }], pieceLength: 16 * KIB }).generate({ engine });
        const made = make(held);
        lose(held);
        assert.equal((await made).infohashV2, (await make(bytes)).infohashV2);
      });
    }

    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      it(`while generate of ${version} hashes it fails for large content that is not copied yet`, async () => {
        const bytes = Buffer.alloc(24 * MIB, 0x5a);
        const make = (data: SourceData) =>
          new TorrentCreate({ sources: [{ path: 'a', data }], pieceLength: MIB }).generate({ version, threads: 2 });
        const expected = id(await make(bytes));
        for (const turns of [0, 2, 10]) {
          const held = hold(bytes);
          const made = make(held).then(
            (torrent) => id(torrent),
            ({ code, path }) => `${code} ${path}`,
          );
          for (let i = 0; i < turns; i += 1) await nextTurn();
          const isSame = held.buffer instanceof SharedArrayBuffer;
          if (!isSame) lose(held);
          const right = turns > 0 || isSame ? [expected, 'ERR_SOURCE a'] : ['ERR_SOURCE a'];
          const result = await made;
          // assert.ok would parse the source for its message, which is slow.
          assert.equal(right.includes(result) ? '' : `after ${turns} turns: ${result}`, '');
        }
      });
    }
  });
}

describe('the columns of a task', { skip: !addonOrNull() && 'there is no addon' }, () => {
  const addon = addonOrNull() as Addon;
  const rows = Array.from({ length: 50_000 }, (_, i) => ({ path: [`${100_000 + i}`], length: i }));
  const padding = { pieceLength: 16 * KIB, tailPad: true, names: 'libtorrent' as const };
  const TASKS: Record<string, (columns: FileColumns, roots: Uint8Array) => Promise<unknown>> = {
    sortFiles: (columns) => addon.sortFiles(columns, true, columns.paths),
    measureFiles: (columns) => addon.measureFiles(columns, padding, 16 * KIB, 10),
    encodeFileList: (columns) => addon.encodeFileList(columns, padding),
    encodeFileTree: (columns, roots) => addon.encodeFileTree(columns, roots),
  };
  for (const [name, task] of Object.entries(TASKS)) {
    it(`may be transferred and overwritten meanwhile: ${name}`, async () => {
      const roots = new Uint8Array(32 * rows.length).fill(7);
      const { columns } = new FileTable(rows);
      const expected = await task(columns, roots);
      const result = task(columns, roots);
      const { paths, lengths, mtimes, ctimes } = columns;
      for (const { buffer } of [paths.bytes, paths.ends, lengths, mtimes, ctimes, roots])
        new Uint8Array(structuredClone(buffer, { transfer: [buffer as ArrayBuffer] })).fill(0xff);
      assert.deepEqual([lengths.length, roots.length], [0, 0]);
      assert.deepEqual(await result, expected);
    });
  }
});

describe('a chunk of a stream', () => {
  it('fails the source if it shrinks before it is copied', async () => {
    async function* stream() {
      const chunk = new Uint8Array(20 * MIB);
      // The segments are few, so the second half of the chunk waits for one.
      setImmediate(() => structuredClone(chunk.buffer, { transfer: [chunk.buffer] }));
      yield chunk;
    }
    const draft = new TorrentCreate({ sources: [{ path: 'a', data: stream(), size: 20 * MIB }], pieceLength: MIB });
    const result = await draft.generate({ version: 'v1', memoryLimit: 4 * MIB }).catch((error) => error);
    assert.deepEqual({ code: result.code, path: result.path }, { code: 'ERR_SOURCE', path: 'a' });
  });
});

describe('a range reader', () => {
  const bytes = noise(5 * MIB + 7);
  const make = (read: RangeReader['read'], version: 'v1' | 'v2') =>
    new TorrentCreate({ sources: [{ path: 'a', data: { size: bytes.length, read } }], pieceLength: 64 * KIB }).generate(
      {
        version,
      },
    );

  it('is rejected if it returns one buffer for all requests', async () => {
    const buffer = Buffer.alloc(MIB);
    const read = async (offset: number, length: number) => {
      await nextTurn();
      bytes.copy(buffer, 0, offset, offset + length);
      return buffer.subarray(0, length);
    };
    for (const version of ['v1', 'v2'] as const)
      await assert.rejects(make(read, version), { code: 'ERR_SOURCE', path: 'a', message: /the same memory/ });
  });

  it('makes the right torrent if it reuses a buffer after its bytes were copied', async () => {
    const ring = Array.from({ length: 4 }, () => Buffer.alloc(MIB));
    let at = 0;
    const read = async (offset: number, length: number) => {
      const buffer = ring[at++ % ring.length] as Buffer;
      await nextTurn();
      bytes.copy(buffer, 0, offset, offset + length);
      return buffer.subarray(0, length);
    };
    const expected = await new TorrentCreate({
      sources: [{ path: 'a', data: bytes }],
      pieceLength: 64 * KIB,
    }).generate({ version: 'v1' });
    assert.equal(
      (await make(read, 'v2')).infohashV2,
      (await make(async (o, n) => bytes.subarray(o, o + n), 'v2')).infohashV2,
    );
    assert.equal((await make(read, 'v1')).infohashV1, expected.infohashV1);
  });
});

describe('shared memory that another thread writes', () => {
  const content = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`${i}`, Buffer.alloc(1)]));
  const torrent = build({ version: 'v1', content });

  it('is copied before it is decoded', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(torrent.bytes.length));
    shared.set(torrent.bytes);
    const { value } = decode(shared);
    const read = Torrent.fromBytes(shared);
    const info = (value as Map<string, Map<string, Uint8Array>>).get('info');
    shared.fill(0x20);
    assert.equal(Buffer.from(info?.get('name') as Uint8Array).toString(), read.info.name);
    assert.deepEqual(Buffer.from(read.bencode()), Buffer.from(torrent.bytes));
  });

  it('cannot make inspect loop forever', async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(torrent.bytes.length));
    shared.set(torrent.bytes);
    const source = `
      const { parentPort, workerData } = require('node:worker_threads');
      import(workerData.ts).then(() => import(workerData.module)).then(({ Torrent }) => {
        parentPort.postMessage('ready');
        const end = Date.now() + 1500;
        let count = 0;
        while (Date.now() < end || count === 0) {
          count += 1;
          try { Torrent.inspect(workerData.shared); } catch (error) { if (!error.code) throw error; }
        }
        parentPort.postMessage(count);
      });`;
    const module = new URL('../../src/model/torrent/torrent.ts', import.meta.url).href;
    // Such workers do not inherit --import.
    const ts = new URL('../../scripts/ts.mjs', import.meta.url).href;
    const worker = new Worker(source, { eval: true, execArgv: [], workerData: { shared, module, ts } });
    const messages: unknown[] = [];
    worker.on('message', (message) => messages.push(message));
    let failure: unknown = null;
    worker.on('error', (error) => {
      failure = error;
    });
    // The other thread changes the digits of lengths and the colons, which are checked first and read again later.
    const places = [...torrent.bytes.keys()].filter((i) => (torrent.bytes[i] as number) === 0x3a);
    const end = Date.now() + 15_000;
    for (let i = 0; messages.length < 2 && !failure && Date.now() < end; i += 1) {
      for (const place of places) shared[place] = i % 2 === 0 ? 0x31 : 0x3a;
      if (i % 50 === 0) await nextTurn();
    }
    await worker.terminate();
    assert.equal(failure, null);
    assert.equal(messages[0], 'ready');
    assert.equal(messages.length, 2, 'inspect did not return');
  });
});
