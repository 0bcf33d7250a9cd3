/** @module Remembers when the files of the torrents of this process were changed last. */
import type { Torrent } from '../model/torrent.ts';

/** When a file was changed last, as it was found: its content (mtime), and that or anything about it (ctime). */
export interface FileTimes {
  mtimeMs?: number | undefined;
  ctimeMs?: number | undefined;
}

/** Of the files of a torrent, in their order: mtime, then ctime; NaN for a file that was on no disk. */
const times = new WeakMap<Torrent, Float64Array>();

/** For {@link timesOf}: the files of a torrent, in its order. */
export function rememberTimes(torrent: Torrent, files: readonly FileTimes[]): void {
  times.set(
    torrent,
    Float64Array.from({ length: files.length * 2 }, (_, at) => {
      const { mtimeMs, ctimeMs } = files[at >> 1] as FileTimes;
      return (at % 2 === 0 ? mtimeMs : ctimeMs) ?? Number.NaN;
    }),
  );
}

/** The times of the files of a torrent that this process has made, a pair for each; undefined for any other torrent. */
export function timesOf(torrent: Torrent): ((index: number) => FileTimes) | undefined {
  const known = times.get(torrent);
  return known && ((index) => ({ mtimeMs: known[index * 2], ctimeMs: known[index * 2 + 1] }));
}

/** Of a torrent that another was made of, with the same files. */
export function passTimes(from: Torrent, to: Torrent): void {
  const known = times.get(from);
  if (known) times.set(to, known);
}
