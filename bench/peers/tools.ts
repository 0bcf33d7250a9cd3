// The peers: the tools that make torrents, the versions that each can make, and the command that uses every core.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { METAINFO, VERSIONS, type Version, versionOf } from '../support/measure.ts';

/** Our own command among the tools. */
export const OURS = 'metainfo';

interface Job {
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
  /** The version of the tool, or null where it is not installed. `folder` is for a program that has to be compiled. */
  version: (folder: string) => string | null;
  /** Makes a torrent; the output does not exist yet. */
  command: (job: Job) => string[];
  /** `.ci/run` installs it, so that it must not be missing there. */
  inCI: boolean;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Debian's Python comes first, because it is the one that has python3-libtorrent. */
const PYTHONS = ['/usr/bin/python3', 'python3'];
const askPython = (python: string) =>
  versionOf([python, '-c', 'import libtorrent; print(libtorrent.__version__)'], /^(\d\S*)/m);
const python = () => PYTHONS.find((name) => askPython(name) !== null) ?? '';

/** with_libtorrent.cc, compiled. */
let libtorrent = '';

/** Null where the headers or a compiler are not installed. */
function compileLibtorrent(folder: string): string | null {
  libtorrent = path.join(folder, 'libtorrent');
  const args = ['-std=c++17', '-O2', '-o', libtorrent, here('with_libtorrent.cc'), '-ltorrent-rasterbar'];
  // libtorrent's ABI depends on macros that pkg-config knows.
  const { stdout } = spawnSync('pkg-config', ['--cflags', 'libtorrent-rasterbar'], { encoding: 'utf8' });
  const { status } = spawnSync('c++', [...(stdout ?? '').trim().split(/\s+/).filter(Boolean), ...args]);
  return status === 0 ? versionOf([libtorrent], /libtorrent (\S+)/) : null;
}

/** The package exports neither its command nor its version. */
const CREATE_TORRENT = here('../../node_modules/create-torrent');

/** A tool of one command line, in which spaces separate the words and {NAME} stands for a value. */
function tool(name: string, versions: readonly Version[], inCI: boolean, version: Tool['version'], line: string): Tool {
  const command = ({ version: made, data, output, pieceLength, threads }: Job) => {
    const values: Record<string, string | number> = {
      node: process.execPath,
      metainfo: METAINFO,
      python: python(),
      script: here('with_libtorrent.py'),
      libtorrent,
      createTorrent: `${CREATE_TORRENT}/bin/cmd.js`,
      version: made,
      digit: made.replace('v', ''),
      data,
      output,
      bytes: pieceLength,
      kib: pieceLength / 1024,
      exponent: Math.log2(pieceLength),
      threads,
    };
    return line.split(' ').map((word) => word.replace(/\{(\w+)\}/, (_, key: string) => String(values[key])));
  };
  return { name, versions, version, command, inCI };
}

export const TOOLS: readonly Tool[] = [
  tool(
    OURS,
    VERSIONS,
    true,
    () => versionOf([process.execPath, METAINFO, '--version'], /^(\d\S*)/m),
    '{node} {metainfo} create -k {version} --piece-length {kib}KiB --threads {threads} --quiet -o {output} {data}',
  ),
  tool(
    'mktorrent',
    ['v1'],
    true,
    () => versionOf(['mktorrent', '-h'], /mktorrent (\S+)/),
    'mktorrent -l {exponent} -t {threads} -o {output} {data}',
  ),
  // It has one thread, and no option for more.
  tool(
    'transmission-create',
    ['v1'],
    true,
    () => versionOf(['transmission-create', '--version'], /transmission-create (\S+)/),
    'transmission-create -s {kib} -o {output} {data}',
  ),
  tool(
    'libtorrent, Python',
    VERSIONS,
    true,
    () => askPython(python()),
    '{python} {script} {version} {bytes} {output} {data}',
  ),
  tool(
    'libtorrent, C++',
    VERSIONS,
    false,
    compileLibtorrent,
    '{libtorrent} {version} {bytes} {threads} {output} {data}',
  ),
  // It hashes on the threads of WebCrypto, and has no option for their number.
  tool(
    'create-torrent',
    ['v1'],
    true,
    () => (JSON.parse(readFileSync(`${CREATE_TORRENT}/package.json`, 'utf8')) as { version: string }).version,
    '{node} {createTorrent} {data} -o {output} --pieceLength {bytes}',
  ),
  tool(
    'mkbrr',
    ['v1'],
    false,
    () => versionOf(['mkbrr', 'version'], /(\d+\.\d\S*)/),
    'mkbrr create {data} -l {exponent} -o {output}',
  ),
  tool(
    'torrenttools',
    VERSIONS,
    false,
    () => versionOf(['torrenttools', '--version'], /(\d+\.\d\S*)/),
    'torrenttools create -v {digit} -l {kib}K -t {threads} -o {output} {data}',
  ),
  tool(
    'imdl',
    ['v1'],
    false,
    () => versionOf(['imdl', '--version'], /(\d+\.\d\S*)/),
    'imdl torrent create --input {data} --output {output} --piece-length {kib}KiB',
  ),
];
