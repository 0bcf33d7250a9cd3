// The peers: which tools there are, what they can make, and how each is told to do it with every core.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { METAINFO, VERSIONS, type Version, versionOf } from '../support/measure.ts';
import { OURS } from '../support/tables.ts';

export interface Job {
  version: Version;
  /** The file or folder, absolute. */
  data: string;
  output: string;
  pieceLength: number;
  threads: number;
}

export interface Tool {
  name: string;
  versions: readonly Version[];
  /** null: it is not installed. `folder` is for what has to be compiled. */
  version: (folder: string) => string | null;
  /** Makes a torrent; the output does not exist. */
  command: (job: Job) => string[];
  /** `.ci/run` installs it: there it may not be missing. */
  inCI: boolean;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Debian's comes first: it is the one that has python3-libtorrent. */
const PYTHONS = ['/usr/bin/python3', 'python3'];
const askPython = (python: string) =>
  versionOf([python, '-c', 'import libtorrent; print(libtorrent.__version__)'], /^(\d\S*)/m);
const python = () => PYTHONS.find((one) => askPython(one) !== null) ?? '';

/** with_libtorrent.cc, compiled. */
let libtorrent = '';

/** Null where the headers or a compiler are not installed. */
function compileLibtorrent(folder: string): string | null {
  libtorrent = path.join(folder, 'libtorrent');
  const args = ['-std=c++17', '-O2', '-o', libtorrent, here('with_libtorrent.cc'), '-ltorrent-rasterbar'];
  // Their ABI depends on macros that pkg-config knows.
  const { stdout } = spawnSync('pkg-config', ['--cflags', 'libtorrent-rasterbar'], { encoding: 'utf8' });
  const { status } = spawnSync('c++', [...(stdout ?? '').trim().split(/\s+/).filter(Boolean), ...args]);
  return status === 0 ? versionOf([libtorrent], /libtorrent (\S+)/) : null;
}

/** Its package exports neither its command nor its version. */
const CREATE_TORRENT = here('../../node_modules/create-torrent');

const exponent = (pieceLength: number) => String(Math.log2(pieceLength));
const kibibytes = (pieceLength: number) => `${pieceLength / 1024}`;

export const TOOLS: readonly Tool[] = [
  {
    name: OURS,
    versions: VERSIONS,
    version: () => versionOf([process.execPath, METAINFO, '--version'], /^(\d\S*)/m),
    command: ({ version, data, output, pieceLength, threads }) => [
      ...[process.execPath, METAINFO, 'create', '-k', version, '--piece-length', `${kibibytes(pieceLength)}KiB`],
      ...['--threads', String(threads), '--quiet', '-o', output, data],
    ],
    inCI: true,
  },
  {
    name: 'mktorrent',
    versions: ['v1'],
    version: () => versionOf(['mktorrent', '-h'], /mktorrent (\S+)/),
    command: ({ data, output, pieceLength, threads }) => [
      'mktorrent',
      '-l',
      exponent(pieceLength),
      '-t',
      String(threads),
      '-o',
      output,
      data,
    ],
    inCI: true,
  },
  {
    // It has one thread, and no option for more.
    name: 'transmission-create',
    versions: ['v1'],
    version: () => versionOf(['transmission-create', '--version'], /transmission-create (\S+)/),
    command: ({ data, output, pieceLength }) => [
      'transmission-create',
      '-s',
      kibibytes(pieceLength),
      '-o',
      output,
      data,
    ],
    inCI: true,
  },
  {
    name: 'libtorrent, Python',
    versions: VERSIONS,
    version: () => askPython(python()),
    command: ({ version, data, output, pieceLength }) => [
      python(),
      here('with_libtorrent.py'),
      version,
      String(pieceLength),
      output,
      data,
    ],
    inCI: true,
  },
  {
    name: 'libtorrent, C++',
    versions: VERSIONS,
    version: compileLibtorrent,
    command: ({ version, data, output, pieceLength, threads }) => [
      libtorrent,
      version,
      String(pieceLength),
      String(threads),
      output,
      data,
    ],
    inCI: false,
  },
  {
    // It hashes on WebCrypto's threads, and has no option for how many.
    name: 'create-torrent',
    versions: ['v1'],
    version: () => (JSON.parse(readFileSync(`${CREATE_TORRENT}/package.json`, 'utf8')) as { version: string }).version,
    command: ({ data, output, pieceLength }) => [
      process.execPath,
      `${CREATE_TORRENT}/bin/cmd.js`,
      data,
      '-o',
      output,
      '--pieceLength',
      String(pieceLength),
    ],
    inCI: true,
  },
  {
    name: 'mkbrr',
    versions: ['v1'],
    version: () => versionOf(['mkbrr', 'version'], /(\d+\.\d\S*)/),
    command: ({ data, output, pieceLength }) => ['mkbrr', 'create', data, '-l', exponent(pieceLength), '-o', output],
    inCI: false,
  },
  {
    name: 'torrenttools',
    versions: VERSIONS,
    version: () => versionOf(['torrenttools', '--version'], /(\d+\.\d\S*)/),
    command: ({ version, data, output, pieceLength, threads }) => [
      ...['torrenttools', 'create', '-v', version.replace('v', ''), '-l', `${kibibytes(pieceLength)}K`],
      ...['-t', String(threads), '-o', output, data],
    ],
    inCI: false,
  },
  {
    name: 'imdl',
    versions: ['v1'],
    version: () => versionOf(['imdl', '--version'], /(\d+\.\d\S*)/),
    command: ({ data, output, pieceLength }) => [
      ...['imdl', 'torrent', 'create', '--input', data, '--output', output],
      ...['--piece-length', `${kibibytes(pieceLength)}KiB`],
    ],
    inCI: false,
  },
];
