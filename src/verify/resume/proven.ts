/** The content that a verification proved, checked to be that of the torrent. */
import { invalidArgument } from '../../errors/guard.ts';
import { storedLinks } from '../../model/stored-links.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { reportedFiles, type VerifiedFile, type VerifyReport } from '../report.ts';

/** A torrent and the state of its files and pieces. */
export interface ProvenContent {
  torrent: Torrent;
  /** By their indexes in the torrent: undefined for those that are not wanted. */
  files: readonly (VerifiedFile | undefined)[];
  /** A byte for each piece of the torrent: 1 for good. */
  good: Uint8Array;
  isComplete: boolean;
}

/**
 * Takes the good pieces from a report.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a report of `fast`, or of another torrent, and for complete content without an
 *   empty file or stored link: a client would check everything again, or report an error
 */
export function provenContent(torrent: Torrent, report: VerifyReport): ProvenContent {
  const { sampledPieces, files, bitfield } = (report ?? {}) as VerifyReport;
  if (typeof sampledPieces === 'number')
    throw invalidArgument(
      'Resume data needs a full check, but only a sample of the pieces was hashed: verify without fast',
    );
  const { nPieces } = torrent;
  const reported = sampledPieces === null && Array.isArray(files) ? reportedFiles(torrent.files, report) : null;
  const isOfTorrent = bitfield instanceof Uint8Array && bitfield.length === Math.ceil(nPieces / 8);
  if (!reported || files.length === 0 || !isOfTorrent)
    throw invalidArgument('report must be the report that verify returned for this torrent');
  const good = Uint8Array.from({ length: nPieces }, (_, piece) => {
    return ((bitfield[piece >> 3] as number) >> (7 - (piece & 7))) & 1;
  });
  const hasAll = !good.includes(0);
  const lacking = hasAll ? files.filter(({ status }) => status === 'missing' || status === 'unreadable') : [];
  if (lacking.length > 0) throw lacks(torrent, lacking);
  return { torrent, files: reported, good, isComplete: report.ok && hasAll && files.length === torrent.nFiles };
}

/** Files without content that are not there. */
function lacks(torrent: Torrent, files: readonly VerifiedFile[]): Error {
  const [{ path }] = files as [VerifiedFile];
  const target = storedLinks(torrent).get(path);
  const what = target === undefined ? `the empty file ${path}` : `the link ${path} to ${target}`;
  const more = files.length > 1 ? ` and ${files.length - 1} more` : '';
  return invalidArgument(`Clients refuse resume data of complete content without ${what}${more}: make them first`);
}
