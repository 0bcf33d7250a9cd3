import assert from 'node:assert/strict';
import { rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import { update } from '../../src/edit/update.ts';
import { upgrade } from '../../src/edit/upgrade.ts';
import { hashPart } from '../../src/parts/hash-part.ts';
import { type PartsEngineOptions, partsEngine } from '../../src/parts/parts-engine.ts';
import type { PartsPlan } from '../../src/parts/plan.ts';
import { checkedPlan } from '../../src/parts/read-plan.ts';
import { rangesOf } from '../../src/parts/split-into-parts.ts';
import { verify } from '../../src/verify/verify.ts';
import { content, tree, writeGenerated } from '../support/generated.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

/** An engine whose parts go through JSON, as to another machine. */
function engineOf(options: Partial<PartsEngineOptions> = {}) {
  const seen: { plan: PartsPlan; index: number }[] = [];
  const run: PartsEngineOptions['run'] = (plan, index, { signal }) => {
    const sent = JSON.parse(JSON.stringify(plan)) as PartsPlan;
    seen.push({ plan: sent, index });
    return hashPart(sent, index, { signal, root: options.root });
  };
  return { seen, engine: partsEngine({ partSize: 64 * KIB, run, ...options }) };
}

describe('partsEngine', () => {
  it('makes the bytes that the other engines make, with files on disk and in memory', async (t) => {
    const cwd = await temporaryFolder(t);
    let count = 0;
    const given = fc.record({ version: fc.constantFrom(...VERSIONS), padding: fc.boolean(), tailPad: fc.boolean() });
    const partSize = fc.integer({ min: 1, max: 400 * KIB });
    const data = fc.array(fc.nat(90 * KIB), { maxLength: 2 });
    const property = fc.asyncProperty(tree, given, partSize, data, async (generated, options, size, sizes) => {
      const pathRoot = path.join(cwd, `tree${count++}`);
      await writeGenerated(pathRoot, generated);
      const sources = sizes.map((bytes, i) => ({ path: `memory${i}`, data: content(bytes, i) }));
      const paths = generated.files.map((file) => file.path);
      const more = sources.length > 0 ? { sources, paths } : {};
      const draft = new TorrentCreate({ pathRoot, pieceLength: generated.pieceLength, ...more });
      const { engine } = engineOf({ partSize: size });
      const torrent = await draft.generate({ ...options, engine });
      assert.deepEqual(torrent.bencode(), (await draft.generate(options)).bencode());
    });
    await fc.assert(property, { numRuns: runs(60) });
  });

  it('verifies as the other engines do, whatever is damaged', async (t) => {
    const cwd = await temporaryFolder(t);
    let count = 0;
    const damage = fc.record({
      file: fc.nat(8),
      at: fc.nat(300 * KIB),
      how: fc.constantFrom('flip', 'cut', 'remove', 'none'),
    });
    const property = fc.asyncProperty(
      tree,
      fc.constantFrom(...VERSIONS),
      damage,
      async (generated, version, { file, at, how }) => {
        const pathRoot = path.join(cwd, `tree${count++}`);
        await writeGenerated(pathRoot, generated);
        const torrent = await new TorrentCreate({ pathRoot, pieceLength: generated.pieceLength }).generate({ version });
        const {
          path: name,
          size,
          seed,
        } = generated.files[file % generated.files.length] as (typeof generated.files)[0];
        const bytes = content(size, seed);
        const target = path.join(pathRoot, name);
        if (how === 'remove') await rm(target);
        if (how === 'cut') await writeFile(target, bytes.subarray(0, at % (size + 1)));
        if (how === 'flip' && size > 0) {
          bytes[at % size] = (bytes[at % size] as number) ^ 1;
          await writeFile(target, bytes);
        }
        const { engine } = engineOf();
        assert.deepEqual(await verify(torrent, pathRoot, { engine }), await verify(torrent, pathRoot));
      },
    );
    await fc.assert(property, { numRuns: runs(60) });
  });

  it('updates', async (t) => {
    const root = await temporaryFolder(t);
    const pathRoot = path.join(root, 'album');
    await writeTree(pathRoot, { a: 100 * KIB, 'b/c': 200 * KIB, d: 5 });
    const { torrent, fileTimes } = await new TorrentCreate({ pathRoot }).generateWithTimes({ version: 'v2' });
    await writeFile(path.join(pathRoot, 'a'), content(130 * KIB, 1));
    const { engine, seen } = engineOf({ root });
    const updated = await update(torrent, pathRoot, { fileTimes, engine });
    assert.deepEqual(updated.torrent.bencode(), (await update(torrent, pathRoot, { fileTimes })).torrent.bencode());
    assert.ok(seen.length > 0 && seen.every(({ plan }) => plan.files.path.every((name) => name === 'album/a')));
  });

  it('upgrades: every file is hashed twice elsewhere, and none in this process', async (t) => {
    const base = await temporaryFolder(t);
    let count = 0;
    const given = fc.record({ padding: fc.boolean(), tailPad: fc.boolean() });
    const partSize = fc.integer({ min: 1, max: 400 * KIB });
    const property = fc.asyncProperty(tree, given, partSize, async (generated, options, size) => {
      const root = path.join(base, `tree${count++}`);
      await writeGenerated(root, generated);
      const pathRoot = generated.single ? path.join(root, generated.files[0]?.path ?? '') : root;
      const draft = new TorrentCreate({ pathRoot, pieceLength: generated.pieceLength });
      const v1 = await draft.generate({ version: 'v1', ...options });
      const { engine, seen } = engineOf({ partSize: size });
      const upgraded = await upgrade(v1, pathRoot, { engine });
      assert.deepEqual(upgraded.torrent.bencode(), (await upgrade(v1, pathRoot)).torrent.bencode());
      assert.equal(upgraded.bytesRead, 2 * v1.totalSize);
      let sent = 0;
      for (const { plan, index } of seen)
        for (const { file, length } of rangesOf(await checkedPlan(plan), index))
          if (plan.files.path[file] !== null) sent += length;
      assert.equal(sent, 2 * v1.totalSize);
    });
    await fc.assert(property, { numRuns: runs(60) });
  });

  it('upgrades with links and pad files, names a wrong piece, and cancels', async (t) => {
    const root = await temporaryFolder(t);
    const pathRoot = path.join(root, 'album');
    await writeTree(pathRoot, { a: 100 * KIB, 'b/c': 200 * KIB, d: 5 });
    await symlink('a', path.join(pathRoot, 'link'));
    const draft = new TorrentCreate({ pathRoot, symlinks: 'store', pieceLength: 16 * KIB });
    const v1 = await draft.generate({ version: 'v1', padding: true });
    const { engine } = engineOf({ root });
    const progress: number[] = [];
    const onProgress = ({ bytes, totalBytes }: { bytes: number; totalBytes: number }) =>
      void progress.push(bytes, totalBytes);
    const upgraded = await upgrade(v1, pathRoot, { engine, onProgress });
    assert.deepEqual(upgraded.torrent.bencode(), (await draft.generate({ version: 'hybrid' })).bencode());
    assert.deepEqual(progress.slice(-2), [2 * v1.totalSize, 2 * v1.totalSize]);
    await writeFile(path.join(pathRoot, 'b/c'), content(200 * KIB, 3));
    await assert.rejects(upgrade(v1, pathRoot, { engine }), { code: 'ERR_HASH_MISMATCH', message: /in b\/c/ });
    const stop = new AbortController();
    const run = () => {
      stop.abort();
      return new Promise<never>(() => {});
    };
    const { signal } = stop;
    await assert.rejects(upgrade(v1, pathRoot, { engine: engineOf({ root, run }).engine, signal }), {
      code: 'ERR_ABORTED',
    });
  });

  it('gives each hash job a nonce, so that no stored part is one of another job', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { a: 100 * KIB });
    const torrent = await new TorrentCreate({ pathRoot }).generate({ version: 'v2' });
    const { engine, seen } = engineOf();
    for (let i = 0; i < 3; i += 1) assert.ok((await verify(torrent, pathRoot, { engine })).ok);
    const ids = new Set(seen.map(({ plan }) => plan.id));
    assert.equal(ids.size, 3);
  });

  it('finds a flipped bit in a file whose mtime was set back', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { a: 300 * KIB });
    const file = path.join(pathRoot, 'a');
    await utimes(file, 1000, 1000);
    const torrent = await new TorrentCreate({ pathRoot }).generate();
    const { engine } = engineOf();
    assert.ok((await verify(torrent, pathRoot, { engine })).ok);
    const bytes = Buffer.alloc(300 * KIB, 'metainfo');
    bytes[200 * KIB] = 0;
    await writeFile(file, bytes);
    await utimes(file, 1000, 1000);
    assert.equal((await verify(torrent, pathRoot, { engine })).ok, false);
  });

  it('refuses a part of another plan, a damaged one, and files outside its root', async (t) => {
    const root = await temporaryFolder(t);
    await writeTree(root, { 'in/a': 100 * KIB, 'out/b': 5 });
    const draft = new TorrentCreate({ pathRoot: path.join(root, 'in'), pieceLength: 16 * KIB });
    const generate = (run: PartsEngineOptions['run']) =>
      draft.generate({ engine: partsEngine({ partSize: 16 * KIB, run }) });
    for (const part of [null, undefined, 'text', {}, []])
      await assert.rejects(
        generate(async () => part as never),
        { code: 'ERR_PART', message: /instead of bytes/ },
      );
    await assert.rejects(
      generate((plan, index) => hashPart(plan, (index + 1) % plan.parts)),
      { code: 'ERR_PART' },
    );
    await assert.rejects(
      generate(async (plan, index) => {
        const sealed = await hashPart(plan, index);
        sealed[70] = (sealed[70] as number) ^ 1;
        return sealed;
      }),
      { code: 'ERR_PART', message: /is damaged/ },
    );
    await assert.rejects(
      generate(() => Promise.reject(new RangeError('the machine burns'))),
      { name: 'RangeError', message: 'the machine burns' },
    );
    const { engine } = engineOf({ root: path.join(root, 'out') });
    await assert.rejects(draft.generate({ engine }), { code: 'ERR_PATH_OUTSIDE' });
  });

  it('cancels the parts under way, and reports progress', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { a: 300 * KIB });
    const draft = new TorrentCreate({ pathRoot, pieceLength: 16 * KIB });
    const controller = new AbortController();
    let aborted = 0;
    const stuck = partsEngine({
      partSize: 16 * KIB,
      concurrency: 3,
      run: (_plan, _index, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted += 1;
            reject(new Error('stopped'));
          });
          setImmediate(() => controller.abort('enough'));
        }),
    });
    await assert.rejects(draft.generate({ engine: stuck, signal: controller.signal }), {
      name: 'AbortError',
      cause: 'enough',
    });
    assert.equal(aborted, 3);
    const states: number[] = [];
    await draft.generate({ engine: engineOf().engine, onProgress: ({ bytes }) => void states.push(bytes) });
    assert.equal(states.at(-1), 300 * KIB);
  });
});
