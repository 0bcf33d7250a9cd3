import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import type { MetainfoError } from '../../src/errors/errors.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { noise } from '../hash/reference.ts';
import { tree, writeGenerated } from '../support/generated.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;
const PIECE = 16 * KIB;

const draftOf = (pathRoot: string, pieceLength = PIECE) =>
  new TorrentCreate({
    pathRoot,
    pieceLength,
    comment: 'a comment',
    createdBy: null,
    info: { name: 'torrent', source: 'here' },
    trackers: ['udp://a.example/x'],
  });

describe('upgrade', () => {
  it('makes the same bytes as a new hybrid, and reads each byte twice', async (t) => {
    const base = await temporaryFolder(t);
    let count = 0;
    const options = fc.record({
      padding: fc.boolean(),
      tailPad: fc.boolean(),
      threads: fc.constantFrom(1, 2),
      memoryLimit: fc.constantFrom(256 * KIB, 512 * KIB, undefined),
      engine: fc.constantFrom(undefined, nodeEngine()),
    });
    await fc.assert(
      fc.asyncProperty(tree, options, async (given, { padding, tailPad, ...how }) => {
        count += 1;
        const root = path.join(base, String(count));
        await writeGenerated(root, given);
        const pathRoot = given.single ? path.join(root, given.files[0]?.path ?? '') : root;
        const draft = draftOf(pathRoot, given.pieceLength);
        const v1 = await draft.generate({ version: 'v1', padding, tailPad });
        const expected = await draft.generate({ version: 'hybrid' });
        const { torrent, bytesRead } = await upgrade(v1, pathRoot, how);
        assert.deepEqual(torrent.bencode(), expected.bencode());
        assert.equal(bytesRead, 2 * v1.totalSize);
        await rm(root, { recursive: true });
      }),
      { numRuns: runs(150) },
    );
  });

  it('reports progress through both hash jobs', async (t) => {
    const root = await temporaryFolder(t);
    // Pieces of 1 MiB: only the first begins with a file.
    await writeTree(root, { a: noise(20 * KIB * KIB + 5, 1), b: 3, 'c/d': noise(9 * KIB * KIB, 2), e: noise(100, 3) });
    const draft = draftOf(root, KIB * KIB);
    const v1 = await draft.generate({ version: 'v1' });
    const bytes: number[] = [];
    const { torrent } = await upgrade(v1, root, { threads: 2, onProgress: (now) => bytes.push(now.bytes) });
    assert.deepEqual(torrent.bencode(), (await draft.generate()).bencode());
    assert.equal(bytes.at(-1), 2 * v1.totalSize);
  });

  it('keeps other fields, and names files as clients show them', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { é: 5, b: 40_000 });
    const made = await draftOf(root).generate({ version: 'v1' });
    const { info, ...rest } = made.modelDumpTorrent() as Record<string, unknown>;
    const { files, ...others } = info as { files: { path: unknown }[] };
    const old = files.map((file) => ({
      ...file,
      ...(String(file.path) === 'é' && { path: ['e'], 'path.utf-8': ['é'] }),
    }));
    const flagged = old.map((file) => ({ ...file, attr: 'x' }));
    const decoded = { ...rest, zz: [1], info: { ...others, files: flagged, 'name.utf-8': 'tørrent', md5: 'x' } };
    const v1 = Torrent.fromDecoded(decoded);
    const { torrent } = await upgrade(v1, root);
    assert.deepEqual([torrent.torrentVersion, torrent.name, torrent.info.nameUtf8], ['hybrid', 'tørrent', null]);
    assert.deepEqual(
      torrent.files.map((file) => [file.path, file.attr]),
      [
        ['b', 'x'],
        ['é', 'x'],
      ],
    );
    assert.deepEqual(torrent.extra, v1.extra);
    assert.deepEqual(torrent.info.extra, v1.info.extra);
    assert.equal(torrent.comment, v1.comment);
  });

  it('reports every mismatch in one error', async (t) => {
    const root = await temporaryFolder(t);
    const files = { a: noise(50_000, 1), b: noise(50_000, 2), c: noise(50_000, 3), d: noise(10, 4) };
    await writeTree(root, files);
    const v1 = await draftOf(root).generate({ version: 'v1' });
    const failure = async () => {
      const error = await upgrade(v1, root).then(
        () => assert.fail('the upgrade succeeded'),
        (thrown: MetainfoError) => thrown,
      );
      return [error.code, error.message];
    };
    // Damages the first piece, and every piece of c.
    await writeTree(root, { a: Buffer.concat([Buffer.from('x'), files.a.subarray(1)]), c: noise(50_000, 5) });
    assert.deepEqual(await failure(), [
      'ERR_HASH_MISMATCH',
      'The files do not match the torrent: piece 0 (in a) is wrong; piece 6 (in b) is wrong; ' +
        'piece 7 (in c) is wrong; piece 8 (in c) is wrong; piece 9 (in c) is wrong.',
    ]);
    await rm(path.join(root, 'a'));
    await truncate(path.join(root, 'b'), 7);
    await appendFile(path.join(root, 'c'), 'more');
    assert.deepEqual(await failure(), [
      'ERR_HASH_MISMATCH',
      'The files do not match the torrent: a is missing; b has 7 bytes, not 50000; c has 50004 bytes, not 50000.',
    ]);
    await symlink('d', path.join(root, 'a'));
    await rm(path.join(root, 'd'));
    await symlink('d', path.join(root, 'd'));
    const [folder, loop] = [await realpath(root), 'its symbolic links lead back to themselves'];
    assert.deepEqual(await failure(), [
      'ERR_LINK_LOOP',
      `Some files cannot be read: ${path.join(folder, 'a')}: ${loop}; ${path.join(folder, 'd')}: ${loop}; ` +
        'b has 7 bytes, not 50000; c has 50004 bytes, not 50000.',
    ]);
    await rm(path.join(root, 'a'));
    await rm(path.join(root, 'd'));
    await mkdir(path.join(root, 'a'));
    await symlink('/', path.join(root, 'd'));
    assert.deepEqual(await failure(), [
      'ERR_HASH_MISMATCH',
      'The files do not match the torrent: a is missing; b has 7 bytes, not 50000; c has 50004 bytes, not 50000; ' +
        'd is a link that leads out of the folder.',
    ]);
  });

  it('leaves out a pad file at the start', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: noise(PIECE, 1) });
    const made = await draftOf(root).generate({ version: 'v1' });
    const { info, ...rest } = made.modelDumpTorrent() as Record<string, unknown>;
    const { pieces, files } = info as { pieces: Uint8Array; files: unknown[] };
    const pad = { attr: 'p', length: PIECE, path: ['.pad', String(PIECE)] };
    const zeros = createHash('sha1').update(Buffer.alloc(PIECE)).digest();
    const padded = { ...(info as object), files: [pad, ...files], pieces: Buffer.concat([zeros, pieces]) };
    const v1 = Torrent.fromDecoded({ ...rest, info: padded });
    const { torrent } = await upgrade(v1, root);
    assert.equal(torrent.infohashV2, (await draftOf(root).generate({ version: 'hybrid' })).infohashV2);
  });

  it('rejects what it cannot upgrade, and stops when cancelled', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { a: 100_000, b: 50_000 });
    const v1 = await draftOf(root).generate({ version: 'v1' });
    const code = (expected: string) => (error: { code?: string }) => error.code === expected;
    await assert.rejects(upgrade(await draftOf(root).generate(), root), code('ERR_INVALID_ARGUMENT'));
    await assert.rejects(upgrade(v1, path.join(root, 'none')), code('ERR_NOT_FOUND'));
    await assert.rejects(upgrade(v1, root, { signal: AbortSignal.abort() }), code('ERR_ABORTED'));
    await assert.rejects(upgrade(v1, root, { memoryLimit: PIECE - 1 }), code('ERR_INVALID_ARGUMENT'));
    const small = await draftOf(root, 8 * KIB).generate({ version: 'v1' });
    await assert.rejects(upgrade(small, root), code('ERR_PIECE_LENGTH'));
    const stop = new AbortController();
    const stopped = upgrade(v1, root, { signal: stop.signal });
    stop.abort('enough');
    await assert.rejects(stopped, (error: MetainfoError) => error.code === 'ERR_ABORTED' && error.cause === 'enough');
    await writeFile(path.join(root, 'c'), 'not of the torrent');
    assert.equal((await upgrade(v1, root)).torrent.nFiles, 2);
  });
});
