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

/** The same without pad files. */
export interface ContentAnswer extends OracleAnswer {
  /** Bytes. */
  content: number;
  /** Files. */
  names: number;
}

/** What libtorrent reads from a magnet link. */
export interface MagnetAnswer {
  v1: string | null;
  v2: string | null;
  name: string;
  trackers: string[];
  webseeds: string[];
  peers: [host: string, port: number][];
  /** Of files from the first on: 0 is not wanted. Empty: all are. */
  priorities: number[];
  /** The link itself. */
  link: string;
}

/** Where else to look, as libtorrent reads it from a torrent. */
export interface HintsAnswer {
  nodes: [host: string, port: number][];
  /** In hexadecimal; none of 32 bytes. */
  similar: string[];
  collections: string[];
  httpseeds: string[];
  private: boolean;
}

export interface CreateRequest {
  /** The folder that the torrent's own folder (or single file) is in. */
  root: string;
  /** Path from `root` with `/`, and size; in the torrent's order. */
  files: [path: string, size: number][];
  pieceLength: number;
  version: 'v1' | 'v2' | 'hybrid';
}

export interface MakeRequest {
  /** The file or folder, and where its torrent goes; absolute. */
  make: string;
  output: string;
  pieceLength: number;
  version: 'v1' | 'v2' | 'hybrid';
  /** Flags of `create_torrent`, by name. */
  flags: readonly string[];
}

/** libtorrent in a process of its own, which answers a request a line. */
export class LibtorrentProcess {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(name: string) {
    const script = fileURLToPath(new URL(name, import.meta.url));
    // -W ignore: the binding's deprecation notices are not ours.
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

  /** At once, whatever it is doing. */
  protected async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, 'exit');
  }
}

/** It makes and reads torrents; see libtorrent-oracle.py. */
export class LibtorrentOracle extends LibtorrentProcess {
  constructor() {
    super('libtorrent-oracle.py');
  }

  create(request: CreateRequest): Promise<OracleAnswer> {
    return this.ask(request);
  }

  /** Writes a torrent of what is on disk, as libtorrent finds and orders it. */
  make(request: MakeRequest): Promise<OracleAnswer> {
    return this.ask(request);
  }

  /** The file list with pads that it makes of paths and sizes, whose content it does not look at. */
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

  /** An answer to each of many torrents, or why it is refused. */
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

  /** The link that it makes of a torrent file, as it reads it. */
  magnet(file: string): Promise<MagnetAnswer> {
    return this.ask({ magnet: file });
  }

  parseMagnet(link: string): Promise<MagnetAnswer> {
    return this.ask({ parseMagnet: link });
  }
}
