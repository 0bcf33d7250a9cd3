/** Talks to Python processes that use libtorrent. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { PYTHON } from './external.ts';

export interface OracleAnswer {
  v1: string | null;
  v2: string | null;
  files: number;
  size: number;
}

/** Totals without pad files. */
export interface ContentAnswer extends OracleAnswer {
  /** Total size in bytes. */
  content: number;
  /** Number of files. */
  names: number;
}

/** The parameters that libtorrent reads from a magnet link. */
export interface MagnetAnswer {
  v1: string | null;
  v2: string | null;
  name: string;
  trackers: string[];
  webseeds: string[];
  peers: [host: string, port: number][];
  /** Priorities of the files, in order; 0 means not to download. Empty means to download all. */
  priorities: number[];
  /** The link. */
  link: string;
}

/** Nodes, similar torrents and collections that libtorrent reads from a torrent. */
export interface HintsAnswer {
  nodes: [host: string, port: number][];
  /** Infohashes of 20 bytes in hexadecimal. */
  similar: string[];
  collections: string[];
  httpseeds: string[];
  private: boolean;
}

/** The parameters that libtorrent reads from resume data. */
export interface ResumeAnswer {
  v1: string | null;
  v2: string | null;
  /** The folder in which the paths begin. */
  save: string;
  /** Whether it has each piece. */
  have: boolean[];
  trackers: string[];
  webseeds: string[];
  /** The path of each file in the torrent, with its root; null for a pad file. Null if the resume data has no info dictionary. */
  paths: (string | null)[] | null;
  /** File indexes and other paths for them. */
  renamed: [index: number, path: string][];
  seconds: number;
  paused: boolean;
}

export interface CreateRequest {
  /** The parent of the torrent's folder or single file. */
  root: string;
  /** Paths from `root` with `/`, and sizes, in the order of the torrent. */
  files: [path: string, size: number][];
  pieceLength: number;
  version: 'v1' | 'v2' | 'hybrid';
}

export interface MakeRequest {
  /** Absolute paths of the content and of the torrent file to write. */
  make: string;
  output: string;
  pieceLength: number;
  version: 'v1' | 'v2' | 'hybrid';
  /** Flags of `create_torrent`, by name. */
  flags: readonly string[];
}

/** A Python process with libtorrent that answers one JSON request per line. */
export class LibtorrentProcess {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(name: string) {
    const script = fileURLToPath(new URL(name, import.meta.url));
    // -W ignore hides deprecation warnings of the Python binding.
    this.#process = spawn(PYTHON, ['-W', 'ignore', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  async close(): Promise<void> {
    (this.#process.stdin as Writable).end();
    await once(this.#process, 'exit');
  }

  protected ask<T>(request: object): Promise<T> {
    (this.#process.stdin as Writable).write(`${JSON.stringify(request)}\n`);
    return this.answer();
  }

  protected async answer<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('libtorrent: the process ended');
    const answer = JSON.parse(value as string) as T & { error?: string };
    if (answer.error) throw new Error(`libtorrent: ${answer.error}`);
    return answer;
  }

  /** Kills the process. */
  protected async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, 'exit');
  }
}

/** Makes and reads torrents with libtorrent; see libtorrent-oracle.py. */
export class LibtorrentOracle extends LibtorrentProcess {
  constructor() {
    super('libtorrent-oracle.py');
  }

  create(request: CreateRequest): Promise<OracleAnswer> {
    return this.ask(request);
  }

  /** Writes a torrent of files on disk, which libtorrent finds and orders itself. */
  make(request: MakeRequest): Promise<OracleAnswer> {
    return this.ask(request);
  }

  /** Returns the file list with pad files for paths and sizes; the files need not exist. */
  async pads(
    files: readonly [path: string, size: number][],
    options: { pieceLength: number; tailPad: boolean },
  ): Promise<[path: string, size: number][]> {
    return (await this.ask<{ list: [string, number][] }>({ pads: files, ...options })).list;
  }

  async version(): Promise<string> {
    return (await this.ask<{ version: string }>({ libtorrentVersion: true })).version;
  }

  load(file: string): Promise<OracleAnswer> {
    return this.ask({ load: file });
  }

  /** Loads many torrents; each answer is a result or the reason of the refusal. */
  async loadAll(torrents: readonly Uint8Array[], scratch: string): Promise<(ContentAnswer | { error: string })[]> {
    const file = path.join(scratch, 'all');
    const sizes = torrents.map(({ length }) => {
      const size = Buffer.alloc(4);
      size.writeUInt32BE(length);
      return size;
    });
    await writeFile(file, Buffer.concat(torrents.flatMap((torrent, i) => [sizes[i] as Buffer, torrent])));
    return (await this.ask<{ all: (ContentAnswer | { error: string })[] }>({ loadAll: file })).all;
  }

  hints(file: string): Promise<HintsAnswer> {
    return this.ask({ hints: file });
  }

  /** Makes a magnet link of a torrent file and parses it. */
  magnet(file: string): Promise<MagnetAnswer> {
    return this.ask({ magnet: file });
  }

  resume(file: string): Promise<ResumeAnswer> {
    return this.ask({ resume: file });
  }

  /** The paths that libtorrent has for the files of a torrent. */
  async names(torrent: Uint8Array): Promise<string[]> {
    const answer: { names: string[] } = await this.ask({ names: Buffer.from(torrent).toString('hex') });
    return answer.names;
  }

  parseMagnet(link: string): Promise<MagnetAnswer> {
    return this.ask({ parseMagnet: link });
  }
}
