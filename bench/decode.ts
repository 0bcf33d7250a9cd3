// Seconds to parse, validate and take the infohash of two large torrents, beside npm's `parse-torrent` (which does not
// validate) and `bencode` (which only decodes), each in a process of its own, rounds interleaved; and the peak memory
// that each takes beyond the file and an idle process.
//
//   npm run bench -- decode [--rounds 5] [--files 100000]
import { createHash, randomFillSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { encode } from '../src/bencode/encode.ts';
import type { Encodable } from '../src/bencode/value.ts';
import type { DecodeReport, DecodeTask, Tool } from './children/decode.ts';
import { inScratchFolder, interleave, median, options, parseCount, runChild } from './support/measure.ts';
import { type DecodeFigure, record } from './support/results.ts';

const PIECE_LENGTH = 16384;
const TOOLS: readonly Tool[] = ['metainfo', 'parse-torrent', 'bencode'];

const { rounds, files: fileCount, out } = options({ rounds: '5', files: '100000' });
const FILES = parseCount(fileCount);

/** Ten pieces a file. */
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

/** A fifth of the files have 32 pieces, each with its layer. */
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

async function figuresOf(torrent: string, file: string, torrentBytes: number): Promise<DecodeFigure[]> {
  const run = (tool: Tool) => runChild<DecodeReport>('decode', { tool, file } satisfies DecodeTask);
  const runs = await interleave(TOOLS, parseCount(rounds), run);
  return [...runs].map(([tool, reports]) => ({
    torrent,
    torrentBytes,
    tool,
    seconds: median(reports.map(({ seconds }) => seconds)),
    peakBytes: median(reports.map(({ peakBytes }) => peakBytes)),
    said: reports[0]?.said ?? '',
  }));
}

await inScratchFolder(async (folder) => {
  const figures: DecodeFigure[] = [];
  for (const [name, make] of Object.entries({ v1: v1Torrent, v2: v2Torrent })) {
    const file = path.join(folder, `${name}.torrent`);
    const bytes = make();
    writeFileSync(file, bytes);
    figures.push(...(await figuresOf(`${name}, ${FILES.toLocaleString('en')} files`, file, bytes.length)));
  }
  record('decode', { figures, settings: `Medians of ${rounds} interleaved rounds.` }, out);
});
