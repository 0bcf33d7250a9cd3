// Many small torrents in one process, from memory and from files, one after the other and many at once, compared with
// create-torrent (npm) and with libtorrent's Python binding. The figures do not include the start of the process.
//
//   npm run bench -- small [--torrents 10000] [--rounds 5]
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import createTorrent from 'create-torrent';
import { choosePieceLength } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/text/format.ts';
import { fileName, writeFiles } from './support/data.ts';
import {
  bench,
  type Case,
  divide,
  inProcess,
  measure,
  runProgram,
  takeTurns,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { columnsFor, tableOf } from './support/tables.ts';
import { installed, LIBTORRENT_PYTHON, OURS, pythonCommand } from './support/tools.ts';

const SIZE = 2 ** 16;
const PEER = 'create-torrent';
/** Buffers in memory: more than the processor's caches hold, but not as many as there may be files. */
const BUFFERS = 1024;

const MODES = {
  'memory, one by one': { fromMemory: true, atOnce: 1 },
  'memory, 64 at once': { fromMemory: true, atOnce: 64 },
  'files, one by one': { fromMemory: false, atOnce: 1 },
  'files, 64 at once': { fromMemory: false, atOnce: 64 },
};
const NAMES = Object.keys(MODES) as (keyof typeof MODES)[];

interface EachTask {
  version: Version;
  /** The folder of {@link writeFiles}. */
  content: string;
  torrents: number;
  pieceLength: number;
  /** Reads the files before the clock starts. */
  fromMemory: boolean;
  atOnce: number;
}

/** The path of a file, or its bytes. */
type Input = string | (Buffer & { name: string });

/** Prepares to make a torrent of each file. */
async function makeEach(task: EachTask, make: (input: Input) => Promise<Uint8Array>) {
  const { content, torrents, fromMemory, atOnce } = task;
  const files = Array.from({ length: torrents }, (_, i) => path.join(content, fileName(i))).sort();
  const buffers = fromMemory ? files.slice(0, BUFFERS).map((file) => readFileSync(file)) : [];
  const inputs = files.map((file, i): Input => {
    const bytes = buffers[i % buffers.length];
    return bytes ? Object.assign(bytes.subarray(), { name: path.basename(file) }) : file;
  });
  const { Torrent } = await published();
  return async () => {
    let first: Uint8Array = Buffer.alloc(0);
    const started = performance.now();
    await takeTurns(inputs.entries(), atOnce, async ([i, input]) => {
      const torrent = await make(input);
      if (i === 0) first = torrent;
    });
    const seconds = (performance.now() - started) / 1000;
    const { infohashV1, infohashV2 } = Torrent.fromBytes(first);
    return { seconds, infohash: infohashV2 ?? infohashV1 };
  };
}

/** As it is published: the TypeScript loader adds calls to every function that it compiles. */
const published = (): Promise<typeof import('../src/index.ts')> =>
  import(new URL('../dist/index.js', import.meta.url).href);

export const tasks = {
  async [OURS](task: EachTask) {
    const { TorrentCreate } = await published();
    const { version, pieceLength } = task;
    return makeEach(task, async (input) => {
      const fields = typeof input === 'string' ? { pathRoot: input } : { sources: [{ path: input.name, data: input }] };
      return (await new TorrentCreate({ ...fields, pieceLength }).generate({ version })).bencode();
    });
  },
  [PEER](task: EachTask) {
    const create = promisify(createTorrent);
    return makeEach(task, (input) => create(input, { pieceLength: task.pieceLength, announceList: [] }));
  },
};
const run = inProcess(import.meta.url, tasks);
const runPython = (task: EachTask) => runProgram(pythonCommand(JSON.stringify(task)));

export default bench({ torrents: '10000', rounds: '5' }, async ({ torrents, rounds }, folder) => {
  const content = path.join(folder, 'content');
  writeFiles(content, torrents, SIZE);
  const { tools, versions, skipped } = installed(folder, [OURS, PEER, LIBTORRENT_PYTHON]);
  const pieceLength = choosePieceLength(SIZE);
  const cases = tools.flatMap(({ name, versions: made }) =>
    made.flatMap((version) =>
      NAMES.flatMap((column): Case[] => {
        const task = { version, content, torrents, pieceLength, ...MODES[column] };
        const row = `${name}, ${version}`;
        if (name === OURS || name === PEER) return [{ row, column, run: () => run(name, task) }];
        // The binding hashes files only; a caller can hash memory for v1.
        return version === 'v1' || !task.fromMemory ? [{ row, column, run: () => runPython(task) }] : [];
      }),
    ),
  );
  const grid = await measure(cases, rounds);
  // If the first torrents of the tools differed, their times would mean nothing.
  for (const version of VERSIONS) {
    const rows = grid.rows.filter((row) => row.endsWith(version));
    const all = rows.flatMap((row) => NAMES.flatMap((mode) => grid.values<string>(row, mode, 'infohash')));
    const infohashes = new Set(all);
    if (infohashes.size !== 1) throw new Error(`${version} torrents differ: ${[...infohashes].join(', ')}`);
  }

  const rateOf = (row: string, mode: string) => divide(torrents, grid.median(row, mode));
  const about = `${torrents.toLocaleString('en')} torrents of ${formatBytes(SIZE)}`;
  const table = tableOf(`${about}: torrents per second`, 'tool', grid.rows, columnsFor(NAMES, '/s', rateOf));
  const settings = `Warm files, pieces of ${formatBytes(pieceLength)}; medians of ${rounds} interleaved rounds.`;
  return { tables: [table], settings, versions, skipped };
});
