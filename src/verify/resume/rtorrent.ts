/** Resume data of rtorrent: the torrent with the entries that rtorrent adds to the torrents of its session folder. */
import { decode } from '../../bencode/decode.ts';
import { encode } from '../../bencode/encode.ts';
import { NO_LIMITS } from '../../bencode/limits.ts';
import { type BencodeMap, type Encodable, RawBencode } from '../../bencode/value.ts';
import { v1List } from '../../model/file-item.ts';
import type { InfoDictV1 } from '../../model/info-dict.ts';
import { displayPath } from '../../model/ranges.ts';
import { TorrentBase } from '../../model/torrent/torrent.ts';
import { nameBytes } from '../../text/name-bytes.ts';
import { bitfieldOf, type VerifiedFile } from '../report.ts';
import type { ResumeContent } from './resume-data.ts';

// In place of a modification time, as in src/torrent/utils/resume.cc of rakshasa/libtorrent.
/** The file is still to be created. */
const TO_BE_CREATED = -1;
/** The file is neither there nor to be created. */
const NOT_WANTED = -2;
/** The file must be hashed again. */
const UNKNOWN = -3;

/** The priorities of files that are to be downloaded, and of others. */
const NORMAL = 1;
const OFF = 0;

/** The torrent with resume data. The info dictionary keeps its bytes; entries of the same names are replaced. */
export function rtorrentResume(content: ResumeContent): Uint8Array {
  const { torrent, good, isComplete, folder, seconds } = content;
  const { bytes, infoBytes } = TorrentBase.bytesOf(torrent);
  const { value } = decode(bytes, { tolerant: true, limits: NO_LIMITS });
  const done = good.reduce((sum, piece) => sum + piece, 0);
  const fields = new Map<string, Encodable>(value as BencodeMap);
  fields.set('info', new RawBencode(infoBytes));
  fields.set(
    'libtorrent_resume',
    new Map<string, Encodable>([
      // rtorrent writes a number if it has all pieces or none.
      ['bitfield', done === 0 || done === good.length ? done : bitfieldOf(good)],
      ['files', filesOf(content)],
      ['uncertain_pieces.timestamp', seconds],
    ]),
  );
  fields.set(
    'rtorrent',
    new Map<string, Encodable>([
      ['chunks_done', done],
      ['complete', Number(isComplete)],
      ['directory', nameBytes(folder)],
      ['hashing', 0],
      ['state', 1],
      ['state_changed', seconds],
      ['state_counter', 1],
      ['timestamp.finished', isComplete ? seconds : 0],
      ['timestamp.started', seconds],
    ]),
  );
  return encode(fields);
}

/** The entries of the v1 file list, pad files included. */
function filesOf({ torrent, files, good }: ResumeContent): Encodable[] {
  const info = torrent.info as InfoDictV1;
  const { list, isPad } = v1List(info);
  // A hybrid may list its files elsewhere than in the order of the tree.
  const byPath = new Map(torrent.files.map(({ path }, i) => [path, files[i]]));
  let start = 0;
  return list.map((item) => {
    const end = start + item.length;
    const first = Math.floor(start / info.pieceLength);
    const last = item.length === 0 ? first : Math.ceil(end / info.pieceLength);
    start = end;
    const isPadding = isPad(item);
    const file = isPadding ? undefined : byPath.get(displayPath(item, info.files ? null : torrent.name));
    const isWanted = isPadding || file !== undefined;
    return new Map<string, Encodable>([
      ['completed', good.subarray(first, last).reduce((sum, piece) => sum + piece, 0)],
      ['mtime', file ? mtimeOf(file) : isWanted ? TO_BE_CREATED : NOT_WANTED],
      ['priority', isWanted ? NORMAL : OFF],
    ]);
  });
}

function mtimeOf({ status, mtimeMs }: VerifiedFile): number {
  if (status === 'missing') return TO_BE_CREATED;
  return mtimeMs === undefined ? UNKNOWN : Math.floor(mtimeMs / 1000);
}
