/** Finds the files of a torrent among sources: files of a page, buffers, streams. */
import type { ScannedFile } from '../disk/scan.ts';
import { matchPaths, NO_PATH } from '../hash/match-paths.ts';
import { diskPathBelow, FileTable, pathColumn } from '../layout/file-table.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { diskPathAt } from './check-pieces.ts';
import {
  type DiskFile,
  type FoundFiles,
  findUnderOtherNames,
  indexOthers,
  MatchedFiles,
  namesColumn,
  othersIn,
  safeNames,
  type Unreadable,
  withoutRepeats,
} from './matched-files.ts';

/** A source with its path in the torrent. */
export interface SourceWithPath<Data> {
  /** With `/`. */
  path: string;
  data: Data;
  /** Bytes; null if only the end of a stream tells. */
  size: number | null;
  /** Milliseconds since 1970; NaN for none. */
  mtimeMs: number;
}

/** The files of a torrent and their counterparts among sources. */
export class MatchedSources<Data> extends MatchedFiles {
  readonly #data: ReadonlyMap<string, Data>;

  constructor(torrent: Torrent, sources: readonly SourceWithPath<Data>[], found: FoundFiles) {
    super(torrent, found);
    this.#data = new Map(sources.map(({ path, data }) => [diskPathBelow('', path.replaceAll('/', '\0')), data]));
  }

  /** The source of a file; undefined for a missing one, one that is not selected, and a stored link. */
  dataAt(index: number): Data | undefined {
    const path = diskPathAt(this, index);
    return path === undefined ? undefined : this.dataOf(path);
  }

  /** The source at a path of {@link DiskFile}. */
  protected dataOf(diskPath: string): Data | undefined {
    return this.#data.get(diskPath);
  }
}

/** Finds the files among sources by path, then by other names of clients. @param isRenamed Whether the only source may have any. */
export async function matchSources(
  torrent: Torrent,
  sources: readonly SourceWithPath<unknown>[],
  isRenamed: boolean,
): Promise<FoundFiles> {
  const columns = {
    paths: pathColumn(sources.map(({ path }) => path.replaceAll('/', '\0'))),
    lengths: Float64Array.from(sources, ({ size }) => size ?? Number.NaN),
    mtimes: Float64Array.from(sources, ({ mtimeMs }) => mtimeMs),
    ctimes: new Float64Array(sources.length).fill(Number.NaN),
    diskPaths: null,
  };
  const listed = { root: '', columns };
  const names = isRenamed ? sources.map(({ path }) => path) : safeNames(torrent);
  const wanted = () => namesColumn(torrent, () => names);
  const indexes = isRenamed ? new Uint32Array(1) : withoutRepeats(await matchPaths(wanted(), columns.paths), torrent);
  const table = new FileTable<ScannedFile>(listed);
  const extra = othersIn(table, indexes);
  const missing = [...names.keys()].filter((i) => indexes[i] === NO_PATH);
  const found = new Map<number, DiskFile | Unreadable>();
  findUnderOtherNames({ torrent, names }, missing, { found, extra, table });
  const others = indexOthers(indexes, { found, table });
  return { listed, indexes, others, extraFiles: [...extra.keys()].sort() };
}
