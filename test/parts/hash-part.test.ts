import assert from 'node:assert/strict';
import { mkdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { TorrentCreate } from '../../src/create/draft.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { hashPart } from '../../src/parts/hash-part.ts';
import { joinParts } from '../../src/parts/join-parts.ts';
import { withId } from '../../src/parts/plan.ts';
import { PartError, seal } from '../../src/parts/sealed-part.ts';
import { planParts } from '../../src/parts/torrent-plan.ts';
import type { RangeReader } from '../../src/sources/source-data.ts';
import { ENGINES } from '../support/choose-engine.ts';
import { content } from '../support/generated.ts';
import { HUGE, sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;

/** A planned folder of two files: four parts. The first three have only `a`. */
async function planned(t: TestContext) {
  const cwd = await temporaryFolder(t);
  const pathRoot = path.join(cwd, 'set');
  await writeTree(pathRoot, { a: 144 * KIB, 'b/c': 30 * KIB });
  await utimes(path.join(pathRoot, 'a'), 1000, 1000);
  const draft = new TorrentCreate({ pathRoot, pieceLength: 16 * KIB });
  const plan = await planParts(draft, { partSize: 48 * KIB });
  const parts = new Map<number, Uint8Array>();
  const hashAll = async () => {
    for (let index = 0; index < plan.parts; index += 1) parts.set(index, await hashPart(plan, index));
  };
  const join = () => joinParts(plan, (index) => parts.get(index));
  return { cwd, pathRoot, draft, plan, parts, hashAll, join };
}

/** Waits until a change of a file gets another time: the clock of a file system stands still for some milliseconds. */
async function untilLaterThan(file: string, folder: string): Promise<void> {
  const { ctimeMs } = await stat(file);
  const probe = path.join(folder, 'probe');
  do await writeFile(probe, 'x');
  while ((await stat(probe)).ctimeMs <= ctimeMs);
}

describe('hashPart and joinParts', () => {
  it('tell nothing of files outside the root that links lead to', async (t) => {
    const { cwd, pathRoot, plan } = await planned(t);
    const outside = path.join(cwd, 'outside');
    await writeTree(outside, { same: 144 * KIB, other: 5, c: 30 * KIB });
    // The plan of an engine may have no times: then only the sizes must be right.
    const unchecked = {
      ...plan,
      torrent: null,
      nonce: 'x',
      files: { ...plan.files, mtimeMs: [null, null], ctimeMs: [null, null] },
    };
    const forged = await withId(unchecked);
    await rm(path.join(pathRoot, 'a'));
    for (const target of ['same', 'other', 'missing']) {
      await symlink(path.join(outside, target), path.join(pathRoot, 'a'));
      for (const one of [plan, forged])
        await assert.rejects(hashPart(one, 0), {
          code: 'ERR_FILE_CHANGED',
          message: `${pathRoot}/a changed after it was planned: a symbolic link leads out of the root. Make a new plan.`,
        });
      await rm(path.join(pathRoot, 'a'));
    }
    await rm(path.join(pathRoot, 'b'), { recursive: true });
    await symlink(outside, path.join(pathRoot, 'b'));
    await assert.rejects(hashPart(forged, 3), { message: /b\/c changed .*a symbolic link leads out/ });
  });

  const CHANGES: [what: string, change: (pathRoot: string, cwd: string) => Promise<unknown>, problem: RegExp][] = [
    [
      'rewritten, with its size and mtime put back',
      async (root) => {
        await writeFile(path.join(root, 'a'), Buffer.alloc(144 * KIB, 'other'));
        await utimes(path.join(root, 'a'), 1000, 1000);
      },
      /its status changed \(ctime\)/,
    ],
    ['touched', (root) => utimes(path.join(root, 'a'), 2000, 2000), /its modification time changed/],
    ['cut', (root) => truncate(path.join(root, 'a'), 5), /its size went from 147456 to 5 bytes/],
    ['removed', (root) => rm(path.join(root, 'a')), /it was deleted/],
    [
      'replaced by a copy',
      async (root) => {
        await writeTree(root, { copy: 144 * KIB });
        await utimes(path.join(root, 'copy'), 1000, 1000);
        await rename(path.join(root, 'copy'), path.join(root, 'a'));
      },
      /its status changed/,
    ],
    [
      'replaced by a folder',
      async (root) => {
        await rm(path.join(root, 'a'));
        await mkdir(path.join(root, 'a'));
      },
      /its size went from/,
    ],
    [
      'replaced by a link to a copy',
      async (root, cwd) => {
        await writeTree(cwd, { elsewhere: 144 * KIB });
        await utimes(path.join(cwd, 'elsewhere'), 1000, 1000);
        await rm(path.join(root, 'a'));
        await symlink(path.join(cwd, 'elsewhere'), path.join(root, 'a'));
      },
      /a symbolic link leads out of the root/,
    ],
  ];
  for (const [what, change, problem] of CHANGES)
    it(`refuse a file that was ${what} between two parts`, async (t) => {
      const { pathRoot, cwd, plan, parts, hashAll, join } = await planned(t);
      await hashAll();
      await untilLaterThan(path.join(pathRoot, 'a'), cwd);
      await change(pathRoot, cwd);
      await assert.rejects(hashPart(plan, 0), { code: 'ERR_FILE_CHANGED', message: problem });
      await assert.rejects(join(), { code: 'ERR_FILE_CHANGED', message: problem });
      // The last part has none of the file.
      assert.deepEqual(await hashPart(plan, plan.parts - 1), parts.get(plan.parts - 1));
    });

  it('report all changed files at once', async (t) => {
    const { pathRoot, hashAll, join } = await planned(t);
    await hashAll();
    await utimes(path.join(pathRoot, 'a'), 2000, 2000);
    await rm(path.join(pathRoot, 'b/c'));
    await assert.rejects(join(), {
      code: 'ERR_FILE_CHANGED',
      message:
        /^2 files are not as they were planned: .*set\/a changed .* modification time changed; .*b\/c changed .* deleted\. Make a new plan/,
    });
  });

  it('need no content to join without a recheck', async (t) => {
    const { cwd, pathRoot, draft, plan, parts, hashAll } = await planned(t);
    await hashAll();
    const whole = await draft.generate();
    await rm(pathRoot, { recursive: true });
    const torrent = await joinParts(plan, (index) => parts.get(index), { recheck: false });
    assert.deepEqual(torrent.bencode(), whole.bencode());
    await assert.rejects(
      joinParts(plan, (index) => parts.get(index)),
      { code: 'ERR_NOT_FOUND', path: pathRoot },
    );
    await assert.rejects(hashPart(plan, 0, { root: path.join(cwd, 'nowhere') }), { code: 'ERR_NOT_FOUND' });
  });

  it('find the content at another root', async (t) => {
    const { cwd, pathRoot, plan, parts, hashAll } = await planned(t);
    await hashAll();
    const root = path.join(cwd, 'moved');
    await rename(pathRoot, root);
    assert.deepEqual(await hashPart(plan, 1, { root }), parts.get(1));
    assert.ok(await joinParts(plan, (index) => parts.get(index), { root }));
  });

  it('name all missing parts, and all that are damaged, foreign or contradictory', async (t) => {
    const { plan, parts, hashAll, join } = await planned(t);
    const failure = async (): Promise<PartError> => {
      const error = await join().then(
        () => null,
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof PartError);
      return error;
    };
    const none = await failure();
    assert.equal(none.code, 'ERR_PART_MISSING');
    assert.deepEqual(
      none.indexes,
      Array.from({ length: plan.parts }, (_, i) => i),
    );
    await hashAll();
    const other = await planParts(new TorrentCreate({ pathRoot: plan.root, pieceLength: 16 * KIB, comment: 'x' }), {
      partSize: 48 * KIB,
    });
    const good = new Map(parts);
    const part = (index: number) => good.get(index) as Uint8Array;
    const flipped = Buffer.from(part(1));
    flipped[60] = (flipped[60] as number) ^ 1;
    const cases: [index: number, part: Uint8Array][] = [
      [1, flipped],
      [1, part(1).subarray(0, -1)],
      [1, part(2)],
      [1, await hashPart(other, 1)],
      [1, seal({ id: plan.id, index: 1 }, new Uint8Array(20))],
      [1, new Uint8Array(0)],
    ];
    for (const [index, bad] of cases) {
      parts.set(index, bad);
      const { code, indexes } = await failure();
      assert.deepEqual([code, indexes], ['ERR_PART', [index]]);
      parts.set(index, part(index));
    }
    parts.set(0, part(1)).set(2, flipped).delete(1);
    const { code, indexes, message } = await failure();
    assert.deepEqual([code, indexes], ['ERR_PART', [0, 2]]);
    assert.match(message, /^2 parts cannot be used \(0, 2\): delete them and hash them again\./);
    parts.set(0, part(0)).set(2, part(2));
    const missing = await failure();
    assert.deepEqual([missing.code, missing.indexes], ['ERR_PART_MISSING', [1]]);
    await assert.rejects(
      joinParts(plan, () => 'text' as never),
      { code: 'ERR_INVALID_ARGUMENT' },
    );
    await assert.rejects(
      joinParts(plan, () => Promise.reject(new RangeError('the store burns'))),
      { message: 'the store burns' },
    );
    assert.ok(await joinParts(plan, async (index) => part(index)));
  });

  it('refuse wrong indexes and options', async (t) => {
    const { plan } = await planned(t);
    for (const index of [-1, plan.parts, 0.5, Number.NaN, '0', null])
      await assert.rejects(hashPart(plan, index as never), { code: 'ERR_INVALID_ARGUMENT' });
    for (const options of [{ threads: 0 }, { root: 5 }, { open: 'x' }, { engine: {} }, { indx: 1 }])
      await assert.rejects(hashPart(plan, 0, options as never), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(joinParts(plan, null as never), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('give the same parts with every engine, and report progress', async (t) => {
    const { plan, parts, hashAll } = await planned(t);
    await hashAll();
    assert.ok(ENGINES.length > 0);
    const states: number[] = [];
    const part = await hashPart(plan, 0, { engine: nodeEngine(), onProgress: ({ bytes }) => void states.push(bytes) });
    assert.deepEqual(part, parts.get(0));
    assert.equal(states.at(-1), 48 * KIB);
  });

  it('are cancelled by a signal', async (t) => {
    const cwd = await temporaryFolder(t);
    await sparseFile(cwd, 'large', HUGE);
    const plan = await planParts(new TorrentCreate({ pathRoot: cwd }), { partSize: HUGE });
    const controller = new AbortController();
    const part = hashPart(plan, 0, { signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 100);
    await assert.rejects(part, { name: 'AbortError', cause: 'enough' });
    const other = new AbortController();
    setTimeout(() => other.abort(), 50);
    const join = joinParts(plan, () => new Promise(() => {}), { signal: other.signal });
    await assert.rejects(join, { name: 'AbortError' });
  });
});

describe('parts of objects', () => {
  /** An object that can be replaced. */
  function object(bytes: number, etag: string | null = '"1"') {
    const state = { content: content(bytes, 1), etag };
    const open = (): RangeReader => {
      const opened = state.etag;
      return {
        size: state.content.length,
        etag: state.etag,
        read: async (offset, length) => {
          if (state.etag !== opened) throw Object.assign(new Error('412 Precondition Failed'), { code: '412' });
          return state.content.subarray(offset, offset + length).slice();
        },
      };
    };
    return { state, open };
  }

  it('make the torrent that generate makes, mixed with files on disk', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { disk: 50 * KIB, 'z/other': 20 * KIB });
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      const objects = { 'film.mkv': object(170 * KIB), 'b/sub': object(10 * KIB), none: object(0) };
      const sources = Object.entries(objects).map(([name, { open }]) => ({ path: name, data: open() }));
      const draft = new TorrentCreate({
        pathRoot,
        paths: ['disk', 'z'],
        sources,
        info: { name: 'mixed' },
        pieceLength: 16 * KIB,
      });
      const plan = JSON.parse(JSON.stringify(await planParts(draft, { version, partSize: 64 * KIB })));
      assert.deepEqual(
        Object.values(plan.files.objects),
        Object.values(plan.files.objects).map(() => ({ etag: '"1"', url: null })),
      );
      const open = ({ path: name }: { path: string }) => objects[name as keyof typeof objects].open();
      const parts: Uint8Array[] = [];
      for (let index = 0; index < plan.parts; index += 1) parts.push(await hashPart(plan, index, { open }));
      const torrent = await joinParts(plan, (index) => parts[index], { open });
      assert.deepEqual(torrent.bencode(), (await draft.generate({ version })).bencode());
      await assert.rejects(
        hashPart(plan, 0).then(() => hashPart(plan, plan.parts - 1)),
        { code: 'ERR_INVALID_ARGUMENT', message: /give the option open/ },
      );
    }
  });

  it('refuse an object that was replaced, or that has no entity tag any more', async () => {
    const { state, open } = object(100 * KIB);
    const draft = new TorrentCreate({ sources: [{ path: 'a', data: open() }], pieceLength: 16 * KIB });
    const plan = await planParts(draft, { partSize: 64 * KIB });
    const part = await hashPart(plan, 0, { open });
    const last = await hashPart(plan, 1, { open });
    const get = (index: number) => [part, last][index] ?? null;
    for (const change of [{ etag: '"2"' }, { etag: null }, { content: content(100 * KIB + 1, 1) }]) {
      const before = { ...state };
      Object.assign(state, change);
      await assert.rejects(hashPart(plan, 0, { open }), { code: 'ERR_FILE_CHANGED' });
      await assert.rejects(joinParts(plan, get, { open }), { code: 'ERR_FILE_CHANGED' });
      Object.assign(state, before);
    }
    assert.ok(await joinParts(plan, get, { open }));
    await assert.rejects(joinParts(plan, get), { code: 'ERR_INVALID_ARGUMENT' });
    assert.ok(await joinParts(plan, get, { recheck: false }));
  });

  it('refuse an object that is replaced in the middle of a part', async () => {
    const { state, open } = object(3 * 2 ** 20);
    const plan = await planParts(new TorrentCreate({ sources: [{ path: 'a', data: open() }] }));
    const replacing = () => {
      const reader = open();
      let reads = 0;
      return {
        ...reader,
        read: (...args: Parameters<RangeReader['read']>) => {
          reads += 1;
          if (reads === 2) state.etag = '"2"';
          return reader.read(...args);
        },
      };
    };
    await assert.rejects(hashPart(plan, 0, { open: replacing }), {
      code: 'ERR_SOURCE',
      message: /412 Precondition Failed/,
    });
    assert.equal(state.etag, '"2"');
  });

  it('refuse readers that are none', async () => {
    const { open } = object(10 * KIB);
    const plan = await planParts(new TorrentCreate({ sources: [{ path: 'a', data: open() }] }));
    for (const bad of [null, {}, 5])
      await assert.rejects(hashPart(plan, 0, { open: () => bad as never }), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(hashPart(plan, 0, { open: () => Promise.reject(new Error('no such bucket')) }), {
      message: 'no such bucket',
    });
  });
});
