import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { is, omit, type Struct, validate } from 'superstruct';
import { TorrentCreate } from '../../src/create/draft.ts';
import { ValidationError } from '../../src/errors/errors.ts';
import { defaultEngine } from '../../src/hash/default-engine.ts';
import type { HashRequest } from '../../src/hash/hash-request.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import { HasherConfig, V2HasherConfig } from '../../src/hashers/config.ts';
import type { HasherBase } from '../../src/hashers/hasher-base.ts';
import { HybridHasher } from '../../src/hashers/hybrid-hasher.ts';
import { HashPool } from '../../src/hashers/pool.ts';
import { Chunk, Hash, iterBlocks } from '../../src/hashers/records.ts';
import { V1Hasher } from '../../src/hashers/v1-hasher.ts';
import { V2Hasher } from '../../src/hashers/v2-hasher.ts';
import { sortV1, sortV2 } from '../../src/layout/order.ts';
import type { HashList } from '../../src/model/hash-list.ts';
import { noise, sha256, v1Pieces, v2Hashes } from '../hash/reference.ts';
import { runs } from '../support/runs.ts';
import { writeTree } from '../support/tree.ts';

const KIB = 1024;
const BLOCK = 16 * KIB;
const HASHERS = { v1: V1Hasher, v2: V2Hasher, hybrid: HybridHasher };
type Version = keyof typeof HASHERS;
const VERSIONS = Object.keys(HASHERS) as Version[];

let folder = '';
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'metainfo-'));
});
after(() => rm(folder, { recursive: true, force: true }));

type Files = Record<string, Buffer>;

/** The hashes that BEP 3 and BEP 52 demand, computed in the simplest way. */
function expectedOf(version: Version, files: Files, pieceLength: number): Hash[] {
  const given = Object.keys(files);
  // v2 leaves the order to its user.
  const names = { v1: sortV1(given), v2: given, hybrid: sortV2(given) }[version];
  const blocks = names.flatMap((name) =>
    Array.from({ length: Math.ceil((files[name] as Buffer).length / BLOCK) }, (_, idx): Hash => {
      const hash = sha256((files[name] as Buffer).subarray(idx * BLOCK, (idx + 1) * BLOCK));
      return { type: 'block', path: name, hash, idx };
    }),
  );
  if (version === 'v2') return blocks;
  const starts: { name: string; start: number; end: number }[] = [];
  let at = 0;
  const stream = names.map((name) => {
    const content = files[name] as Buffer;
    const pad =
      version === 'hybrid' && names.length > 1 ? (pieceLength - (content.length % pieceLength)) % pieceLength : 0;
    starts.push({ name, start: at, end: at + content.length + pad });
    at += content.length + pad;
    return Buffer.concat([content, Buffer.alloc(pad)]);
  });
  const pieces = v1Pieces(Buffer.concat(stream), pieceLength).map((hash, idx): Hash => {
    const begin = idx * pieceLength;
    const { name } = starts.find(({ start, end }) => start <= begin && begin < end) as (typeof starts)[number];
    return { type: 'v1_piece', path: name, hash, idx };
  });
  return version === 'v1' ? pieces : [...pieces, ...blocks];
}

const plain = (hashes: readonly Hash[]) =>
  hashes.map(({ type, path: name, hash, idx }) => [type, name, Buffer.from(hash).toString('hex'), idx]);

/** All chunks of all files, through `update`. */
async function updated(
  hasher: HasherBase,
  files: Files,
  readSizes: readonly number[],
  pool: HashPool | null,
): Promise<Hash[]> {
  const hashes: (Hash | Promise<Hash>)[] = [];
  for (const name of hasher.paths) {
    const content = files[name] as Buffer;
    for (let at = 0, idx = 0; at < content.length; idx += 1) {
      const size = readSizes[idx % readSizes.length] as number;
      const chunk = { path: name, chunk: content.subarray(at, at + size), idx };
      hashes.push(...(pool ? hasher.update(chunk, pool) : hasher.update(chunk)));
      at += size;
    }
  }
  return hasher.complete(await Promise.all(hashes));
}

const size = fc.oneof(
  fc.constantFrom(0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 5, 4 * BLOCK, 8 * BLOCK + 1),
  fc.nat(200 * KIB),
);
const names = fc.uniqueArray(fc.constantFrom('a', 'b/a', 'b/é', 'a-b', 'Z', 'z', '\u{e000}', '\u{1f600}'), {
  minLength: 1,
  maxLength: 5,
});
/** Sizes and seeds: what fails is then told in a few words. */
type Spec = Record<string, [size: number, seed: number]>;
const specs = fc
  .tuple(names, fc.array(fc.tuple(size, fc.integer({ min: 1, max: 3 })), { minLength: 5, maxLength: 5 }))
  .map(([all, contents]): Spec => Object.fromEntries(all.map((name, i) => [name, contents[i] as [number, number]])))
  .filter((all) => Object.values(all).some(([length]) => length > 0));
const filesOf = (spec: Spec): Files =>
  Object.fromEntries(Object.entries(spec).map(([name, one]) => [name, noise(...one)]));
const readSizes = fc.array(fc.constantFrom(1009, 4099, BLOCK, 64 * KIB, 65_537, 300_007), {
  minLength: 1,
  maxLength: 3,
});

for (const version of VERSIONS) {
  describe(`the hasher of ${version}`, () => {
    const make = (all: Files, pieceLength: number, config: Partial<HasherConfig> = {}) =>
      new HASHERS[version]({ paths: Object.keys(all), pathRoot: folder, pieceLength, ...config });

    it('hashes chunks of any size as node:crypto does, with and without a pool', async () => {
      const pool = new HashPool({ threads: 2 });
      await fc.assert(
        fc.asyncProperty(
          specs,
          fc.constantFrom(BLOCK, 4 * BLOCK),
          readSizes,
          fc.boolean(),
          async (spec, pieceLength, sizes, pooled) => {
            const all = filesOf(spec);
            const hasher = make(all, pieceLength);
            const expected = plain(expectedOf(version, all, pieceLength));
            assert.deepEqual(plain(await updated(hasher, all, sizes, pooled ? pool : null)), expected);
            // And once more: complete() leaves nothing behind.
            assert.deepEqual(plain(await updated(hasher, all, sizes, null)), expected);
          },
        ),
        { numRuns: runs(150) },
      );
    });

    it('gives the same hashes from process and generate', async () => {
      let count = 0;
      await fc.assert(
        fc.asyncProperty(
          specs,
          fc.constantFrom(BLOCK, 4 * BLOCK),
          fc.constantFrom(1, 2, null),
          async (spec, pieceLength, threads) => {
            const all = filesOf(spec);
            count += 1;
            const root = path.join(folder, `${version} ${count}`);
            await mkdir(root);
            await writeTree(root, all);
            const hasher = make(all, pieceLength, { pathRoot: root, threads });
            const hashes = await hasher.process();
            assert.deepEqual(plain(hashes), plain(expectedOf(version, all, pieceLength)));
            assert.deepEqual(plain(await hasher.process({ engine: nodeEngine() })), plain(hashes));
            const torrent = await new TorrentCreate({ pathRoot: root, pieceLength }).generate({ version });
            const { pieces } = torrent.info as { pieces?: HashList };
            const v1 = hashes.filter(({ type }) => type === 'v1_piece').map(({ hash }) => hash);
            assert.deepEqual(Buffer.from(pieces?.bytes ?? []), Buffer.concat(v1));
            if (hasher instanceof V2Hasher) {
              const trees = hasher.finishTrees(hashes);
              const roots = [...(torrent.flatFiles ?? [])].filter(([, { length }]) => length > 0);
              assert.deepEqual(
                trees.map((tree) => [tree.path, Buffer.from(tree.rootHash as Uint8Array)]).sort(),
                roots.map(([name, { piecesRoot }]) => [name, Buffer.from(piecesRoot as Uint8Array)]).sort(),
              );
            }
            if (hasher instanceof HybridHasher) {
              const [layers, list] = hasher.splitV1V2(hashes.toReversed());
              assert.deepEqual(Buffer.from(list.bytes), Buffer.concat(v1));
              const bytes = (map: ReadonlyMap<string, HashList> | null) =>
                new Map([...(map ?? [])].map(([key, value]) => [key, Buffer.from(value.bytes)]));
              assert.deepEqual(bytes(layers), bytes(torrent.pieceLayers));
            }
            await rm(root, { recursive: true });
          },
        ),
        { numRuns: runs(60) },
      );
    });

    it('accepts the chunks of iterBlocks', async () => {
      const all = { a: noise(3 * BLOCK + 7), b: noise(BLOCK, 2), c: Buffer.alloc(0) };
      await writeTree(folder, all);
      const hasher = make(all, 2 * BLOCK);
      const hashes: Hash[] = [];
      for (const name of hasher.paths) {
        for await (const { chunk, idx } of iterBlocks(path.join(folder, name)))
          hashes.push(...hasher.update({ path: name, chunk, idx }));
      }
      assert.deepEqual(plain(hasher.complete(hashes)), plain(expectedOf(version, all, 2 * BLOCK)));
    });

    it('rejects chunks of other files, out of order, or without bytes', () => {
      const hasher = make({ a: noise(1), b: noise(1) }, BLOCK);
      const refuse = { code: 'ERR_INVALID_ARGUMENT' };
      const chunk = noise(5);
      assert.throws(() => hasher.update({ path: 'x', chunk, idx: 0 }), refuse);
      assert.throws(() => hasher.update({ path: 'a', chunk, idx: 1 }), refuse);
      assert.throws(() => hasher.update({ path: 'a', chunk: 'text' as never, idx: 0 }), refuse);
      hasher.update({ path: 'a', chunk, idx: 0 });
      assert.throws(() => hasher.update({ path: 'a', chunk, idx: 0 }), refuse);
      hasher.update({ path: 'b', chunk, idx: 0 });
      if (version !== 'v2') assert.throws(() => hasher.update({ path: 'a', chunk, idx: 1 }), refuse);
    });

    it('reports every invalid field at once', () => {
      const good = { paths: ['a'], pathRoot: '/', pieceLength: BLOCK };
      const wrong: [object, string, (string | number)[]][] = [
        [{ pathRoot: '' }, 'path_root', ['pathRoot']],
        [{ paths: ['/absolute'] }, 'paths', ['paths', 0]],
        [{ paths: ['a', '../b'] }, 'paths', ['paths', 1]],
        [{ paths: ['a', 'a'] }, 'paths', ['paths', 1]],
        [{ paths: [] }, 'paths', ['paths']],
        [{ paths: [7] }, 'paths', ['paths', 0]],
        [{ pieceLength: 3 * BLOCK }, 'piece_length', ['pieceLength']],
        [{ pieceLength: 0 }, 'piece_length', ['pieceLength']],
        [{ pieceLength: 2 ** 32 }, 'piece_length', ['pieceLength']],
        [{ readSize: 0 }, 'read_size', ['readSize']],
        [{ readSize: 1.5 }, 'read_size', ['readSize']],
        [{ memoryLimit: 1 }, 'memory_limit', ['memoryLimit']],
        [{ readSize: 4 * BLOCK, memoryLimit: 2 * BLOCK }, 'memory_limit', ['memoryLimit']],
        [{ readSize: 2 ** 32 }, 'read_size', ['readSize']],
        [{ paths: ['\ud800'] }, 'paths', ['paths', 0]],
        [{ threads: 0 }, 'threads', ['threads']],
        [{ progress: 'yes' }, 'type', ['progress']],
      ];
      if (version !== 'v1')
        wrong.push(
          [{ pieceLength: 1024 }, 'piece_length', ['pieceLength']],
          [{ readSize: 3 * BLOCK }, 'read_size', ['readSize']],
          [{ readSize: 1024 }, 'read_size', ['readSize']],
        );
      const issuesOf = (config: object) => {
        try {
          new HASHERS[version]({ ...good, ...config } as HasherConfig);
        } catch (error) {
          assert.ok(error instanceof ValidationError);
          return error.issues.map((issue) => [issue.code, ...issue.path]);
        }
        return [];
      };
      for (const [config, code, at] of wrong)
        assert.deepEqual(issuesOf(config), [[code, ...at]], JSON.stringify(config));
      assert.deepEqual(
        issuesOf({ pathRoot: '', paths: ['/'], pieceLength: 5 }).map(([code]) => code),
        ['paths', 'path_root', 'piece_length'],
      );
      assert.deepEqual(issuesOf({ readSize: null, memoryLimit: null, threads: null }), []);
    });

    it('names folders and missing files', async () => {
      const root = path.join(folder, `bad ${version}`);
      await mkdir(root);
      await writeTree(root, { 'folder/a': 'x', b: 'y' });
      await symlink('absent', path.join(root, 'broken'));
      const process = (name: string) => make({ [name]: noise(1) }, BLOCK, { pathRoot: root }).process();
      await assert.rejects(process('folder'), { code: 'ERR_NOT_A_FILE', path: path.join(root, 'folder') });
      await assert.rejects(process('absent'), { code: 'ERR_NOT_FOUND' });
      await mkdir(path.join(root, 'empty'));
      await assert.rejects(process('empty'), { code: 'ERR_NOT_A_FILE', path: path.join(root, 'empty') });
      await assert.rejects(process('broken'), { code: 'ERR_BROKEN_LINK' });
    });

    it('stays within its threads and memory for any read size', async () => {
      const all = { odd: noise(5 * BLOCK + 9) };
      await writeTree(folder, all);
      const readSizes = version === 'v1' ? [1, 100_000, BLOCK, 2 ** 31] : [BLOCK, 2 ** 20, 2 ** 31];
      for (const readSize of readSizes) {
        for (const limit of [null, 2 ** 31, readSize]) {
          const memoryLimit = limit && Math.max(BLOCK, limit);
          const real = defaultEngine();
          const running = new Set<HashRequest>();
          const engine = {
            ...real,
            start: (plan: HashRequest) => {
              running.add(plan);
              assert.equal(running.size, 1);
              assert.equal(plan.threads, 3);
              assert.ok(plan.memoryLimit <= (memoryLimit ?? 2 ** 33));
              const job = real.start(plan);
              const done = job.done.finally(() => running.delete(plan));
              return { done, progress: () => job.progress(), cancel: () => job.cancel() };
            },
          };
          const hasher = make(all, BLOCK, { threads: 3, readSize, memoryLimit });
          assert.deepEqual(plain(await hasher.process({ engine })), plain(expectedOf(version, all, BLOCK)));
        }
      }
    });

    it('stops when the signal fires, and reports progress', async () => {
      await writeTree(folder, { large: Buffer.alloc(64 * 2 ** 20) });
      const hasher = make({ large: noise(1) }, BLOCK);
      await assert.rejects(hasher.process({ signal: AbortSignal.abort(new Error('no')) }), { code: 'ERR_ABORTED' });
      const told: { bytes: number; totalBytes: number; file: string }[] = [];
      await hasher.process({ onProgress: (progress) => told.push(progress) });
      const { bytes, totalBytes, file } = told.at(-1) as (typeof told)[number];
      assert.deepEqual({ bytes, totalBytes, file }, { bytes: 64 * 2 ** 20, totalBytes: 64 * 2 ** 20, file: 'large' });
      const thrown = new Error('mine');
      const failing = hasher.process({
        onProgress: () => {
          throw thrown;
        },
      });
      await assert.rejects(failing, thrown);
    });
  });
}

describe('the defaults of hashers', () => {
  const config = { paths: ['b', 'a/x'], pathRoot: '/root' };
  it('read a piece at once; v2 at least 1 MiB', () => {
    for (const pieceLength of [BLOCK, 2 ** 20, 4 * 2 ** 20]) {
      assert.equal(new V1Hasher({ ...config, pieceLength }).readSize, pieceLength);
      assert.equal(new HybridHasher({ ...config, pieceLength }).readSize, pieceLength);
      assert.equal(new V2Hasher({ ...config, pieceLength }).readSize, Math.max(2 ** 20, pieceLength));
    }
    assert.equal(new V1Hasher({ ...config, pieceLength: 512 }).readSize, 512);
    assert.equal(new V2Hasher({ ...config, pieceLength: BLOCK, readSize: BLOCK }).readSize, BLOCK);
  });

  it('sort the paths of v1 and hybrid, and leave those of v2', () => {
    assert.deepEqual(new V1Hasher({ ...config, pieceLength: BLOCK }).paths, ['b', 'a/x']);
    assert.deepEqual(new V1Hasher({ ...config, paths: ['b', 'A'], pieceLength: BLOCK }).paths, ['A', 'b']);
    assert.deepEqual(new HybridHasher({ ...config, pieceLength: BLOCK }).paths, ['a/x', 'b']);
    assert.deepEqual(new V2Hasher({ ...config, pieceLength: BLOCK }).paths, ['b', 'a/x']);
  });

  it("use one thread, no bar, and no limit but the library's", () => {
    const { threads, progress, memoryLimit } = new V2Hasher({ ...config, pieceLength: BLOCK });
    assert.deepEqual({ threads, progress, memoryLimit }, { threads: 1, progress: false, memoryLimit: null });
  });
});

describe('iterBlocks', () => {
  it('reads a file in chunks of the given size', async () => {
    for (const length of [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK]) {
      for (const readSize of [undefined, 1000, 5 * BLOCK]) {
        const content = noise(length);
        await writeTree(folder, { blocks: content });
        const file = path.join(folder, 'blocks');
        const chunks = [];
        for await (const chunk of iterBlocks(file, readSize === undefined ? {} : { readSize })) chunks.push(chunk);
        const each = readSize ?? BLOCK;
        assert.deepEqual(
          chunks.map(({ path: name, chunk, idx }) => [name, chunk.length, idx]),
          Array.from({ length: Math.ceil(length / each) }, (_, i) => [file, Math.min(each, length - i * each), i]),
        );
        assert.ok(Buffer.concat(chunks.map(({ chunk }) => chunk)).equals(content));
      }
    }
  });

  it('names files that it cannot read', async () => {
    const first = (name: string, options = {}) => iterBlocks(name, options).next();
    await assert.rejects(first(path.join(folder, 'absent')), { code: 'ERR_NOT_FOUND' });
    await assert.rejects(first(folder), { code: 'ERR_NOT_A_FILE' });
    await assert.rejects(first('/dev/null'), { code: 'ERR_NOT_A_FILE' });
    for (const readSize of [0, 1.5, 2 ** 31, 2 ** 40])
      await assert.rejects(first(folder, { readSize }), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(first('a\0b'), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(first(undefined as never), { code: 'ERR_INVALID_ARGUMENT' });
    await assert.rejects(first(folder, { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
  });
});

describe('HashPool', () => {
  it('rejects if the engine fails', async () => {
    const broken = {
      ...nodeEngine(),
      start: () => ({
        done: Promise.reject(new Error('broken')),
        progress: () => ({ bytes: 0, fileIndex: 0, queued: 0 }),
        cancel: () => {},
      }),
    };
    const hasher = new V2Hasher({ paths: ['a'], pathRoot: '/', pieceLength: BLOCK });
    const [hash] = hasher.update({ path: 'a', chunk: noise(BLOCK), idx: 0 }, new HashPool({ engine: broken }));
    await assert.rejects(hash as Promise<Hash>, /broken/);
  });

  it('hashes the requests of one turn of the event loop together', async () => {
    let jobs = 0;
    const engine = nodeEngine();
    const counting = {
      ...engine,
      start: (plan: Parameters<typeof engine.start>[0]) => {
        jobs += 1;
        return engine.start(plan);
      },
    };
    const pool = new HashPool({ engine: counting });
    const hasher = new V2Hasher({ paths: ['a'], pathRoot: '/', pieceLength: BLOCK });
    const content = noise(200 * BLOCK);
    const hashes = [];
    for (let idx = 0; idx < 200; idx += 1)
      hashes.push(...hasher.update({ path: 'a', chunk: content.subarray(idx * BLOCK, (idx + 1) * BLOCK), idx }, pool));
    const [tree] = hasher.finishTrees(hasher.complete(await Promise.all(hashes)));
    assert.deepEqual(Buffer.from(tree?.rootHash ?? []), v2Hashes(content, BLOCK).root);
    assert.equal(jobs, 1);
  });
});

describe('structs of hashers', () => {
  const good = { paths: ['a', 'd/b'], pathRoot: '/root', pieceLength: BLOCK };
  const failures = (value: unknown, struct: unknown) =>
    (validate(value, struct as Struct)[0]?.failures() ?? []).map(({ path }) => path.join('.'));

  it('check configurations, and can be composed', () => {
    for (const struct of [HasherConfig, V2HasherConfig]) {
      assert.deepEqual(failures({ ...good, threads: null, readSize: null }, struct), []);
      const wrong = { paths: ['/a', 'b', 'b'], pathRoot: '', pieceLength: 5, threads: 0, memoryLimit: 1, progress: 1 };
      const all = ['memoryLimit', 'pathRoot', 'paths.0', 'paths.2', 'pieceLength', 'progress', 'threads'];
      assert.deepEqual(failures(wrong, struct).sort(), all);
      assert.deepEqual(
        failures({ ...wrong, extra: 1 }, omit(struct, ['paths'])).sort(),
        all.filter((at) => !/paths/.test(at)),
      );
    }
    const odd = { ...good, pieceLength: 512, readSize: 3 };
    assert.deepEqual([failures(odd, HasherConfig), failures(odd, V2HasherConfig)], [[], ['pieceLength', 'readSize']]);
  });

  it('check the length of a hash and the bytes of a chunk', () => {
    const hash = { type: 'block', path: 'a', hash: Buffer.alloc(32), idx: 0 };
    assert.deepEqual(failures(hash, Hash), []);
    assert.deepEqual(failures({ ...hash, type: 'v1_piece' }, Hash), ['']);
    assert.deepEqual(failures({ ...hash, type: 'leaf', idx: -1 }, Hash), ['type', 'idx']);
    assert.ok(is({ path: 'a', chunk: Buffer.alloc(1), idx: 0 }, Chunk));
    assert.deepEqual(failures({ path: 'a', chunk: 'text', idx: 0.5 }, Chunk), ['chunk', 'idx']);
  });
});
