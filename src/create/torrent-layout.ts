/** Lays out a torrent: finds and orders the files, chooses the piece length, lays out pad files and warns. It reads no content. */
import type { Encodable } from '../bencode/value.ts';
import { requireNoInput } from '../disk/output-not-input.ts';
import { savePaths } from '../disk/save-target.ts';
import type { ScanOptions } from '../disk/scan.ts';
import type { OnProblem, Problem } from '../disk/scan-problems.ts';
import { throwIfAborted, untilAbort } from '../errors/cancel.ts';
import type { MetainfoErrorCode } from '../errors/codes.ts';
import { MetainfoError, shown } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { FileTable } from '../layout/file-table.ts';
import { isPadFile, PADDING_DEFAULTS, type PaddingOptions } from '../layout/padding.ts';
import { checkPieceLength, choosePieceLength, UNKNOWN_PIECE_LENGTH } from '../layout/piece-length.ts';
import { requireTorrentName } from '../layout/safe-path.ts';
import { TorrentVersion } from '../model/discriminator.ts';
import { flattenTree } from '../model/file-tree.ts';
import type { SourceFile } from '../sources/sources.ts';
import { hasLengthLimits, lengthFor, type PieceLengthLimits } from './choose-length.ts';
import { withDiskAttrs } from './disk-attrs.ts';
import type { Draft } from './draft-fields.ts';
import type { ListedFile } from './file-list.ts';
import { type ContentFile, type FoundFiles, findFiles } from './find-files.ts';
import type { LeftOut } from './findings/scan-findings.ts';
import { secretFindings } from './findings/secret-findings.ts';
import type { TorrentShape } from './findings/torrent-sizes.ts';
import { warn } from './findings/warnings.ts';
import type { ReuseOptions } from './known/known.ts';
import type { GenerateOptions } from './options.ts';
import { otherFields } from './other-fields.ts';

/** How {@link layOutTorrent} lays out a torrent. */
export interface LayoutOptions
  extends Pick<
      Checked<GenerateOptions>,
      | 'version'
      | 'padding'
      | 'outputPath'
      | 'beneath'
      | 'onWarning'
      | 'signal'
      | keyof ReuseOptions
      | keyof PaddingOptions
      | keyof PieceLengthLimits
    >,
    Pick<ScanOptions, 'slot' | 'keepsTorrent'> {
  /** The sources of the draft, ready to be read. */
  sources: readonly SourceFile[];
  /** The torrent without the keys that describe its files. Default: {@link otherFields} of the draft. */
  otherFields?: Map<string, Encodable>;
  /** BEP 47 flags of files, by path with `/`. Default: those in the draft. */
  attrs?: ReadonlyMap<string, string>;
  /** Collects problems. With it, the planning goes on after each problem, and does not warn. */
  problems?: LayoutProblems;
}

/** Collects the problems of a layout, in the order in which they are found. */
export interface LayoutProblems {
  /** A file or folder that cannot be added, or another error that makes the creation fail. */
  onProblem: OnProblem;
  /** An entry that was left out: its path from the path root, with `/`. */
  onLeftOut: NonNullable<ScanOptions['onLeftOut']>;
}

/** A file of a layout. */
export type LaidOutFile = ContentFile & Pick<ListedFile, 'attr' | 'symlinkPath' | 'extra' | 'listed'>;

/**
 * Everything that is known of a torrent before its content is read: plain data apart from the table of its files, whose `data`
 * is plain too. `structuredClone` copies both as long as no file is a stream.
 */
export interface TorrentLayout extends Omit<TorrentShape, 'files'> {
  /** The content in the order of the torrent. A `length` is null if only the end of a stream tells it. */
  files: FileTable<LaidOutFile>;
  /** Whether every file starts at a v1 piece boundary, or the torrent has no v1 pieces. */
  isAligned: boolean;
  /** How many files, from the first on, have their last v1 piece filled up by a pad file. */
  paddedFiles: number;
  /** The files that are streams, as indexes of `files`, in the order in which to read them. */
  streams: readonly number[];
  /** The paths of the files that are named like torrents, with `/`; absent where there are none. */
  torrents?: readonly string[];
}

/** A layout in which the size of every file is known. */
export interface SizedLayout extends TorrentLayout {
  files: FileTable<LaidOutFile & { length: number }>;
}

/**
 * Lays out the torrent of a draft.
 *
 * @throws {MetainfoError} `ERR_INVALID_ARGUMENT`, `ERR_NAME` or `ERR_PIECE_LENGTH` for values that no torrent can have;
 *   `ERR_NO_FILES`, `ERR_NO_DATA`; `ERR_OUTPUT_IS_INPUT`; `ERR_SIZE_UNKNOWN`; see {@link findFiles}
 */
export async function layOutTorrent(draft: Draft, options: LayoutOptions): Promise<TorrentLayout> {
  const { sources, signal, slot, problems, beneath, keepsTorrent } = options;
  const version = checkVersion(options.version);
  const given = draft.fields.pieceLength ?? draft.info.pieceLength ?? null;
  let pieceLength: number | null = null;
  await collecting(problems, () => {
    if (given !== null) checkPieceLength(given, version);
    pieceLength = given;
  });
  const name = draft.info.name as string;
  await collecting(problems, () => requireTorrentName(name));
  const other = options.otherFields ?? otherFields(draft);
  throwIfAborted(signal);
  const scanOptions = { v1Order: version === 'v1', sources, readable: true, beneath, keepsTorrent, signal, slot };
  const found = await untilAbort(signal, findFiles(draft, { ...scanOptions, ...problems }));
  for (const output of [options.outputPath, ...savePaths(sources)])
    await collecting(problems, () => requireNoInput(output, found.files));
  const attrs = options.attrs ?? attrsOf(draft);
  const files = describedFiles(draft, found, { name, attrs: await withDiskAttrs(draft, found, attrs) });
  const { isSingleFile } = found;
  const layout = layOut({ version, name, isSingleFile, files, otherFields: other }, { ...options, pieceLength });
  layout.torrents = found.torrents.map((path) => path || name);
  if (hasLengthLimits(options))
    await collecting(problems, async () => {
      layout.pieceLength = await untilAbort(signal, lengthFor({ shape: layout, pieceLength }, options));
    });
  if (!hasAllSizes(layout)) return layout;
  await collecting(problems, () => requireContent(layout, draft));
  if (!problems) await warn(layout, options, secretFindings(draft, layout));
  return layout;
}

/** A layout that was tried: what {@link layOutTorrent} gives with its problems, none of which is thrown. */
export interface TriedLayout {
  /** The layout for {@link hashLayout}; null if the files could not be listed. */
  layout: TorrentLayout | null;
  /** The problems that make the creation fail. */
  problems: Problem[];
  leftOut: readonly LeftOut[];
}

/** Errors about the caller's arguments or a cancelled job: {@link tryLayOut} throws them. */
const THROWN: ReadonlySet<MetainfoErrorCode> = new Set([
  'ERR_ABORTED',
  'ERR_INTERNAL',
  'ERR_INVALID_ARGUMENT',
  'ERR_KERNEL',
  'ERR_NO_MEMORY',
  'ERR_VALIDATION',
]);

/** Lays out a draft, and collects all problems. Only `ERR_INVALID_ARGUMENT` and `ERR_ABORTED` are thrown. */
export async function tryLayOut(draft: Draft, options: Omit<LayoutOptions, 'problems'>): Promise<TriedLayout> {
  checkVersion(options.version);
  const problems: Problem[] = [];
  const leftOut: LeftOut[] = [];
  const layout = await layOutTorrent(draft, {
    ...options,
    problems: {
      onProblem: (error, { canExclude }) => void problems.push({ error, canExclude }),
      onLeftOut: (path, reason) => void leftOut.push({ path, reason }),
    },
  }).catch((error: unknown) => {
    if (!(error instanceof MetainfoError) || THROWN.has(error.code)) throw error;
    problems.push({ error, canExclude: false });
    return null;
  });
  throwIfAborted(options.signal);
  // Folders list their entries in an order of their own.
  leftOut.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { layout, problems, leftOut };
}

/** Runs a check, and collects its error if problems are collected. */
async function collecting(problems: LayoutProblems | undefined, check: () => Promise<void> | void): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!problems || !(error instanceof MetainfoError)) throw error;
    problems.onProblem(error, { canExclude: false });
  }
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** The flags that a draft gives to its files, by path with `/`. */
export function attrsOf({ info: { files, fileTree } }: Draft): ReadonlyMap<string, string> {
  if (!files && !fileTree) return NOTHING;
  const listed = (files ?? []).filter((file) => !isPadFile(file));
  const given = [...listed, ...flattenTree(fileTree ?? new Map())];
  return new Map(given.flatMap(({ path, attr }) => (attr == null ? [] : [[path.join('/'), attr]])));
}

/** Adds to the files that were found what the draft says about them. The only file of a torrent has the torrent's name. */
function describedFiles(
  { info }: Draft,
  { isSingleFile, files }: FoundFiles,
  { name, attrs }: { name: string; attrs: ReadonlyMap<string, string> },
): FileTable<LaidOutFile> {
  const listed = info.files ? new Map(info.files.map((item) => [item.path.join('/'), item])) : NOTHING;
  const leaves = info.fileTree ? flattenTree(info.fileTree) : null;
  const extras = leaves
    ? new Map(leaves.flatMap(({ path, extra }) => (extra ? [[path.join('/'), extra]] : [])))
    : NOTHING;
  const isPlain = attrs.size + listed.size + extras.size === 0;
  if (!isSingleFile && isPlain) return files;
  const described = files.map((file): LaidOutFile => {
    const path = isSingleFile ? [name] : file.path;
    if (isPlain) return { ...file, path };
    const key = path.join('/');
    return { ...file, path, attr: attrOf(file, attrs.get(key)), extra: extras.get(key), listed: listed.get(key) };
  });
  return new FileTable(described);
}

/** The flags that a file is given. Flags with that of a link are only for a stored link. */
function attrOf({ attr, symlinkPath }: ContentFile, given: string | undefined): string | undefined {
  if (symlinkPath) return given?.includes('l') ? given : attr;
  return given === undefined || given.includes('l') ? attr : given;
}

type BareLayout = Pick<TorrentLayout, 'version' | 'name' | 'isSingleFile' | 'files' | 'otherFields'>;
type LayOutOptions = Pick<LayoutOptions, 'padding' | 'tailPad' | 'padNames' | 'sources'> & {
  pieceLength: number | null;
};

/** How the file list of a torrent is padded; null for no pad files. */
export function paddingOf(
  { version, isSingleFile }: Pick<TorrentLayout, 'version' | 'isSingleFile'>,
  options: Pick<LayoutOptions, 'padding' | 'tailPad' | 'padNames'>,
): TorrentLayout['padding'] {
  const { tailPad = PADDING_DEFAULTS.tailPad, padNames = PADDING_DEFAULTS.padNames } = options;
  const hasPads = !isSingleFile && (version === 'hybrid' || (version === 'v1' && (options.padding ?? false)));
  return hasPads ? { tailPad, padNames } : null;
}

/** Chooses the piece length and decides which files are padded. */
function layOut(layout: BareLayout, options: LayOutOptions): TorrentLayout {
  const { files } = layout;
  const unknown = files.hasAllLengths ? -1 : files.lengths.findIndex(Number.isNaN);
  const padding = paddingOf(layout, options);
  if (padding && files.length > 1 && !padding.tailPad && unknown >= 0)
    throw sizeUnknown(files.at(unknown) as LaidOutFile);
  const streams = options.sources.filter(({ stream }) => stream);
  const pieceLength =
    options.pieceLength ?? (unknown < 0 ? choosePieceLength(files.totalLength) : UNKNOWN_PIECE_LENGTH);
  return {
    ...layoutOfShape({ ...layout, pieceLength, padding }),
    streams: streams.length === 0 ? [] : indexesOf(streams, files),
  };
}

/** The layout of a shape. None of its files is a stream. */
export function layoutOfShape<Shape extends Omit<TorrentLayout, 'isAligned' | 'paddedFiles' | 'streams'>>(
  shape: Shape,
): Shape & Pick<TorrentLayout, 'isAligned' | 'paddedFiles' | 'streams'> {
  const { version, padding, files } = shape;
  const isPadded = padding !== null && files.length > 1;
  const lastWithContent = files.lengths.findLastIndex((length) => length > 0);
  return {
    ...shape,
    isAligned: version !== 'v1' || isPadded || files.length === 1,
    paddedFiles: isPadded ? (padding.tailPad ? files.length : lastWithContent) : 0,
    streams: [],
  };
}

function sizeUnknown({ path }: LaidOutFile): MetainfoError {
  const name = path.join('/');
  const message = `The size of ${name} must be given: tailPad: false needs to know which file is the last with content.`;
  return new MetainfoError('ERR_SIZE_UNKNOWN', message, { path: name });
}

function indexesOf(streams: readonly SourceFile[], files: FileTable<LaidOutFile>): number[] {
  const indexes = new Map(files.map(({ path }, index) => [path.join('/'), index]));
  return streams.map(({ path }) => indexes.get(path.join('/')) as number);
}

/** Whether no size has to wait for the end of a stream. */
export function hasAllSizes(layout: TorrentLayout): layout is SizedLayout {
  return layout.files.hasAllLengths;
}

/** The layout with the size of every file. */
export function sizedLayout(layout: TorrentLayout, lengths: readonly number[]): SizedLayout {
  const files = layout.files.map((file, i) => ({ ...file, length: lengths[i] as number }));
  return { ...layout, files: new FileTable(files) };
}

/** Clients refuse torrents without content. Throws `ERR_NO_FILES`, `ERR_NO_DATA` or `ERR_TOO_LARGE`. */
export function requireContent({ files }: SizedLayout, { pathRoot, fields }: Draft): void {
  const onDisk = !fields.sources || fields.paths;
  const about = onDisk ? { path: pathRoot } : {};
  if (files.length === 0) {
    const message = `There are no files in ${pathRoot}, or the filters leave out all of them.`;
    throw new MetainfoError('ERR_NO_FILES', message, about);
  }
  const total = files.totalLength;
  const all = onDisk ? `All files in ${pathRoot}` : 'All sources';
  if (total === 0) throw new MetainfoError('ERR_NO_DATA', `${all} are empty: there is nothing to hash.`, about);
  if (!Number.isSafeInteger(total))
    throw new MetainfoError('ERR_TOO_LARGE', `${all} together are larger than 2^53 bytes.`, about);
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` */
export function checkVersion(version: TorrentVersion = 'hybrid'): TorrentVersion {
  if (typeof version === 'string' && Object.hasOwn(TorrentVersion, version)) return version;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `version must be v1, v2 or hybrid, not ${shown(version)}.`);
}
