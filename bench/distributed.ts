// Torrents on several processes: a file in parts compared with one process, the rate by part size, plans and joins of 50 TB, plans
// of a million files, and batches of small torrents through warm workers (needs redis-server) compared with one process.
//
//   npm run bench -- distributed [--size 6GiB] [--part 512MiB] [--rounds 3] [--files 1000000] [--torrents 10000]
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderStore, joinParts, planParts, TorrentCreate } from '../src/index.ts';
import { formatBytes } from '../src/text/format.ts';
import type { BatchReport, BatchTask } from './processes/batches.ts';
import type { JoinReport, JoinTask } from './processes/join-plan.ts';
import { writeData, writeFiles } from './support/data.ts';
import { bench, interleave, median, runChild, VERSIONS, type Version, versionOf } from './support/measure.ts';
import { tableOf } from './support/tables.ts';

const WORKERS = 2;
/** Parts of a worker under way: its thread hashes one while the other is written. */
const PARTS_AT_ONCE = 2;
const PIECE = 2 ** 20;
/** Bytes: 50 TB are nearly 4,000 parts. */
const JOINED_PART = 12 * 2 ** 30;

/** Processes with one thread each, started before the clock, that hash parts. */
class PartWorkers {
  readonly #children: ChildProcess[];

  constructor() {
    const script = fileURLToPath(new URL('processes/part-worker.ts', import.meta.url));
    this.#children = Array.from({ length: WORKERS }, () =>
      fork(script, [], { execArgv: ['--import', './scripts/ts.mjs'] }),
    );
  }

  async ready(): Promise<void> {
    await Promise.all(this.#children.map((child) => once(child, 'message')));
  }

  /** Hashes all parts of a plan and puts them into a store. */
  async hash(plan: { parts: number }, store: string): Promise<void> {
    let next = 0;
    const work = (child: ChildProcess) => {
      child.send({ plan, store });
      return new Promise<void>((resolve) => {
        let running = 0;
        const send = () => {
          for (; running < PARTS_AT_ONCE && next < plan.parts; running += 1) child.send({ index: next++ });
          if (running > 0) return;
          child.removeAllListeners('message');
          resolve();
        };
        child.on('message', () => {
          running -= 1;
          send();
        });
        send();
      });
    };
    await Promise.all(this.#children.map(work));
  }

  stop(): void {
    for (const child of this.#children) child.kill();
  }
}

interface Contender {
  version: Version;
  /** Bytes of a part; null for one process. */
  part: number | null;
}

/** Makes sparse files: they take no space. */
function sparseFiles(folder: string, count: number, size: number): void {
  for (let i = 0; i < count; i += 1) {
    const inner = path.join(folder, String(Math.floor(i / 1000)));
    if (i % 1000 === 0) mkdirSync(inner, { recursive: true });
    const file = path.join(inner, String(i));
    closeSync(openSync(file, 'w'));
    truncateSync(file, size);
  }
}

await bench(
  'distributed',
  { size: '6GiB', part: '512MiB', rounds: '7', files: '1000000', torrents: '10000' },
  async ({ size, part, rounds, files, torrents }, folder) => {
    const content = path.join(folder, 'content');
    writeData(content, size);
    const workers = new PartWorkers();
    await workers.ready();
    const store = path.join(folder, 'store');
    const run = async ({ version, part: partSize }: Contender): Promise<number> => {
      const draft = new TorrentCreate({ pathRoot: content, pieceLength: PIECE });
      rmSync(store, { recursive: true, force: true });
      const started = performance.now();
      if (partSize === null) await draft.generate({ version, threads: WORKERS });
      else {
        const plan = await planParts(draft, { version, partSize });
        await workers.hash(plan, store);
        await joinParts(plan, (index) => folderStore(store).get(plan.id, index));
      }
      return size / 1e9 / ((performance.now() - started) / 1000);
    };
    const pairs = await interleave<Contender, number>(
      VERSIONS.flatMap((version) => [
        { version, part: null },
        { version, part },
      ]),
      rounds,
      run,
    );
    const rateOf = (version: Version, partSize: number | null) =>
      median(pairs.find(([one]) => one.version === version && one.part === partSize)?.[1] ?? []);
    const sizes = [16, 64, 256, 1024, 4096].map((mib) => mib * 2 ** 20).filter((bytes) => bytes <= size);
    const bySize = await interleave<Contender, number>(
      sizes.map((partSize) => ({ version: 'v2', part: partSize })),
      rounds,
      run,
    );
    workers.stop();
    rmSync(content);

    // 50 TB, unless this is a small run.
    const sparse = path.join(folder, 'sparse');
    const sparseCount = Math.max(1, Math.ceil(files / 80));
    sparseFiles(sparse, sparseCount, 4e9);
    const joins = VERSIONS.map((version): [Version, JoinReport] => {
      const task: JoinTask = {
        folder: sparse,
        store,
        version,
        pieceLength: 16 * 2 ** 20,
        partSize: JOINED_PART,
        join: true,
      };
      return [version, runChild<JoinReport>('join-plan', task)];
    });
    rmSync(sparse, { recursive: true });
    const many = path.join(folder, 'many');
    writeFiles(many, files, 1);
    const million = runChild<JoinReport>('join-plan', {
      folder: many,
      store,
      version: 'hybrid',
      pieceLength: null,
      partSize: null,
      join: false,
    } satisfies JoinTask);
    rmSync(many, { recursive: true });

    const redis = versionOf(['redis-server', '--version'], /v=(\S+)/);
    const task: BatchTask = { folder: path.join(folder, 'batches'), torrents, workers: WORKERS, rounds };
    const batches = redis === null ? null : runChild<BatchReport>('batches', task);
    const tables = [
      tableOf(
        `One file of ${formatBytes(size)}: ${WORKERS} processes with one thread that hash parts of ${formatBytes(part)}, and one process with ${WORKERS} threads`,
        ['version', (version: Version) => version],
        VERSIONS,
        [
          ['one process', 'GB/s', (version) => rateOf(version, null)],
          ['parts', 'GB/s', (version) => rateOf(version, part)],
          ['parts / one process', 'ratio', (version) => rateOf(version, part) / rateOf(version, null)],
        ],
      ),
      tableOf(
        `The same file by part size, v2`,
        ['part size', ([{ part: bytes }]: [Contender, number[]]) => formatBytes(bytes as number)],
        bySize,
        [
          ['parts', 'GB/s', ([, rates]) => median(rates)],
          ['parts / one process', 'ratio', ([, rates]) => median(rates) / rateOf('v2', null)],
        ],
      ),
      tableOf(
        `${sparseCount.toLocaleString('en')} sparse files of 4 GB, pieces of 16 MiB, parts of ${formatBytes(JOINED_PART)}: planning, and joining given digests`,
        ['version', ([version]: [Version, JoinReport]) => version],
        joins,
        [
          ['parts', 'count', ([, { parts }]) => parts],
          ['planning', 's', ([, { planSeconds }]) => planSeconds],
          ['plan', 'bytes', ([, { planBytes }]) => planBytes],
          ['digests', 'bytes', ([, { digestBytes }]) => digestBytes],
          ['joining', 's', ([, { joinSeconds }]) => joinSeconds],
          ['memory', 'bytes', ([, { peakBytes }]) => peakBytes],
        ],
      ),
      tableOf(
        `A plan of ${files.toLocaleString('en')} files, hybrid`,
        ['step', (text: string) => text],
        ['the plan'],
        [
          ['planning', 's', () => million.planSeconds],
          ['plan', 'bytes', () => million.planBytes],
          ['reading and checking it', 's', () => million.readSeconds],
        ],
      ),
      ...(batches
        ? [
            tableOf(
              `${torrents.toLocaleString('en')} torrents of 64 KiB in batches of 50: ${WORKERS} warm workers, and one process`,
              ['contender', (text: string) => text],
              ['hybrid'],
              [
                ['one process', '/s', () => batches.alone],
                ['workers', '/s', () => batches.workers],
                ['workers / one process', 'ratio', () => batches.workers / batches.alone],
              ],
            ),
          ]
        : []),
    ];
    const settings = `Medians of ${rounds} interleaved rounds. Files are in the page cache. Times of parts include planning and joining.`;
    const skipped = batches ? [] : ['batches: redis-server is not installed'];
    return { tables, settings, skipped, ...(redis === null ? {} : { versions: { redis } }) };
  },
);
