/** Resume data: what a verification proved, in the form in which a BitTorrent client keeps it, so that the client need not check again. */
import { throwIfAborted, untilAbort } from '../../errors/cancel.ts';
import {
  Bytes,
  checkArgument,
  checkOptions,
  DateTime,
  Given,
  type OptionStructs,
  oneOf,
  orNull,
  Path,
  Signal,
} from '../../errors/guard.ts';
import { AnyTorrent, type Torrent } from '../../model/torrent/torrent.ts';
import { copyOf } from '../../platform/node.ts';
import type { VerifyReport } from '../report.ts';
import { libtorrentResume, qbittorrentResume } from './libtorrent.ts';
import { type PlaceOptions, type ResumeClient, resumePlaceOf } from './place.ts';
import { type ProvenContent, provenContent } from './proven.ts';
import { rtorrentResume } from './rtorrent.ts';

/** Options of {@link resumeData}. */
export interface ResumeOptions extends PlaceOptions {
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

const AnyClient = oneOf<ResumeClient>('qbittorrent', 'libtorrent', 'rtorrent');
const RESUME: OptionStructs<ResumeOptions> = {
  client: AnyClient,
  path: Path,
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
  const { client, path, time = new Date(), previous = null, signal } = checkOptions(options, RESUME, { example });
  checkArgument('client', client, AnyClient);
  checkArgument('path', path, Path);
  const proven = provenContent(torrent, report);
  const own = previous && copyOf(previous);
  throwIfAborted(signal);
  const place = await untilAbort(signal, resumePlaceOf(torrent, { client, path }, proven.files));
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
