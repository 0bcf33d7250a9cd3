import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { TorrentCreate } from '../../src/create/draft.ts';
import type { TorrentCreateInput } from '../../src/create/draft-input.ts';
import { generateShortSource, generateShortTree } from '../../src/create/generate-short.ts';
import { nodeEngine } from '../../src/hash/node.ts';
import type { Progress } from '../../src/jobs/watch.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { runs } from '../support/runs.ts';
import { cpuSeconds, slowness } from '../support/timing.ts';

const BLOCK = 16384;
const VERSIONS = ['v1', 'v2', 'hybrid'] as const;

/** Bytes with a prime period, so that swapped blocks change a hash. */
const content = (size: number) => Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i % 251) + 1));

const sizes = fc.oneof(
  fc.integer({ min: 1, max: 4 * BLOCK }),
  fc.constantFrom(1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 1, 4 * BLOCK - 1, 4 * BLOCK),
);
/** Some have half of a surrogate pair. */
const text = fc.oneof(
  { weight: 9, arbitrary: fc.string({ unit: 'binary' }).map((one) => one.toWellFormed()) },
  { weight: 1, arbitrary: fc.constantFrom('\ud83d', 'a\udc00b') },
);
const url = fc.constantFrom(
  'udp://a.example:80/announce',
  'HTTP://b.example',
  'https://c.example/a b',
  'wss://d.example',
);
const names = fc.oneof(
  fc.stringMatching(/^[a-zé]{1,20}(\.bin)?$/),
  fc.constantFrom('\u200e', 'a\u202eb', '_____padding_file_0_', 'CON', 'a\\b', '.hidden', 'x'.repeat(300), '\u{1f600}'),
);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const fields = fc.record(
  {
    comment: fc.option(text),
    createdBy: fc.option(text),
    creationDate: fc.option(fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })),
    urlList: fc.oneof(url, fc.array(url)),
    httpseeds: fc.array(url),
    nodes: fc.array(fc.tuple(fc.constantFrom('a.example', '10.0.0.1'), fc.integer({ min: 1, max: 65535 }))),
    similar: fc.array(fc.constant('ab'.repeat(20)), { maxLength: 2 }),
    collections: fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 }),
    extra: fc.constantFrom(new Map(), new Map([['unknown', 5]])),
  },
  { requiredKeys: [] },
);
const trackers = fc.oneof(
  fc.constant({}),
  fc.record({ trackers: fc.oneof(fc.array(url), fc.array(fc.array(url))) }),
  fc.record({ announce: url }),
  fc.record({ announce: url, announceList: fc.array(fc.array(url)) }),
);
const info = fc.record(
  {
    private: fc.boolean(),
    source: text,
    updateUrl: url,
    pieceLength: fc.constantFrom(BLOCK, 2 * BLOCK, 2 ** 20, 2 ** 30),
    extra: fc.constantFrom(new Map(), new Map([['x', 'y']])),
  },
  { requiredKeys: [] },
);

const drafts = fc
  .record({ size: sizes, name: names, fields, trackers, info: optional(info) })
  .map(({ size, name, fields: others, trackers: theirs, info: own }): { given: TorrentCreateInput; size: number } => ({
    size,
    given: {
      ...others,
      ...theirs,
      ...(own && { info: own }),
      sources: [{ path: name, data: content(size) }],
    } as TorrentCreateInput,
  }));

/** Everything that a torrent gives out. */
function allOf(torrent: Torrent): object {
  const { files, flatFiles, infohashV1, infohashV2, nFiles, nPieces, totalSize, fileSize, name } = torrent;
  return {
    torrent: { ...torrent },
    keys: [Object.keys(torrent), Object.keys(torrent.info)],
    files,
    flatFiles,
    infohashV1,
    infohashV2,
    nFiles,
    nPieces,
    totalSize,
    fileSize,
    name,
  };
}

/** The callbacks, and the plan and the last progress that they got: a busy machine reports more often. */
function listener() {
  const told: unknown[] = [];
  const onPlan = (plan: unknown) => told.push(plan);
  const onProgress = (now: Progress) => told.push({ ...now, seconds: 0 });
  return { ends: () => [told[0], told.at(-1)], tell: { onPlan, onProgress } };
}

describe('the torrent of a short file on disk', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'metainfo-short-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** The torrent and times of a path by the fast path, which must be taken or not, and by the general path. */
  async function bothWays(pathRoot: string, version: (typeof VERSIONS)[number], isShort: boolean, beneath?: string) {
    const draft = new TorrentCreate({ pathRoot, info: { private: true }, trackers: ['udp://tracker.example'] });
    const made = await generateShortTree(draft, { version, beneath });
    assert.equal(made !== null, isShort, `${pathRoot} takes the fast path: ${made !== null}`);
    const [one, other] = [listener(), listener()];
    const short = await draft.generateWithTimes({ version, beneath, ...one.tell });
    const general = await draft.generateWithTimes({ version, beneath, ...other.tell, engine: nodeEngine() });
    assert.deepEqual(one.ends(), other.ends());
    assert.deepEqual(short.torrent.bencode(), general.torrent.bencode());
    assert.deepStrictEqual(allOf(short.torrent), allOf(general.torrent));
    assert.deepStrictEqual(short.fileTimes, general.fileTimes);
  }

  const skip =
    process.env['METAINFO_ENGINE'] === 'node' || process.platform === 'win32'
      ? 'needs the native engine on POSIX'
      : false;

  it('is the one that the general path makes, at every edge of its size', { skip }, async () => {
    for (const size of [1, BLOCK - 1, BLOCK, BLOCK + 1, 4 * BLOCK - 1, 4 * BLOCK, 4 * BLOCK + 1]) {
      const file = path.join(folder, `${size}.bin`);
      await writeFile(file, content(size));
      for (const version of VERSIONS) await bothWays(file, version, size <= 4 * BLOCK);
    }
  });

  it('may be reached through links and a path that is not normal', { skip }, async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, content(100));
    await symlink('file', path.join(folder, 'link'));
    await symlink('.', path.join(folder, 'here'));
    await bothWays(path.join(folder, 'link'), 'v1', true);
    await bothWays(path.join(folder, 'here', 'file'), 'v1', true);
    await bothWays(`${folder}/here//./file`, 'v1', true);
  });

  it('is read beneath a folder, and through links below it in the general way', { skip }, async () => {
    await mkdir(path.join(folder, 'root/sub'), { recursive: true });
    const root = path.join(folder, 'root');
    await writeFile(path.join(root, 'sub/file'), content(BLOCK + 5));
    await writeFile(path.join(folder, 'secret'), content(9));
    await symlink('sub/file', path.join(root, 'within'));
    await symlink('../secret', path.join(root, 'away'));
    for (const version of VERSIONS) await bothWays(path.join(root, 'sub/file'), version, true, root);
    await bothWays(path.join(root, 'within'), 'v1', false, root);
    await symlink('root', path.join(folder, 'root-link'));
    const byLink = path.join(folder, 'root-link');
    await bothWays(path.join(byLink, 'sub/file'), 'v1', true, byLink);
    await bothWays(path.join(root, 'sub/file'), 'v1', false, byLink);
    for (const pathRoot of [path.join(root, 'away'), path.join(folder, 'secret')])
      await assert.rejects(new TorrentCreate({ pathRoot }).generate({ beneath: root }), { code: 'ERR_PATH_OUTSIDE' });
  });

  it('fails as the general path does', async () => {
    const make = (name: string, options = {}) =>
      new TorrentCreate({ pathRoot: path.join(folder, name) }).generate(options);
    await writeFile(path.join(folder, 'empty'), '');
    await assert.rejects(make('empty'), { code: 'ERR_NO_DATA' });
    await assert.rejects(make('missing'), { code: 'ERR_NOT_FOUND', path: path.join(folder, 'missing') });
    await writeFile(path.join(folder, 'a'), 'content');
    await assert.rejects(make('a', { outputPath: path.join(folder, 'a') }), { code: 'ERR_OUTPUT_IS_INPUT' });
    await assert.rejects(make('a', { signal: AbortSignal.abort() }), { code: 'ERR_ABORTED' });
    assert.equal((await make('a', { outputPath: path.join(folder, 'a.torrent') })).totalSize, 7);
    const refuse = () => {
      throw new RangeError('refused');
    };
    await assert.rejects(make('a', { onPlan: refuse }), RangeError);
    await assert.rejects(make('a', { onProgress: refuse }), RangeError);
    await assert.rejects(make('a', { onPlan: async () => refuse() }), RangeError);
  });

  it('fails if its signal fires, or the file changes, while a callback gets the plan', async () => {
    const file = path.join(folder, 'planned');
    await writeFile(file, 'content');
    const draft = new TorrentCreate({ pathRoot: file });
    const controller = new AbortController();
    const stopped = draft.generate({ signal: controller.signal, onPlan: () => controller.abort() });
    await assert.rejects(stopped, { code: 'ERR_ABORTED' });
    const changed = draft.generate({ onPlan: () => writeFile(file, 'other content') });
    await assert.rejects(changed, { code: 'ERR_FILE_CHANGED', path: file });
    const few = path.join(folder, 'few');
    await mkdir(few);
    for (const name of ['a', 'b', 'c']) await writeFile(path.join(few, name), name);
    const ofFolder = new TorrentCreate({ pathRoot: few });
    const within = await realpath(path.join(few, 'b'));
    for (const change of [() => writeFile(within, 'other'), () => rm(within)])
      await assert.rejects(ofFolder.generate({ onPlan: change }), { code: 'ERR_FILE_CHANGED', path: within });
  });

  it('leaves a FIFO alone, whose writer would lose its data', { skip: process.platform === 'win32' }, async () => {
    const fifo = path.join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const writer = spawn('sh', ['-c', 'echo data > "$0"', fifo]);
    for (let i = 0; i < 20; i += 1)
      await assert.rejects(new TorrentCreate({ pathRoot: fifo }).generate(), { code: 'ERR_NOT_A_FILE' });
    assert.equal(await readFile(fifo, 'utf8'), 'data\n');
    if (writer.exitCode === null) await once(writer, 'exit');
    assert.equal(writer.exitCode, 0);
  });

  it('is made many times at once, and all jobs of a signal are cancelled', async () => {
    const file = path.join(folder, 'many');
    await writeFile(file, content(BLOCK));
    const draft = new TorrentCreate({ pathRoot: file });
    const made = await Promise.all(Array.from({ length: 100 }, () => draft.generate()));
    assert.equal(new Set(made.map(({ infohashV2 }) => infohashV2)).size, 1);
    const controller = new AbortController();
    const jobs = Array.from({ length: 100 }, () => draft.generate({ signal: controller.signal }));
    controller.abort();
    const results = await Promise.allSettled(jobs);
    const failed = results.filter((one) => one.status === 'rejected');
    assert.ok(failed.length > 50, `${failed.length} failed`);
    for (const { reason } of failed) assert.equal((reason as { code: string }).code, 'ERR_ABORTED');
  });
});

describe('the torrent of a small folder', () => {
  const skip =
    process.env['METAINFO_ENGINE'] === 'node' || process.platform === 'win32'
      ? 'needs the native engine on POSIX'
      : false;
  const entry = fc.record({
    folders: fc.array(fc.constantFrom('a', 'b', 'B', '.c', 'é', '@eaDir'), { maxLength: 3 }),
    name: fc.oneof(
      { weight: 60, arbitrary: fc.stringMatching(/^[a-cA-Cé. ]{1,6}$/).filter((name) => !/^\.*$/.test(name)) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('x.torrent', 'a\\b', '.DS_Store', 'CON', '_____padding_file_0_', '\u200e'),
      },
    ),
    size: fc.oneof(fc.integer({ min: 0, max: 4000 }), fc.constantFrom(0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK)),
    kind: fc.oneof({ weight: 60, arbitrary: fc.constant('file') }, fc.constantFrom('link', 'folder', 'fifo')),
  });
  const options = fc.record(
    {
      padding: fc.boolean(),
      tailPad: fc.boolean(),
      padNames: fc.constantFrom('libtorrent' as const, 'unique' as const),
    },
    { requiredKeys: [] },
  );
  const plain = fc.record({ pieceLength: fc.constantFrom(BLOCK, 2 * BLOCK, 2 ** 20) }, { requiredKeys: [] });
  const policies = fc.record(
    {
      hidden: fc.boolean(),
      systemFiles: fc.boolean(),
      symlinks: fc.constantFrom('skip' as const, 'store' as const, 'follow' as const),
      comment: fc.constantFrom('a', ''),
      exclude: fc.constant((path: string) => path.startsWith('a')),
    },
    { requiredKeys: [] },
  );
  const draftOptions = fc.oneof({ weight: 3, arbitrary: plain }, { weight: 1, arbitrary: policies });

  /** Makes the entries, as far as nothing is in their way. */
  async function fill(
    folder: string,
    entries: readonly { folders: string[]; name: string; size: number; kind: string }[],
  ) {
    for (const { folders, name, size, kind } of entries) {
      const parent = path.join(folder, ...folders);
      const target = path.join(parent, name);
      const made = await mkdir(parent, { recursive: true }).then(
        () => true,
        () => false,
      );
      if (!made || existsSync(target)) continue;
      if (kind === 'folder') await mkdir(target);
      else if (kind === 'link') await symlink('a', target);
      else if (kind === 'fifo') execFileSync('mkfifo', [target]);
      else await writeFile(target, content(size));
    }
  }

  it('is the one that the general path makes, with the same warnings and errors', { skip }, async () => {
    let [made, short] = [0, 0];
    const property = fc.asyncProperty(
      fc.array(entry, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(...VERSIONS),
      options,
      draftOptions,
      fc.boolean(),
      async (entries, version, given, fields, isPlanned) => {
        const folder = await mkdtemp(path.join(tmpdir(), 'metainfo-small-'));
        try {
          await fill(folder, entries);
          const draft = new TorrentCreate({ ...fields, pathRoot: folder });
          const run = async (how: object) => {
            const warnings: unknown[] = [];
            const { ends, tell } = listener();
            const onWarning = (one: unknown) => warnings.push(one);
            const all = { ...given, version, onWarning, ...(isPlanned && tell), ...how };
            const result = await draft.generateWithTimes(all).catch((error: unknown) => error);
            // The engines name the file with the last content differently if empty ones follow.
            const [plan, last] = ends();
            return { result, warnings, plan, last: last && { ...last, file: '' } };
          };
          const [ours, general] = [await run({}), await run({ engine: nodeEngine() })];
          assert.deepEqual(ours.warnings, general.warnings);
          assert.deepEqual(ours.plan, general.plan);
          assert.deepEqual(ours.last, general.last);
          made += 1;
          if (await generateShortTree(draft, { ...given, version, onWarning: () => {} }).catch(() => null)) short += 1;
          if (general.result instanceof Error) {
            const { code, message, path: where } = general.result as Error & { code: string; path: string };
            assert.deepEqual(
              { code, message, where },
              {
                code: (ours.result as { code: string }).code,
                message: (ours.result as Error).message,
                where: (ours.result as { path: string }).path,
              },
            );
            return;
          }
          type Made = Awaited<ReturnType<TorrentCreate['generateWithTimes']>>;
          const [one, other] = [ours.result as Made, general.result as Made];
          assert.deepEqual(one.torrent.bencode(), other.torrent.bencode());
          assert.deepStrictEqual(allOf(one.torrent), allOf(other.torrent));
          assert.deepStrictEqual(allOf(one.torrent), allOf(Torrent.fromBytes(one.torrent.bencode())));
          assert.deepStrictEqual(one.fileTimes, other.fileTimes);
        } finally {
          await rm(folder, { recursive: true });
        }
      },
    );
    await fc.assert(property, { numRuns: runs(150) });
    assert.ok(short > made / 10, `${short} of ${made} folders were small`);
  });

  it('is not made once a callback has cancelled it or changed a file, and takes any read size', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'metainfo-small-'));
    const file = path.join(await realpath(folder), 'only');
    try {
      await writeFile(file, 'content');
      const draft = new TorrentCreate({ pathRoot: folder });
      const controller = new AbortController();
      const { signal } = controller;
      const make = (onWarning: () => unknown) => draft.generate({ version: 'v2', signal, onWarning });
      await assert.rejects(
        make(() => writeFile(file, 'other')),
        { code: 'ERR_FILE_CHANGED', path: file },
      );
      await assert.rejects(
        make(() => controller.abort()),
        { code: 'ERR_ABORTED' },
      );
      const readSize = 2 ** Math.floor(Math.log2(64 * 2 ** 20 * availableParallelism()));
      assert.equal((await draft.generate({ threads: null, readSize })).nFiles, 1);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('can be cancelled while its pad files are hashed', { skip }, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'metainfo-small-'));
    try {
      for (let i = 0; i < 64; i += 1) await writeFile(path.join(folder, `${i}`), `${i}`);
      const draft = new TorrentCreate({ pathRoot: folder, pieceLength: 2 ** 29 });
      const controller = new AbortController();
      const started = cpuSeconds();
      const making = draft.generate({ signal: controller.signal, onWarning: () => {} });
      setTimeout(() => controller.abort(), 20);
      await assert.rejects(making, { code: 'ERR_ABORTED' });
      // All of it takes a minute.
      assert.ok(cpuSeconds() - started < 10 * slowness);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('has few files and few bytes', { skip }, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'metainfo-small-'));
    const draft = new TorrentCreate({ pathRoot: folder });
    const isShort = async () => (await generateShortTree(draft, { version: 'v1' })) !== null;
    try {
      await writeFile(path.join(folder, '0'), content(4 * BLOCK));
      assert.equal(await isShort(), true);
      await writeFile(path.join(folder, '1'), '');
      assert.equal(await isShort(), true);
      await writeFile(path.join(folder, '1'), '1');
      assert.equal(await isShort(), false);
      await writeFile(path.join(folder, '0'), 'a');
      for (let i = 1; i < 64; i += 1) await writeFile(path.join(folder, `${i}`), '1');
      assert.equal(await isShort(), true);
      await writeFile(path.join(folder, '64'), '1');
      assert.equal(await isShort(), false);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is of one state of each file, though they change meanwhile', { skip }, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'metainfo-small-'));
    const states = ['a', 'b'].map((letter) => Buffer.alloc(5000, letter));
    const infohashes = new Set<string | null>();
    const draft = new TorrentCreate({ pathRoot: folder, info: { name: 'x' } });
    const expected = new Set<string | null>();
    try {
      for (const state of states) {
        await writeFile(path.join(folder, 'file'), state as Buffer);
        expected.add((await draft.generate({ version: 'v1' })).infohashV1);
      }
      const writing = new AbortController();
      const changes = (async () => {
        for (let i = 0; !writing.signal.aborted; i += 1) {
          await writeFile(`${folder}.other`, states[i % 2] as Buffer);
          await rename(`${folder}.other`, path.join(folder, 'file'));
        }
      })();
      for (let i = 0; i < 200; i += 1) {
        const made = await draft.generate({ version: 'v1' }).catch((error: { code: string }) => {
          assert.match(error.code, /^ERR_(FILE_CHANGED|NO_FILES|NO_DATA|NOT_FOUND)$/);
          return null;
        });
        if (made) infohashes.add(made.infohashV1);
      }
      writing.abort();
      await changes;
    } finally {
      for (const one of [folder, `${folder}.other`]) await rm(one, { recursive: true, force: true });
    }
    assert.ok(infohashes.size > 0);
    for (const infohash of infohashes) assert.ok(expected.has(infohash));
  });
});

describe('the torrent of a short source', () => {
  it('is the one that the general path makes, and the one that its bytes give', {
    skip: process.env['METAINFO_ENGINE'] === 'node' && 'needs the native engine',
  }, async () => {
    let [made, short] = [0, 0];
    await fc.assert(
      fc.asyncProperty(drafts, fc.constantFrom(...VERSIONS), async ({ given }, version) => {
        const draft = new TorrentCreate(given);
        made += 1;
        if (generateShortSource(draft, { version, onWarning: () => {} })) short += 1;
        const torrent = await draft.generate({ version, onWarning: () => {} });
        // The node engine has no fast path.
        const general = await draft.generate({ version, onWarning: () => {}, engine: nodeEngine() });
        assert.deepEqual(torrent.bencode(), general.bencode());
        assert.deepStrictEqual(allOf(torrent), allOf(general));
        assert.deepStrictEqual(allOf(torrent), allOf(Torrent.fromBytes(torrent.bencode())));
      }),
      { numRuns: runs(600) },
    );
    assert.ok(short > made / 10, `${short} of ${made} drafts were short`);
  });

  it('has the hashes that node:crypto computes', async () => {
    for (const size of [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5, 4 * BLOCK]) {
      for (const pieceLength of [BLOCK, 2 * BLOCK, 8 * BLOCK]) {
        const data = content(size);
        const torrent = await new TorrentCreate({ sources: [{ path: 'a', data }], pieceLength }).generate();
        const pieces: Buffer[] = [];
        for (let at = 0; at < size; at += pieceLength)
          pieces.push(
            createHash('sha1')
              .update(data.subarray(at, at + pieceLength))
              .digest(),
          );
        assert.deepEqual(Buffer.from(torrent.info.pieces.bytes), Buffer.concat(pieces), `${size} in ${pieceLength}`);
        assert.equal(torrent.infohashV1, createHash('sha1').update(torrent.infoBytes).digest('hex'));
        const byNode = await new TorrentCreate({ sources: [{ path: 'a', data }], pieceLength }).generate({
          engine: nodeEngine(),
        });
        assert.deepEqual(torrent.bencode(), byNode.bencode());
      }
    }
  });

  it('is of the bytes at the time of the call, also when the job waits', async () => {
    const expected = (await new TorrentCreate({ sources: [{ path: 'a', data: content(BLOCK) }] }).generate())
      .infohashV2;
    const buffers = Array.from({ length: 200 }, () => content(BLOCK));
    const torrents = buffers.map((data) => {
      const torrent = new TorrentCreate({ sources: [{ path: 'a', data }] }).generate();
      data.fill(0);
      return torrent;
    });
    for (const torrent of await Promise.all(torrents)) assert.equal(torrent.infohashV2, expected);
  });

  it('is not made after the signal has fired, also when the job waits', async () => {
    const controller = new AbortController();
    const draft = new TorrentCreate({ sources: [{ path: 'a', data: content(BLOCK) }] });
    const torrents = Array.from({ length: 200 }, () => draft.generate({ signal: controller.signal }));
    controller.abort();
    const results = await Promise.allSettled(torrents);
    const failed = results.filter((one) => one.status === 'rejected');
    assert.ok(failed.length > 100, `${failed.length} failed`);
    for (const { reason } of failed) assert.equal((reason as { code: string }).code, 'ERR_ABORTED');
    await assert.rejects(draft.generate({ signal: controller.signal }), { code: 'ERR_ABORTED' });
  });

  it('lets the event loop run between many jobs', async () => {
    let [rounds, made, isDone] = [0, 0, false];
    const count = () => {
      rounds += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    for (; made < 1000; made += 1)
      await new TorrentCreate({ sources: [{ path: 'a', data: content(10) }] }).generate({ version: 'v1' });
    isDone = true;
    assert.ok(rounds >= made / 64, `${rounds} rounds`);
  });

  it('is refused like any other for bytes that were transferred, and for a name that no torrent has', async () => {
    const data = new Uint8Array(content(100));
    const draft = new TorrentCreate({ sources: [{ path: 'a', data }] });
    structuredClone(data, { transfer: [data.buffer] });
    await assert.rejects(draft.generate(), { code: 'ERR_SOURCE_SIZE' });
    const sources = [{ path: 'a', data: content(1) }];
    await assert.rejects(new TorrentCreate({ sources, info: { pieceLength: 8192 } }).generate(), {
      code: 'ERR_PIECE_LENGTH',
    });
    await assert.rejects(new TorrentCreate({ sources }).generate({ threads: 0 }), { code: 'ERR_INVALID_ARGUMENT' });
  });

  it('may be of shared memory and of a view', async () => {
    const whole = content(BLOCK + 100);
    const shared = new Uint8Array(new SharedArrayBuffer(BLOCK));
    shared.set(whole.subarray(50, 50 + BLOCK));
    const [view, ofShared] = await Promise.all(
      [whole.subarray(50, 50 + BLOCK), shared].map((data) =>
        new TorrentCreate({ sources: [{ path: 'a', data }] }).generate(),
      ),
    );
    assert.equal(view?.infohashV2, ofShared?.infohashV2);
  });
});
