// One command that makes many torrents: `metainfo create --each` of small files and of small folders, whose torrents survive a power cut,
// compared with loops over other tools, which sync nothing. Wall and processor time, with the start of the process.
//
//   npm run bench -- each [--torrents 10000] [--rounds 3]
import { spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import createTorrent from 'create-torrent';
import { bench, type Case, divide, inProcess, METAINFO, measure, type Sample } from './support/measure.ts';
import { type Column, tableOf, type Unit } from './support/tables.ts';
import { installed, LIBTORRENT_PYTHON, OURS, pythonCommand, requireTorrent } from './support/tools.ts';

const PEER = 'create-torrent';
const SIZE = 1000;
const FILES_PER_FOLDER = 4;
/** The least that mktorrent takes. */
const PIECE_LENGTH = 2 ** 15;

interface Task {
  content: string;
  output: string;
}

export const tasks = {
  [PEER]({ content, output }: Task) {
    const create = promisify(createTorrent);
    return async () => {
      const before = process.cpuUsage();
      for (const name of readdirSync(content)) {
        const torrent = await create(path.join(content, name), { pieceLength: PIECE_LENGTH, announceList: [] });
        await writeFile(path.join(output, `${name}.torrent`), torrent);
      }
      const { user, system } = process.cpuUsage(before);
      return { processor: (user + system) / 1e6 };
    };
  },
};
const runPeer = inProcess(import.meta.url, tasks);

const MKTORRENT = 'cd "$1"; for entry in *; do mktorrent -t 1 -l 15 -o "$2/$entry.torrent" "$entry" || exit 1; done';

const RUNS: Record<string, (task: Task) => Sample> = {
  [OURS]: ({ content, output }) => {
    const options = ['-k', 'v1', '--piece-length', `${PIECE_LENGTH / 1024}KiB`, '--quiet'];
    return timed([process.execPath, METAINFO, 'create', '--each', content, '-o', output, ...options]);
  },
  [LIBTORRENT_PYTHON]: ({ content, output }) =>
    timed(pythonCommand('each', 'v1', String(PIECE_LENGTH), output, content)),
  mktorrent: ({ content, output }) => timed(['sh', '-c', MKTORRENT, 'sh', content, output]),
  [PEER]: (task) => runPeer(PEER, task),
};

/** Runs a command in a shell, which knows the processor time of all processes below it. */
function timed(command: readonly string[]): Sample {
  const started = performance.now();
  const args = ['-c', '"$@" > /dev/null && times', 'sh', ...command];
  const { status, stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8' });
  const seconds = (performance.now() - started) / 1000;
  if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
  const times = [...stdout.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  );
  // The last line has the user and system time of the children.
  return { seconds, processor: times.slice(-2).reduce((sum, time) => sum + time, 0) };
}

export default bench({ torrents: '10000', rounds: '3' }, async ({ torrents, rounds }, folder) => {
  const write = (...names: string[]) => writeFileSync(path.join(folder, ...names), randomFillSync(Buffer.alloc(SIZE)));
  for (const kind of ['files', 'folders']) mkdirSync(path.join(folder, kind));
  for (let i = 0; i < torrents; i += 1) {
    write('files', `file ${i}`);
    mkdirSync(path.join(folder, 'folders', `folder ${i}`));
    for (let j = 0; j < FILES_PER_FOLDER; j += 1) write('folders', `folder ${i}`, `file ${j}`);
  }
  spawnSync('sync', ['-f', folder]);
  const { tools, versions, skipped } = installed(folder, Object.keys(RUNS));
  let outputs = 0;
  const cases = tools.flatMap(({ name }) =>
    ['files', 'folders'].map((column): Case => {
      const run = async () => {
        // A new folder each time, because ext4 is slow for seconds after many deletions.
        const output = path.join(folder, `output ${outputs++}`);
        mkdirSync(output);
        const sample = (RUNS[name] as (task: Task) => Sample)({ content: path.join(folder, column), output });
        const made = readdirSync(output);
        if (made.length !== torrents) throw new Error(`${name} made ${made.length} torrents`);
        const bytes = SIZE * (column === 'files' ? 1 : FILES_PER_FOLDER);
        const first = path.join(output, made[0] as string);
        await requireTorrent(name, { version: 'v1', output: first, bytes, pieceLength: PIECE_LENGTH });
        return sample;
      };
      return { row: name, column, run };
    }),
  );
  const grid = await measure(cases, rounds);
  const columnsOf = (unit: Unit, value: (row: string, kind: string, measure: string) => number | null): Column[] =>
    ['files', 'folders'].flatMap((kind) => [
      [`${kind}, time`, unit, (row) => value(row, kind, 'seconds')],
      [`${kind}, processor`, unit, (row) => value(row, kind, 'processor')],
    ]);
  const medianOf = (row: string, kind: string, measure: string) => grid.median(row, kind, measure);
  const ratioOf: typeof medianOf = (row, ...cell) =>
    divide(medianOf(row, ...cell), medianOf(LIBTORRENT_PYTHON, ...cell));
  const about = `${torrents.toLocaleString('en')} v1 torrents: of a file of ${SIZE} bytes, or a folder of ${FILES_PER_FOLDER} such files`;
  const tables = [
    tableOf(about, 'tool', grid.rows, columnsOf('s', medianOf)),
    tableOf('Divided by libtorrent, Python', 'tool', grid.rows, columnsOf('ratio', ratioOf)),
  ];
  return { tables, settings: `Warm files; medians of ${rounds} interleaved rounds.`, versions, skipped };
});
