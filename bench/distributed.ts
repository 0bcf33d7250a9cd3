// Torrents on several processes: a file in parts compared with one process, the rate by part size, plans and joins of 50 TB, plans
// of a million files, and batches of small torrents through warm workers (needs redis-server) compared with one process.
//
//   npm run bench -- distributed [--size 6GiB] [--part 512MiB] [--rounds 7] [--files 1000000] [--torrents 10000]
import { fork, spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TorrentQueue } from '../src/bullmq/index.ts';
import {
  folderStore,
  hashPart,
  joinParts,
  planParts,
  processLimits,
  TorrentCreate,
  type TorrentPlan,
} from '../src/index.ts';
import { payloadBytes } from '../src/parts/part-payload.ts';
import { checkedPlan } from '../src/parts/read-plan.ts';
import { seal } from '../src/parts/sealed-part.ts';
import { formatBytes } from '../src/text/format.ts';
import { peak, resetPeak } from '../test/support/proc.ts';
import { redisServer } from '../test/support/redis.ts';
import { sparseFile } from '../test/support/tree.ts';
import { fileName, writeData, writeFiles } from './support/data.ts';
import {
  bench,
  CHILD,
  divide,
  Grid,
  inProcess,
  METAINFO,
  measure,
  NODE_OPTIONS,
  takeTurns,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { type Column, columnsFor, type Table, tableOf, type Unit } from './support/tables.ts';
import { versionOf } from './support/tools.ts';

const WORKERS = 2;
/** Parts of a worker under way: its thread hashes one while the other is written. */
const PARTS_AT_ONCE = 2;
const PIECE = 2 ** 20;
/** Bytes: 50 TB are nearly 4,000 parts. */
const JOINED_PART = 12 * 2 ** 30;
const SMALL_FILE = 2 ** 16;
const ALONE = 'one process';

interface PlanTask {
  pathRoot: string;
  store: string;
  version: Version;
  /** Whether to join large parts, or only to plan. */
  isJoined: boolean;
}

const secondsSince = (started: number) => (performance.now() - started) / 1000;

export const tasks = {
  /** Hashes the parts that the parent sends, with one thread. */
  worker() {
    processLimits({ threads: 1 });
    process.on('message', async ({ plan, store, parts }: { plan: TorrentPlan; store: string; parts: number[] }) => {
      await takeTurns(parts.values(), PARTS_AT_ONCE, async (part) =>
        folderStore(store).put(plan.id, part, await hashPart(plan, part, { threads: 1 })),
      );
      process.send?.('done');
    });
    process.on('disconnect', () => process.exit());
    process.send?.('ready');
    return () => new Promise(() => {});
  },

  /** Plans a folder in parts, reads the plan again, and joins parts with random digests. */
  plan:
    ({ pathRoot, store: folder, version, isJoined }: PlanTask) =>
    async () => {
      const [pieceLength, partSize] = isJoined ? [16 * 2 ** 20, JOINED_PART] : [null, undefined];
      let started = performance.now();
      const draft = new TorrentCreate({ pathRoot, pieceLength });
      const plan = await planParts(draft, { version, partSize, onWarning: () => {} });
      const planSeconds = secondsSince(started);
      const text = Buffer.from(JSON.stringify(plan));
      started = performance.now();
      const read = JSON.parse(text.toString()) as TorrentPlan;
      const checked = await checkedPlan(read);
      const figures = { parts: plan.parts, planSeconds, planBytes: text.length, readSeconds: secondsSince(started) };
      if (!isJoined) return figures;
      const store = folderStore(folder);
      let digestBytes = 0;
      for (let index = 0; index < plan.parts; index += 1) {
        const payload = randomFillSync(Buffer.alloc(payloadBytes(checked, index)));
        digestBytes += payload.length;
        await store.put(plan.id, index, seal({ id: plan.id, index }, payload));
      }
      await resetPeak();
      const idle = peak();
      started = performance.now();
      await joinParts(read, (index) => store.get(plan.id, index));
      return { ...figures, digestBytes, joinSeconds: secondsSince(started), joinBytes: Math.max(0, peak() - idle) };
    },
};
const run = inProcess(import.meta.url, tasks);

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** One file: a row for one process and for each part size, a column for each version. */
async function partTable(folder: string, size: number, part: number, rounds: number): Promise<Table> {
  const [content, store] = [path.join(folder, 'content'), path.join(folder, 'store')];
  writeData(content, size);
  const workers = Array.from({ length: WORKERS }, () =>
    fork(CHILD, [import.meta.url, 'worker', 'null'], { execArgv: NODE_OPTIONS }),
  );
  const answers = () => Promise.all(workers.map((child) => once(child, 'message')));
  await answers();
  const contender = (version: Version, partSize: number | null) => {
    const generate = async () => {
      rmSync(store, { recursive: true, force: true });
      const draft = new TorrentCreate({ pathRoot: content, pieceLength: PIECE });
      const started = performance.now();
      if (partSize === null) await draft.generate({ version, threads: WORKERS });
      else {
        const plan = await planParts(draft, { version, partSize });
        const parts = numbers(plan.parts);
        for (const [i, child] of workers.entries())
          child.send({ plan, store, parts: parts.filter((part) => part % WORKERS === i) });
        await answers();
        await joinParts(plan, (index) => folderStore(store).get(plan.id, index));
      }
      return { seconds: secondsSince(started) };
    };
    return { row: partSize === null ? ALONE : formatBytes(partSize), column: version, run: generate };
  };
  const sizes = [16, 64, 256, 1024, 4096].map((mib) => mib * 2 ** 20).filter((bytes) => bytes <= size);
  const cases = VERSIONS.flatMap((version) => {
    const parts = version === 'v2' ? [...new Set([part, ...sizes])] : [part];
    return [null, ...parts].map((partSize) => contender(version, partSize));
  });
  const grid = await measure(cases, rounds);
  for (const child of workers) child.kill();
  rmSync(content);
  const rate = (row: string, version: Version) => divide(size / 1e9, grid.median(row, version));
  const ratio = (row: string, version: Version) => divide(grid.median(ALONE, version), grid.median(row, version));
  const title = `One file of ${formatBytes(size)}: ${WORKERS} processes with one thread that hash parts, and one process with ${WORKERS} threads`;
  return tableOf(title, 'part size', grid.rows, [
    ...columnsFor(VERSIONS, 'GB/s', rate),
    ...columnsFor(VERSIONS, 'ratio', ratio, { suffix: `, rate / ${ALONE}` }),
  ]);
}

/** 50 TB, unless this is a small run, and a plan of many files. */
async function planTable(folder: string, files: number): Promise<Table> {
  const [sparse, many] = [path.join(folder, 'sparse'), path.join(folder, 'many')];
  const sparseCount = Math.max(1, Math.ceil(files / 80));
  for (let i = 0; i < sparseCount; i += 1) {
    const inner = path.join(sparse, String(Math.floor(i / 1000)));
    mkdirSync(inner, { recursive: true });
    await sparseFile(inner, String(i), 4e9);
  }
  const store = path.join(folder, 'store');
  const grid = new Grid();
  for (const version of VERSIONS)
    grid.add(version, '', run('plan', { pathRoot: sparse, store, version, isJoined: true }));
  rmSync(sparse, { recursive: true });
  writeFiles(many, files, 1);
  const manyRow = `hybrid, ${files.toLocaleString('en')} files`;
  grid.add(manyRow, '', run('plan', { pathRoot: many, store, version: 'hybrid', isJoined: false }));
  rmSync(many, { recursive: true });
  const column = (name: string, unit: Unit, figure: string): Column => [
    name,
    unit,
    (row) => grid.median(row, '', figure),
  ];
  return tableOf(
    `Plans of ${sparseCount.toLocaleString('en')} sparse files of 4 GB (pieces of 16 MiB, parts of ${formatBytes(JOINED_PART)}), joined from given digests, and a plan of many files`,
    'version',
    grid.rows,
    [
      column('parts', 'count', 'parts'),
      column('planning', 's', 'planSeconds'),
      column('plan', 'bytes', 'planBytes'),
      column('reading and checking it', 's', 'readSeconds'),
      column('digests', 'bytes', 'digestBytes'),
      column('joining', 's', 'joinSeconds'),
      column('memory', 'bytes', 'joinBytes'),
    ],
  );
}

/** Many small torrents in this process, and through warm workers on Redis. */
async function batchTable(folder: string, torrents: number, rounds: number): Promise<Table> {
  const ends: (() => Promise<void>)[] = [];
  const { url } = await redisServer({ after: (end) => void ends.unshift(end) }, { isPersistent: false });
  const base = path.join(folder, 'data');
  writeFiles(path.join(base, 'content'), torrents, SMALL_FILE);
  const store = path.join(folder, 'store');
  const command = ['worker', '--redis', url, '--root', `data=${base}`, '--store', store, '-q', '--threads', '1'];
  const workers = Array.from({ length: WORKERS }, () =>
    spawn(process.execPath, [METAINFO, ...command, '--concurrency', '2'], { stdio: 'ignore' }),
  );
  const queue = new TorrentQueue({ connection: url, store: folderStore(store) });
  const alone = (output: string, count: number) =>
    takeTurns(numbers(count).values(), 16, async (i) => {
      const draft = new TorrentCreate({ pathRoot: path.join(base, 'content', fileName(i)) });
      await (await draft.generate({ threads: 1 })).write(path.join(base, output, `${i}.torrent`));
    });
  const queued = async (output: string, count: number) => {
    const items = numbers(count).map((i) => {
      return { path: `data/content/${fileName(i)}`, output: `data/${output}/${i}.torrent` };
    });
    const batch = await queue.addBatch('create', items);
    for await (const { ok, error } of batch.results()) if (!ok) throw new Error(error ?? '');
  };
  let runs = 0;
  const contender = (row: string, make: typeof alone, count: number) => ({
    row,
    async run() {
      // ext4 is slow at new files for seconds after many have been deleted, so every run has a folder of its own.
      const output = `torrents ${runs++}`;
      mkdirSync(path.join(base, output));
      const started = performance.now();
      await make(output, count);
      return { seconds: secondsSince(started) };
    },
  });
  const casesOf = (count: number) => [contender(ALONE, alone, count), contender('workers', queued, count)];
  try {
    // Warm: every process has made some torrents.
    await delay(1000);
    await measure(casesOf(Math.min(torrents, 2000)), 1);
    const grid = await measure(casesOf(torrents), rounds);
    const rateOf = (row: string) => divide(torrents, grid.median(row));
    const title = `${torrents.toLocaleString('en')} torrents of 64 KiB in batches of 50: ${WORKERS} warm workers, and one process`;
    return tableOf(title, 'contender', grid.rows, [
      ['hybrid', '/s', rateOf],
      [`rate / ${ALONE}`, 'ratio', (row) => divide(rateOf(row), rateOf(ALONE))],
    ]);
  } finally {
    await queue.close();
    for (const worker of workers) worker.kill('SIGKILL');
    for (const end of ends) await end();
  }
}

const options = { size: '6GiB', part: '512MiB', rounds: '7', files: '1000000', torrents: '10000' };
export default bench(options, async ({ size, part, rounds, files, torrents }, folder) => {
  const tables = [await partTable(folder, size, part, rounds), await planTable(folder, files)];
  const redis = versionOf(['redis-server', '--version']);
  if (redis !== null) tables.push(await batchTable(folder, torrents, rounds));
  const settings = `Medians of ${rounds} interleaved rounds. Files are in the page cache. Times of parts include planning and joining.`;
  const skipped = redis === null ? ['batches: redis-server is not installed'] : [];
  return { tables, settings, skipped, ...(redis !== null && { versions: { redis } }) };
});
