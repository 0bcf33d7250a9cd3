// One suite for every engine, against an implementation that shares nothing with them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import type { MetainfoError } from '../../src/errors/errors.ts';
import type { Engine } from '../../src/hash/engine.ts';
import {
  type Digests,
  type HashRequest,
  isPad,
  type RequestedFile,
  type RequestedFiles,
} from '../../src/hash/hash-request.ts';
import { toRequestedFiles } from '../../src/hash/make-requested-files.ts';
import { nativeEngine } from '../../src/hash/native.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { FileTable, pathColumn } from '../../src/layout/file-table.ts';
import { runs } from '../support/runs.ts';
import { noise, v1Pieces, v2Hashes } from './reference.ts';
import { watch } from './watch.ts';

const KIB = 1024;
const BLOCK = 16 * KIB;
const MIB = 2 ** 20;
const ENGINES: Engine[] = [nodeEngine(), nativeEngine()];

const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-engine-'));
after(() => rmSync(folder, { recursive: true }));
const inFolder = (name: string) => path.join(folder, name);

/** A file on disk as a plan has it: as large as it is. */
function planned(name: string, changes: Partial<RequestedFile> = {}): RequestedFile {
  const file = inFolder(name);
  const { size, mtimeMs } = statSync(file);
  return { path: file, offset: 0, length: size, size, mtimeMs, ...changes };
}

function planOf(files: readonly RequestedFile[], changes: Partial<HashRequest> = {}): HashRequest {
  return {
    files,
    version: 'v1',
    pieceLength: 2 * BLOCK,
    onMissing: 'fail',
    threads: 1,
    readSize: BLOCK,
    memoryLimit: 64 * MIB,
    ...changes,
  };
}

/** A file of that many zeros, which takes no space. */
function sparse(name: string, size: number): RequestedFile {
  writeFileSync(inFolder(name), '');
  truncateSync(inFolder(name), size);
  return planned(name);
}

/** Digests in hexadecimal. */
const inHex = ({ v1, v2, missing }: Digests) => ({
  v1: v1 && Buffer.from(v1).toString('hex'),
  roots: v2 && Buffer.from(v2.roots).toString('hex'),
  layers: v2 && Buffer.from(v2.layers).toString('hex'),
  missing,
});

describe('engines', () => {
  /** Whole files at the borders of blocks and pieces, and one to take ranges of. */
  const SIZES = [
    0,
    1,
    BLOCK - 1,
    BLOCK,
    BLOCK + 1,
    2 * BLOCK,
    2 * BLOCK + 1,
    3 * BLOCK,
    4 * BLOCK,
    5 * BLOCK + 7,
    9 * BLOCK,
  ];
  const contents = new Map(SIZES.map((size) => [`whole-${size}`, noise(size, size + 1)]));
  contents.set('ranges', noise(MIB));
  for (const [name, content] of contents) writeFileSync(inFolder(name), content);
  const bytesOf = (name: string, { offset, length }: RequestedFile) =>
    contents.get(name)?.subarray(offset, offset + length);

  /** A file of a plan beside its content: null when it is missing. */
  interface Piece {
    file: RequestedFile;
    content: Buffer | null;
  }

  const whole = fc.constantFrom(...SIZES).map((size): Piece => {
    const file = planned(`whole-${size}`);
    return { file, content: bytesOf(`whole-${size}`, file) ?? null };
  });
  const length = fc.oneof(fc.nat(6 * BLOCK), fc.constantFrom(...SIZES));
  const range = fc.tuple(fc.nat(MIB - 9 * BLOCK), length).map(([offset, bytes]): Piece => {
    const file = planned('ranges', { offset, length: bytes });
    return { file, content: bytesOf('ranges', file) ?? null };
  });
  const memory = contents.get('ranges') as Buffer;
  const inMemory = fc.tuple(fc.nat(MIB - 9 * BLOCK), length).map(([offset, bytes]): Piece => {
    const file = { path: null, data: memory, offset, length: bytes, size: MIB, mtimeMs: Number.NaN };
    return { file, content: memory.subarray(offset, offset + bytes) };
  });
  const absent = length.map(
    (bytes): Piece => ({
      file: { path: inFolder('absent'), offset: 0, length: bytes, size: bytes, mtimeMs: 0 },
      content: null,
    }),
  );
  const pieces = fc.array(
    fc.oneof({ weight: 3, arbitrary: whole }, { weight: 3, arbitrary: range }, inMemory, absent),
    { maxLength: 8 },
  );

  /** As a hybrid has them: a pad after each file that does not end with a piece, after the last one perhaps. */
  function padded(given: Piece[], pieceLength: number, tailPad: boolean): Piece[] {
    return given.flatMap((piece, index) => {
      const pad = (pieceLength - (piece.file.length % pieceLength)) % pieceLength;
      if (pad === 0 || (index === given.length - 1 && !tailPad)) return [piece];
      const file = { path: null, offset: 0, length: pad, size: pad, mtimeMs: Number.NaN };
      return [piece, { file, content: Buffer.alloc(pad) }];
    });
  }

  /** The digests of a plan. */
  function expected(given: Piece[], { version, pieceLength }: Pick<HashRequest, 'version' | 'pieceLength'>): Digests {
    const missing = given.flatMap(({ content }, index) => (content === null ? [index] : []));
    // Missing content as ones in a map of what is missing: a piece with any of them has no hash.
    const stream = Buffer.concat(given.map(({ file, content }) => content ?? Buffer.alloc(file.length)));
    const holes = Buffer.concat(given.map(({ file, content }) => Buffer.alloc(file.length, content === null ? 1 : 0)));
    const v1 = v1Pieces(stream, pieceLength).map((hash, i) =>
      holes.subarray(i * pieceLength, (i + 1) * pieceLength).includes(1) ? Buffer.alloc(20) : hash,
    );
    const v2 = given.map(({ file, content }) => {
      const count = !isPad(file) && file.length > pieceLength ? Math.ceil(file.length / pieceLength) : 0;
      const empty = { root: Buffer.alloc(32), layer: [Buffer.alloc(32 * count)] };
      return isPad(file) || content === null || content.length === 0 ? empty : v2Hashes(content, pieceLength);
    });
    return {
      ...(version !== 'v2' && { v1: Buffer.concat(v1) }),
      ...(version !== 'v1' && {
        v2: {
          roots: Buffer.concat(v2.map(({ root }) => root)),
          layers: Buffer.concat(v2.flatMap(({ layer }) => layer)),
        },
      }),
      missing,
    };
  }

  async function agree(given: Piece[], plan: Pick<HashRequest, 'version' | 'pieceLength'>): Promise<void> {
    const wanted = inHex(expected(given, plan));
    const content = given.filter((piece) => !isPad(piece.file) && piece.content !== null);
    const total = content.reduce((sum, { file }) => sum + file.length, 0);
    const files = given.map(({ file }) => file);
    for (const engine of ENGINES) {
      for (const [threads, readSize] of [
        [1, BLOCK],
        [2, 4 * BLOCK],
        [8, MIB],
      ] as const) {
        const job = engine.start(planOf(files, { ...plan, onMissing: 'mark', threads, readSize }));
        const title = `${engine.name}, ${threads} threads, reads of ${readSize}`;
        assert.deepEqual(inHex(await job.done), wanted, title);
        assert.equal(job.progress().bytes, total, title);
      }
    }
  }

  const anyLength = fc.constantFrom(BLOCK, 2 * BLOCK, 4 * BLOCK, 16 * BLOCK);
  // v1 has pieces of any power of two; those of a byte would only be slow.
  const v1Length = fc.oneof(anyLength, fc.constantFrom(64, KIB, 8 * KIB, 2 * MIB));

  it('hash v1', async () => {
    const property = fc.asyncProperty(pieces, v1Length, (given, pieceLength) =>
      agree(given, { version: 'v1', pieceLength }),
    );
    await fc.assert(property, { numRuns: runs(60) });
  });

  it('hash v2', async () => {
    const property = fc.asyncProperty(pieces, anyLength, (given, pieceLength) =>
      agree(given, { version: 'v2', pieceLength }),
    );
    await fc.assert(property, { numRuns: runs(60) });
  });

  it('hash hybrid', async () => {
    const property = fc.asyncProperty(pieces, anyLength, fc.boolean(), (given, pieceLength, tailPad) =>
      agree(padded(given, pieceLength, tailPad), { version: 'hybrid', pieceLength }),
    );
    await fc.assert(property, { numRuns: runs(60) });
  });

  it('hash v1 with pad files', async () => {
    const given = [...SIZES].map(
      (size): Piece => ({ file: planned(`whole-${size}`), content: contents.get(`whole-${size}`) ?? null }),
    );
    await agree(padded(given, 2 * BLOCK, true), { version: 'v1', pieceLength: 2 * BLOCK });
  });

  it('zero-pad the first `paddedFiles` files', async () => {
    const property = fc.asyncProperty(
      pieces,
      fc.constantFrom('v1' as const, 'hybrid' as const),
      anyLength,
      fc.nat(8),
      async (given, version, pieceLength, count) => {
        // In a hybrid, every file but the last must end with a piece.
        const paddedFiles = version === 'hybrid' && count < given.length - 1 ? given.length : count;
        const withPads = [...padded(given.slice(0, paddedFiles), pieceLength, true), ...given.slice(paddedFiles)];
        const { v1, v2, missing } = expected(withPads, { version, pieceLength });
        const isContent = withPads.map(({ file }) => !isPad(file));
        const roots =
          v2 && Buffer.concat(isContent.flatMap((is, i) => (is ? [v2.roots.subarray(i * 32, i * 32 + 32)] : [])));
        const names = given.flatMap(({ content }, index) => (content === null ? [index] : []));
        assert.equal(names.length, missing.length);
        const wanted = { ...(v1 && { v1 }), ...(v2 && roots && { v2: { roots, layers: v2.layers } }), missing: names };
        const files = given.map(({ file }) => file);
        for (const engine of ENGINES) {
          for (const threads of [1, 3]) {
            const plan = planOf(files, { version, pieceLength, paddedFiles, threads, onMissing: 'mark' });
            assert.deepEqual(inHex(await engine.start(plan).done), inHex(wanted), engine.name);
          }
        }
      },
    );
    await fc.assert(property, { numRuns: runs(60) });
  });

  it('take the files of a table', async () => {
    const names = [...SIZES].map((size) => `whole-${size}`);
    const root = realpathSync(folder);
    const found = names.map((name) => ({ name, status: statSync(inFolder(name)) }));
    const numbers = (of: (status: Stats) => number) => Float64Array.from(found, ({ status }) => of(status));
    const columns = {
      paths: pathColumn(names.map((name) => `shown\0${name}`)),
      lengths: numbers(({ size }) => size),
      mtimes: numbers(({ mtimeMs }) => mtimeMs),
      ctimes: numbers(({ ctimeMs }) => ctimeMs),
      diskPaths: pathColumn(names),
    };
    const table = new FileTable({ root, columns });
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      for (const paddedFiles of version === 'v1' ? [0, 5, names.length] : [names.length]) {
        const plan = planOf([], { version, paddedFiles, threads: 2 });
        const listed = names.map((name) => planned(name, { path: path.join(root, name) }));
        for (const engine of ENGINES) {
          const wanted = await engine.start({ ...plan, files: listed }).done;
          assert.deepEqual(inHex(await engine.start({ ...plan, files: toRequestedFiles(table) }).done), inHex(wanted));
        }
      }
    }
  });

  it('refuse changed files of a table, and links to them', async () => {
    const root = realpathSync(mkdtempSync(path.join(folder, 'table-')));
    mkdirSync(path.join(root, 'sub'));
    writeFileSync(path.join(root, 'sub', 'file'), 'content');
    const { mtimeMs, ctimeMs } = statSync(path.join(root, 'sub', 'file'));
    const table = (changes: { length?: number; mtimeMs?: number; root?: string }) => {
      const row = { path: ['sub', 'file'], length: 7, mtimeMs, ctimeMs, ...changes };
      return toRequestedFiles(new FileTable({ root: changes.root ?? root, columns: new FileTable([row]).columns }));
    };
    const refused = async (files: RequestedFiles, code: string, about: string) => {
      for (const engine of ENGINES) {
        const failure = await engine.start(planOf([], { files })).done.catch((error: unknown) => error);
        const { code: got, path: named } = failure as MetainfoError;
        assert.deepEqual([got, named], [code, about], `${engine.name}: ${failure}`);
      }
    };
    const file = path.join(root, 'sub', 'file');
    for (const engine of ENGINES) assert.ok(await engine.start(planOf([], { files: table({}) })).done);
    await refused(table({ length: 6 }), 'ERR_FILE_CHANGED', file);
    await refused(table({ mtimeMs: 1 }), 'ERR_FILE_CHANGED', file);
    renameSync(path.join(root, 'sub'), path.join(root, 'moved'));
    await refused(table({}), 'ERR_NOT_FOUND', file);
    symlinkSync('moved', path.join(root, 'sub'));
    await refused(table({}), 'ERR_FILE_CHANGED', file);
    // A link in the path of the root itself.
    rmSync(path.join(root, 'sub'));
    renameSync(path.join(root, 'moved'), path.join(root, 'sub'));
    symlinkSync(root, `${root}-link`);
    for (const engine of ENGINES) {
      const plan = planOf([], { files: table({ root: `${root}-link` }) });
      await assert.rejects(engine.start(plan).done, { code: 'ERR_FILE_CHANGED' });
    }
  });

  it('hash files of single bytes', async () => {
    const file = planned('ranges', { offset: 3, length: 100 });
    await agree([{ file, content: bytesOf('ranges', file) ?? null }], { version: 'v1', pieceLength: 1 });
  });

  it('agree with known hashes', async () => {
    writeFileSync(inFolder('abc'), 'abc');
    for (const engine of ENGINES) {
      const { v1, v2 } = await engine.start(planOf([planned('abc')], { version: 'hybrid' })).done;
      assert.equal(Buffer.from(v1 ?? []).toString('hex'), 'a9993e364706816aba3e25717850c26c9cd0d89d');
      assert.equal(
        Buffer.from(v2?.roots ?? []).toString('hex'),
        'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      );
      assert.equal(v2?.layers.length, 0);
    }
  });

  it('read thousands of files with few descriptors, and leave none open', {
    skip: process.platform !== 'linux',
  }, async () => {
    const open = () => readdirSync('/proc/self/fd').length;
    const files = Array.from({ length: 2000 }, () => planned('whole-1'));
    for (const engine of ENGINES) {
      const before = open();
      const job = engine.start(planOf(files, { version: 'v2', threads: 8 }));
      let most = 0;
      await watch(job, () => {
        most = Math.max(most, open());
        return false;
      });
      assert.equal((await job.done).v2?.roots.length, 2000 * 32);
      assert.ok(most - before < 30, `${most - before} descriptors`);
      assert.equal(open(), before);
    }
  });
});

for (const engine of ENGINES) {
  describe(`the ${engine.name} engine`, () => {
    const fails = (files: RequestedFile[], error: object, changes: Partial<HashRequest> = {}) =>
      assert.rejects(engine.start(planOf(files, changes)).done, error);
    const at = (name: string): RequestedFile => ({
      path: inFolder(name),
      offset: 0,
      length: 1,
      size: 1,
      mtimeMs: Number.NaN,
    });

    writeFileSync(inFolder('good'), noise(3 * BLOCK));
    writeFileSync(inFolder('empty'), '');

    it('fails with the name of a missing file', async () => {
      for (const name of ['absent', 'good/below a file', 'absent folder/x']) {
        const error = { name: 'MetainfoError', code: 'ERR_NOT_FOUND', path: inFolder(name) };
        await fails([planned('good'), at(name)], error);
      }
    });

    it('lists a missing file when the plan says mark', async () => {
      const files = [at('absent'), planned('good'), at('good/x'), at('absent')];
      const { missing } = await engine.start(planOf(files, { onMissing: 'mark' })).done;
      assert.deepEqual(missing, [0, 2, 3]);
    });

    it('fails for an unreadable file even when the plan says mark', async () => {
      mkdirSync(inFolder('a folder'), { recursive: true });
      await fails([at('a folder')], { code: 'ERR_NOT_A_FILE', path: inFolder('a folder') }, { onMissing: 'mark' });
    });

    it('rejects a FIFO without opening its other end', { timeout: 10_000 }, async () => {
      const fifo = `fifo-${engine.name}`;
      execFileSync('mkfifo', [inFolder(fifo)]);
      for (const onMissing of ['fail', 'mark'] as const) {
        await fails([at(fifo)], { code: 'ERR_NOT_A_FILE', path: inFolder(fifo) }, { onMissing });
      }
    });

    it('rejects a device and a socket', async () => {
      const device = { ...at(''), path: '/dev/null' };
      await fails([device], { code: 'ERR_NOT_A_FILE', path: '/dev/null' });

      const socket = `socket-${engine.name}`;
      const server = createServer().listen(inFolder(socket));
      await new Promise((resolve) => server.once('listening', resolve));
      // The system refuses to open one, and says so in its own way.
      await fails([at(socket)], { code: 'ERR_NOT_A_FILE', path: inFolder(socket) });
      await new Promise((resolve) => server.close(resolve));
    });

    it('follows no link in any part of a path', async () => {
      const name = (what: string) => `${what}-${engine.name}`;
      mkdirSync(inFolder(name('folder')));
      writeFileSync(inFolder(`${name('folder')}/file`), 'abc');
      symlinkSync(name('loop'), inFolder(name('loop')));
      symlinkSync(`${name('folder')}/file`, inFolder(name('link')));
      symlinkSync(name('folder'), inFolder(name('to-folder')));
      const file = planned(`${name('folder')}/file`);
      assert.ok(await engine.start(planOf([file])).done);
      for (const path of [name('loop'), name('link'), `${name('to-folder')}/file`])
        await fails([{ ...file, path: inFolder(path) }], {
          code: 'ERR_FILE_CHANGED',
          path: inFolder(path),
          message: /changed while it was hashed: there is a symbolic link in its path/,
        });
    });

    it('opens names that are not UTF-8', { skip: process.platform !== 'linux' }, async () => {
      const name = Buffer.concat([Buffer.from(inFolder('raw-')), Buffer.from([0xff, 0xfe])]);
      writeFileSync(name, 'abc');
      const file = { ...at('good'), path: name, length: 3, size: 3 };
      const { v1 } = await engine.start(planOf([file])).done;
      assert.equal(Buffer.from(v1 ?? []).toString('hex'), 'a9993e364706816aba3e25717850c26c9cd0d89d');
    });

    const changed = (name: string) => ({ name: 'MetainfoError', code: 'ERR_FILE_CHANGED', path: inFolder(name) });

    it('rejects a file of another size or time than planned', async () => {
      const { size, mtimeMs } = planned('good');
      for (const wrong of [{ size: size + 1 }, { size: size - 1 }, { mtimeMs: mtimeMs + 1 }, { mtimeMs: 0 }]) {
        await fails([planned('good', wrong)], changed('good'));
      }
      assert.ok(await engine.start(planOf([planned('good', { mtimeMs: Number.NaN })])).done);
    });

    it('accepts an unusual modification time that is unchanged', async () => {
      const name = `time-${engine.name}`;
      writeFileSync(inFolder(name), 'x');
      const seconds = fc.double({ min: -(2 ** 31), max: 2 ** 33, noNaN: true });
      const property = fc.asyncProperty(seconds, async (time) => {
        utimesSync(inFolder(name), time, time);
        await engine.start(planOf([planned(name)])).done;
      });
      await fc.assert(property, { numRuns: runs(50) });
    });

    const changes: [what: string, change: (file: string) => void][] = [
      ['grows', (file) => appendFileSync(file, 'x')],
      ['shrinks', (file) => truncateSync(file, 10 * MIB)],
      ['is emptied', (file) => truncateSync(file, 0)],
      ['is deleted', (file) => unlinkSync(file)],
      [
        'is replaced by its like',
        (file) => {
          sparse(`${path.basename(file)}-new`, 128 * MIB);
          renameSync(inFolder(`${path.basename(file)}-new`), file);
        },
      ],
      ['is touched', (file) => utimesSync(file, 1, 1)],
    ];
    for (const [what, change] of changes) {
      it(`fails when a file ${what} while it is hashed`, async () => {
        const name = `changing-${engine.name}`;
        const files = [planned('good'), sparse(name, 128 * MIB)];
        const job = engine.start(planOf(files, { pieceLength: MIB, readSize: MIB }));
        const failed = assert.rejects(job.done, changed(name));
        // More than the first file: the other one is open.
        await watch(job, ({ bytes }) => bytes > 3 * BLOCK);
        change(inFolder(name));
        await failed;
        rmSync(inFolder(name), { force: true });
      });
    }

    it('stops when it is cancelled', async () => {
      const file = sparse(`large-${engine.name}`, 16 * 1024 * MIB);
      for (const version of ['v1', 'v2', 'hybrid'] as const) {
        for (const threads of [1, 8]) {
          const job = engine.start(planOf([file], { version, threads, pieceLength: 16 * MIB, readSize: MIB }));
          await watch(job, ({ bytes }) => bytes > 0);
          job.cancel();
          await assert.rejects(job.done, { name: 'MetainfoError', code: 'ERR_ABORTED' });
          assert.ok(job.progress().bytes < file.length);
        }
      }
    });

    it('stops when it is cancelled before it starts, or twice', async () => {
      // So large that it is not done before it is cancelled.
      const job = engine.start(planOf([sparse(`unread-${engine.name}`, 16 * 1024 * MIB)]));
      job.cancel();
      job.cancel();
      await assert.rejects(job.done, { code: 'ERR_ABORTED' });
    });

    it('keeps the event loop free and can be cancelled while it hashes data in memory', async () => {
      const data = Buffer.alloc(64 * MIB);
      const inMemory = { path: null, data, offset: 0, length: data.length, size: data.length, mtimeMs: Number.NaN };
      for (const version of ['v1', 'v2', 'hybrid'] as const) {
        const files = Array.from({ length: 1000 }, () => inMemory);
        const job = engine.start(planOf(files, { version, pieceLength: 64 * MIB, readSize: MIB }));
        // In the middle of a file, and not of its first part.
        await watch(job, ({ bytes }) => bytes > MIB && bytes % data.length !== 0);
        assert.ok(job.progress().bytes < 1000 * data.length, version);
        job.cancel();
        await assert.rejects(job.done, { code: 'ERR_ABORTED' });
      }
    });

    it('can be cancelled while it hashes a pad file', async () => {
      const pad = { path: null, offset: 0, length: 2 ** 40, size: 2 ** 40, mtimeMs: Number.NaN };
      const job = engine.start(planOf([pad], { pieceLength: 2 ** 29 }));
      setTimeout(() => job.cancel(), 20);
      await assert.rejects(job.done, { code: 'ERR_ABORTED' });
    });

    it('ignores cancel after the end', async () => {
      const job = engine.start(planOf([planned('good')]));
      const digests = await job.done;
      job.cancel();
      assert.deepEqual(await job.done, digests);
      assert.deepEqual(job.progress(), { bytes: 3 * BLOCK, fileIndex: 0, queued: 0 });
    });

    it('reports progress that never decreases, file by file', async () => {
      const name = `progress-${engine.name}`;
      const files = [planned('good'), sparse(name, 64 * MIB), planned('good')];
      const job = engine.start(planOf(files, { pieceLength: MIB, readSize: 64 * KIB }));
      const seen = [job.progress()];
      await watch(job, (progress) => {
        seen.push(progress);
        return false;
      });
      await job.done;
      const last = job.progress();
      assert.deepEqual(last, { bytes: 64 * MIB + 6 * BLOCK, fileIndex: 2, queued: 0 });
      for (const [i, { bytes, fileIndex }] of seen.entries()) {
        const next = seen[i + 1] ?? last;
        assert.ok(next.bytes >= bytes && next.fileIndex >= fileIndex);
      }
      assert.ok(
        seen.some(({ bytes }) => bytes > 0 && bytes < last.bytes),
        'nothing was seen in between',
      );
    });

    it('gives no hashes for an empty plan', async () => {
      for (const files of [[], [planned('empty')]]) {
        const roots = '00'.repeat(32 * files.length);
        for (const [version, wanted] of [
          ['v1', { v1: '', roots: undefined, layers: undefined }],
          ['v2', { v1: undefined, roots, layers: '' }],
          ['hybrid', { v1: '', roots, layers: '' }],
        ] as const) {
          const digests = await engine.start(planOf(files, { version })).done;
          assert.deepEqual(inHex(digests), { ...wanted, missing: [] }, version);
        }
      }
    });

    it('gives empty digests that can be viewed like others', async () => {
      const { v1, v2 } = await engine.start(planOf([planned('empty')], { version: 'hybrid' })).done;
      assert.equal(v1?.subarray(0).length, 0);
      assert.equal(v2?.layers.subarray(0).length, 0);
    });

    it('can be cancelled until it settles, even when all is hashed', async () => {
      const job = engine.start(planOf([planned('empty')]));
      // The event loop stands still meanwhile, so nothing settles.
      const begin = performance.now();
      while (performance.now() - begin < 30);
      job.cancel();
      await assert.rejects(job.done, { code: 'ERR_ABORTED' });
    });
  });
}

describe('a plan whose hashes do not fit into memory', () => {
  for (const engine of ENGINES) {
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      it(`is ERR_TOO_LARGE before the ${engine.name} engine reads anything of ${version}`, async () => {
        const size = 2 ** 53 - BLOCK;
        const file = { path: inFolder('not there'), offset: 0, length: size, size, mtimeMs: Number.NaN };
        const resources = { threads: 2, readSize: BLOCK, memoryLimit: MIB };
        const job = engine.start({ files: [file], version, pieceLength: BLOCK, onMissing: 'fail', ...resources });
        await assert.rejects(job.done, { code: 'ERR_TOO_LARGE', message: /larger piece length/ });
      });
    }
  }
});
