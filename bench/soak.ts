// A server's day in minutes: creating (all versions, with and without a cache, of files and of streams), verifying, reading,
// writing, editing, updating, upgrading, cancelled calls and failing calls, many at once, in an order that a seed decides.
// Every result is compared with that of the same job alone. From time to time all work pauses, and the bench samples the
// process. Fails if the process has grown (support/growth.ts) or a result was wrong. A soak of less than five minutes is
// not judged by its growth, because the process still warms up.
//
//   npm run bench -- soak [--time 20m] [--seed 1] [--at-once 32]
import { equal, rejects, throws } from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { below, pick, seedRandom } from '../fuzz/engine/random.ts';
import { edit, MetainfoError, Torrent, TorrentCreate, update, upgrade, verify } from '../src/index.ts';
import { buildMalloc, loadMalloc } from '../test/support/malloc.ts';
import { growthTable, type Sample } from './support/growth.ts';
import { bench, usage, VERSIONS, type Version } from './support/measure.ts';
import { watchTimer } from './support/timer.ts';

const JUDGED_SECONDS = 300;
const TREES = 24;
const LARGE = 2 ** 28;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const hashOf = ({ infohashV1, infohashV2 }: Torrent) => `${infohashV1} ${infohashV2}`;

const hasCode =
  (...codes: string[]) =>
  (error: unknown) =>
    error instanceof MetainfoError && codes.includes(error.code);

/** A folder, and the torrents that one job alone makes of it. */
interface Tree {
  folder: string;
  files: string[];
  torrents: Record<Version, Torrent>;
}

async function makeTree(folder: string, index: number): Promise<Tree> {
  const names = ['a', 'inner/b', 'inner/c', 'z'].slice(0, 1 + (index % 4));
  for (const [j, name] of names.entries()) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, Buffer.alloc(1 + ((index * 7919 + j * 104729) % 400_000), `${index}/${j}`));
  }
  const make = (version: Version) => new TorrentCreate({ pathRoot: folder }).generate({ version });
  const torrents = { v1: await make('v1'), v2: await make('v2'), hybrid: await make('hybrid') };
  for (const version of VERSIONS) await torrents[version].write(`${folder} ${version}.torrent`);
  return { folder, files: names, torrents };
}

/** Makes the files, and returns the kinds of jobs; each fails if its result is wrong. */
async function prepareJobs(scratch: string): Promise<Record<string, () => Promise<void>>> {
  const trees: Tree[] = [];
  for (let i = 0; i < TREES; i += 1) trees.push(await makeTree(path.join(scratch, `tree ${i}`), i));
  const large = path.join(scratch, 'large');
  await writeFile(large, '');
  await truncate(large, LARGE + 5);
  const largeTorrent = await new TorrentCreate({ pathRoot: large }).generate({ threads: null });
  let made = 0;
  const another = () => {
    made += 1;
    return path.join(scratch, `made ${made}`);
  };
  const settings = () => ({
    threads: pick([1, 1, 2, null]),
    ...(below(3) === 0 && { cache: path.join(scratch, 'cache') }),
  });

  return {
    async create() {
      const [{ folder, torrents }, version] = [pick(trees), pick(VERSIONS)];
      const torrent = await new TorrentCreate({ pathRoot: folder }).generate({ version, ...settings() });
      equal(hashOf(torrent), hashOf(torrents[version]));
    },
    async createLarge() {
      equal(hashOf(await new TorrentCreate({ pathRoot: large }).generate(settings())), hashOf(largeTorrent));
    },
    async createStreams() {
      const [{ folder, files, torrents }, version] = [pick(trees), pick(['v2', 'hybrid'] as const)];
      const { pieceLength } = torrents[version].info;
      const sources = files.map((name) => ({ path: name, data: createReadStream(path.join(folder, name)) }));
      // The name makes it a torrent of a folder, even with a single source.
      const info = { name: path.basename(folder) };
      const torrent = await new TorrentCreate({ sources, info, pieceLength }).generate({ version, tailPad: true });
      equal(hashOf(torrent), hashOf(torrents[version]));
    },
    async verify() {
      const { folder, torrents } = pick(trees);
      const { ok } = await verify(torrents[pick(VERSIONS)], folder, { threads: pick([1, null]) });
      equal(ok, true);
    },
    async verifyAnother() {
      const [one, other] = [below(TREES), below(TREES)];
      const { ok } = await verify((trees[one] as Tree).torrents[pick(VERSIONS)], (trees[other] as Tree).folder);
      equal(ok, one === other);
    },
    async read() {
      const [{ folder, torrents }, version] = [pick(trees), pick(VERSIONS)];
      equal(hashOf(await Torrent.read(`${folder} ${version}.torrent`)), hashOf(torrents[version]));
    },
    async write() {
      const [{ torrents }, version, file] = [pick(trees), pick(VERSIONS), another()];
      await torrents[version].write(file);
      await rejects(torrents[version].write(file), hasCode('ERR_OUTPUT_EXISTS'));
      equal(hashOf(await Torrent.read(file)), hashOf(torrents[version]));
      await rm(file);
    },
    async edit() {
      const torrent = pick(trees).torrents[pick(VERSIONS)];
      equal(hashOf(edit(torrent, { comment: `number ${below(1000)}` })), hashOf(torrent));
      const renamed = edit(torrent, { name: 'another' });
      equal(hashOf(renamed) === hashOf(torrent), false);
      equal(hashOf(edit(renamed, { name: torrent.info.name })), hashOf(torrent));
    },
    async update() {
      const folder = another();
      await mkdir(folder);
      await writeFile(path.join(folder, 'one'), Buffer.alloc(1 + below(200_000), 1));
      const version = pick(['v2', 'hybrid'] as const);
      const { torrent: before, fileTimes } = await new TorrentCreate({ pathRoot: folder }).generateWithTimes({
        version,
      });
      await writeFile(path.join(folder, 'two'), Buffer.alloc(1 + below(200_000), 2));
      const { torrent, added } = await update(before, folder, { fileTimes });
      equal(added.join(), 'two');
      const { pieceLength } = before.info;
      const anew = await new TorrentCreate({ pathRoot: folder, pieceLength }).generate({ version });
      equal(hashOf(torrent), hashOf(anew));
      await rm(folder, { recursive: true });
    },
    async upgrade() {
      const { folder, torrents } = pick(trees);
      const { torrent } = await upgrade(torrents.v1, folder);
      const { ok } = await verify(torrent, folder);
      equal(ok, true);
    },
    async cancel() {
      const stop = new AbortController();
      const { folder, torrents } = pick(trees);
      const isLarge = below(2) === 0;
      const options = { signal: stop.signal, ...settings() };
      const work = new TorrentCreate({ pathRoot: isLarge ? large : folder }).generate(options);
      setTimeout(() => stop.abort(), below(30));
      // The signal may have come too late.
      const found = await work.then(hashOf, (error: unknown) => error);
      if (typeof found === 'string') equal(found, hashOf(isLarge ? largeTorrent : torrents.hybrid));
      else if (!hasCode('ERR_ABORTED')(found)) throw found;
    },
    async failMissing() {
      const nowhere = path.join(scratch, 'nowhere');
      await rejects(new TorrentCreate({ pathRoot: nowhere }).generate(), hasCode('ERR_NOT_FOUND'));
      await rejects(verify(pick(trees).torrents.v2, nowhere), hasCode('ERR_NOT_FOUND'));
      await rejects(Torrent.read(nowhere), hasCode('ERR_NOT_FOUND'));
    },
    async failStream() {
      const data = async function* () {
        yield Buffer.alloc(50_000);
        throw new Error('on purpose');
      };
      const draft = new TorrentCreate({ sources: [{ path: 'broken', data: data() }] });
      await rejects(draft.generate(), (error: Error) => /on purpose/.test(`${error} ${error.cause}`));
    },
    async failTorrent() {
      const bytes = Buffer.from(pick(trees).torrents[pick(VERSIONS)].bencode());
      throws(() => Torrent.fromBytes(bytes.subarray(0, below(bytes.length))), hasCode('ERR_BENCODE', 'ERR_VALIDATION'));
    },
  };
}

const options = { time: '20m', seed: '1', 'at-once': '32' };
await bench('soak', options, async ({ time, seed, 'at-once': atOnce }, scratch) => {
  seedRandom(seed);
  const jobs = await prepareJobs(scratch);
  const mallocInUse = loadMalloc(buildMalloc(scratch));
  // Jobs that are large, or several jobs in one, are rare.
  const weighted = Object.keys(jobs).flatMap((name) =>
    Array<string>(/Large|update|upgrade/.test(name) ? 1 : 4).fill(name),
  );
  const samples: Sample[] = [];
  const wrong: string[] = [];
  const counts: Record<string, number> = {};
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;

  const workUntil = async (end: number) => {
    while (elapsed() < end && wrong.length <= 20) {
      const name = pick(weighted);
      await jobs[name]?.().catch((error: Error) => wrong.push(`${name}: ${error.stack}`));
      counts[name] = (counts[name] ?? 0) + 1;
    }
  };

  while (elapsed() < time && wrong.length === 0) {
    const stopTimer = watchTimer();
    const end = elapsed() + Math.max(1, time / 60);
    await Promise.all(Array.from({ length: atOnce }, () => workUntil(end)));
    const { timerP99Seconds } = stopTimer();
    // Threads end, and the memory of buffers is freed, a moment later.
    for (let round = 0; round < 3; round += 1) {
      collect();
      await sleep(20);
    }
    const { descriptors, threads, rss } = usage();
    const { heapUsed, external } = process.memoryUsage();
    samples.push({
      timerP99Seconds,
      seconds: elapsed(),
      resident: rss / 2 ** 20,
      malloc: mallocInUse() / 2 ** 20,
      heap: heapUsed / 2 ** 20,
      buffers: external / 2 ** 20,
      handles: process.getActiveResourcesInfo().length,
      descriptors,
      threads,
    });
  }

  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const each = Object.keys(counts)
    .sort()
    .map((name) => `${name} ${counts[name]}`);
  for (const problem of wrong) console.error(problem);
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${total} jobs had a wrong result (seed ${seed})`);
  const { table, steep } = growthTable(samples);
  if (time < JUDGED_SECONDS) console.log('Too short for its growth to be judged.');
  else if (steep.length > 0) process.exitCode = 1;
  const duration = time % 60 === 0 ? `${time / 60} minutes` : `${time} seconds`;
  const settings = `${total.toLocaleString('en')} jobs in ${duration}, ${atOnce} at once: ${each.join(', ')}. Each had the result of the same job alone.`;
  return { tables: [table], settings };
});
