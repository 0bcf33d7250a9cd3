import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encode } from '../../src/bencode/encode.ts';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { TorrentCreateInput } from '../../src/create/draft-input.ts';
import type { GenerateOptions } from '../../src/create/options.ts';
import { hashPart } from '../../src/parts/hash-part.ts';
import { joinParts } from '../../src/parts/join-parts.ts';
import { type TorrentPlan, withId } from '../../src/parts/plan.ts';
import { parsePlan } from '../../src/parts/read-plan.ts';
import { planParts } from '../../src/parts/torrent-plan.ts';
import { manyFiles, writeGenerated } from '../support/generated.ts';
import { sparseFile, temporaryFolder, writeTree } from '../support/tree.ts';

const KIB = 1024;

/** Hashes and joins all parts of a plan that went through JSON. */
async function joined(plan: TorrentPlan) {
  const sent: TorrentPlan = JSON.parse(JSON.stringify(plan));
  const parts = await Promise.all(Array.from({ length: sent.parts }, (_, index) => hashPart(sent, index)));
  return joinParts(sent, (index) => parts[index] ?? null);
}

/** Requires that the joined torrent is the one that generate makes. */
async function requireSame(fields: TorrentCreateInput, options: GenerateOptions & { partSize?: number } = {}) {
  const { partSize = 64 * KIB, ...rest } = options;
  const draft = new TorrentCreate({ pieceLength: 16 * KIB, createdBy: null, ...fields });
  const torrent = await joined(await planParts(draft, { ...rest, partSize }));
  assert.deepEqual(torrent.bencode(), (await draft.generate(rest)).bencode());
}

describe('planParts', () => {
  it('is JSON with the sizes and times of all files, and the SHA-256 of the rest as its id', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { a: 40 * KIB, 'b/c': 5, 'b/empty': 0 });
    const plan = await planParts(new TorrentCreate({ pathRoot, comment: 'x' }), { version: 'v2' });
    assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
    const { id, ...rest } = plan;
    assert.equal(id, createHash('sha256').update(JSON.stringify(rest)).digest('hex'));
    assert.deepEqual(
      [plan.format, plan.root, plan.version, plan.partSize, plan.parts, plan.totalSize, plan.torrent.padding],
      ['metainfo-plan-1', pathRoot, 'v2', 80 * KIB, 1, 40 * KIB + 5, null],
    );
    assert.deepEqual(plan.files.path, ['a', 'b/c', 'b/empty']);
    assert.deepEqual(plan.files.length, [40 * KIB, 5, 0]);
    for (const [i, name] of plan.files.path.entries()) {
      const { mtimeMs, ctimeMs } = statSync(path.join(pathRoot, name as string));
      assert.deepEqual([plan.files.mtimeMs[i], plan.files.ctimeMs[i]], [mtimeMs, ctimeMs]);
    }
  });

  it('chooses a part size by the content and the workers, the same one each time', async (t) => {
    const folder = await temporaryFolder(t);
    const draft = new TorrentCreate({ pathRoot: await sparseFile(folder, 'large', 64 * 2 ** 30) });
    const plan = await planParts(draft);
    assert.deepEqual([plan.partSize, plan.parts], [512 * 2 ** 20, 128]);
    for (const options of [{}, { partSize: 'auto' as const }, { partSize: null, workers: null }, { workers: 200 }])
      assert.equal((await planParts(draft, options)).id, plan.id);
    const few = await planParts(draft, { workers: 1 });
    assert.deepEqual([few.partSize, few.parts], [2 ** 31, 32]);
    // A given size counts, whatever the number of workers.
    const given = await planParts(draft, { partSize: 2 ** 30, workers: 1000 });
    assert.equal(given.id, (await planParts(draft, { partSize: 2 ** 30 })).id);
  });

  it('refuses part sizes and drafts of the wrong type', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { a: 5 });
    const draft = new TorrentCreate({ pathRoot });
    for (const workers of [0, -1, 1.5, 'auto', Number.NaN])
      await assert.rejects(planParts(draft, { workers: workers as never }), { code: 'ERR_INVALID_ARGUMENT' });
    for (const partSize of [0, -1, 1.5, '1', 'AUTO', Number.NaN])
      await assert.rejects(planParts(draft, { partSize: partSize as never }), { code: 'ERR_INVALID_ARGUMENT' });
    for (const bad of [undefined, null, {}, { pathRoot }, Object.create(draft.fields)])
      await assert.rejects(planParts(bad as never), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('keeps flags, links, unknown keys and names of single files', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { a: 40 * KIB, 'b/c': 70 * KIB, '.hidden': 5, other: 20 * KIB });
    await symlink('a', path.join(pathRoot, 'link'));
    await symlink(path.join(pathRoot, 'b'), path.join(pathRoot, 'folder'));
    for (const version of ['v1', 'v2', 'hybrid'] as const) {
      await requireSame({ pathRoot, attributes: true, symlinks: 'store' }, { version });
      await requireSame({ pathRoot, symlinks: 'follow' }, { version });
      await requireSame({ pathRoot: path.join(pathRoot, 'a') }, { version });
      await requireSame(
        { pathRoot, paths: ['b/c', 'a'], info: { name: 'named', private: true, source: 'S' } },
        { version },
      );
    }
    const extra = new Map([['x', new Map([['y', [1, Buffer.from('z')]]])]]) as never;
    const files = [
      { length: 40 * KIB, path: ['a'], attr: 'x', pathUtf8: ['ä'], extra },
      { length: 20 * KIB, path: ['other'], symlinkPath: null },
    ];
    await requireSame(
      { pathRoot, info: { name: 'n', files, extra }, trackers: [['udp://a:1/x'], ['udp://b:1/x']] },
      { version: 'v1' },
    );
    const fileTree = new Map([['a', new Map([['', { length: 40 * KIB, attr: 'x', extra }]])]]) as never;
    await requireSame({ pathRoot, info: { name: 'n', fileTree } }, { version: 'v2' });
  });

  it('holds many files as well as few', async (t) => {
    const cwd = await temporaryFolder(t);
    const [generated] = fc.sample(manyFiles, { numRuns: 1, seed: 5 });
    const pathRoot = path.join(cwd, 'many');
    await writeGenerated(pathRoot, generated as NonNullable<typeof generated>);
    for (const version of ['v1', 'v2', 'hybrid'] as const)
      await requireSame({ pathRoot }, { version, partSize: 2 ** 20 });
  });

  it('refuses content that only this process can read, and drafts with hashes', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { a: 5 });
    const datas = [Buffer.from('x'), Readable.from(['x']), new Blob(['x']), new ReadableStream()];
    for (const data of datas)
      await assert.rejects(planParts(new TorrentCreate({ sources: [{ path: 'a', data: data as never, size: 1 }] })), {
        code: 'ERR_INVALID_ARGUMENT',
        message: /only files on disk and range readers/,
      });
    const { info } = await new TorrentCreate({ pathRoot }).generate({ version: 'v1' });
    const { pieces } = info as unknown as { pieces: Uint8Array };
    await assert.rejects(planParts(new TorrentCreate({ pathRoot, info: { pieces } as never }), { version: 'v1' }), {
      code: 'ERR_INVALID_ARGUMENT',
      message: /with hashes cannot be planned in parts/,
    });
    const files = [{ length: 6, path: ['a'] }];
    await assert.rejects(planParts(new TorrentCreate({ pathRoot, info: { files } }), { version: 'v1' }), {
      code: 'ERR_HASH_MISMATCH',
    });
  });

  it('refuses content outside the path root, even if links may lead there', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeTree(cwd, { 'in/a': 5, 'out/b': 5 });
    await symlink(path.join(cwd, 'out/b'), path.join(cwd, 'in/link'));
    const draft = new TorrentCreate({ pathRoot: path.join(cwd, 'in'), followOutside: true });
    await draft.generate();
    await assert.rejects(planParts(draft), { code: 'ERR_LINK_OUTSIDE' });
  });

  it('refuses a torrent above 1 GB with the piece length that avoids it', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await sparseFile(pathRoot, 'a', 4 * 2 ** 40);
    const draft = (pieceLength: number) => new TorrentCreate({ pathRoot, pieceLength });
    const error = await planParts(draft(64 * KIB), { version: 'v1' }).catch(
      (reason: unknown) => reason as Error & { code: string },
    );
    assert.ok(error instanceof Error);
    assert.equal((error as { code?: string }).code, 'ERR_TOO_LARGE');
    assert.match(error.message, /plans for parts allow 1 GB\. Use a piece length of 128 KiB/);
    assert.ok((await planParts(draft(128 * KIB), { version: 'v1' })).parts > 0);
  });
});

describe('a plan from elsewhere', () => {
  async function planOf(t: Parameters<typeof temporaryFolder>[0]): Promise<TorrentPlan> {
    const pathRoot = await temporaryFolder(t);
    await mkdir(path.join(pathRoot, 'b'));
    await writeFile(path.join(pathRoot, 'b/c'), Buffer.alloc(50 * KIB));
    await writeTree(pathRoot, { a: 40 * KIB });
    return planParts(new TorrentCreate({ pathRoot, pieceLength: 16 * KIB }), { partSize: 32 * KIB });
  }

  /** The plan with a change and the id that belongs to it. */
  const changed = (plan: TorrentPlan, change: (plan: TorrentPlan) => void): Promise<TorrentPlan> => {
    const copy = structuredClone(plan);
    change(copy);
    return withId(copy) as Promise<TorrentPlan>;
  };

  it('is refused if anything in it is malformed, whatever its id says', async (t) => {
    const plan = await planOf(t);
    const changes: ((plan: Record<string, never> & TorrentPlan) => unknown)[] = [
      (one) => (one.format = 'metainfo-plan-2' as never),
      (one) => (one.version = 'v3' as never),
      (one) => (one.version = 'constructor' as never),
      (one) => (one.torrent.name = '../x'),
      (one) => (one.torrent.name = 5 as never),
      (one) => (one.torrent.isSingleFile = true),
      (one) => (one.torrent.isSingleFile = 'no' as never),
      (one) => (one.pieceLength = 1000),
      (one) => (one.pieceLength = 2 ** 40),
      (one) => (one.pieceLength = null as never),
      (one) => (one.torrent.padding = null),
      (one) => (one.torrent.padding = undefined as never),
      (one) => (one.torrent.padding = { tailPad: 1, padNames: 'x' } as never),
      (one) => (one.partSize = 0),
      (one) => (one.partSize = 16 * KIB + 1),
      (one) => (one.parts += 1),
      (one) => (one.totalSize += 1),
      (one) => (one.torrent.bencode = '!'),
      (one) => (one.torrent.bencode = Buffer.from('le').toString('base64')),
      (one) => (one.torrent.bencode = Buffer.from(encode(new Map())).toString('base64')),
      (one) => (one.root = 5 as never),
      (one) => (one.root = 'a\0b'),
      (one) => (one.files.path[0] = '../a'),
      (one) => (one.files.path[0] = '/a'),
      (one) => (one.files.path[0] = 'b/../../a'),
      (one) => (one.files.path[0] = ''),
      (one) => (one.files.path[0] = 5 as never),
      (one) => one.files.path.push('x'),
      (one) => (one.files.length[0] = -1),
      (one) => (one.files.length[0] = 1.5),
      (one) => (one.files.length[0] = 2 ** 53),
      (one) => (one.paddedFiles += 1),
      (one) => (one.files.path[0] = null),
      (one) => (one.files.mtimeMs[0] = 'x' as never),
      (one) => (one.files.mtimeMs[0] = null),
      (one) => (one.files.ctimeMs[0] = '1.5' as never),
      (one) => (one.files.shares['0'] = { offset: -1, size: 1 }),
      (one) => (one.files.diskPath['0'] = '../x'),
      (one) => (one.files.diskPath['7'] = 'x'),
      (one) => (one.files.diskPath = [] as never),
      (one) => (one.files.objects['0'] = null as never),
      (one) => (one.files.objects['-1'] = { etag: null, url: null }),
      (one) => (one.files.keys['0'] = { symlinkPath: ['x'] }),
      (one) => (one.files.keys['0'] = { symlinkPath: ['..'] }),
      (one) => (one.files.keys['0'] = { attr: 5 } as never),
      (one) => (one.files.keys['0'] = { extra: '!' }),
    ];
    for (const change of changes) {
      const bad = await changed(plan, change as never);
      await assert.rejects(hashPart(bad, 0), { code: 'ERR_PLAN' }, String(change));
      await assert.rejects(
        joinParts(bad, () => null),
        { code: 'ERR_PLAN' },
        String(change),
      );
    }
    for (const bad of [
      null,
      undefined,
      5,
      'plan',
      [],
      {},
      { format: plan.format },
      { ...plan, files: null },
      { ...plan, files: {} },
    ])
      await assert.rejects(hashPart(bad as never, 0), { code: 'ERR_PLAN' }, JSON.stringify(bad));
  });

  it('is refused for its piece length in one sentence', async (t) => {
    const bad = await changed(await planOf(t), (one) =>
      Object.assign(one, { pieceLength: 2 ** 33, partSize: 2 ** 33 }),
    );
    await assert.rejects(hashPart(bad, 0), {
      code: 'ERR_PLAN',
      message: /^The plan cannot be used: .*[^.]\. Make a new/,
    });
  });

  it('is refused if it was changed and its id was not', async (t) => {
    const plan = await planOf(t);
    for (const change of [{ id: 'ab'.repeat(32) }, { root: '/etc' }, { nonce: 'x' }, { comment: 'x' }])
      if ('comment' in change) assert.ok(await parsePlan({ ...plan, ...change } as TorrentPlan));
      else await assert.rejects(hashPart({ ...plan, ...change }, 0), { code: 'ERR_PLAN', message: /its id is not/ });
  });

  it('is used as it was when it is changed after its first use', async (t) => {
    const plan = await planOf(t);
    const before = await hashPart(plan, 0);
    plan.files.path[0] = '../secret';
    plan.parts = 1;
    assert.deepEqual(await hashPart(plan, 0), before);
  });

  it('gets another id with another root, as if it had been planned with that', async (t) => {
    const pathRoot = await temporaryFolder(t);
    await writeTree(pathRoot, { a: 40 * KIB });
    const draft = new TorrentCreate({ pathRoot });
    const named = await planParts(draft, { root: 'media/set', partSize: null });
    assert.deepEqual(await parsePlan(await planParts(draft), { root: 'media/set' }), named);
    await assert.rejects(parsePlan(named, { root: 7 as never }), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('may have its keys in any order', async (t) => {
    const plan = await planOf(t);
    const turned = Object.fromEntries(Object.entries(plan).reverse()) as unknown as TorrentPlan;
    assert.deepEqual(await hashPart(turned, 1), await hashPart(plan, 1));
  });
});
