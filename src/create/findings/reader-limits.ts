/** Finds properties of a torrent that readers and clients refuse, and the piece length or version that avoids them. */
import { MetainfoError, optionText, shown } from '../../errors/errors.ts';
import { bytesToPieceEnd } from '../../hash/make-requested-files.ts';
import { PAD_FOLDER } from '../../layout/padding.ts';
import { BLOCK_SIZE, powerOfTwoWithin } from '../../layout/piece-length.ts';
import type { TorrentVersion } from '../../model/discriminator.ts';
import {
  LIBTORRENT_MAX_LENGTH,
  LIBTORRENT_MAX_PIECE_LENGTH,
  LIBTORRENT_MAX_PIECES,
  TORRENT_LIMITS,
} from '../../model/limits.ts';
import { inNode } from '../../platform/node.ts';
import { exactBytes, plural } from '../../text/format.ts';
import type { FileSizes } from './file-sizes.ts';
import { type Finding, listed, MAX_LISTED, warning } from './findings.ts';
import { MAX_COMPONENTS, type Sizes, type SizesOf, type TorrentShape } from './torrent-sizes.ts';

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

/** Advice against a problem: a sentence, and the options that it means. */
type Advice = Pick<Finding, 'advice' | 'option'>;

/**
 * Everything about a torrent that readers and clients refuse. The advice about sizes was computed: it names the shortest longer
 * piece length, or the version, that keeps the limit.
 *
 * @throws {MetainfoError} `ERR_NAME` for a file tree that is too deep for any reader
 */
export async function limitFindings(sizes: SizesOf): Promise<Finding[]> {
  const { shape } = sizes;
  const ofFiles = await sizes.files();
  requireDepth(shape, ofFiles);
  return [
    ...(await beyondLimits(sizes)),
    ...(inNode() ? [...shortPieces(shape), ...muchPadding(shape)] : []),
    ...sharedPads(shape, ofFiles),
    ...likePads(shape, ofFiles),
    ...padFolder(shape),
    ...lostFolder(shape),
  ];
}

async function beyondLimits(sizes: SizesOf): Promise<Finding[]> {
  const amounts = await sizes.torrent();
  const findings: Finding[] = [];
  for (const { max, accepts, option: named } of READERS)
    for (const [key, limit] of Object.entries(max)) {
      const name = key as keyof Sizes;
      if (amounts[name] <= limit) continue;
      const { advice, option } = await adviceFor(sizes, { name, max: limit });
      const message = `The torrent has ${amounts[name]} ${NOUNS[name]}: ${accepts(name, limit)}.`;
      findings.push(warning('reader_limit', null, message, { advice, option: { ...named?.(name), ...option } }));
    }
  return findings;
}

/** Sizes that longer pieces can make smaller, and those that shorter pieces can make smaller. */
const SMALLER_IN_LONGER: ReadonlySet<keyof Sizes> = new Set(['bytes', 'items', 'pieces']);
const SMALLER_IN_SHORTER: ReadonlySet<keyof Sizes> = new Set(['files', 'padding']);

/** The advice about a size that is too large. */
export async function adviceFor(sizes: SizesOf, { name, max }: { name: keyof Sizes; max: number }): Promise<Advice> {
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

/** Pieces shorter than a block: other programs count in KiB, so their users may have meant that. */
function shortPieces({ pieceLength }: TorrentShape): Finding[] {
  if (pieceLength >= BLOCK_SIZE) return [];
  const message = `Pieces of ${pieceLength} bytes are shorter than a block (16 KiB), which clients ask each other for: some refuse the torrent.`;
  const meant = pieceLength * 1024;
  const isMeant = meant >= BLOCK_SIZE && meant <= LIBTORRENT_MAX_PIECE_LENGTH;
  const advice = isMeant
    ? `${pieceLength} is ${exactBytes(pieceLength)}: did you mean ${exactBytes(meant).replace(' ', '')}?`
    : 'Use at least 16KiB.';
  return [warning('short_pieces', null, message, { advice, option: { pieceLength: isMeant ? meant : BLOCK_SIZE } })];
}

/** The share of padding in a hybrid that is worth shorter pieces. */
const MUCH_PADDING = 0.2;

/** Padding that shorter pieces avoid: it counts as content for clients that do not know pad files. */
function muchPadding({ version, files, pieceLength, padding }: TorrentShape): Finding[] {
  if (version !== 'hybrid' || !padding || files.length === 1) return [];
  const { lengths, totalLength } = files;
  const shareWith = (length: number) => {
    let pads = 0;
    for (let i = 0; i < lengths.length; i += 1) pads += bytesToPieceEnd(lengths[i] as number, length);
    return pads / (pads + totalLength);
  };
  let length = pieceLength;
  while (length > BLOCK_SIZE && shareWith(length) > MUCH_PADDING) length /= 2;
  if (length === pieceLength || shareWith(length) > MUCH_PADDING) return [];
  const share = Math.round(100 * shareWith(pieceLength));
  const message = `${share} % of the torrent is padding, because its files are shorter than pieces of ${exactBytes(pieceLength)} or do not fill the last one.`;
  const advice = `Use a piece length of ${exactBytes(length)}.`;
  return [{ code: 'much_padding', severity: 'hint', path: null, message, advice, option: { pieceLength: length } }];
}

/** Pad files that share a path with each other or with a file. */
function sharedPads({ version }: TorrentShape, { pads, sharedPads: shared, sharedPad }: FileSizes): Finding[] {
  if (shared === 0) return [];
  const message =
    `Several pad files have the same path, such as ${sharedPad} (${plural(shared, 'repeat')} among ${pads} pad files): ` +
    'Transmission 4.1.1 and later refuse the torrent, and rtorrent 0.9.8 stalls.';
  // A v1 torrent has pad files only if it was asked for them.
  const option = { padNames: 'auto', ...(version === 'hybrid' && { version: 'v1' }) };
  const ways = Object.entries(option).map(([name, value]) => optionText(name, value));
  const advice = `${ways.join(' or ')} avoids that, but changes the infohash.`;
  return [warning('pad_names', sharedPad, message, { advice, option })];
}

/** Files that libtorrent takes for pad files of BitComet because of their names. */
function likePads({ version, files }: TorrentShape, { likePads: indexes }: FileSizes): Finding[] {
  if (version === 'v2') return [];
  const effect = version === 'v1' ? 'never download it' : 'refuse the torrent';
  const about = { advice: 'Rename it, or make a v2 torrent.', option: { version: 'v2' } };
  const findings = indexes.slice(0, MAX_LISTED).map((index) => {
    const name = files.pathAt(index);
    const message =
      `${shown(name)} is named like a pad file of BitComet: clients that use libtorrent (qBittorrent, Deluge) treat it ` +
      `as padding and ${effect}.`;
    return warning('named_like_pad', name, message, about);
  });
  return listed(findings, indexes.length, 'names like those of pad files');
}

/** Content in the folder of pad files: an old client left pad files there as content, or a file has its name. */
function padFolder({ files, version, isSingleFile }: TorrentShape): Finding[] {
  if (isSingleFile || !files.hasPadFolder) return [];
  let [count, first] = [0, ''];
  for (const { path } of files) {
    if (path[0] !== PAD_FOLDER) continue;
    count += 1;
    first ||= path.join('/');
  }
  const others = version === 'v2' ? '' : ', so the pad files of this torrent get another folder';
  const message = `${shown(first)}${count > 1 ? ` and ${count - 1} more` : ''}: content where pad files belong${others}.`;
  const advice = 'Leave it out, if another client left it: it is only zeros then.';
  return [warning('pad_folder', first, message, { advice, option: { exclude: true } })];
}

/** A v2 file tree does not tell whether its only file is in a folder. */
function lostFolder({ version, isSingleFile, name, files }: TorrentShape): Finding[] {
  if (version !== 'v2' || isSingleFile || files.length !== 1 || files.at(0)?.path.length !== 1) return [];
  const message = `libtorrent, qBittorrent and Deluge drop the folder ${shown(name)}, because this v2 torrent has a single file in it.`;
  const advice = 'Make a hybrid, or a torrent of the file itself.';
  return [warning('single_file_folder', name, message, { advice })];
}

/** Readers of file trees recurse: no limit lets them read a deeper tree. */
function requireDepth({ version, files }: TorrentShape, { tooDeep }: FileSizes): void {
  const deep = version === 'v1' ? undefined : files.at(tooDeep);
  if (tooDeep < 0 || !deep) return;
  const path = deep.path.join('/');
  const message = `${shown(path)} has ${deep.path.length} components, but a v2 file tree holds at most ${MAX_COMPONENTS}: make a v1 torrent, or leave the file out.`;
  throw new MetainfoError('ERR_NAME', message, { path });
}
