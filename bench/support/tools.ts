// The tools that make torrents, ours among them: the versions that each can make, and the command that uses every core.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Limits } from '../../src/bencode/limits.ts';
import { Torrent } from '../../src/model/torrent/torrent.ts';
import { METAINFO, VERSIONS, type Version } from './measure.ts';

export const OURS = 'metainfo';
export const LIBTORRENT = 'libtorrent, C++';
export const LIBTORRENT_PYTHON = 'libtorrent, Python';

/**
 * Each tool as two command lines, of which one prints its version and one makes a torrent: spaces separate the words, and
 * {NAME} stands for a value. Tools whose command takes no {version} make v1 only.
 */
const TOOLS: Record<string, [asks: string, makes: string]> = {
  [OURS]: [
    '{node} {metainfo} --version',
    '{node} {metainfo} create -k {version} --piece-length {kib}KiB --threads {threads} --quiet -o {output} {data}',
  ],
  mktorrent: ['mktorrent -h', 'mktorrent -l {exponent} -t {threads} -o {output} {data}'],
  // It has one thread, and no option for more.
  'transmission-create': ['transmission-create --version', 'transmission-create -s {kib} -o {output} {data}'],
  [LIBTORRENT_PYTHON]: ['{python} {script}', '{python} {script} {version} {pieceLength} {output} {data}'],
  [LIBTORRENT]: ['{libtorrent}', '{libtorrent} {version} {pieceLength} {threads} {output} {data}'],
  // It hashes on the threads of WebCrypto, and has no option for their number. It exports neither its command nor its version.
  'create-torrent': [
    `{node} -p JSON.parse(fs.readFileSync('{createTorrent}/package.json')).version`,
    '{node} {createTorrent}/bin/cmd.js {data} -o {output} --pieceLength {pieceLength}',
  ],
};

interface Job {
  version: Version;
  /** The file or folder, absolute. */
  data: string;
  output: string;
  pieceLength: number;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
/** Debian's Python has python3-libtorrent. */
const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';

/** The command that runs with_libtorrent.py. */
export const pythonCommand = (...args: string[]): string[] => [PYTHON, here('with_libtorrent.py'), ...args];

/** The tools of these names that are installed, the versions of the peers among them, and the tools that are missing. */
export function installed(folder: string, names: readonly string[] = Object.keys(TOOLS)) {
  const libtorrent = path.join(folder, 'libtorrent');
  // libtorrent's ABI depends on macros that pkg-config knows.
  const compile = `c++ -std=c++17 -O2 $(pkg-config --cflags libtorrent-rasterbar) -o '${libtorrent}' '${here('with_libtorrent.cc')}' -ltorrent-rasterbar`;
  if (names.includes(LIBTORRENT)) spawnSync(compile, { shell: true });
  const fixed = {
    node: process.execPath,
    metainfo: METAINFO,
    python: PYTHON,
    script: here('with_libtorrent.py'),
    libtorrent,
    createTorrent: here('../../node_modules/create-torrent'),
    threads: availableParallelism(),
  };
  const words = (line: string, more: object = {}): string[] => {
    const values: Record<string, unknown> = { ...fixed, ...more };
    return line.split(' ').map((word) => word.replace(/\{(\w+)\}/g, (_, key: string) => String(values[key])));
  };
  const versions: Record<string, string> = {};
  const skipped: string[] = [];
  const tools = names.flatMap((name) => {
    const [asks, makes] = TOOLS[name] as [string, string];
    const version = versionOf(words(asks));
    if (version === null && process.env['CI']) throw new Error(`${name} is not installed, and CI leaves out nothing`);
    if (version === null) skipped.push(`${name} is not installed`);
    // Ours is in every entry of the results.
    else if (name !== OURS) versions[name] = version;
    const made: readonly Version[] = makes.includes('{version}') ? VERSIONS : ['v1'];
    /** The command that makes a torrent; the output does not exist yet. */
    const command = (job: Job) =>
      words(makes, { ...job, kib: job.pieceLength / 1024, exponent: Math.log2(job.pieceLength) });
    return version === null ? [] : [{ name, versions: made, command }];
  });
  return { tools, versions, skipped };
}

/** The version that a command prints; null when it is not installed or prints none. */
function versionOf([command = '', ...args]: readonly string[]): string | null {
  const { error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return error ? null : (/(?:^|[ v=])(\d+\.\d\S*)/m.exec(`${stdout}\n${stderr}`)?.[1] ?? null);
}

/** Fails if a tool made another torrent than it should, because its time would mean nothing. */
export async function requireTorrent(
  tool: string,
  expected: { version: Version; output: string; bytes: number; pieceLength: number; limits?: Limits },
): Promise<void> {
  const { version, output, bytes, pieceLength, limits } = expected;
  const { torrentVersion, totalSize, info } = await Torrent.read(output, { context: { profile: 'compat' }, limits });
  const made = `${torrentVersion}, ${totalSize} bytes, pieces of ${info.pieceLength}`;
  const wanted = `${version}, ${bytes} bytes, pieces of ${pieceLength}`;
  if (made !== wanted) throw new Error(`${tool} made ${made}; expected ${wanted}`);
}
