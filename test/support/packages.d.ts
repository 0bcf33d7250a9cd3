// Types of the packages that have none, as far as the benches and tests use them.
declare module 'bencode' {
  const bencode: { encode(value: unknown): Uint8Array; decode(bytes: Uint8Array): unknown };
  export default bencode;
}

declare module 'create-torrent' {
  type Named = Uint8Array & { name: string };
  interface Options {
    name?: string;
    pieceLength?: number;
    /** Default: some public trackers. */
    announceList?: string[][];
  }
  export default function createTorrent(
    input: string | Named | Named[],
    options: Options,
    done: (error: Error | null, torrent: Uint8Array) => void,
  ): void;
}

declare module 'parse-torrent' {
  export default function parseTorrent(torrent: Uint8Array): Promise<{ infoHash?: string }>;
}

declare module '@20minutes/s3rver' {
  interface Options {
    address: string;
    port: number;
    directory: string;
    silent: boolean;
    configureBuckets: { name: string; configs: Uint8Array[] }[];
  }
  export default class S3rver {
    constructor(options: Options);
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}

declare module 'pg' {
  class Pool {
    constructor(options: { connectionString: string; max: number });
    query(text: string): Promise<{ rows: Record<string, unknown>[] }>;
    end(): Promise<void>;
  }
  const pg: { Pool: typeof Pool };
  export default pg;
}

declare module 'autocannon' {
  interface Running extends Promise<{ errors: number; non2xx: number }> {
    /** @param milliseconds The time of the response. */
    on(
      event: 'response',
      listener: (client: object, status: number, bytes: number, milliseconds: number) => void,
    ): this;
  }
  export default function autocannon(options: { url: string; connections: number; duration: number }): Running;
}

/** node-gyp-build has no types of its own. */
declare module 'node-gyp-build' {
  /** Loads the addon of the package in that folder. */
  function nodeGypBuild(folder: string): unknown;
  namespace nodeGypBuild {
    /** The path of what it would load. */
    function resolve(folder: string): string;
  }
  export default nodeGypBuild;
}
