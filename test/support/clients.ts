/** Starts BitTorrent clients for tests, only on 127.0.0.1, and makes the torrents that they share. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Torrent } from '../../src/index.ts';
import { metainfoProcess } from '../cli/run.ts';
import { client, clientMissing, libtorrentMissing, otherPrograms } from './external.ts';
import { freePort } from './free-port.ts';
import { content } from './generated.ts';
import type { Tried } from './interop.ts';
import { LibtorrentProcess } from './libtorrent.ts';
import { temporaryFolder, writeTree } from './tree.ts';

const KIB = 1024;
export const VERSIONS = ['v1', 'v2', 'hybrid'] as const;
export type Version = Tried['torrentVersion'];

/** The time limit of every wait: far longer than any takes, even on a busy machine. */
const PATIENCE_SECONDS = 60;
/** The time limit of a test. It is longer than that of a wait, whose message says more. */
export const TEST_TIMEOUT = 2 * PATIENCE_SECONDS * 1000;

/** Collects the cleanup of a test. */
export interface Scope {
  after(work: () => Promise<void>): void;
}

/** Cleans up in reverse order, so that programs end before their folders are removed. */
export function scopeOf(t: TestContext): Scope {
  const works: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const work of works.toReversed()) await work();
  });
  return { after: (work) => works.push(work) };
}

/** Polls until a condition is met. */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  log: () => Promise<string> | string,
): Promise<void> {
  const end = performance.now() + PATIENCE_SECONDS * 1000;
  while (!(await isSo())) {
    if (performance.now() > end) assert.fail(`${what}: not within ${PATIENCE_SECONDS} s\n${await log()}`);
    await sleep(50);
  }
}

/** Whether a program listens on a port. */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const connected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return connected;
}

/** A torrent that the command made, and its content. */
export interface Shared {
  torrentVersion: Version;
  torrent: Torrent;
  file: string;
  /** The parent of the content's folder. */
  parent: string;
  /** Makes a folder to download to. */
  newFolder(): Promise<string>;
}

const PIECE_LENGTH = 32 * KIB;
const FILES = {
  empty: 0,
  exact: PIECE_LENGTH,
  'folder of café/large & more': 96 * PIECE_LENGTH + 7,
  'one more': PIECE_LENGTH + 1,
  tiny: 5,
};

/** Makes content and a torrent of it with `metainfo create`; `sizes` has the size of each file by its path. */
export async function share(
  scope: Scope,
  torrentVersion: Version,
  args: readonly string[] = [],
  sizes: Readonly<Record<string, number>> = FILES,
): Promise<Shared> {
  const cwd = await temporaryFolder(scope);
  const files = Object.entries(sizes).map(([name, bytes], i) => [`seed/content/${name}`, content(bytes, i)]);
  await writeTree(cwd, Object.fromEntries(files));
  const made = [
    'create',
    '-k',
    torrentVersion,
    '--piece-length',
    `${PIECE_LENGTH / KIB}KiB`,
    '-o',
    'x.torrent',
    ...args,
  ];
  const { code, stderr } = await metainfoProcess([...made, 'seed/content'], { cwd });
  assert.equal(code, 0, stderr);
  const file = path.join(cwd, 'x.torrent');
  let folders = 0;
  return {
    torrentVersion,
    torrent: await Torrent.read(file),
    file,
    parent: path.join(cwd, 'seed'),
    newFolder: async () => {
      folders += 1;
      const folder = path.join(cwd, String(folders));
      await mkdir(folder);
      return folder;
    },
  };
}

async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort();
  const read = names.map(async (name) => [path.relative(folder, name), await readFile(name)] as const);
  return new Map(await Promise.all(read));
}

/** Asserts that a download has exactly the files of the content, byte for byte. */
export async function assertWhole({ parent }: Shared, folder: string): Promise<void> {
  const summary = async (root: string) => {
    const files = await filesOf(path.join(root, 'content'));
    // Clients without support of pad files (BEP 47) write them too.
    const pads = [...files].filter(([name]) => name.startsWith('.pad/'));
    for (const [name, bytes] of pads) {
      assert.ok(bytes.equals(Buffer.alloc(bytes.length)), name);
      files.delete(name);
    }
    return [...files].map(([name, bytes]) => [name, bytes.length, createHash('sha256').update(bytes).digest('hex')]);
  };
  const expected = await summary(parent);
  assert.ok(expected.length > 0);
  assert.deepEqual(await summary(folder), expected);
}

/** A client with one torrent. */
export interface Peer {
  /** The name of the client in docs/interop.md. */
  client: string;
  version: string;
  /** The port where it listens for peers. */
  port: number;
  /** Whether it has downloaded everything and written it to the files. */
  isDone(): Promise<boolean>;
  /** Returns its log, for the message of a failure. */
  log(): Promise<string>;
}

const logs = async (peers: readonly Peer[]) =>
  (await Promise.all(peers.map(async (peer) => `--- ${peer.client}, port ${peer.port}\n${await peer.log()}`))).join(
    '\n',
  );

/** Waits until all peers are done. */
export const done = (peers: readonly Peer[], others: readonly Peer[] = []): Promise<void> =>
  until(
    'downloads',
    async () => (await Promise.all(peers.map((peer) => peer.isDone()))).every(Boolean),
    () => logs([...peers, ...others]),
  );

/** Lets a seed connect to peers until they are done. It retries, because a peer may not have added the torrent yet. */
export const feed = (seed: Libtorrent, peers: readonly Peer[]): Promise<void> =>
  until(
    'downloads from the seed',
    async () => {
      for (const { port } of peers) await seed.connect(port);
      return (await Promise.all(peers.map((peer) => peer.isDone()))).every(Boolean);
    },
    () => logs([seed, ...peers]),
  );

interface LibtorrentStatus {
  done: boolean;
  /** The state in words. */
  state: string;
  /** The share of the content that it has, from 0 to 1; null while it checks the resume data or the files. */
  progress: number | null;
  /** Bytes of content downloaded in this session. */
  downloaded: number;
  v1: string | null;
  v2: string | null;
  /** The info dictionary in hexadecimal; null until it is downloaded. */
  info: string | null;
}

/** A libtorrent session; see libtorrent-session.py. */
export class Libtorrent extends LibtorrentProcess implements Peer {
  readonly client = 'libtorrent';
  version = '';
  port = 0;

  /** Starts a session; `torrent` is the path of a torrent file, or a magnet link. */
  static async start(scope: Scope, torrent: string, folder: string): Promise<Libtorrent> {
    const session = new Libtorrent('libtorrent-session.py');
    scope.after(() => session.kill());
    Object.assign(session, await session.answer<{ version: string; port: number }>());
    await session.ask({ torrent, save: folder });
    return session;
  }

  /** Starts a session with resume data and nothing else. */
  static async resume(scope: Scope, resumeData: string): Promise<Libtorrent> {
    const session = new Libtorrent('libtorrent-session.py');
    scope.after(() => session.kill());
    Object.assign(session, await session.answer<{ version: string; port: number }>());
    await session.ask({ resume: resumeData });
    return session;
  }

  /** Starts a session that has all content and has checked it. */
  static async seed(scope: Scope, { file, parent }: Shared): Promise<Libtorrent> {
    const seed = await Libtorrent.start(scope, file, parent);
    await done([seed]);
    assert.equal((await seed.status()).downloaded, 0);
    return seed;
  }

  connect(port: number): Promise<object> {
    return this.ask({ connect: port });
  }

  status(): Promise<LibtorrentStatus> {
    return this.ask({ status: true });
  }

  async isDone(): Promise<boolean> {
    return (await this.status()).done;
  }

  async log(): Promise<string> {
    const { log } = await this.ask<{ log: string[] }>({ log: true });
    return [(await this.status()).state, ...log].join('\n');
  }
}

/** A running program and its output. */
export class Program {
  readonly #process: ChildProcess;
  #output = '';

  constructor(scope: Scope, name: string, args: readonly string[], env: Record<string, string> = {}) {
    const child = spawn(client(name), args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...otherPrograms(), ...env } });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output = `${this.#output}${text}`.slice(-20_000);
      });
    }
    scope.after(async () => {
      child.kill('SIGKILL');
      if (!this.hasEnded) await once(child, 'exit');
    });
  }

  get hasEnded(): boolean {
    return this.exitCode !== null || this.#process.signalCode !== null;
  }

  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  async log(): Promise<string> {
    return this.#output;
  }

  /** Waits until the program is ready. */
  async ready(isReady: () => Promise<boolean>): Promise<void> {
    const isSo = async () => {
      if (this.hasEnded) assert.fail(`it ended:\n${this.#output}`);
      return isReady().catch(() => false);
    };
    await until('start of a client', isSo, () => this.#output);
  }
}

const versionOf = (name: string, pattern: RegExp): string => {
  const { stdout, stderr } = spawnSync(client(name), ['--version'], { encoding: 'utf8' });
  return pattern.exec(`${stdout}${stderr}`)?.[1] ?? assert.fail(`${name} does not print its version`);
};

export const aria2Version = (): string => versionOf('aria2c', /aria2 version (\S+)/);

/** aria2c with a torrent; it exits when the download is complete. */
export class Aria2 extends Program implements Peer {
  readonly client = 'aria2';
  readonly version = aria2Version();
  readonly port: number;

  private constructor(scope: Scope, port: number, file: string, folder: string, args: readonly string[]) {
    super(scope, 'aria2c', [
      ...['--no-conf', '--enable-color=false', '--console-log-level=info', '--summary-interval=0'],
      ...['--enable-dht=false', '--enable-dht6=false', '--enable-peer-exchange=false', '--bt-enable-lpd=false'],
      ...['--interface=127.0.0.1', `--listen-port=${port}`, '--file-allocation=none', ...args],
      ...[`--stop-with-process=${process.pid}`, `--dir=${folder}`, file],
    ]);
    this.port = port;
  }

  static async start(scope: Scope, file: string, folder: string): Promise<Aria2> {
    return new Aria2(scope, await freePort(), file, folder, ['--seed-time=0']);
  }

  /** Checks the files on disk and returns whether all pieces are correct. */
  static async check(scope: Scope, file: string, folder: string): Promise<boolean> {
    const checks = ['--check-integrity=true', '--hash-check-only=true'];
    const aria2 = new Aria2(scope, await freePort(), file, folder, checks);
    await until(
      'the check of aria2',
      async () => aria2.hasEnded,
      () => aria2.log(),
    );
    return aria2.exitCode === 0;
  }

  async isDone(): Promise<boolean> {
    if (this.hasEnded) assert.equal(this.exitCode, 0, await this.log());
    return this.hasEnded;
  }
}

interface TransmissionTorrent {
  leftUntilDone: number;
  /** 6 means seeding. */
  status: number;
  errorString: string;
}

/** transmission-daemon with a torrent. */
export class Transmission extends Program implements Peer {
  readonly client = 'Transmission';
  version = '';
  readonly port: number;
  /** The address of its RPC. */
  readonly rpc: string;
  #session = '';

  private constructor(scope: Scope, config: string, port: number, rpcPort: number) {
    super(scope, 'transmission-daemon', ['--foreground', '--log-level=debug', `--config-dir=${config}`]);
    this.port = port;
    this.rpc = `http://127.0.0.1:${rpcPort}/transmission/rpc`;
  }

  static async start(scope: Scope, file: string, folder: string): Promise<Transmission> {
    const daemon = await Transmission.startEmpty(scope);
    await daemon.#ask('torrent-add', { metainfo: await readFile(file, 'base64'), 'download-dir': folder });
    return daemon;
  }

  /** Starts it without a torrent. */
  static async startEmpty(scope: Scope): Promise<Transmission> {
    const config = await temporaryFolder(scope);
    const port = await freePort();
    const rpcPort = await freePort();
    const settings = {
      'bind-address-ipv4': '127.0.0.1',
      'bind-address-ipv6': '::1',
      // Without a cache, downloaded data is in the files at once.
      'cache-size-mb': 0,
      'dht-enabled': false,
      'lpd-enabled': false,
      'peer-port': port,
      'pex-enabled': false,
      'port-forwarding-enabled': false,
      'rpc-bind-address': '127.0.0.1',
      'rpc-port': rpcPort,
      'utp-enabled': false,
    };
    await writeFile(path.join(config, 'settings.json'), JSON.stringify(settings));
    const daemon = new Transmission(scope, config, port, rpcPort);
    await daemon.ready(async () => (await daemon.#ask('session-get')) !== undefined && (await answers(port)));
    daemon.version = (await daemon.#ask<{ version: string }>('session-get')).version.split(' ')[0] as string;
    return daemon;
  }

  async isDone(): Promise<boolean> {
    const fields = ['leftUntilDone', 'status', 'errorString'];
    const [torrent] = (await this.#ask<{ torrents: TransmissionTorrent[] }>('torrent-get', { fields })).torrents;
    assert.equal(torrent?.errorString, '', await this.log());
    return torrent?.leftUntilDone === 0 && torrent.status === 6;
  }

  /** Returns the share of the content that it has, from 0 to 1; null while it checks the files on disk. */
  async progress(): Promise<number | null> {
    const { torrents } = await this.#ask<{ torrents: { status: number; percentDone: number }[] }>('torrent-get', {
      fields: ['status', 'percentDone'],
    });
    const [torrent] = torrents;
    // 1 and 2: queued for checking, and checking.
    return torrent && torrent.status > 2 ? torrent.percentDone : null;
  }

  /** Returns the trackers of its torrent, one per line, with an empty line between tiers. */
  async trackers(): Promise<string> {
    const { torrents } = await this.#ask<{ torrents: { trackerList: string }[] }>('torrent-get', {
      fields: ['trackerList'],
    });
    return torrents[0]?.trackerList ?? '';
  }

  async #ask<T>(method: string, args: object = {}): Promise<T> {
    const headers = { 'X-Transmission-Session-Id': this.#session };
    const response = await fetch(this.rpc, {
      method: 'POST',
      headers,
      body: JSON.stringify({ method, arguments: args }),
    });
    const text = await response.text();
    if (response.status === 409) {
      this.#session = response.headers.get('X-Transmission-Session-Id') as string;
      return this.#ask(method, args);
    }
    const answer = JSON.parse(text) as { result: string; arguments: T };
    assert.equal(answer.result, 'success', text);
    return answer.arguments;
  }
}

/** How to start each client with a torrent file and an empty folder, and why its tests skip. */
export const CLIENTS = {
  libtorrent: { start: Libtorrent.start, skip: libtorrentMissing() },
  Transmission: { start: Transmission.start, skip: clientMissing('transmission-daemon') },
  aria2: { start: Aria2.start, skip: clientMissing('aria2c') },
};
