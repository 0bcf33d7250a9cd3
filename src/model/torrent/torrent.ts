/** Where torrents come from: `Torrent.read`, `fromBytes`, `fromDecoded` and `inspect`. */
import type { Struct } from 'superstruct';
import { encode } from '../../bencode/encode.ts';
import { limitsOf } from '../../bencode/limits.ts';
import { RawBencode, toKey } from '../../bencode/value.ts';
import { type Issue, ValidationError, withPath } from '../../errors/errors.ts';
import {
  checkedPath,
  checkOptions,
  expected,
  invalidArgument,
  isBlob,
  type OptionStructs,
  readSafely,
  Unchecked,
} from '../../errors/guard.ts';
import { type ByteStream, isByteStream } from '../../hash/byte-stream.ts';
import { isUint8Array } from '../../platform/node.ts';
import { TORRENT } from '../codec.ts';
import { infodictDiscriminator, type TorrentVersion } from '../discriminator.ts';
import { Issues } from '../issues.ts';
import { requireContext } from '../profile.ts';
import { fromDecodedTorrent } from './from-decoded.ts';
import { infohashOf } from './infohash.ts';
import { TorrentBase } from './torrent-base.ts';
import { checkTorrent, READ_OPTIONS, type ReadOptions, type TorrentCheck } from './torrent-check.ts';
import { nameOf, readTorrentFile } from './torrent-io.ts';

export { type InfoDictOf, TorrentBase, type TorrentFile } from './torrent-base.ts';
export type { ReadOptions } from './torrent-check.ts';
export type { TorrentJson } from './torrent-json.ts';

/** A torrent of one version, or of one of several. */
export type TorrentOf<V extends TorrentVersion> = V extends TorrentVersion ? TorrentBase<V> : never;
/** A torrent of any version. `torrentVersion` narrows the types of `info`, `flatFiles`, `pieceLayers` and the infohashes. */
export type Torrent = TorrentBase<'v1'> | TorrentBase<'v2'> | TorrentBase<'hybrid'>;

/** Checks that an argument is a torrent: neither a proxy of one nor an object that inherits from one passes. */
export const AnyTorrent: Struct<Torrent, null> = expected(
  'a torrent, such as Torrent.read() gives',
  TorrentBase.isTorrent,
);

/** Options of {@link Torrent.fromDecoded}. */
export interface FromDecodedOptions extends ReadOptions {
  /**
   * Fields that replace those of the decoded dictionary, under on-disk keys or property names. Null removes a field.
   *
   * @default {}
   */
  data?: Readonly<Record<string, unknown>>;
}

const FROM_DECODED: OptionStructs<FromDecodedOptions> = { ...READ_OPTIONS, data: Unchecked };
const EXAMPLE = { example: "{ context: { profile: 'strict' } }" };

/** A report on the bytes of a torrent file, valid or not. */
export interface Inspection {
  /** The torrent; null when there are errors. */
  torrent: Torrent | null;
  /** Null when the info dictionary has neither `pieces` nor `file tree`. */
  version: TorrentVersion | null;
  /** The hashes of the raw `info` in hexadecimal, also of an invalid torrent. */
  infohash: {
    /** SHA-1; null for v2 and for an unknown version. */
    v1: string | null;
    /** SHA-256; null for v1 and for an unknown version. */
    v2: string | null;
  };
  /** Errors first, then warnings. */
  issues: Issue[];
}

/**
 * Reads torrents from files, bytes and decoded dictionaries. {@link TorrentCreate.generate} creates new ones. `value instanceof Torrent`
 * tells whether a value is a torrent, also one of another copy of this package.
 */
export const Torrent = {
  /** Whether a value is a torrent, for `instanceof`. */
  [Symbol.hasInstance]: TorrentBase.isTorrent as (value: unknown) => boolean,

  /**
   * Reads and validates a torrent file.
   *
   * @example
   * ```ts
   * import { Torrent } from 'metainfo';
   *
   * const torrent = await Torrent.read('album.torrent');
   * console.log(torrent.name, torrent.torrentVersion);
   * ```
   * ```text
   * album hybrid
   * ```
   *
   * @param file The path or `file:` URL of a file, pipe or device; a Blob, such as a File of a browser; or a stream of Uint8Arrays: a
   *   `Readable`, a web stream such as `response.body`, or an async iterable. At most `limits.bytes` bytes are read; a stream with more, or
   *   whose reading is cancelled, is destroyed. With `beneath`, only a regular file.
   * @throws {MetainfoError} `ERR_NOT_FOUND`, `ERR_UNREADABLE`, `ERR_NOT_A_FILE`, `ERR_PATH_OUTSIDE`, `ERR_READ`,
   *   `ERR_INVALID_ARGUMENT`, and every error of {@link Torrent.fromBytes}, with the path
   * @throws {AbortError} when `signal` is aborted
   */
  async read(
    file: string | URL | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
    options: ReadOptions = {},
  ): Promise<Torrent> {
    const checked = checkOptions(options, READ_OPTIONS, EXAMPLE);
    const opened = isContent(file) ? file : checkedPath(file);
    const bytes = await readTorrentFile(opened, limitsOf(checked.limits).bytes, checked);
    try {
      return fromOwnBytes(bytes, checked);
    } catch (error) {
      throw withPath(error, nameOf(opened));
    }
  },

  /**
   * Validates the bytes of a torrent file. The bytes are copied, so you may change or transfer them afterwards.
   *
   * @example
   * ```ts
   * import { readFile } from 'node:fs/promises';
   * import { Torrent } from 'metainfo';
   *
   * const torrent = Torrent.fromBytes(await readFile('album.torrent'), { context: { profile: 'strict' } });
   * console.log(torrent.infohashV1, torrent.infohashV2);
   * ```
   *
   * @param bytes The bytes of a torrent file.
   * @throws {LimitError} when the torrent exceeds one of the `limits`
   * @throws {BencodeError} when the bytes are not bencode
   * @throws {ValidationError} when the torrent is invalid; `issues` has every error and warning
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for other invalid arguments
   */
  fromBytes(bytes: Uint8Array, options: ReadOptions = {}): Torrent {
    return validTorrent(checkTorrent(bytes, options));
  },

  /**
   * Makes a torrent from the output of a bencode decoder, or from fields that you write by hand. Dictionaries are plain
   * objects (text keys) or Maps (keys as bytes, or as text with one character per byte). Keys are on-disk keys or property names.
   * The bytes of the torrent are the canonical encoding. An unchanged `info` that a torrent has given out keeps its bytes, and so
   * its infohash: `torrent.info`, or that of a dump.
   *
   * @param decoded The dictionary of the torrent.
   * @throws {LimitError} when the torrent exceeds one of the `limits`
   * @throws {ValidationError} when the torrent is invalid; code `lost` where the decoder has already lost information
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for invalid options, and where reading the dictionary throws
   */
  fromDecoded(decoded: unknown, options: FromDecodedOptions = {}): Torrent {
    const { data = {}, ...readOptions } = checkOptions(options, FROM_DECODED, EXAMPLE);
    const { context = {}, limits } = readOptions;
    const issues = new Issues(requireContext(context).profile, limitsOf(limits));
    const plain = TorrentBase.isTorrent(decoded) ? dumpWithRawInfo(decoded) : decoded;
    const value = readSafely('decoded', () => fromDecodedTorrent(plain, issues));
    for (const [key, entry] of readSafely('data', () => fromDecodedTorrent(data, issues)) ?? []) value?.set(key, entry);
    for (const [name, entry] of readSafely('data', () => Object.entries(data)))
      if (entry === null) value?.delete(Object.hasOwn(TORRENT, name) ? TORRENT[name as 'comment'].key : toKey(name));
    if (!value || issues.hasErrors) throw new ValidationError(issues.finish());
    return validTorrent(checkTorrent(encode(value), readOptions, { isOwn: true, warnings: issues.finish() }));
  },

  /**
   * Reports on the bytes of a torrent file without throwing for an invalid torrent: its version, its infohash and every
   * issue.
   *
   * @example
   * ```ts
   * import { readFile } from 'node:fs/promises';
   * import { Torrent } from 'metainfo';
   *
   * const { version, issues } = Torrent.inspect(await readFile('album.torrent'));
   * console.log(version);
   * for (const { severity, code, message } of issues) console.log(severity, code, message);
   * ```
   * ```text
   * hybrid
   * ```
   *
   * @param bytes The bytes of a torrent file.
   * @throws {LimitError} when the torrent exceeds one of the `limits`
   * @throws {BencodeError} when the bytes are not bencode
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` for other invalid arguments
   */
  inspect(bytes: Uint8Array, options: ReadOptions = {}): Inspection {
    const { torrent, version, infoBytes, issues } = checkTorrent(bytes, options);
    const infohash = { v1: infohashOf(infoBytes, version, 'v1'), v2: infohashOf(infoBytes, version, 'v2') };
    return { torrent, version, infohash, issues };
  },
};

/**
 * The infohashes, size and number of files of an info dictionary: bytes, as peers exchange them (BEP 9), a decoded dictionary, or a model
 * such as `torrent.info`, also a copy. It needs no piece layers, and is validated with the profile `compat`.
 *
 * @example
 * ```ts
 * import { summarizeInfo, Torrent } from 'metainfo';
 *
 * const { info } = await Torrent.read('album.torrent');
 * const { infohashV1, infohashV2, totalSize, nFiles } = summarizeInfo(info);
 * console.log(infohashV1?.length, infohashV2?.length, totalSize, nFiles);
 * ```
 *
 * @throws {ValidationError} when the info dictionary is invalid
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when it has no hashes yet, such as that of a draft
 */
export function summarizeInfo(
  info: object,
): Pick<Torrent, 'torrentVersion' | 'infohashV1' | 'infohashV2' | 'totalSize' | 'nFiles'> {
  const raw = isUint8Array(info) ? new RawBencode(info) : info;
  if (raw === info && !infodictDiscriminator(info))
    throw invalidArgument(
      'info must have pieces or a file tree: generate() makes those of a draft, plan() gives its size',
    );
  const torrent = Torrent.fromDecoded({ info: raw }, { context: { profile: 'compat' } });
  const { torrentVersion, infohashV1, infohashV2, totalSize, nFiles } = torrent;
  return { torrentVersion, infohashV1, infohashV2, totalSize, nFiles };
}

/** {@link Torrent.fromBytes} for bytes that nobody else can change: they are viewed, not copied. */
export function fromOwnBytes(bytes: Uint8Array, options: ReadOptions = {}): Torrent {
  return validTorrent(checkTorrent(bytes, options, { isOwn: true }));
}

function isContent(file: unknown): file is Blob | ByteStream {
  return typeof file === 'object' && file !== null && (isBlob(file) || isByteStream(file));
}

function dumpWithRawInfo(torrent: Torrent): ReadonlyMap<string, unknown> {
  const { infoBytes } = TorrentBase.bytesOf(torrent);
  return new Map<string, unknown>(torrent.modelDumpTorrent({ mode: 'binary' })).set('info', new RawBencode(infoBytes));
}

function validTorrent({ torrent, issues }: TorrentCheck): Torrent {
  if (!torrent) throw new ValidationError(issues);
  return torrent;
}
