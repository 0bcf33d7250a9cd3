/** Warns, before any file is hashed, about properties of a torrent that readers and clients refuse. */
import type { IssueCode } from '../errors/codes.ts';
import { type Issue, MetainfoError, shown } from '../errors/errors.ts';
import { printable } from '../layout/text.ts';
import {
  LIBTORRENT_MAX_LENGTH,
  LIBTORRENT_MAX_PIECE_LENGTH,
  LIBTORRENT_MAX_PIECES,
  TORRENT_LIMITS,
} from '../model/limits.ts';
import { type FileSizes, measureFiles } from './file-sizes.ts';
import { MAX_COMPONENTS, type Sizes, sizesOf, type TorrentShape } from './torrent-sizes.ts';

/** Options of jobs that warn. */
export interface WarningOptions {
  /**
   * Called for each warning before the first file is hashed; with streams of unknown size, after the last. If it throws or
   * returns a promise that rejects, the job fails with that error.
   *
   * @default process.emitWarning, once for each code: a `MetainfoWarning` whose `code` is the code of the issue
   */
  onWarning?: ((warning: Issue) => unknown) | undefined;
}

const NOUNS: Readonly<Record<keyof Sizes, string>> = {
  bytes: 'bytes',
  depth: 'levels of nested lists and dictionaries',
  items: 'bencoded values',
  text: 'bytes in one string',
  paths: 'characters in its paths',
  files: 'files, pad files included',
  pieces: 'pieces',
  padding: 'bytes of pad files',
  pieceLength: 'bytes in a piece',
  length: 'bytes in one file',
};

/** A reader, and the largest torrents that it accepts by default. */
interface Reader {
  max: Partial<Sizes>;
  /** Says who accepts how much. */
  accepts(limit: keyof Sizes, max: number): string;
}

const { digits: _, ...OURS } = TORRENT_LIMITS;

const READERS: readonly Reader[] = [
  {
    max: OURS,
    accepts: (limit, max) => `metainfo reads at most ${max}, and more with limits: { ${limit}: N }`,
  },
  {
    // The limits of libtorrent 2.0 when it loads a torrent, and of its integers.
    max: {
      items: 3_000_000,
      depth: 99,
      pieces: LIBTORRENT_MAX_PIECES,
      pieceLength: LIBTORRENT_MAX_PIECE_LENGTH,
      length: LIBTORRENT_MAX_LENGTH,
    },
    accepts: (_limit, max) => `libtorrent (qBittorrent, Deluge) loads at most ${max}`,
  },
  {
    max: { bytes: 10_000_000 },
    accepts: (_limit, max) => `libtorrent loads files of at most ${max}, unless the client raises that limit`,
  },
  {
    max: { bytes: 100 * 2 ** 20 },
    accepts: (_limit, max) => `qBittorrent loads at most ${max}`,
  },
];

/**
 * Warns about everything that readers and clients refuse.
 *
 * @throws {MetainfoError} `ERR_NAME` for a file tree that is too deep for any reader
 * @throws the error of `onWarning`
 */
export async function warn(shape: TorrentShape, { onWarning = emit }: WarningOptions): Promise<void> {
  for (const warning of await warningsOf(shape)) await onWarning(warning);
}

/** A server that makes many torrents gets one warning of each kind. */
const emitted = new Set<IssueCode>();

function emit({ code, message }: Issue): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  // Node prints warnings raw, and file names may hold terminal escapes.
  process.emitWarning(printable(message), { type: 'MetainfoWarning', code });
}

/**
 * The warnings of a torrent.
 *
 * @throws {MetainfoError} `ERR_NAME` for a file tree that is too deep for any reader
 */
export async function warningsOf(shape: TorrentShape): Promise<Issue[]> {
  const sizes = await measureFiles(shape, MAX_COMPONENTS);
  requireDepth(shape, sizes);
  return [...beyondLimits(shape, sizes), ...sharedPads(sizes), ...likePads(shape, sizes), ...lostFolder(shape)];
}

function issue(code: IssueCode, path: Issue['path'], message: string): Issue {
  return { code, severity: 'warning', path, message };
}

function beyondLimits(shape: TorrentShape, fileSizes: FileSizes): Issue[] {
  const sizes = sizesOf(shape, fileSizes);
  const issues: Issue[] = [];
  for (const { max, accepts } of READERS) {
    for (const limit in max) {
      const [name, bound] = [limit as keyof Sizes, max[limit as keyof Sizes] as number];
      if (sizes[name] <= bound) continue;
      const message = `The torrent has ${sizes[name]} ${NOUNS[name]}: ${accepts(name, bound)}.`;
      issues.push(issue('reader_limit', [], message));
    }
  }
  return issues;
}

/** Pad files that share a path with each other or with a file. */
function sharedPads({ pads, sharedPads: shared, sharedPad }: FileSizes): Issue[] {
  if (shared === 0) return [];
  const message =
    `${shared} of ${pads} pad files share a path (${sharedPad}): Transmission 4.1.1 and later refuse the torrent, and ` +
    "rtorrent 0.9.8 stalls. padNames: 'unique' avoids that, but changes the infohash.";
  return [issue('pad_names', ['info', 'files'], message)];
}

/** Files that libtorrent takes for pad files of BitComet because of their names. */
function likePads({ version, isSingleFile, files }: TorrentShape, { likePads: indexes }: FileSizes): Issue[] {
  if (version === 'v2') return [];
  return indexes.map((index) => {
    const effect = version === 'v1' ? 'never download it' : 'refuse the torrent';
    const message =
      `${shown(files.pathAt(index))} is named like a pad file of BitComet: clients that use libtorrent (qBittorrent, Deluge) treat it ` +
      `as padding and ${effect}. Rename it, or make a v2 torrent.`;
    return issue('named_like_pad', isSingleFile ? ['info', 'name'] : ['info', 'files', index, 'path'], message);
  });
}

/** A v2 file tree does not tell whether its only file is in a folder. */
function lostFolder({ version, isSingleFile, name, files }: TorrentShape): Issue[] {
  if (version !== 'v2' || isSingleFile || files.length !== 1 || files.at(0)?.path.length !== 1) return [];
  const message =
    `libtorrent, qBittorrent and Deluge drop the folder ${shown(name)}, because this v2 torrent has a single file in it: ` +
    'make a hybrid, or a torrent of the file itself.';
  return [issue('single_file_folder', ['info', 'file tree'], message)];
}

/** Readers of file trees recurse: no limit lets them read a deeper tree. */
function requireDepth({ version, files }: TorrentShape, { tooDeep }: FileSizes): void {
  const deep = version === 'v1' ? undefined : files.at(tooDeep);
  if (tooDeep < 0 || !deep) return;
  const path = deep.path.join('/');
  const message = `${shown(path)} has ${deep.path.length} components, but a v2 file tree holds at most ${MAX_COMPONENTS}: make a v1 torrent, or leave the file out.`;
  throw new MetainfoError('ERR_NAME', message, { path });
}
