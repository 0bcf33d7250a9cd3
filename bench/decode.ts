// Seconds to parse, validate and take the infohash of two large torrents, beside npm's `parse-torrent` (which does not
// validate) and `bencode` (which only decodes), each in a process of its own, rounds interleaved; and the peak memory
// that each takes beyond the file and an idle process.
//
//   npm run bench -- decode [--rounds 5]
import { execFileSync } from 'node:child_process';
import { createHash, randomFillSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { encode } from '../src/bencode/encode.ts';
import type { Encodable } from '../src/bencode/value.ts';
import { formatBytes } from '../src/print/text.ts';

const PIECE_LENGTH = 16384;
const FILES = 100_000;

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, run: { type: 'string' }, file: { type: 'string' } },
});

/** What a child process says of one run. */
interface Run {
  seconds: number;
  /** Peak resident bytes beyond what the process had before it parsed. */
  memory: number;
  said: string;
}

const CONTENDERS: Record<string, (bytes: Buffer) => Promise<string>> = {
  metainfo: async (bytes) => {
    const { Torrent } = await import('../src/index.ts');
    return timed(() => {
      const torrent = Torrent.fromBytes(bytes);
      return torrent.infohashV2 ?? torrent.infohashV1 ?? '';
    });
  },
  'parse-torrent': async (bytes) => {
    const { default: parseTorrent } = await import('parse-torrent');
    return timed(async () => (await parseTorrent(bytes)).infoHash ?? '');
  },
  bencode: async (bytes) => {
    const { default: bencode } = await import('bencode');
    return timed(() => String(Object.keys(bencode.decode(bytes) as object).length));
  },
};

async function timed(work: () => string | Promise<string>): Promise<string> {
  const before = peak();
  const started = performance.now();
  let said: string;
  try {
    said = await work();
  } catch (error) {
    said = `refused: ${(error as Error).message}`;
  }
  const run: Run = { seconds: (performance.now() - started) / 1000, memory: peak() - before, said };
  return JSON.stringify(run);
}

/** The most memory that this process has had, in bytes. */
function peak(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) * 1024;
}

/** 1,000,000 pieces and 100,000 files. */
function v1Torrent(): Uint8Array {
  let total = 0;
  const files = Array.from({ length: FILES }, (_, i) => {
    const length = 160_000 + (i % 7777);
    total += length;
    return new Map<string, Encodable>([
      ['length', length],
      ['path', [`folder ${i % 317}`, `file number ${i}.bin`]],
    ]);
  });
  const pieces = randomFillSync(Buffer.alloc(Math.ceil(total / PIECE_LENGTH) * 20));
  const info = new Map<string, Encodable>([
    ['files', files],
    ['name', 'big'],
    ['piece length', PIECE_LENGTH],
    ['pieces', pieces],
  ]);
  return encode(
    new Map<string, Encodable>([
      ['announce', 'http://tracker.example/announce'],
      ['info', info],
    ]),
  );
}

/** 100,000 files, 20,000 of them of 32 pieces, each with its layer. */
function v2Torrent(): Uint8Array {
  const tree = new Map<string, Map<string, Encodable>>();
  const layers = new Map<string, Encodable>();
  for (let i = 0; i < FILES; i += 1) {
    const large = i % 5 === 0;
    const hashes = large ? Array.from({ length: 32 }, () => randomFillSync(Buffer.alloc(32))) : [];
    const root = large ? rootOf(hashes) : randomFillSync(Buffer.alloc(32));
    if (large) layers.set(root.toString('latin1'), Buffer.concat(hashes));
    const folder = `folder ${i % 317}`;
    const entries = tree.get(folder) ?? new Map<string, Encodable>();
    const leaf = new Map<string, Encodable>([
      ['length', large ? PIECE_LENGTH * 32 - 5 : 10_000],
      ['pieces root', root],
    ]);
    tree.set(folder, entries.set(`file number ${i}.bin`, new Map([['', leaf]])));
  }
  const info = new Map<string, Encodable>([
    ['file tree', tree],
    ['meta version', 2],
    ['name', 'big'],
    ['piece length', PIECE_LENGTH],
  ]);
  return encode(
    new Map<string, Encodable>([
      ['info', info],
      ['piece layers', layers],
    ]),
  );
}

function rootOf(hashes: Buffer[]): Buffer {
  if (hashes.length === 1) return hashes[0] as Buffer;
  const pairs = hashes.flatMap((hash, i) =>
    i % 2 === 0
      ? [
          createHash('sha256')
            .update(hash)
            .update(hashes[i + 1] as Buffer)
            .digest(),
        ]
      : [],
  );
  return rootOf(pairs);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'metainfo-bench-'));
  const self = fileURLToPath(import.meta.url);
  try {
    console.log(`${cpus()[0]?.model}, Node ${process.version}, medians of ${values.rounds}`);
    for (const [name, make] of Object.entries({ v1: v1Torrent, v2: v2Torrent })) {
      const file = path.join(folder, `${name}.torrent`);
      const bytes = make();
      writeFileSync(file, bytes);
      const runs = new Map<string, Run[]>(Object.keys(CONTENDERS).map((contender) => [contender, []]));
      for (let round = 0; round < Number(values.rounds); round += 1) {
        for (const [contender, done] of runs) {
          const args = ['--import', 'tsx', self, '--run', contender, '--file', file];
          done.push(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Run);
        }
      }
      const base = median((runs.get('metainfo') as Run[]).map((run) => run.seconds));
      console.log(`\n${name}, ${FILES} files, ${formatBytes(bytes.length)}`);
      for (const [contender, done] of runs) {
        const seconds = median(done.map((run) => run.seconds));
        const memory = median(done.map((run) => run.memory));
        const columns = [
          contender.padEnd(14),
          `${seconds.toFixed(3)} s`.padStart(9),
          `${(seconds / base).toFixed(1)} x`.padStart(8),
          `memory ${(memory / bytes.length).toFixed(1)} x the file`.padStart(24),
          (done[0] as Run).said.slice(0, 60),
        ];
        console.log(columns.join('  '));
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (values.run && values.file)
  console.log(await (CONTENDERS[values.run] as (typeof CONTENDERS)[string])(readFileSync(values.file)));
else await main();
