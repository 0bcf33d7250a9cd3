import type { Torrent } from '../model/torrent.ts';

/** When the files of a torrent were changed last, as they were found: a number a file. */
const times = new WeakMap<Torrent, Float64Array>();

/** For {@link timesOf}: its files, in its order. */
export function rememberTimes(torrent: Torrent, files: readonly { mtimeMs?: number | undefined }[]): void {
  times.set(
    torrent,
    Float64Array.from(files, ({ mtimeMs }) => mtimeMs ?? Number.NaN),
  );
}

/** The `mtimeMs` of the files of a torrent that this process has made, in their order: NaN for what was on no disk. */
export function timesOf(torrent: Torrent): Float64Array | undefined {
  return times.get(torrent);
}

/** Of a torrent that another was made of, with the same files. */
export function passTimes(from: Torrent, to: Torrent): void {
  const known = times.get(from);
  if (known) times.set(to, known);
}
