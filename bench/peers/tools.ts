// The peers: the tools that make torrents, the versions that each can make, and the command that uses every core.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Limits } from '../../src/bencode/limits.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
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
  /** `.ci/run` does not install it. */
  isRare: boolean;
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

/** A tool, by the words that its command begins with and two lines: one prints its version, one makes a torrent. */
interface Lines {
  name: string;
  versions?: readonly Version[];
  isRare?: boolean;
  /** Or a function that finds out the version. */
  asks: string | Tool['version'];
  /** Spaces separate the words, and {NAME} stands for a value. */
  makes: string;
}

function wordsOf(line: string, job?: Job): string[] {
  const values: Record<string, string | number> = {
    node: process.execPath,
    metainfo: METAINFO,
    python: python(),
    script: here('with_libtorrent.py'),
    libtorrent,
    createTorrent: `${CREATE_TORRENT}/bin/cmd.js`,
    ...(job && { ...job, digit: job.version.replace('v', '') }),
    ...(job && { kib: job.pieceLength / 1024, exponent: Math.log2(job.pieceLength) }),
  };
  return line.split(' ').map((word) => word.replace(/\{(\w+)\}/, (_, key: string) => String(values[key])));
}

const LINES: readonly Lines[] = [
  {
    name: OURS,
    versions: VERSIONS,
    asks: '{node} {metainfo} --version',
    makes:
      '{node} {metainfo} create -k {version} --piece-length {kib}KiB --threads {threads} --quiet -o {output} {data}',
  },
  { name: 'mktorrent', asks: 'mktorrent -h', makes: 'mktorrent -l {exponent} -t {threads} -o {output} {data}' },
  // It has one thread, and no option for more.
  {
    name: 'transmission-create',
    asks: 'transmission-create --version',
    makes: 'transmission-create -s {kib} -o {output} {data}',
  },
  {
    name: 'libtorrent, Python',
    versions: VERSIONS,
    asks: () => askPython(python()),
    makes: '{python} {script} {version} {pieceLength} {output} {data}',
  },
  {
    name: 'libtorrent, C++',
    versions: VERSIONS,
    isRare: true,
    asks: compileLibtorrent,
    makes: '{libtorrent} {version} {pieceLength} {threads} {output} {data}',
  },
  // It hashes on the threads of WebCrypto, and has no option for their number.
  {
    name: 'create-torrent',
    asks: () => (JSON.parse(readFileSync(`${CREATE_TORRENT}/package.json`, 'utf8')) as { version: string }).version,
    makes: '{node} {createTorrent} {data} -o {output} --pieceLength {pieceLength}',
  },
  { name: 'mkbrr', isRare: true, asks: 'mkbrr version', makes: 'mkbrr create {data} -l {exponent} -o {output}' },
  {
    name: 'torrenttools',
    versions: VERSIONS,
    isRare: true,
    asks: 'torrenttools --version',
    makes: 'torrenttools create -v {digit} -l {kib}K -t {threads} -o {output} {data}',
  },
  {
    name: 'imdl',
    isRare: true,
    asks: 'imdl --version',
    makes: 'imdl torrent create --input {data} --output {output} --piece-length {kib}KiB',
  },
];

const TOOLS: readonly Tool[] = LINES.map(({ name, versions = ['v1'], isRare = false, asks, makes }) => ({
  name,
  versions,
  isRare,
  version: typeof asks === 'string' ? () => versionOf(wordsOf(asks), /(?:^|[ v])(\d+\.\d\S*)/m) : asks,
  command: (job) => wordsOf(makes, job),
}));

/** The tools of these names that are installed, the versions of the peers among them, and which tools are missing. */
export function installed(folder: string, names: readonly string[] = TOOLS.map(({ name }) => name)) {
  const versions: Record<string, string> = {};
  const skipped: string[] = [];
  const tools = TOOLS.filter((tool) => {
    if (!names.includes(tool.name)) return false;
    const version = tool.version(folder);
    if (version !== null && tool.name !== OURS) versions[tool.name] = version;
    if (version !== null) return true;
    if (!tool.isRare && process.env['CI']) throw new Error(`${tool.name} is not installed, and CI leaves out nothing`);
    skipped.push(`${tool.name} is not installed`);
    return false;
  });
  return { tools, versions, skipped };
}

/** The command that runs a Python program of this folder with libtorrent. */
export const pythonCommand = (script: string): string[] => [python(), here(script)];

/** Fails if a tool made another torrent than it should, because its time would mean nothing. */
export async function requireTorrent(
  { tool, version }: { tool: string; version: Version },
  { output, bytes, pieceLength, limits }: { output: string; bytes: number; pieceLength: number; limits?: Limits },
): Promise<void> {
  const context = { profile: 'compat' } as const;
  const { torrentVersion, totalSize, info } = await Torrent.read(output, { context, limits });
  const made = `${torrentVersion}, ${totalSize} bytes, pieces of ${info.pieceLength}`;
  const expected = `${version}, ${bytes} bytes, pieces of ${pieceLength}`;
  if (made !== expected) throw new Error(`${tool} made ${made}; expected ${expected}`);
}
