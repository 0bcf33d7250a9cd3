/** The match of a torrent of which no file was found. */
import { FileColumnsBuilder } from '../disk/file-columns.ts';
import { NO_PATH } from '../hash/match-paths.ts';
import type { Torrent } from '../model/torrent/torrent.ts';
import { type FoundFiles, MatchedFiles } from './matched-files.ts';

/** The files of a torrent of which none was found. */
export function missingFiles(torrent: Torrent): MatchedFiles {
  return new MatchedFiles(torrent, nothingFound(torrent.nFiles));
}

export function nothingFound(count: number): FoundFiles {
  const listed = { root: '', columns: new FileColumnsBuilder().finish() };
  return { listed, indexes: new Uint32Array(count).fill(NO_PATH), others: [], extraFiles: [] };
}
