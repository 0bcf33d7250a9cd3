// GB/s of creating v1, v2 and hybrid torrents with 1 and 2 threads, beside `openssl dgst -sha1` and `mktorrent` on the
// same warm file. Rounds are interleaved and medians compared: on a busy machine only ratios within one run mean much.
//
//   npm run bench -- [--size 2GiB] [--rounds 5] [--piece-length 1MiB]
import { spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { TorrentCreate } from '../src/create/torrent-create.ts';
import { binding } from '../src/digest/binding.ts';
import { formatBytes } from '../src/print/text.ts';

interface Contender {
  name: string;
  /** Hashes the file once. */
  run: () => Promise<void> | void;
  seconds: number[];
}

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '2GiB' },
    rounds: { type: 'string', default: '5' },
    'piece-length': { type: 'string', default: '1MiB' },
  },
});
const size = bytes(values.size);
const rounds = Number(values.rounds);
const pieceLength = bytes(values['piece-length']);

function bytes(text: string): number {
  const match = /^(\d+)(KiB|MiB|GiB)$/.exec(text);
  if (!match) throw new Error(`expected a size such as 2GiB, got ${text}`);
  return Number(match[1]) * 1024 ** (['KiB', 'MiB', 'GiB'].indexOf(match[2] as string) + 1);
}

/** Random bytes over and over: no kernel's speed depends on content. Written, it is in the page cache. */
function writeData(file: string): void {
  const chunk = randomFillSync(Buffer.alloc(1024 ** 2));
  const descriptor = openSync(file, 'w');
  for (let at = 0; at < size; at += chunk.length) writeSync(descriptor, chunk, 0, Math.min(chunk.length, size - at));
  closeSync(descriptor);
}

function command(name: string, args: string[], cwd: string): Contender {
  const run = () => {
    const { status, error, stderr } = spawnSync(args[0] as string, args.slice(1), { cwd, encoding: 'utf8' });
    if (status !== 0) throw error ?? new Error(`${args.join(' ')}: ${stderr}`);
  };
  return { name, run, seconds: [] };
}

const installed = (name: string, flag: string) => !spawnSync(name, [flag]).error;

function contenders(folder: string, file: string): Contender[] {
  const ours = (['v1', 'v2', 'hybrid'] as const).flatMap((version) =>
    [1, 2].map((threads) => ({
      name: `metainfo ${version}, ${threads} thread${threads > 1 ? 's' : ''}`,
      run: async () => {
        const draft = new TorrentCreate({ pathRoot: file, pieceLength });
        await draft.generate({ version, threads });
      },
      seconds: [],
    })),
  );
  const peers: Contender[] = [];
  if (installed('openssl', 'version'))
    peers.push(command('openssl dgst -sha1', ['openssl', 'dgst', '-sha1', file], folder));
  else console.log('skipped: openssl is not installed');
  if (installed('mktorrent', '-h')) {
    const power = String(Math.log2(pieceLength));
    const threads = String(availableParallelism());
    // It refuses to replace its output.
    const script = `rm -f peer.torrent && exec mktorrent -l ${power} -t ${threads} -o peer.torrent data`;
    peers.push(command(`mktorrent (v1), ${threads} threads`, ['sh', '-c', script], folder));
  } else console.log('skipped: mktorrent is not installed');
  return [...peers, ...ours];
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return ((low as number) + (high as number)) / 2;
}

const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-bench-'));
try {
  const file = path.join(folder, 'data');
  writeData(file);
  const all = contenders(folder, file);
  for (let round = 0; round <= rounds; round += 1) {
    for (const contender of all) {
      const started = performance.now();
      await contender.run();
      // The first round warms up.
      if (round > 0) contender.seconds.push((performance.now() - started) / 1000);
    }
  }
  const speed = (contender: Contender) => size / median(contender.seconds) / 1e9;
  const base = all.find(({ name }) => name.startsWith('openssl')) ?? (all[0] as Contender);
  console.log(`${cpus()[0]?.model}, Node ${process.version}, kernel ${binding().active.sha1}`);
  console.log(`one warm file of ${formatBytes(size)}, pieces of ${formatBytes(pieceLength)}, median of ${rounds}\n`);
  console.log(`${''.padEnd(28)}    GB/s  times ${base.name}`);
  for (const contender of all) {
    const ratio = speed(contender) / speed(base);
    console.log(
      `${contender.name.padEnd(28)}  ${speed(contender).toFixed(2).padStart(6)}  ${ratio.toFixed(2).padStart(5)}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
