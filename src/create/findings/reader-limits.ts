/** Finds properties of a torrent that readers and clients refuse, and the piece length or version that avoids them. */
import type { IssueCode } from '../../errors/codes.ts';
import { type Issue, MetainfoError, optionText, shown } from '../../errors/errors.ts';
import { BLOCK_SIZE, powerOfTwoWithin } from '../../layout/piece-length.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import {
  LIBTORRENT_MAX_LENGTH,
  LIBTORRENT_MAX_PIECE_LENGTH,
  LIBTORRENT_MAX_PIECES,
  TORRENT_LIMITS,
} from '../../model/limits.ts';
import { exactBytes, plural } from '../../text/format.ts';
import type { FileSizes } from './file-sizes.ts';
import type { Finding } from './findings.ts';
import { MAX_COMPONENTS, type Sizes, SizesOf, type TorrentShape } from './torrent-sizes.ts';

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
  /** The option that raises a limit. */
  option?(limit: keyof Sizes): Finding['option'];
}

const { digits: _, ...OURS } = TORRENT_LIMITS;

const READERS: readonly Reader[] = [
  {
    max: OURS,
    option: (limit) => ({ limits: limit }),
    accepts: (limit, max) => `metainfo reads at most ${max}, and more with ${optionText('limits', limit)}`,
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
    accepts: (_limit, max) =>
      `libtorrent loads files of at most ${max}, unless the client raises that limit, and many trackers refuse larger ones`,
  },
  {
    max: { bytes: 100 * 2 ** 20 },
    accepts: (_limit, max) => `qBittorrent loads at most ${max}`,
  },
];

/** A property of a torrent that some reader refuses. */
export interface LimitWarning {
  code: IssueCode;
  /** Where it is in the torrent. */
  path: Issue['path'];
  /** The file or folder that it is about; null for the whole torrent. */
  name: string | null;
  /** A sentence that says what is wrong. */
  text: string;
  /** A sentence that says what to do; null if the sizes decide that. */
  advice: string | null;
  /** The option that the text or the advice names. */
  option?: Finding['option'];
  /** The size that is too large, and its bound. */
  limit?: { name: keyof Sizes; max: number };
}

/** Advice against a size that is too large: a sentence, and the options that it means. */
type SizeAdvice = Pick<Finding, 'advice' | 'option'>;

/**
 * Everything about a torrent that readers and clients refuse.
 *
 * @throws {MetainfoError} `ERR_NAME` for a file tree that is too deep for any reader
 */
export async function limitWarnings(sizes: SizesOf): Promise<LimitWarning[]> {
  const { shape } = sizes;
  const ofFiles = await sizes.files();
  requireDepth(shape, ofFiles);
  const beyond = beyondLimits(await sizes.torrent());
  return [...beyond, ...sharedPads(ofFiles), ...likePads(shape, ofFiles), ...lostFolder(shape)];
}

/** Findings of {@link limitFindings} about names. */
const MAX_FINDINGS = 100;

/**
 * The findings of {@link limitWarnings}. Their advice was computed: it names the shortest longer piece length, or the version, that
 * keeps the limit.
 *
 * @param sizes The sizes of the shape, if they have been measured before.
 * @throws {MetainfoError} `ERR_NAME` for a file tree that is too deep for any reader
 */
export async function limitFindings(shape: TorrentShape, sizes = new SizesOf(shape)): Promise<Finding[]> {
  const warnings = await limitWarnings(sizes);
  const findings: Finding[] = [];
  for (const { code, name, text, advice, option, limit } of warnings.slice(0, MAX_FINDINGS)) {
    const about: SizeAdvice = limit ? await adviceFor(sizes, limit) : { advice: advice ?? '' };
    const options = option || about.option ? { option: { ...option, ...about.option } } : {};
    findings.push({ code, severity: 'warning', path: name, message: text, advice: about.advice, ...options });
  }
  const more = warnings.slice(MAX_FINDINGS);
  const [first] = more;
  if (first) {
    const message = `${more.length} more names like those of pad files.`;
    findings.push({
      code: first.code,
      severity: 'warning',
      path: null,
      message,
      advice: first.advice ?? '',
      count: more.length,
    });
  }
  return findings;
}

/** The sizes of a torrent before it is hashed. */
export interface SizeEstimate {
  /** Bencoded values. */
  items: number;
  /** Bytes of the torrent file. Files of equal content can make it smaller. */
  bytes: number;
  pieces: number;
  padFiles: number;
  padBytes: number;
}

/** Estimates the sizes of a torrent. */
export async function sizeEstimate(shape: TorrentShape, sizes = new SizesOf(shape)): Promise<SizeEstimate> {
  const { items, bytes, pieces, files, padding } = await sizes.torrent();
  return { items, bytes, pieces, padFiles: files - shape.files.length, padBytes: padding };
}

function beyondLimits(sizes: Sizes): LimitWarning[] {
  const warnings: LimitWarning[] = [];
  for (const { max, accepts, option: named = () => undefined } of READERS) {
    for (const key in max) {
      const limit = { name: key as keyof Sizes, max: max[key as keyof Sizes] as number };
      const size = sizes[limit.name];
      if (size <= limit.max) continue;
      const text = `The torrent has ${size} ${NOUNS[limit.name]}: ${accepts(limit.name, limit.max)}.`;
      warnings.push({
        code: 'reader_limit',
        path: [],
        name: null,
        text,
        advice: null,
        option: named(limit.name),
        limit,
      });
    }
  }
  return warnings;
}

/** Sizes that longer pieces can make smaller, and those that shorter pieces can make smaller. */
const SMALLER_IN_LONGER: ReadonlySet<keyof Sizes> = new Set(['bytes', 'items', 'pieces']);
const SMALLER_IN_SHORTER: ReadonlySet<keyof Sizes> = new Set(['files', 'padding']);

/** The advice about a size that is too large. */
export async function adviceFor(
  sizes: SizesOf,
  { name, max }: { name: keyof Sizes; max: number },
): Promise<SizeAdvice> {
  if (name === 'pieceLength') {
    const length = powerOfTwoWithin(max);
    return { advice: `Use a piece length of ${exactBytes(length)} or less.`, option: { pieceLength: length } };
  }
  if (name === 'length') return { advice: 'Split the file.' };
  if (name === 'text') return { advice: 'Shorten that string.' };
  const { version, pieceLength } = sizes.shape;
  for (const other of [version, ...OTHERS[version]]) {
    const padding = other === version ? sizes.shape.padding : null;
    for (const length of lengthsFor(name, pieceLength, other !== version)) {
      // Pad files only add to a torrent, and the longest pieces have the fewest layers: often no length is enough.
      const choice = { version: other, padding, pieceLength: length };
      if ((await least(sizes, name, other)) > max) break;
      if ((await sizes.torrent(choice))[name] > max) continue;
      const pieces = `a piece length of ${exactBytes(length)}`;
      if (other === version) return { advice: `Use ${pieces}.`, option: { pieceLength: length } };
      if (length === pieceLength) return { advice: `Make a ${other} torrent.`, option: { version: other } };
      return { advice: `Make a ${other} torrent with ${pieces}.`, option: { version: other, pieceLength: length } };
    }
  }
  const wayOut = sizes.shape.isSingleFile ? 'split the file' : 'use fewer files';
  return { advice: `No piece length or version avoids that: ${wayOut}.` };
}

/** Versions that may be smaller than a version. A v2 tree needs another order of files than a v1 list. */
const OTHERS: Readonly<Record<TorrentVersion, readonly TorrentVersion[]>> = {
  hybrid: ['v2', 'v1'],
  v2: ['v1'],
  v1: [],
};

/** The longest power of two that libtorrent loads as a piece length. */
const MAX_ADVISED = powerOfTwoWithin(LIBTORRENT_MAX_PIECE_LENGTH);

/** The piece lengths to try, in order. */
function lengthsFor(name: keyof Sizes, pieceLength: number, isOtherVersion: boolean): number[] {
  const lengths = isOtherVersion ? [pieceLength] : [];
  if (SMALLER_IN_LONGER.has(name))
    for (let length = pieceLength * 2; length <= MAX_ADVISED; length *= 2)
      if (length >= BLOCK_SIZE) lengths.push(length);
  if (SMALLER_IN_SHORTER.has(name))
    for (let length = pieceLength / 2; length >= BLOCK_SIZE; length /= 2) lengths.push(length);
  return lengths;
}

/** The least that a size can be in a version. */
async function least(sizes: SizesOf, name: keyof Sizes, version: TorrentVersion): Promise<number> {
  return (await sizes.torrent({ version, padding: null, pieceLength: MAX_ADVISED }))[name];
}

/** Pad files that share a path with each other or with a file. */
function sharedPads({ pads, sharedPads: shared, sharedPad }: FileSizes): LimitWarning[] {
  if (shared === 0) return [];
  const text =
    `Several pad files have the same path, such as ${sharedPad} (${plural(shared, 'repeat')} among ${pads} pad files): ` +
    'Transmission 4.1.1 and later refuse the torrent, and rtorrent 0.9.8 stalls.';
  const option = { padNames: 'unique' };
  const advice = `${optionText('padNames', option.padNames)} avoids that, but changes the infohash.`;
  return [{ code: 'pad_names', path: ['info', 'files'], name: sharedPad, text, advice, option }];
}

/** Files that libtorrent takes for pad files of BitComet because of their names. */
function likePads(shape: TorrentShape, { likePads: indexes }: FileSizes): LimitWarning[] {
  const { version, isSingleFile, files } = shape;
  if (version === 'v2') return [];
  const effect = version === 'v1' ? 'never download it' : 'refuse the torrent';
  return indexes.map((index) => {
    const name = files.pathAt(index);
    const text =
      `${shown(name)} is named like a pad file of BitComet: clients that use libtorrent (qBittorrent, Deluge) treat it ` +
      `as padding and ${effect}.`;
    const path = isSingleFile ? ['info', 'name'] : ['info', 'files', index, 'path'];
    const advice = 'Rename it, or make a v2 torrent.';
    return { code: 'named_like_pad', path, name, text, advice, option: { version: 'v2' } };
  });
}

/** A v2 file tree does not tell whether its only file is in a folder. */
function lostFolder({ version, isSingleFile, name, files }: TorrentShape): LimitWarning[] {
  if (version !== 'v2' || isSingleFile || files.length !== 1 || files.at(0)?.path.length !== 1) return [];
  const text = `libtorrent, qBittorrent and Deluge drop the folder ${shown(name)}, because this v2 torrent has a single file in it.`;
  const advice = 'Make a hybrid, or a torrent of the file itself.';
  return [{ code: 'single_file_folder', path: ['info', 'file tree'], name, text, advice }];
}

/** Readers of file trees recurse: no limit lets them read a deeper tree. */
function requireDepth({ version, files }: TorrentShape, { tooDeep }: FileSizes): void {
  const deep = version === 'v1' ? undefined : files.at(tooDeep);
  if (tooDeep < 0 || !deep) return;
  const path = deep.path.join('/');
  const message = `${shown(path)} has ${deep.path.length} components, but a v2 file tree holds at most ${MAX_COMPONENTS}: make a v1 torrent, or leave the file out.`;
  throw new MetainfoError('ERR_NAME', message, { path });
}
