/** Bounds on torrents: the depth and digits that this library accepts, and the largest sizes that libtorrent loads. */
import { DEFAULT_LIMITS } from '../bencode/limits.ts';

/** The deepest tree of folders that is read or taken from a caller. Trees are read by recursive functions. */
export const MAX_TREE_DEPTH = 1000;
/** The components of a v1 path without an issue: no path on disk has more. libtorrent loads it. */
export const MAX_COMPONENTS = 1000;

/** The default limits of a torrent: as deep and as many digits as libtorrent reads, else those of bencode. */
export const TORRENT_LIMITS = { ...DEFAULT_LIMITS, depth: 99, digits: 20 };

/** The longest file that libtorrent loads, in bytes. */
export const LIBTORRENT_MAX_LENGTH = (2 ** 30 - 1) * 16384;
/** The longest piece that libtorrent loads, in bytes. */
export const LIBTORRENT_MAX_PIECE_LENGTH = 32767 * 16384;
/** The most pieces that libtorrent loads. */
export const LIBTORRENT_MAX_PIECES = 2 ** 21;
