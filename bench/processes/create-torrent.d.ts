/** The part of create-torrent that the benches use. */
declare module 'create-torrent' {
  export default function createTorrent(
    input: (Uint8Array & { name: string })[],
    options: { name: string },
    done: (error: Error | null, torrent: Uint8Array) => void,
  ): void;
}
