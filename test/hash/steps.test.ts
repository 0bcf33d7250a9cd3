import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { MetainfoError } from '../../src/errors/errors.ts';
import type { FileDigests } from '../../src/hash/file-digests.ts';
import type { Digests, HashJob, HashRequest, RequestedFile } from '../../src/hash/hash-request.ts';
import { bytesToPieceEnd, RequestedTable, requestedPadFile } from '../../src/hash/make-requested-files.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { inSteps, stepping } from '../../src/hash/steps.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';
import { noise, sha1, v1Pieces, v2Hashes } from './reference.ts';

const KIB = 1024;
const PIECE = 16 * KIB;
const DEFAULTS = { ...stepping };

afterEach(() => Object.assign(stepping, DEFAULTS));

/** The request of files on disk. */
function requestOf(files: readonly RequestedFile[], changes: Partial<HashRequest> = {}): HashRequest {
  const resources = { threads: 1, readSize: PIECE, memoryLimit: 2 ** 20 };
  return { files, version: 'v2', pieceLength: PIECE, onMissing: 'fail', ...resources, ...changes };
}

async function filesOf(folder: string, contents: readonly Buffer[]): Promise<RequestedFile[]> {
  await writeTree(folder, Object.fromEntries(contents.map((content, i) => [`${i}`, content])));
  return contents.map(({ length }, i) => {
    const file = path.join(folder, `${i}`);
    return { path: file, offset: 0, length, size: length, mtimeMs: statSync(file).mtimeMs };
  });
}

const engineStart = nodeEngine().start;

/** An error of Node. libuv has no name for ESTALE. */
function systemError(code: string): Error {
  const isNamed = code !== 'ESTALE' || process.platform !== 'linux';
  return Object.assign(new Error(code), isNamed ? { code } : { code: 'Unknown system error -116', errno: -116 });
}

/** A function that starts jobs, and the indexes of the files of each: the file `name` fails with each of these codes once. */
function failing(name: string, codes: string[]): { start: (request: HashRequest) => HashJob; jobs: string[][] } {
  const jobs: string[][] = [];
  const start = (request: HashRequest): HashJob => {
    const names = [...request.files].map((file) => path.basename(String(file.path)));
    jobs.push(names);
    const code = names.includes(name) ? codes.shift() : undefined;
    if (code === undefined) return engineStart(request);
    const file = [...request.files][names.indexOf(name)] as RequestedFile;
    const error = new MetainfoError(code === 'ENOENT' ? 'ERR_NOT_FOUND' : 'ERR_READ', `${file.path}: ${code}.`, {
      path: String(file.path),
      cause: systemError(code),
    });
    return { done: Promise.reject(error), progress: () => ({ bytes: 0, fileIndex: 0, queued: 0 }), cancel: () => {} };
  };
  return { start, jobs };
}

const inHex = ({ v1, v2, missing }: Digests) => ({
  v1: v1 && Buffer.from(v1).toString('hex'),
  roots: v2 && Buffer.from(v2.roots).toString('hex'),
  layers: v2 && Buffer.from(v2.layers).toString('hex'),
  missing: [...missing],
});

const size = fc.oneof(fc.constantFrom(0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE), fc.nat(5 * PIECE));

describe('a request in steps', () => {
  it('gives the hashes of the reference for every version, whatever the size of a step', async (t) => {
    const root = await temporaryFolder(t);
    let count = 0;
    const shape = fc.record({
      sizes: fc.array(size, { minLength: 1, maxLength: 8 }),
      version: fc.constantFrom('v1' as const, 'v2' as const, 'hybrid' as const),
      bytes: fc.integer({ min: 1, max: 400 * KIB }),
      padding: fc.constantFrom('none', 'count', 'files'),
      isKept: fc.boolean(),
      isTable: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ sizes, version, bytes, padding, isKept, isTable }) => {
        count += 1;
        Object.assign(stepping, { bytes, keptBytes: bytes });
        const contents = sizes.map((length, i) => noise(length, i + 1));
        const files = await filesOf(path.join(root, `${count}`), contents);
        const isPadded = version === 'hybrid' || (version === 'v1' && padding !== 'none');
        const hasPadFiles = isPadded && padding === 'files';
        const padsOf = (length: number) => (isPadded && length > 0 ? bytesToPieceEnd(length, PIECE) : 0);
        const all = hasPadFiles
          ? files.flatMap((file) => [file, ...(padsOf(file.length) > 0 ? [requestedPadFile(padsOf(file.length))] : [])])
          : files;
        const request = requestOf(all, { version, paddedFiles: isPadded && !hasPadFiles ? files.length : 0 });
        const isAligned = version !== 'v1' || isPadded || files.length === 1;
        const told = new Map<number, FileDigests>();
        const onHashed = async (first: number, each: readonly FileDigests[]) => {
          for (const [i, one] of each.entries()) {
            assert.ok(!told.has(first + i), 'the digests of a file are told twice');
            told.set(first + i, one);
          }
        };
        // A table hides its files from everything but `at`.
        const table = new RequestedTable(
          Float64Array.from(all, ({ length }) => length),
          { root: '', ranges: null } as never,
          (i) => all[i] as RequestedFile,
        );
        const start = inSteps((part) => engineStart({ ...part, files: [...part.files] }));
        const digests = await start(
          { ...request, files: isTable && !hasPadFiles ? table : all },
          isKept && isAligned ? onHashed : undefined,
        ).done;

        const stream = Buffer.concat(contents.flatMap((one) => [one, Buffer.alloc(padsOf(one.length))]));
        const trees = contents.map((one) =>
          one.length > 0 ? v2Hashes(one, PIECE) : { root: Buffer.alloc(32), layer: [] },
        );
        if (version !== 'v2')
          assert.deepEqual(Buffer.from(digests.v1 as Uint8Array), Buffer.concat(v1Pieces(stream, PIECE)));
        if (version !== 'v1') {
          const own = all.flatMap((file, i) => (file.path === null ? [] : [i]));
          const roots = Buffer.from(digests.v2?.roots as Uint8Array);
          assert.deepEqual(
            own.map((i) => roots.subarray(i * 32, (i + 1) * 32)),
            trees.map((tree) => tree.root),
          );
          assert.deepEqual(
            Buffer.from(digests.v2?.layers as Uint8Array),
            Buffer.concat(trees.flatMap((tree) => tree.layer)),
          );
        }
        if (!isKept || !isAligned) return;
        assert.equal(told.size, all.length);
        for (const [i, file] of files.entries()) {
          const { pieces, root, layer } = told.get(all.indexOf(file)) as FileDigests;
          const content = contents[i] as Buffer;
          const padded = Buffer.concat([content, Buffer.alloc(padsOf(content.length))]);
          if (version !== 'v2') assert.deepEqual(Buffer.from(pieces), Buffer.concat(v1Pieces(padded, PIECE)));
          if (version !== 'v1') {
            assert.deepEqual(root && Buffer.from(root), content.length > 0 ? trees[i]?.root : null);
            assert.deepEqual(Buffer.from(layer), Buffer.concat(trees[i]?.layer ?? []));
          }
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it('is one hash job if it is short', async (t) => {
    const files = await filesOf(await temporaryFolder(t), [noise(PIECE), noise(2 * PIECE), noise(3 * PIECE)]);
    for (const version of ['v1', 'v2'] as const) {
      for (const onHashed of [undefined, async () => {}]) {
        const { start, jobs } = failing('', []);
        await inSteps(start)(requestOf(files, { version }), version === 'v2' ? onHashed : undefined).done;
        assert.deepEqual(jobs, [['0', '1', '2']]);
      }
    }
  });

  it('marks missing files by their index in the request', async (t) => {
    Object.assign(stepping, { bytes: 1 });
    const files = await filesOf(await temporaryFolder(t), [noise(1), noise(2), noise(3), noise(4)]);
    const gone = files.map((file, i) => (i % 2 === 1 ? { ...file, path: `${file.path}-gone` } : file));
    for (const version of ['v1', 'v2'] as const) {
      const { missing } = await inSteps(engineStart)(requestOf(gone, { version, onMissing: 'mark' })).done;
      assert.deepEqual(missing, [1, 3]);
    }
  });

  it('reports progress through all steps, which never decreases', async (t) => {
    Object.assign(stepping, { bytes: 1, pausesMs: [0, 0, 0] });
    const files = await filesOf(await temporaryFolder(t), [noise(PIECE), noise(2 * PIECE), noise(3 * PIECE)]);
    const { start } = failing('2', ['EIO']);
    const job = inSteps(start)(requestOf(files));
    const seen = [job.progress().bytes];
    const ended = job.done.then(() => true);
    while (!(await Promise.race([ended, nextTurn(false)]))) seen.push(job.progress().bytes);
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    );
    assert.deepEqual(job.progress(), { bytes: 6 * PIECE, fileIndex: 2, queued: 0 });
  });
});

describe('a file that cannot be read', () => {
  it('is read again three times, alone, if the error may pass', async (t) => {
    Object.assign(stepping, { pausesMs: [0, 0, 0] });
    const contents = [noise(PIECE, 1), noise(2 * PIECE, 2), noise(3 * PIECE, 3)];
    const files = await filesOf(await temporaryFolder(t), contents);
    for (const code of ['EIO', 'ESTALE', 'ETIMEDOUT']) {
      const { start, jobs } = failing('1', [code, code, code]);
      const digests = await inSteps(start)(requestOf(files)).done;
      assert.deepEqual(inHex(digests), inHex(await engineStart(requestOf(files)).done));
      assert.deepEqual(jobs, [['0', '1', '2'], ['0'], ['1'], ['1'], ['1'], ['2']]);
    }
  });

  it('fails the job with its error after the third further attempt', async (t) => {
    Object.assign(stepping, { pausesMs: [0, 0, 0] });
    const files = await filesOf(await temporaryFolder(t), [noise(1), noise(2)]);
    const { start, jobs } = failing('1', ['EIO', 'EIO', 'EIO', 'EIO']);
    await assert.rejects(inSteps(start)(requestOf(files)).done, { code: 'ERR_READ', path: files[1]?.path });
    assert.deepEqual(jobs, [['0', '1'], ['0'], ['1'], ['1'], ['1']]);
  });

  it('fails the job at once if the error cannot pass', async (t) => {
    const files = await filesOf(await temporaryFolder(t), [noise(1), noise(2)]);
    for (const code of ['ENOENT', 'EACCES']) {
      const { start, jobs } = failing('1', [code]);
      await assert.rejects(inSteps(start)(requestOf(files)).done, { path: files[1]?.path });
      assert.equal(jobs.length, 1);
    }
  });

  it('is read again from the start of its step in v1, where files share pieces', async (t) => {
    Object.assign(stepping, { bytes: 1, pausesMs: [0, 0, 0] });
    const contents = [noise(PIECE, 1), noise(PIECE + 1, 2), noise(9 * PIECE, 3)];
    const files = await filesOf(await temporaryFolder(t), contents);
    const { start, jobs } = failing('2', ['EIO', 'EIO']);
    const { v1 } = await inSteps(start)(requestOf(files, { version: 'v1' })).done;
    assert.deepEqual(Buffer.from(v1 as Uint8Array), Buffer.concat(v1Pieces(Buffer.concat(contents), PIECE)));
    assert.deepEqual(jobs, [['0'], ['1', '2'], ['1', '2'], ['1', '2']]);
  });

  it('is told with its error while the job waits', async (t) => {
    Object.assign(stepping, { pausesMs: [60_000] });
    const files = await filesOf(await temporaryFolder(t), [noise(1)]);
    const job = inSteps(failing('0', ['ESTALE']).start)(requestOf(files));
    while (!job.progress().retrying) await nextTurn();
    const retrying = { path: files[0]?.path, code: 'ESTALE', attempt: 1, seconds: 60 };
    assert.deepEqual(job.progress().retrying, retrying);
    job.cancel();
    await assert.rejects(job.done, { code: 'ERR_ABORTED' });
  });

  it('leaves the digests of all files before it, whatever its error', async (t) => {
    Object.assign(stepping, { pausesMs: [0, 0, 0] });
    const contents = [noise(PIECE, 1), noise(5, 2), noise(6, 3), noise(7, 4)];
    const files = await filesOf(await temporaryFolder(t), contents);
    const padded = { version: 'v1', paddedFiles: 4 } as const;
    for (const code of ['EIO', 'ENOENT', 'EACCES']) {
      const told: [number, string][] = [];
      const onHashed = async (first: number, each: readonly FileDigests[]) => {
        for (const [i, { pieces }] of each.entries()) told.push([first + i, Buffer.from(pieces).toString('hex')]);
      };
      const { start } = failing('3', Array<string>(5).fill(code));
      await assert.rejects(inSteps(start)(requestOf(files, padded), onHashed).done, { path: files[3]?.path });
      const expected = contents.slice(0, 3).map((content, i) => {
        return [i, sha1(Buffer.concat([content, Buffer.alloc(PIECE - content.length)])).toString('hex')];
      });
      assert.deepEqual(told, expected);
    }
  });
});

describe('cancelling a request in steps', () => {
  it('waits until the digests of its last step are kept', async (t) => {
    Object.assign(stepping, { keptBytes: 1 });
    const files = await filesOf(await temporaryFolder(t), [noise(1), noise(2), noise(3)]);
    const events: string[] = [];
    const job = inSteps(engineStart)(requestOf(files), async (first) => {
      if (first === 1) job.cancel();
      await nextTurn();
      events.push(`kept ${first}`);
    });
    await assert.rejects(job.done, { code: 'ERR_ABORTED' });
    assert.ok(events.includes('kept 1'), events.join());
  });

  it('does not wait for ever', async (t) => {
    Object.assign(stepping, { keptBytes: 1 });
    const files = await filesOf(await temporaryFolder(t), [noise(1), noise(2), noise(3)]);
    const job = inSteps(engineStart)(requestOf(files), () => {
      job.cancel();
      return new Promise<never>(() => {});
    });
    await assert.rejects(job.done, { code: 'ERR_ABORTED' });
  });

  it('fails with the error of keeping digests', async (t) => {
    const files = await filesOf(await temporaryFolder(t), [noise(1)]);
    const job = inSteps(engineStart)(requestOf(files), () => Promise.reject(new Error('no room')));
    await assert.rejects(job.done, /no room/);
  });
});
