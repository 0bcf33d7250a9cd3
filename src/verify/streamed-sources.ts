/** Sources that may be streams, whose sizes only their ends tell. */
import type { StreamData } from '../create/sources/source-data.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { MatchedSources, matchSources, type SourceWithPath } from './match-sources.ts';

/** The content of a source: an open file is an iterable. */
export type ContentData = Uint8Array | StreamData;

/** The files of a torrent and their counterparts among sources. */
export class StreamedSources extends MatchedSources<ContentData> {
  /** @throws {MetainfoError} `ERR_DUPLICATE_PATH` for two sources with one path */
  static async match(torrent: Torrent, sources: readonly SourceWithPath<ContentData>[]): Promise<StreamedSources> {
    requireOwnPaths(sources);
    const matched = new StreamedSources(torrent, sources, await matchSources(torrent, sources, false));
    // Until a stream ends, it counts as long as its file.
    for (const [i, available] of matched.available.entries())
      if (Number.isNaN(available)) matched.resize(i, matched.content.lengths[i] as number);
    return matched;
  }

  /** Corrects the size of the counterpart of a file. */
  resize(index: number, size: number): void {
    const found = this.indexes[index] as number;
    const other = this.others[found - this.listed.length];
    if (other && 'size' in other) other.size = size;
    else this.listed.columns.lengths[found] = size;
    this.available[index] = Math.min(this.content.lengths[index] as number, size);
  }
}

function requireOwnPaths(sources: readonly SourceWithPath<unknown>[]): void {
  const paths = new Set<string>();
  for (const { path } of sources) {
    if (paths.has(path)) {
      const message = `Two sources have the path ${shown(path)}: give one source for each file.`;
      throw new MetainfoError('ERR_DUPLICATE_PATH', message, { path });
    }
    paths.add(path);
  }
}
