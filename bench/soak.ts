// A server's day in minutes: creating (all versions, with and without a cache, of files and of streams), verifying, reading,
// writing, editing, updating, upgrading, cancelled calls and failing calls, many at once, in an order that a seed decides.
// Every result is compared with that of the same job alone. From time to time all work pauses, and the bench samples the
// process. Fails where the process has grown (support/growth.ts) or a result was wrong. A soak of less than five minutes is
// not judged by its growth, because the process still warms up.
//
//   npm run bench -- soak [--time 20m] [--seed 1] [--at-once 32]
import { createReadStream } from 'node:fs';
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { edit, MetainfoError, Torrent, TorrentCreate, update, upgrade, verify } from '../src/index.ts';
import { buildMalloc, loadMalloc } from '../test/support/malloc.ts';
import { growthTable, type Sample } from './support/growth.ts';
import {
  inScratchFolder,
  options,
  parseCount,
  parseTime,
  percentile,
  usage,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { record } from './support/results.ts';

const { time, seed, 'at-once': atOnce, out } = options({ time: '20m', seed: '1', 'at-once': '32' });
const seconds = parseTime(time);
/** Of work between two samples. */
const INTERVAL_SECONDS = Math.max(1, seconds / 60);
const JUDGED_SECONDS = 300;
const TREES = 24;
const LARGE = 2 ** 28;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Mulberry32, by Tommy Ettinger: the same numbers for the same seed, each at least 0 and below 1. */
function generator(state: number): () => number {
  let a = state;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = generator(parseCount(seed));
const below = (count: number) => Math.floor(random() * count);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;

const hashOf = ({ infohashV1, infohashV2 }: Torrent) => `${infohashV1} ${infohashV2}`;

function requireSame(found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${found}, not ${wanted}`);
}

/** Fails unless the promise rejects with one of these codes. */
async function requireFailure(work: Promise<unknown>, ...codes: string[]): Promise<void> {
  const error = await work.then(
    () => 'nothing was wrong',
    (error: unknown) => error,
  );
  if (!(error instanceof MetainfoError) || !codes.includes(error.code)) throw error;
}

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
  const make = async (version: Version) => new TorrentCreate({ pathRoot: folder }).generate({ version });
  const torrents = { v1: await make('v1'), v2: await make('v2'), hybrid: await make('hybrid') };
  for (const version of VERSIONS) await torrents[version].write(`${folder} ${version}.torrent`);
  return { folder, files: names, torrents };
}

await inScratchFolder(async (scratch) => {
  const trees: Tree[] = [];
  for (let i = 0; i < TREES; i += 1) trees.push(await makeTree(path.join(scratch, `tree ${i}`), i));
  const mallocInUse = loadMalloc(buildMalloc(scratch));
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

  const jobs: Record<string, () => Promise<void>> = {
    async create() {
      const [{ folder, torrents }, version] = [pick(trees), pick(VERSIONS)];
      const torrent = await new TorrentCreate({ pathRoot: folder }).generate({ version, ...settings() });
      requireSame(hashOf(torrent), hashOf(torrents[version]));
    },
    async createLarge() {
      requireSame(hashOf(await new TorrentCreate({ pathRoot: large }).generate(settings())), hashOf(largeTorrent));
    },
    async createStreams() {
      const [{ folder, files, torrents }, version] = [pick(trees), pick(['v2', 'hybrid'] as const)];
      const { pieceLength } = torrents[version].info;
      const sources = files.map((name) => ({ path: name, data: createReadStream(path.join(folder, name)) }));
      // The name makes it a torrent of a folder, even with a single source.
      const info = { name: path.basename(folder) };
      const torrent = await new TorrentCreate({ sources, info, pieceLength }).generate({ version, tailPad: true });
      requireSame(hashOf(torrent), hashOf(torrents[version]));
    },
    async verify() {
      const { folder, torrents } = pick(trees);
      const { ok } = await verify(torrents[pick(VERSIONS)], folder, { threads: pick([1, null]) });
      requireSame(ok, true);
    },
    async verifyAnother() {
      const [one, other] = [below(TREES), below(TREES)];
      const { ok } = await verify((trees[one] as Tree).torrents[pick(VERSIONS)], (trees[other] as Tree).folder);
      requireSame(ok, one === other);
    },
    async read() {
      const [{ folder, torrents }, version] = [pick(trees), pick(VERSIONS)];
      requireSame(hashOf(await Torrent.read(`${folder} ${version}.torrent`)), hashOf(torrents[version]));
    },
    async write() {
      const [{ torrents }, version, file] = [pick(trees), pick(VERSIONS), another()];
      await torrents[version].write(file);
      await requireFailure(torrents[version].write(file), 'ERR_OUTPUT_EXISTS');
      requireSame(hashOf(await Torrent.read(file)), hashOf(torrents[version]));
      await rm(file);
    },
    async edit() {
      const torrent = pick(trees).torrents[pick(VERSIONS)];
      requireSame(hashOf(edit(torrent, { comment: `number ${below(1000)}` })), hashOf(torrent));
      const renamed = edit(torrent, { name: 'another' });
      requireSame(hashOf(renamed) === hashOf(torrent), false);
      requireSame(hashOf(edit(renamed, { name: torrent.info.name })), hashOf(torrent));
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
      requireSame(added.join(), 'two');
      const { pieceLength } = before.info;
      const anew = await new TorrentCreate({ pathRoot: folder, pieceLength }).generate({ version });
      requireSame(hashOf(torrent), hashOf(anew));
      await rm(folder, { recursive: true });
    },
    async upgrade() {
      const { folder, torrents } = pick(trees);
      const { torrent } = await upgrade(torrents.v1, folder);
      const { ok } = await verify(torrent, folder);
      requireSame(ok, true);
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
      if (typeof found === 'string') requireSame(found, hashOf(isLarge ? largeTorrent : torrents.hybrid));
      else if (!(found instanceof MetainfoError) || found.code !== 'ERR_ABORTED') throw found;
    },
    async failMissing() {
      const nowhere = path.join(scratch, 'nowhere');
      await requireFailure(new TorrentCreate({ pathRoot: nowhere }).generate(), 'ERR_NOT_FOUND');
      await requireFailure(verify(pick(trees).torrents.v2, nowhere), 'ERR_NOT_FOUND');
      await requireFailure(Torrent.read(nowhere), 'ERR_NOT_FOUND');
    },
    async failStream() {
      const data = async function* () {
        yield Buffer.alloc(50_000);
        throw new Error('on purpose');
      };
      const draft = new TorrentCreate({ sources: [{ path: 'broken', data: data() }] });
      const error: unknown = await draft.generate().catch((error: unknown) => error);
      if (!(error instanceof Error) || !/on purpose/.test(`${error} ${error.cause}`)) throw error;
    },
    async failTorrent() {
      const bytes = Buffer.from(pick(trees).torrents[pick(VERSIONS)].bencode());
      await requireFailure(
        (async () => Torrent.fromBytes(bytes.subarray(0, below(bytes.length))))(),
        'ERR_BENCODE',
        'ERR_VALIDATION',
      );
    },
  };
  // Jobs that are large, or several jobs in one, are rare.
  const weighted = Object.keys(jobs).flatMap((name) =>
    Array<string>(/Large|update|upgrade/.test(name) ? 1 : 4).fill(name),
  );

  const samples: Sample[] = [];
  const wrong: string[] = [];
  const counts: Record<string, number> = {};
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;

  /** Starts jobs until `end`, waits for the last of them, and returns the intervals of a timer of 10 ms. */
  async function workUntil(end: number): Promise<number[]> {
    const intervals: number[] = [];
    let last = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      intervals.push(now - last);
      last = now;
    }, 10);
    const worker = async () => {
      while (elapsed() < end) {
        const name = pick(weighted);
        await jobs[name]?.().catch((error: unknown) =>
          wrong.push(`${name}: ${error instanceof Error ? error.stack : error}`),
        );
        counts[name] = (counts[name] ?? 0) + 1;
        if (wrong.length > 20) return;
      }
    };
    await Promise.all(Array.from({ length: parseCount(atOnce) }, worker));
    clearInterval(timer);
    return intervals;
  }

  while (elapsed() < seconds && wrong.length === 0) {
    const from = elapsed();
    const intervals = await workUntil(from + INTERVAL_SECONDS);
    // Threads end, and the memory of buffers is freed, a moment later.
    for (let round = 0; round < 3; round += 1) {
      collect();
      await sleep(20);
    }
    const { descriptors, threads, rss } = usage();
    const { heapUsed, external } = process.memoryUsage();
    const mebibytes = (bytes: number) => bytes / 2 ** 20;
    samples.push({
      seconds: elapsed(),
      resident: mebibytes(rss),
      malloc: mebibytes(mallocInUse()),
      heap: mebibytes(heapUsed),
      buffers: mebibytes(external),
      handles: process.getActiveResourcesInfo().length,
      descriptors,
      threads,
      timerP99Seconds: percentile(intervals, 0.99) / 1000,
    });
  }

  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const each = Object.entries(counts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`);
  for (const problem of wrong) console.error(problem);
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${total} jobs had a wrong result (seed ${seed})`);
  const about = `${total.toLocaleString('en')} jobs in ${time}, ${atOnce} at once: ${each.join(', ')}. Each had the result of the same job alone.`;
  const { table, steep } = growthTable(samples);
  record('soak', { tables: [table], settings: about }, out);
  if (seconds < JUDGED_SECONDS) console.log('Too short for its growth to be judged.');
  else if (steep.length > 0) process.exitCode = 1;
});
