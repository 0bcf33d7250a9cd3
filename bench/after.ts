// What is done with a torrent after it was made: verifying beside creating, for each version, of one large file and of many
// small ones; editing torrents that are large in each of the ways in which they can be; adding a file to many. As the whole command, its start and
// its reading of the torrent included, and in the library, each run a process of its own.
//
//   npm run bench -- after [--size 1GiB] [--files 20000] [--megabytes 40] [--rounds 5]
import { randomFillSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { encode } from '../src/bencode/encode.ts';
import type { Encodable } from '../src/bencode/value.ts';
import { layerRoots } from '../src/hash/merkle.ts';
import { addPadfiles } from '../src/layout/padding.ts';
import { BLOCK_SIZE } from '../src/layout/piece-length.ts';
import { formatBytes } from '../src/layout/text.ts';
import { encodeFileList, encodeFlatTree } from '../src/model/files-codec.ts';
import type { AfterReport, AfterTask } from './children/after.ts';
import { writeData, writeFiles } from './support/data.ts';
import {
  inScratchFolder,
  interleave,
  METAINFO,
  median,
  options,
  parseCount,
  parseSize,
  runChild,
  timeCommand,
  VERSIONS,
  type Version,
} from './support/measure.ts';
import { type AfterFigure, record } from './support/results.ts';

const { size, files, megabytes, rounds, out } = options({
  size: '1GiB',
  files: '20000',
  megabytes: '40',
  rounds: '5',
});
const torrentBytes = parseCount(megabytes) * 1e6;
const SMALL_FILE = 10 * 1024;
const PIECE_LENGTH = BLOCK_SIZE;

interface Contender {
  workload: string;
  what: string;
  way: string;
  /** Seconds of one run. */
  run: () => number;
}

const inLibrary = (task: AfterTask) => runChild<AfterReport>('after', task).seconds;

/** Creating and verifying, by the command and in the library. */
function verifying(folder: string, content: string, name: string): Contender[] {
  return VERSIONS.flatMap((version): Contender[] => {
    const torrent = path.join(folder, `${path.basename(content)} ${version}.torrent`);
    const command = (...args: string[]) => timeCommand([process.execPath, METAINFO, ...args], folder);
    const create = (output: string) =>
      command('create', content, '--torrent-version', version, '--output', output, '--force', '--quiet');
    create(torrent);
    const run = { what: version, workload: `${name}, the command` };
    const library = { what: version, workload: `${name}, the library: the torrent has been read` };
    return [
      { ...run, way: 'create', run: () => create(path.join(folder, 'new.torrent')) },
      { ...run, way: 'verify', run: () => command('verify', torrent, content, '--quiet') },
      { ...library, way: 'generate', run: () => inLibrary({ way: 'generate', version, content }) },
      { ...library, way: 'verify', run: () => inLibrary({ way: 'verify', torrent, content }) },
    ];
  });
}

/** One more file: creating again, reading what is new only, and creating with a cache that knows all of it. */
function updating(folder: string, content: string, count: number): Contender[] {
  const cached = ['--cache-dir', path.join(folder, 'cache')];
  return (['v2', 'hybrid'] as const).flatMap((version): Contender[] => {
    const [old, output] = [path.join(folder, `old ${version}.torrent`), path.join(folder, 'new.torrent')];
    const command = (...args: string[]) => timeCommand([process.execPath, METAINFO, ...args], folder);
    const create = (target: string, ...more: string[]) =>
      command('create', content, '--torrent-version', version, '--output', target, '--force', '--quiet', ...more);
    create(old);
    const about = { workload: `A file of 10 MiB added to ${count.toLocaleString('en')} of 10 KiB`, what: version };
    return [
      { ...about, way: 'create', run: () => create(output) },
      { ...about, way: 'update', run: () => command('update', old, content, '--output', output, '--force', '--quiet') },
      { ...about, way: 'create --cache', run: () => create(output, ...cached) },
    ];
  });
}

/** A torrent whose hashes nothing has; layers do have their roots. */
function torrentOf(version: Version, count: number, pieces: number, nameLength: number): Uint8Array {
  const length = pieces * PIECE_LENGTH - 5;
  const layers = new Map<string, Encodable>();
  const content = Array.from({ length: count }, (_, i) => {
    const layer = version !== 'v1' && pieces > 1 ? randomFillSync(Buffer.alloc(pieces * 32)) : null;
    const piecesRoot = layer ? Buffer.from(layerRoots([layer], 1)) : randomFillSync(Buffer.alloc(32));
    if (layer) layers.set(piecesRoot.toString('latin1'), layer);
    const folder = `folder ${String(Math.floor(i / 1000)).padStart(4, '0')}`;
    return { path: [folder, `file ${i} `.padEnd(nameLength, 'of some album ')], length, piecesRoot };
  });
  content.sort((a, b) => (a.path.join('/') < b.path.join('/') ? -1 : 1));
  const list = version === 'hybrid' ? addPadfiles(content, PIECE_LENGTH) : content;
  const info = new Map<string, Encodable>([
    ['name', 'large'],
    ['piece length', PIECE_LENGTH],
  ]);
  if (version !== 'v2') {
    const total = list.reduce((sum, file) => sum + file.length, 0);
    info.set('files', encodeFileList(list));
    info.set('pieces', randomFillSync(Buffer.alloc(Math.ceil(total / PIECE_LENGTH) * 20)));
  }
  if (version !== 'v1') info.set('file tree', encodeFlatTree(content)).set('meta version', 2);
  return encode(
    new Map<string, Encodable>([['info', info], ...(version === 'v1' ? [] : [['piece layers', layers] as const])]),
  );
}

/** Of about the size that is asked for: what most of it is, and what it takes for that. */
function largeTorrents(): Record<string, Uint8Array> {
  // What an entry of a list or tree takes beside the name of the file, and its hashes.
  const beside = { v1: 63, v2: 74, hybrid: 176 };
  const manyFiles = (version: Version) => {
    const each = version === 'hybrid' ? 400 : 200;
    const nameLength = (each - beside[version]) / (version === 'hybrid' ? 2 : 1);
    const count = Math.ceil(torrentBytes / each);
    return [`of ${count.toLocaleString('en')} files, ${version}`, torrentOf(version, count, 1, nameLength)] as const;
  };
  return {
    'of pieces, v1': torrentOf('v1', 1, Math.ceil(torrentBytes / 20), 20),
    'of layers, v2': torrentOf('v2', 10, Math.ceil(torrentBytes / 320), 20),
    ...Object.fromEntries(VERSIONS.map(manyFiles)),
  };
}

function editing(folder: string): Contender[] {
  return Object.entries(largeTorrents()).flatMap(([name, bytes], i): Contender[] => {
    const torrent = path.join(folder, `${i}.torrent`);
    writeFileSync(torrent, bytes);
    const edited = ['edit', torrent, '--comment', 'another', '--output', 'edited.torrent', '--force'];
    const about = {
      workload: 'Another comment for a large torrent',
      what: `${name}, ${(bytes.length / 1e6).toFixed(1)} MB`,
    };
    return [
      { ...about, way: 'command', run: () => timeCommand([process.execPath, METAINFO, ...edited], folder) },
      { ...about, way: 'Torrent.read', run: () => inLibrary({ way: 'Torrent.read', torrent }) },
      { ...about, way: 'edit', run: () => inLibrary({ way: 'edit', torrent }) },
    ];
  });
}

await inScratchFolder(async (folder) => {
  const [large, small] = [path.join(folder, 'large'), path.join(folder, 'small')];
  writeData(large, parseSize(size));
  mkdirSync(small);
  writeFiles(small, parseCount(files), SMALL_FILE);
  const grown = path.join(folder, 'grown');
  mkdirSync(grown);
  writeFiles(grown, Math.ceil(parseCount(files) / 2), SMALL_FILE);
  const updates = updating(folder, grown, Math.ceil(parseCount(files) / 2));
  writeData(path.join(grown, 'added'), 10 * 2 ** 20);
  // Once, for the cache.
  for (const { way, run } of updates) if (way === 'create --cache') run();
  const contenders = [
    ...verifying(folder, large, `One file of ${formatBytes(parseSize(size))}`),
    ...verifying(folder, small, `${parseCount(files).toLocaleString('en')} files of ${formatBytes(SMALL_FILE)}`),
    ...editing(folder),
    ...updates,
  ];
  const runs = await interleave(contenders, parseCount(rounds), ({ run }) => run());
  const figures = [...runs].map(
    ([{ workload, what, way }, seconds]): AfterFigure => ({ workload, what, way, seconds: median(seconds) }),
  );
  record('after', { figures, settings: `Warm files, a thread a core; medians of ${rounds} interleaved rounds.` }, out);
});
