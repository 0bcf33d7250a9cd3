/** The part of create-torrent that the benches use. */
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
