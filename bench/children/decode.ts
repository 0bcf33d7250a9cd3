// Parses one torrent with one tool and says how that went: `runChild('decode', ...)`.
import { readFileSync } from 'node:fs';
import { watchMemory } from '../support/measure.ts';

export type Tool = 'metainfo' | 'parse-torrent' | 'bencode';

export interface DecodeTask {
  tool: Tool;
  file: string;
}

export interface DecodeReport {
  seconds: number;
  /** Peak resident memory beyond what the process had before it parsed. */
  peakBytes: number;
  said: string;
}

type Parse = (bytes: Buffer) => string | Promise<string>;

/** Loads a tool, which is not measured; the function that it gives is. */
const LOAD: Record<Tool, () => Promise<Parse>> = {
  metainfo: async () => {
    const { Torrent } = await import('../../src/index.ts');
    return (bytes) => {
      const torrent = Torrent.fromBytes(bytes);
      return torrent.infohashV2 ?? torrent.infohashV1 ?? '';
    };
  },
  'parse-torrent': async () => {
    const { default: parseTorrent } = await import('parse-torrent');
    return async (bytes) => (await parseTorrent(bytes)).infoHash ?? '';
  },
  bencode: async () => {
    const { default: bencode } = await import('bencode');
    return (bytes) => String(Object.keys(bencode.decode(bytes) as object).length);
  },
};

const { tool, file } = JSON.parse(process.argv[2] ?? '') as DecodeTask;
const parse = await LOAD[tool]();
const bytes = readFileSync(file);
const memory = await watchMemory();
const started = performance.now();
let said: string;
try {
  said = await parse(bytes);
} catch (error) {
  said = `refused: ${(error as Error).message}`;
}
const seconds = (performance.now() - started) / 1000;
const report: DecodeReport = { seconds, peakBytes: memory(), said };
console.log(JSON.stringify(report));
