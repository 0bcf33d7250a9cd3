// Fuzzes the command in this process: with any arguments and torrents it ends with a documented exit code and without a stack.
// An input is a list: the torrent `a.torrent`, then the arguments.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { CommanderError } from 'commander';
import { BencodeError } from '../src/bencode/bencode-error.ts';
import { decode } from '../src/bencode/decode.ts';
import { LimitError } from '../src/bencode/limits.ts';
import { exitCodeOf } from '../src/cli/exit.ts';
import { program } from '../src/cli/program.ts';
import { TorrentCreate } from '../src/create/draft.ts';
import { MetainfoError } from '../src/errors/errors.ts';
import { bencode, Raw } from '../test/support/build.ts';
import { scan } from '../test/support/scan.ts';
import { fixtures, type Target, TORRENT_WORDS } from './engine/target.ts';
import { CONTROL } from './torrent.ts';

/** A folder several levels deep, so that arguments with `..` stay below the scratch folder. */
const folder = path.join(mkdtempSync(path.join(tmpdir(), 'metainfo-fuzz-')), '1', '2', '3');
// Not the user's cache.
process.env['XDG_CACHE_HOME'] = path.resolve(folder, '../cache');
process.once('exit', () => rmSync(path.resolve(folder, '../../..'), { recursive: true, force: true }));

/** Changes an argument so that it stays in the folder: it could name a file to overwrite, or a device that never ends. */
const confined = (text: string) =>
  text
    .replaceAll('\0', '')
    .replace(/(?<![:/])\//g, '_')
    .replaceAll('..', '._');

// No input may reach the network.
globalThis.fetch = async () => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('no network'), { code: 'ENOTFOUND' }) });
};

/** Standard input is `a.torrent`, whatever this process has there. */
function pipe(torrent: Uint8Array): void {
  const value = Readable.from([Buffer.from(torrent)], { objectMode: false });
  Object.defineProperty(process, 'stdin', { configurable: true, value });
}

const ALBUM: [name: string, data: Buffer][] = [
  ['a', Buffer.from('aaaaa')],
  ['b', Buffer.alloc(20_000, 'b')],
];

interface Ran {
  code: number;
  error: unknown;
  stdout: string;
  /** Whether commander found --json. */
  json: boolean;
  stderr: string;
}

async function run(args: readonly string[]): Promise<Ran> {
  const [out, err] = [process.stdout.write, process.stderr.write];
  const { argv, exitCode } = process;
  const cwd = process.cwd();
  const ran: Ran = { code: 0, error: null, stdout: '', json: false, stderr: '' };
  const into = (name: 'stdout' | 'stderr') => (text: string | Uint8Array) => {
    ran[name] += text;
    return true;
  };
  process.stdout.write = into('stdout') as typeof out;
  process.stderr.write = into('stderr') as typeof err;
  process.argv = ['node', 'metainfo', ...args];
  process.exitCode = 0;
  process.chdir(folder);
  try {
    const command = await program();
    command.hook('preAction', (_, action) => {
      ran.json = action.opts()['json'] === true;
    });
    await command.parseAsync(args, { from: 'user' });
    ran.code = Number(process.exitCode);
  } catch (error) {
    ran.error = error;
    ran.code = error instanceof CommanderError ? Math.min(error.exitCode, 1) * 2 : await exitCodeOf(error, ran.json);
  } finally {
    process.chdir(cwd);
    process.argv = argv;
    process.exitCode = exitCode;
    process.stdout.write = out;
    process.stderr.write = err;
  }
  return ran;
}

export const check: Target['check'] = async (input) => {
  try {
    decode(input, { tolerant: true });
  } catch (error) {
    if (error instanceof BencodeError || error instanceof LimitError) return;
    throw error;
  }
  const [torrent, ...rest] = scan(input).entries.map(([, { start, end }]) => input.subarray(start, end));
  if (!torrent) return;
  const args = rest.flatMap((one) => {
    const { value } = decode(one, { tolerant: true });
    return value instanceof Uint8Array ? [confined(Buffer.from(value).toString('utf8'))] : [];
  });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(path.join(folder, 'album'), { recursive: true });
  writeFileSync(path.join(folder, 'a.torrent'), torrent);
  for (const [name, data] of ALBUM) writeFileSync(path.join(folder, 'album', name), data);

  pipe(torrent);
  const { code, error, stdout, stderr, json } = await run(args);
  const documented = error === null || error instanceof MetainfoError || error instanceof CommanderError;
  if (!documented) throw error;
  assert.ok([0, 1, 2].includes(code), `exit code ${code}`);
  if (error !== null && !(error instanceof CommanderError)) assert.notEqual(code, 0);
  assert.doesNotMatch(stderr, /^\s+at .*:\d+/m);
  if (json) for (const line of stdout.split('\n').slice(0, -1)) JSON.parse(line);
  // The user's own arguments may be printed unchanged; text of a torrent must be escaped.
  if (!args.some((text) => CONTROL.test(text))) assert.doesNotMatch(`${stdout}${stderr}`.replaceAll('\n', ''), CONTROL);
};

const VALUES = [
  ...[
    'a.torrent',
    'album',
    'none',
    '-',
    '--',
    '1',
    '0',
    '16KiB',
    '1MiB',
    'auto',
    'v1',
    'v2',
    'hybrid',
    'now',
    'strict',
  ],
  ...[
    'ignore',
    'http://a.example',
    'https://a.example?x',
    'udp://b.example:1',
    'h:1',
    'k=v',
    'info.k=v',
    '01'.repeat(20),
    'x.torrent',
    '*.txt',
  ],
  ...[
    '2020-01-01',
    '-1',
    '99999999999999999999',
    'bash',
    'zsh',
    'fish',
    'link',
    `magnet:?xt=urn:btih:${'1'.repeat(40)}`,
  ],
];

export const seeds: Target['seeds'] = async () => {
  const commands = (await program()).commands.map((command) => ({
    name: command.name(),
    options: command.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag != null)),
  }));
  words.push(...commands.flatMap(({ name, options }) => [name, ...options]));
  const sources = ALBUM.map(([name, data]) => ({ path: name, data }));
  const right = await Promise.all(
    (['v1', 'v2', 'hybrid'] as const).map((version) =>
      new TorrentCreate({ info: { name: 'album' }, sources }).generate({ version }),
    ),
  );
  const torrents = [...right.map((torrent) => Buffer.from(torrent.bencode())), ...(await fixtures())];
  const lines = [
    ...[
      'show a.torrent',
      'show -vvv a.torrent',
      'show --json --compat a.torrent',
      'validate a.torrent',
      'magnet a.torrent',
    ],
    ...[
      'validate --json a.torrent',
      'verify a.torrent album',
      'verify --json --compat a.torrent album',
      'kernels',
      'cache',
    ],
    ...[
      'edit a.torrent --comment x',
      'edit --json --dry-run a.torrent --name n',
      'edit a.torrent -o x.torrent --no-date',
    ],
    ...['create album', 'create album --json', 'create album -o x.torrent --v1', 'update a.torrent album -o x.torrent'],
    ...[
      'upgrade a.torrent album -o x.torrent',
      'completion bash',
      '--help',
      'create --help',
      `magnet ${VALUES.at(-1)}`,
    ],
    ...commands.flatMap(({ name, options }) => options.map((option) => `${name} a.torrent ${option}`)),
  ];
  const pairs = [
    ...lines.map((line, i) => [line, torrents[i % 3]] as const),
    ...torrents.map((torrent, i) => [lines[i % 14] as string, torrent] as const),
  ];
  return pairs.map(([line, torrent]) => bencode([new Raw(torrent as Buffer), ...line.split(' ')]));
};
/** Until the commands are known: {@link seeds} adds their words. */
export const words: string[] = [...TORRENT_WORDS, ...VALUES];
