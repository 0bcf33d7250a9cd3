import { createHash, randomBytes } from 'node:crypto';
import { link, lstat, open, readFile, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { Struct } from 'superstruct';
import { decode } from '../bencode/decode.ts';
import type { BencodeMap } from '../bencode/value.ts';
import { fromSystemError, MetainfoError, ValidationError, withPath } from '../errors.ts';
import { infodictDiscriminator, type TorrentVersion } from './discriminator.ts';
import { isPadFile } from './file-item.ts';
import { type FileTreeItem, flattenTree } from './file-tree.ts';
import { InfoDictHybrid, InfoDictV1, InfoDictV2 } from './info-dict.ts';
import type { PieceLayers } from './piece-layers.ts';
import {
  checkStruct,
  expectedNPieces,
  lengthXorFiles,
  pieceLayersIfV2,
  piecesLayersCorrect,
  v1Files,
  v1V2FilesMatch,
} from './rules.ts';
import { decodeFields, INFO, Issues, TORRENT } from './wire.ts';

/** The infodict of each kind of torrent. */
export interface InfoDictOf {
  v1: InfoDictV1;
  v2: InfoDictV2;
  hybrid: InfoDictHybrid;
}

/** A file of any kind of torrent, pads left out. */
export interface TorrentFile {
  /** From the torrent's root, with `/`. */
  path: string;
  /** Bytes. */
  length: number;
  /** BEP 47 flags; null for none. */
  attr: string | null;
  /** 32 bytes; null in v1 and for an empty file. */
  piecesRoot: Uint8Array | null;
}

export interface WriteOptions {
  /** Replace an existing file; default false. */
  force?: boolean;
}

/** The fields of a torrent as its model holds them: null where the key is absent. */
interface TorrentFields<V extends TorrentVersion> {
  announce: string | null;
  announceList: string[][] | null;
  comment: string | null;
  createdBy: string | null;
  creationDate: Date | null;
  info: InfoDictOf[V];
  pieceLayers: PieceLayers | null;
  urlList: string[] | null;
  extra: BencodeMap;
}

/** A valid torrent, never changed. It remembers the bytes it was read from and writes those. */
export class TorrentBase<V extends TorrentVersion> implements TorrentFields<V> {
  readonly torrentVersion: V;
  readonly announce: string | null;
  readonly announceList: string[][] | null;
  readonly comment: string | null;
  readonly createdBy: string | null;
  readonly creationDate: Date | null;
  readonly info: InfoDictOf[V];
  readonly pieceLayers: PieceLayers | null;
  readonly urlList: string[] | null;
  /** Unknown keys beside `info`, as they were read. */
  readonly extra: BencodeMap;
  /** The raw `info` dictionary: what the infohash is the hash of. */
  readonly infoBytes: Uint8Array;
  readonly #bytes: Uint8Array;

  /** @internal Torrents come from `Torrent.fromBytes`, `Torrent.read` and `draft.generate`. */
  constructor(version: V, fields: TorrentFields<V>, bytes: Uint8Array, infoBytes: Uint8Array) {
    this.torrentVersion = version;
    this.announce = fields.announce;
    this.announceList = fields.announceList;
    this.comment = fields.comment;
    this.createdBy = fields.createdBy;
    this.creationDate = fields.creationDate;
    this.info = fields.info;
    this.pieceLayers = fields.pieceLayers;
    this.urlList = fields.urlList;
    this.extra = fields.extra;
    this.infoBytes = infoBytes;
    this.#bytes = bytes;
  }

  /** SHA-1 of the raw `info` in hexadecimal (BEP 3); null for v2. */
  get infohashV1(): string | null {
    return this.torrentVersion === 'v2' ? null : createHash('sha1').update(this.infoBytes).digest('hex');
  }

  /** SHA-256 of the raw `info` in hexadecimal (BEP 52); null for v1. */
  get infohashV2(): string | null {
    return this.torrentVersion === 'v1' ? null : createHash('sha256').update(this.infoBytes).digest('hex');
  }

  /** The files a user sees, in the torrent's order: no pads. */
  get files(): TorrentFile[] {
    const info: InfoDictV1 | InfoDictV2 | InfoDictHybrid = this.info;
    if (this.torrentVersion === 'v1') {
      const visible = v1Files(info as InfoDictV1).filter((file) => !isPadFile(file));
      return visible.map(({ path: parts, length, attr }) => ({
        path: parts.join('/'),
        length,
        attr: attr ?? null,
        piecesRoot: null,
      }));
    }
    return flattenTree((info as InfoDictV2).fileTree).map(({ path: parts, length, attr, piecesRoot }) => ({
      path: parts.join('/'),
      length,
      attr: attr ?? null,
      piecesRoot: piecesRoot ?? null,
    }));
  }

  /** The v2 file tree, flattened: path with `/` to file. Null for v1. */
  get flatFiles(): Map<string, FileTreeItem> | null {
    if (this.torrentVersion === 'v1') return null;
    const files = flattenTree((this.info as InfoDictV2).fileTree);
    return new Map(files.map(({ path: parts, ...item }) => [parts.join('/'), item]));
  }

  /** The number of files, pads left out. */
  get nFiles(): number {
    return this.files.length;
  }

  /** Bytes of content, pads left out. */
  get totalSize(): number {
    return this.files.reduce((sum, file) => sum + file.length, 0);
  }

  /** The number of pieces: of the v1 description where there is one, else of all files. */
  get nPieces(): number {
    const info: InfoDictV1 | InfoDictV2 | InfoDictHybrid = this.info;
    if (this.torrentVersion !== 'v2') return (info as InfoDictV1).pieces.length;
    return this.files.reduce((sum, file) => sum + Math.ceil(file.length / info.pieceLength), 0);
  }

  /** All trackers, each once, `announce-list` before `announce` (BEP 12). */
  get flatTrackers(): string[] {
    const listed = (this.announceList ?? []).flat().filter((url) => url.trim() !== '');
    return [...new Set(listed.length > 0 ? listed : this.announce === null ? [] : [this.announce])];
  }

  /** The bytes of the torrent file: those it was read from. */
  bencode(): Uint8Array {
    return this.#bytes;
  }

  /**
   * Writes the torrent file: a temporary file beside the target, renamed when it is whole.
   *
   * @throws {MetainfoError} `ERR_OUTPUT_EXISTS`, `ERR_NO_SPACE`, `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_WRITE`
   */
  async write(target: string, { force = false }: WriteOptions = {}): Promise<void> {
    const temporary = path.join(path.dirname(target), `.${randomBytes(6).toString('hex')}.tmp`);
    try {
      const file = await open(temporary, 'wx');
      try {
        await file.writeFile(this.#bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      if (force) await rename(temporary, target);
      else await renameExclusively(temporary, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw outputExists(target, error);
      throw fromSystemError(error, target, 'write');
    } finally {
      // After a rename there is nothing left to remove.
      await unlink(temporary).catch(() => {});
    }
  }
}

/** link() fails where the target exists, so a file that appeared since any check before is not lost. */
async function renameExclusively(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    // File systems without hard links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
    if (await exists(to)) throw outputExists(to, error);
    await rename(from, to);
  }
}

/** Whether anything has that name, a broken link too. */
export async function exists(target: string): Promise<boolean> {
  return lstat(target).then(
    () => true,
    () => false,
  );
}

/** The error of an output that is there already. */
export function outputExists(target: string, cause?: unknown): MetainfoError {
  const message = `${target} exists already: choose another output, or replace it with --force (force: true).`;
  return new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: target, cause });
}

/** A torrent of any kind: `torrentVersion` tells which, and narrows the type of `info`. */
export type Torrent = TorrentBase<'v1'> | TorrentBase<'v2'> | TorrentBase<'hybrid'>;

export const Torrent = {
  /**
   * Reads and checks a torrent file.
   *
   * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_READ`; what {@link Torrent.fromBytes} throws
   */
  async read(file: string): Promise<Torrent> {
    let bytes: Uint8Array;
    try {
      bytes = await readFile(file);
    } catch (error) {
      throw fromSystemError(error, file, 'read');
    }
    try {
      return Torrent.fromBytes(bytes);
    } catch (error) {
      throw withPath(error, file);
    }
  },

  /**
   * Checks the bytes of a torrent file. They are viewed, not copied: do not change them afterwards.
   *
   * @throws {BencodeError} when they are not bencode
   * @throws {ValidationError} when they are no valid torrent
   */
  fromBytes(bytes: Uint8Array): Torrent {
    const { value, span } = decode(bytes, { span: 'info' });
    const issues = new Issues();
    if (!(value instanceof Map)) {
      issues.add('type', [], 'expected a dictionary');
      throw new ValidationError(issues.list);
    }
    const infoValue = value.get('info');
    const rest = new Map([...value].filter(([key]) => key !== 'info'));
    const fields = { ...absent(), ...decodeFields(rest, TORRENT, [], issues) };
    const version = infodictDiscriminator(infoValue);
    const info = decodeInfo(infoValue, version, issues);
    if (version && info) checkTorrent(version, info, fields.pieceLayers, issues);
    if (!version || !info || !span || issues.list.length > 0) throw new ValidationError(issues.list);
    const infoBytes = bytes.subarray(span.start, span.end);
    return new TorrentBase(version, { ...fields, info } as never, bytes, infoBytes) as Torrent;
  },
};

/** A torrent without any key; a Map of its own each time. */
const absent = () => ({
  announce: null,
  announceList: null,
  comment: null,
  createdBy: null,
  creationDate: null,
  pieceLayers: null as PieceLayers | null,
  urlList: null,
  extra: new Map() as BencodeMap,
});

function decodeInfo(value: unknown, version: TorrentVersion | null, issues: Issues): object | undefined {
  if (!(value instanceof Map)) {
    return issues.add(value === undefined ? 'required' : 'type', ['info'], 'expected an info dictionary');
  }
  if (!version)
    return issues.add('infodict', ['info'], 'expected pieces (v1), file tree (v2) or both (hybrid), got neither');
  return decodeFields(value, INFO, ['info'], issues);
}

const STRUCTS = { v1: InfoDictV1, v2: InfoDictV2, hybrid: InfoDictHybrid };

/** Shape first: the rules look at models that have it. */
function checkTorrent(version: TorrentVersion, info: object, layers: PieceLayers | null, issues: Issues): void {
  checkStruct(info, STRUCTS[version] as unknown as Struct<never, never>, INFO, issues);
  if (issues.list.length > 0) return;
  if (version !== 'v2') {
    const v1 = info as InfoDictV1;
    lengthXorFiles(v1, issues);
    expectedNPieces(v1, issues);
  }
  if (version !== 'v1') {
    pieceLayersIfV2(layers, issues);
    if (layers) piecesLayersCorrect(info as InfoDictV2, layers, issues);
  }
  if (version === 'hybrid') v1V2FilesMatch(info as InfoDictHybrid, issues);
}
