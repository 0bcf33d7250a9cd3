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
