// Many small torrents in one process, from memory, files and folders, one after the other and many at once, compared with
// create-torrent (npm) and with libtorrent's Python binding. The figures do not include the start of the process.
//
//   npm run bench -- small [--torrents 10000] [--rounds 5]
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
/** Each folder has so many files of so many bytes. */
const FILES = 3;
const FILE_SIZE = 5000;
const PEER = 'create-torrent';
/** Buffers in memory: more than the processor's caches hold, but not as many as there may be files. */
const BUFFERS = 1024;

const MODES = {
  'memory, one by one': { from: 'memory', atOnce: 1 },
  'memory, 64 at once': { from: 'memory', atOnce: 64 },
  'files, one by one': { from: 'files', atOnce: 1 },
  'files, 64 at once': { from: 'files', atOnce: 64 },
  'folders, one by one': { from: 'folders', atOnce: 1 },
  'folders, 64 at once': { from: 'folders', atOnce: 64 },
} as const;
const NAMES = Object.keys(MODES) as (keyof typeof MODES)[];

interface EachTask {
  version: Version;
  /** The folder of {@link writeFiles}, or of folders. */
  content: string;
  torrents: number;
  pieceLength: number;
  /** `memory`: the files are read before the clock starts. */
  from: 'memory' | 'files' | 'folders';
  atOnce: number;
}

/** The path of a file or folder, or the bytes of a file. */
type Input = string | (Buffer & { name: string });

/** Prepares to make a torrent of each file or folder. */
async function makeEach(task: EachTask, make: (input: Input) => Promise<Uint8Array>) {
  const { content, torrents, from, atOnce } = task;
  const names = from === 'folders' ? readdirSync(content) : Array.from({ length: torrents }, (_, i) => fileName(i));
  const paths = names.map((name) => path.join(content, name)).sort();
  const buffers = from === 'memory' ? paths.slice(0, BUFFERS).map((file) => readFileSync(file)) : [];
  const inputs = paths.map((file, i): Input => {
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
      return (
        await new TorrentCreate({ ...fields, pieceLength }).generate({ version, padNames: 'libtorrent' })
      ).bencode();
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
  const files = path.join(folder, 'content');
  writeFiles(files, torrents, SIZE);
  const folders = path.join(folder, 'folders');
  const bytes = randomBytes(FILE_SIZE);
  for (let i = 0; i < torrents; i += 1) {
    const one = path.join(folders, `folder ${i}`);
    mkdirSync(one, { recursive: true });
    for (let j = 0; j < FILES; j += 1) writeFileSync(path.join(one, `file ${j}`), bytes);
  }
  const { tools, versions, skipped } = installed(folder, [OURS, PEER, LIBTORRENT_PYTHON]);
  const pieceLength = choosePieceLength(SIZE);
  const cases = tools.flatMap(({ name, versions: made }) =>
    made.flatMap((version) =>
      NAMES.flatMap((column): Case[] => {
        const mode = MODES[column];
        const task = { version, content: mode.from === 'folders' ? folders : files, torrents, pieceLength, ...mode };
        const row = `${name}, ${version}`;
        if (name === OURS || name === PEER) return [{ row, column, run: () => run(name, task) }];
        // The binding hashes files only; a caller can hash memory for v1.
        return version === 'v1' || mode.from !== 'memory' ? [{ row, column, run: () => runPython(task) }] : [];
      }),
    ),
  );
  const grid = await measure(cases, rounds);
  // If the first torrents of the tools differed, their times would mean nothing.
  for (const version of VERSIONS) {
    const rows = grid.rows.filter((row) => row.endsWith(version));
    const infohashes = (modes: readonly (keyof typeof MODES)[]) =>
      new Set(rows.flatMap((row) => modes.flatMap((mode) => grid.values<string>(row, mode, 'infohash'))));
    const ofFolders = infohashes(NAMES.filter((name) => MODES[name].from === 'folders'));
    const ofFiles = infohashes(NAMES.filter((name) => MODES[name].from !== 'folders'));
    for (const found of [ofFiles, ofFolders])
      if (found.size !== 1) throw new Error(`${version} torrents differ: ${[...found].join(', ')}`);
  }

  const rateOf = (row: string, mode: string) => divide(torrents, grid.median(row, mode));
  const about = `${torrents.toLocaleString('en')} torrents of ${formatBytes(SIZE)}, or of folders of ${FILES} files of ${FILE_SIZE} bytes`;
  const table = tableOf(`${about}: torrents per second`, 'tool', grid.rows, columnsFor(NAMES, '/s', rateOf));
  const settings = `Warm files, pieces of ${formatBytes(pieceLength)}; medians of ${rounds} interleaved rounds.`;
  return { tables: [table], settings, versions, skipped };
});
