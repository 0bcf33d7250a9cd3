/** Makes the empty files that complete content lacks, so that a client accepts resume data of it. */
import type { Torrent } from '../../model/torrent/torrent.ts';
import { placeOf } from '../content-place.ts';
import { missingEmpty } from '../find-moved.ts';
import { placeMoved } from '../place-moved.ts';
import type { VerifyReport } from '../report.ts';

/** Content with its empty files. */
export interface Completed {
  /** The report of the content with these files. */
  report: VerifyReport;
  /** The files that were made, from the torrent's root, with `/`. */
  made: string[];
}

/**
 * Makes the empty files that are missing. Some clients do not write them, and others check everything again without them. Those that
 * cannot be made stay missing in the report.
 *
 * @param path The content, of which all pieces are good; nothing is made otherwise.
 */
export async function makeEmptyFiles(torrent: Torrent, report: VerifyReport, path: string): Promise<Completed> {
  if (report.ok || report.badPieces.length > 0) return { report, made: [] };
  const place = await placeOf(torrent, path);
  const empty = missingEmpty(torrent, report, place);
  const { placed } = await placeMoved({ moved: [], empty, root: place.folder }, 'link');
  const made = new Set(placed);
  const files = report.files.map((file) => (made.has(file.path) ? { ...file, status: 'complete' as const } : file));
  return {
    report: { ...report, files, ok: files.every(({ status }) => status === 'complete' || status === 'unchecked') },
    made: placed,
  };
}
