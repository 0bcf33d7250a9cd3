/** Resume data: what a verification proved, in the form in which a BitTorrent client keeps it, so that the client need not check again. */
import nodePath from 'node:path';
import { throwIfAborted, untilAbort } from '../../errors/cancel.ts';
import {
  Bytes,
  checkArgument,
  checkOptions,
  DateTime,
  expected,
  Given,
  invalidArgument,
  type OptionStructs,
  oneOf,
  orNull,
  Path,
  Signal,
} from '../../errors/guard.ts';
import { storedLinks } from '../../model/lazy/content.ts';
import { AnyTorrent, type Torrent } from '../../model/torrent/torrent.ts';
import { copyOf } from '../../platform/node.ts';
import { reportedFiles, type VerifiedFile, type VerifyReport } from '../report.ts';
import { libtorrentResume, qbittorrentResume } from './libtorrent.ts';
import { type PlaceOptions, type ResumeClient, resumePlaceOf } from './place.ts';
import { rtorrentResume } from './rtorrent.ts';

/** Options of {@link resumeData}. */
export interface ResumeOptions extends PlaceOptions {
  /**
   * The folder that holds the content under its name, as the client sees it: an absolute path, which a container may have under another
   * name than this system.
   *
   * @default the folder that holds the content here
   */
  savePath?: string | null | undefined;
  /**
   * When the client is told that the torrent was added.
   *
   * @default now
   */
  time?: Date | undefined;
  /**
   * The `.fastresume` that the client has of this torrent. Its totals, times, categories, limits, priorities and trackers are kept.
   * Ignored if it is not resume data of the same torrent, and for `rtorrent`.
   *
   * @default null
   */
  previous?: Uint8Array | null | undefined;
  /** Cancels the job, which then rejects with an {@link AbortError}. */
  signal?: AbortSignal | undefined;
}

/** Whether a client on any system can take a text as its save path. */
export const isSavePath = (text: unknown): boolean =>
  typeof text === 'string' && nodePath.win32.isAbsolute(text) && !text.includes('\0');

const AnyClient = oneOf<ResumeClient>('qbittorrent', 'libtorrent', 'rtorrent');
const RESUME: OptionStructs<ResumeOptions> = {
  client: AnyClient,
  path: Path,
  savePath: orNull(expected('an absolute path', isSavePath)),
  time: DateTime,
  previous: orNull(Bytes),
  signal: Signal,
};

/** A file that belongs into a folder of a client. */
export interface ResumeFile {
  /** An infohash and an extension: nothing else of the torrent. */
  name: string;
  /** The whole file. */
  bytes: Uint8Array;
}

/**
 * Makes the resume data with which a client accepts verified content without a check of its own. Only good pieces are claimed, so
 * the client downloads the others. Files that the option `files` of `verify` has left out are not wanted: the client does not download them.
 *
 * - `qbittorrent`: two files for its folder `BT_backup`: the torrent and a `.fastresume`.
 * - `libtorrent`: a `.fastresume` for `read_resume_data()`. It includes the info dictionary and, for v2, the piece layers.
 * - `rtorrent`: a torrent with `libtorrent_resume` and `rtorrent` entries for its session folder. rtorrent hashes a file
 *   again that was modified since. It reads the v1 half of a hybrid, and version 0.9 does not accept pieces with padding.
 *
 * @param torrent The torrent that was verified.
 * @param report The report of a verification of the same torrent without `fast`.
 * @returns The files, in the order in which to write them.
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for a report of `fast` or of another torrent, for complete content that lacks an empty
 *   file or a stored link, for a v2 torrent or a renamed file with `rtorrent`; `ERR_NOT_FOUND` or `ERR_UNREADABLE` for `path`
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { resumeData, Torrent, verify } from 'metainfo';
 *
 * const torrent = await Torrent.read('album.torrent');
 * const report = await verify(torrent, 'album');
 * const files = await resumeData(torrent, report, { client: 'qbittorrent', path: 'album' });
 * for (const { name, bytes } of files) await writeFile(name, bytes, { flag: 'wx' });
 * ```
 */
export async function resumeData(
  torrent: Torrent,
  report: VerifyReport,
  options: ResumeOptions,
): Promise<ResumeFile[]> {
  checkArgument('torrent', torrent, AnyTorrent);
  checkArgument('report', report, Given);
  const example = "{ client: 'qbittorrent', path: 'album' }";
  const checked = checkOptions(options, RESUME, { example });
  const { client, path, savePath = null, time = new Date(), previous = null, signal } = checked;
  checkArgument('client', client, AnyClient);
  checkArgument('path', path, Path);
  const proven = provenContent(torrent, report);
  const own = previous && copyOf(previous);
  throwIfAborted(signal);
  const place = await untilAbort(signal, resumePlaceOf(torrent, { client, path, savePath }, proven.files));
  const bytesOf = ENCODERS[client];
  const seconds = Math.floor(time.getTime() / 1000);
  return place.names.map((name) => ({
    name,
    bytes:
      client === 'qbittorrent' && name.endsWith('.torrent')
        ? torrent.bencode()
        : bytesOf({ ...proven, ...place, seconds, previous: own }),
  }));
}

const ENCODERS: Record<ResumeClient, (content: ResumeContent) => Uint8Array> = {
  qbittorrent: qbittorrentResume,
  libtorrent: libtorrentResume,
  rtorrent: rtorrentResume,
};

/** Everything that resume data says. */
export interface ResumeContent extends ProvenContent {
  folder: string;
  paths: readonly string[];
  /** The time of the resume data, in seconds since 1970. */
  seconds: number;
  /** The resume data that the client has. */
  previous: Uint8Array | null;
}

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
function provenContent(torrent: Torrent, report: VerifyReport): ProvenContent {
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
