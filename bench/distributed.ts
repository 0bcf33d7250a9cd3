// Torrents on several processes: a file in parts compared with one process, the rate by part size, plans and joins of 50 TB, and plans
// of a million files.
//
//   npm run bench -- distributed [--size 6GiB] [--part 512MiB] [--rounds 7] [--files 1000000]
import { fork } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import {
  folderStore,
  hashPart,
  joinParts,
  planParts,
  processLimits,
  TorrentCreate,
  type TorrentPlan,
} from '../src/index.ts';
import { checkedPlan } from '../src/parts/read-plan.ts';
import { payloadBytes, seal } from '../src/parts/sealed-part.ts';
import { formatBytes } from '../src/text/format.ts';
import { peak, resetPeak } from '../test/support/proc.ts';
import { sparseFile } from '../test/support/tree.ts';
import { writeData, writeFiles } from './support/data.ts';
import {
  bench,
  CHILD,
  divide,
  Grid,
  inProcess,
  measure,
  NODE_OPTIONS,
  takeTurns,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { type Column, columnsFor, type Table, tableOf, type Unit } from './support/tables.ts';

const WORKERS = 2;
/** Parts of a worker under way: its thread hashes one while the other is written. */
const PARTS_AT_ONCE = 2;
const PIECE = 2 ** 20;
/** Bytes: 50 TB are nearly 4,000 parts. */
const JOINED_PART = 12 * 2 ** 30;
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

const options = { size: '6GiB', part: '512MiB', rounds: '7', files: '1000000' };
export default bench(options, async ({ size, part, rounds, files }, folder) => {
  const tables = [await partTable(folder, size, part, rounds), await planTable(folder, files)];
  const settings = `Medians of ${rounds} interleaved rounds. Files are in the page cache. Times of parts include planning and joining.`;
  return { tables, settings };
});
