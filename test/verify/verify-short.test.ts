// The short way of verify gives what the general way gives, which takes every engine without `short`.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encode } from '../../src/bencode/encode.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { Checked } from '../../src/errors/guard.ts';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { hashingOf } from '../../src/verify/check-pieces.ts';
import { type VerifyOptions, verify } from '../../src/verify/verify.ts';
import { verifyShort } from '../../src/verify/verify-short.ts';
import { noise } from '../hash/reference.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/tree.ts';

const BLOCK = 16_384;
const hasShort = defaultEngine().short !== undefined;

/** The report of the short way, or null. */
const short = (torrent: Torrent, file: string, options: Checked<VerifyOptions> = {}) =>
  verifyShort(torrent, file, { ...hashingOf(torrent, options), options });

/** The report or the error of a call, for comparison. */
const outcome = (job: Promise<unknown>) =>
  job.then(
    (report) => report,
    ({ code, message }) => ({ code, message }),
  );

const torrentOf = (data: Uint8Array, version: 'v1' | 'v2' | 'hybrid', pieceLength = BLOCK) =>
  new TorrentCreate({ info: { name: 'file' }, pieceLength, sources: [{ path: 'file', data }] }).generate({ version });

/** Ways to change the content. */
const CHANGES: ((data: Buffer) => Buffer)[] = [
  (data) => data,
  (data) => Buffer.concat([data.subarray(0, -1), Buffer.from([(data.at(-1) as number) ^ 1])]),
  (data) => Buffer.concat([Buffer.from([(data[0] as number) ^ 1]), data.subarray(1)]),
  (data) => data.subarray(1),
  (data) => Buffer.concat([data, data.subarray(0, 1)]),
  () => Buffer.alloc(0),
];

describe('verify of one short file', () => {
  it('reports what the general way reports', async (t) => {
    const root = await temporaryFolder(t);
    const file = path.join(root, 'file');
    const property = fc.asyncProperty(
      fc.record({
        version: fc.constantFrom('v1' as const, 'v2' as const, 'hybrid' as const),
        size: fc.oneof(fc.integer({ min: 1, max: 4 * BLOCK }), fc.constantFrom(1, BLOCK, BLOCK + 1, 4 * BLOCK)),
        pieceLength: fc.constantFrom(BLOCK, 2 * BLOCK, 8 * BLOCK),
        change: fc.constantFrom(...CHANGES),
        only: fc.constantFrom(null, 'v1' as const, 'v2' as const),
        beneath: fc.constantFrom(undefined, root),
        isFolder: fc.boolean(),
      }),
      async ({ version, size, pieceLength, change, only, beneath, isFolder }) => {
        const torrent = (await torrentOf(noise(size, size), version, pieceLength)) as Torrent;
        await writeFile(file, change(Buffer.from(noise(size, size))));
        await utimes(file, 1e9, 1e9);
        const options = { beneath, version: version === 'hybrid' ? only : null };
        const where = isFolder ? root : file;
        const expected = await outcome(verify(torrent, where, { ...options, engine: nodeEngine() }));
        assert.deepEqual(await outcome(verify(torrent, where, options)), expected);
      },
    );
    await fc.assert(property, { numRuns: runs(300) });
  });

  it('is taken for good and for corrupt content, and left for everything else', { skip: !hasShort }, async (t) => {
    const root = await temporaryFolder(t);
    const [file, data] = [path.join(root, 'file'), Buffer.from(noise(2 * BLOCK, 1))];
    const torrent = (await torrentOf(data, 'hybrid')) as Torrent;
    await writeFile(file, data);
    assert.equal((await short(torrent, file))?.ok, true);
    assert.equal((await short(torrent, file, { beneath: root }))?.ok, true);
    for (const options of [{ fast: true }, { onProgress: () => {} }, { progress: true }, { engine: nodeEngine() }])
      assert.equal(await short(torrent, file, options), null, Object.keys(options)[0]);
    await symlink('file', path.join(root, 'link'));
    assert.equal((await short(torrent, path.join(root, 'link')))?.ok, true);
    for (const other of ['link', 'none', '.', '../x', 'file/'])
      assert.equal(await short(torrent, `${root}/${other}`, { beneath: root }), null, other);
    const large = (await torrentOf(noise(4 * BLOCK + 1, 1), 'v1')) as Torrent;
    assert.equal(await short(large, file), null);
    await writeFile(file, CHANGES[1]?.(data) as Buffer);
    assert.deepEqual((await short(torrent, file))?.badPieces, [[1, 1]]);
    await writeFile(file, data.subarray(1));
    assert.equal(await short(torrent, file), null);
  });

  it('hashes a pad file in the general way', { skip: !hasShort }, async (t) => {
    const root = await temporaryFolder(t);
    const [file, data] = [path.join(root, 'a'), Buffer.alloc(BLOCK)];
    data.set(noise(100, 1));
    await writeFile(file, data.subarray(0, 100));
    const pad = { attr: 'p', length: BLOCK - 100, path: ['.pad', `${BLOCK - 100}`] };
    const files = [{ length: 100, path: ['a'] }, pad];
    const pieces = createHash('sha1').update(data).digest();
    const info = { files, name: 'set', 'piece length': BLOCK, pieces };
    const torrent = Torrent.fromBytes(encode({ info }));
    assert.equal(torrent.nFiles, 1);
    assert.equal(await short(torrent, file), null);
    assert.equal((await verify(torrent, file)).ok, true);
  });

  it('is not begun once the signal has fired, and ends when it fires', async (t) => {
    const root = await temporaryFolder(t);
    const torrent = (await torrentOf(noise(100, 1), 'v1')) as Torrent;
    const file = path.join(root, 'file');
    await writeFile(file, noise(100, 1));
    await assert.rejects(verify(torrent, file, { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
    const stop = new AbortController();
    const running = verify(torrent, file, { signal: stop.signal });
    stop.abort();
    await assert.rejects(running, { code: 'ERR_ABORTED' });
    await rm(file);
    await assert.rejects(verify(torrent, file), { code: 'ERR_NOT_FOUND' });
  });
});
