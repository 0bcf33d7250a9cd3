import { availableParallelism } from 'node:os';
import { encode } from '../bencode/encode.ts';
import { NO_LIMITS } from '../bencode/limits.ts';
import type { BencodeMap, Encodable, RawBencode } from '../bencode/value.ts';
import { requireNoInput } from '../disk/output.ts';
import { throwIfAborted, untilAbort } from '../errors/cancel.ts';
import { MetainfoError, shown, toHex } from '../errors/errors.ts';
import { Callback, Flag, type OptionStructs, orNull, Path, Unchecked } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { AnyEngine, type Engine } from '../hash/engine.ts';
import { type FileDigests, splitDigests, type TreeDigests } from '../hash/file-digests.ts';
import { type AlignedFile, alignedPlanFiles, padAfter, toPlanFile } from '../hash/file-plan.ts';
import { type HashPlan, planResources, RESOURCES, type ResourceOptions } from '../hash/plan.ts';
import { jobLimiter, LARGE_JOB_BYTES } from '../jobs/job-limiter.ts';
import type { Slot } from '../hash/limiter.ts';
import { deletedSinceScan, runningJob, WATCH, type WatchOptions, watch } from '../jobs/watch.ts';
import { isNamedLikePad, isPadFile, PAD_NAMES, type PadNames, withPads } from '../layout/padding.ts';
import { checkPieceLength, choosePieceLength } from '../layout/piece-length.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { INFO, TORRENT } from '../model/codec.ts';
import { TorrentVersion } from '../model/discriminator.ts';
import { encodeFields } from '../model/field.ts';
import type { FileItem } from '../model/file-item.ts';
import { type FlatFile, flattenTree } from '../model/file-tree.ts';
import { encodeFileList, encodeFlatTree } from '../model/files-codec.ts';
import { HashList } from '../model/hash-list.ts';
import { fromOwnBytes, type Torrent } from '../model/torrent.ts';
import type { CacheChoice, HashCache, Wanted } from './cache.ts';
import type { ContentFile, Hashed } from './content.ts';
import { rememberTimes } from './file-times.ts';
import { detachMemory, type SourceFile, sourceFiles, takeStreams } from './sources.ts';
import { hashStreams } from './streams.ts';
import type { TorrentCreate } from './torrent-create.ts';
import { type Outline, type WarningOptions, warn } from './warnings.ts';

/** What {@link TorrentCreate.generate} makes, and how. */
export interface GenerateOptions extends ResourceOptions, WatchOptions, WarningOptions {
  /** Default `hybrid`. */
  version?: TorrentVersion;
  /** v1: add pad files, so that every file starts at a piece's start (BEP 47). Default false; a hybrid always has them. */
  padding?: boolean;
  /** Pad after the last file too, as libtorrent from 2.0.8 does. Default true. */
  tailPad?: boolean;
  /**
   * How pads are named: `libtorrent` (the same infohash as libtorrent's) or `unique` (no path twice, which Transmission from
   * 4.1.1 on asks for).
   *
   * @default 'libtorrent'
   */
  padNames?: PadNames | undefined;
  /**
   * Where the torrent is going to be written: `generate` writes nothing, but refuses an output that is one of the files,
   * under any name or link.
   */
  output?: string | null | undefined;
  /**
   * Keep what files hash to, and take it from there while they are what they were: `auto` for the user's cache folder, or
   * a folder; false (default) for none. Drafts with streams among their sources do without.
   */
  cache?: CacheChoice | undefined;
  /** Default: the one that METAINFO_ENGINE names; else the native one, or where that does not load `nodeEngine()`. */
  engine?: Engine | undefined;
}

/** The options of {@link TorrentCreate.generate}. */
export const GENERATE: OptionStructs<GenerateOptions> = {
  // Checked where they are used.
  version: Unchecked,
  cache: Unchecked,
  padding: Flag,
  tailPad: Flag,
  padNames: PAD_NAMES,
  onWarning: Callback,
  output: orNull(Path),
  engine: AnyEngine,
  ...RESOURCES,
  ...WATCH,
};

/** Hashes the files of a draft and makes the torrent. See {@link TorrentCreate.generate}. */
export async function generate(draft: TorrentCreate, options: GenerateOptions): Promise<Torrent> {
  const sources = detachMemory(sourceFiles(draft.fields.sources ?? []));
  const streams = takeStreams(sources);
  try {
    const torrent = await make(draft, sources, options);
    streams.release();
    return torrent;
  } catch (error) {
    streams.destroy();
    throw error;
  }
}

async function make(draft: TorrentCreate, sources: readonly SourceFile[], options: GenerateOptions): Promise<Torrent> {
  // Before the work, not after it.
  const creationDate = draft.fields.creationDate ?? sourceDate();
  const content = await hashContent(draft, { ...options, sources, beside: () => besideFiles(draft, creationDate) });
  const { single, lengths, pieceLength, pieces, list, flat, pieceLayers } = content;
  requireSameAsDraft(draft, content);
  const length = single && pieces ? (lengths[0] as number) : null;
  const name = draft.info.name as string;
  const own = { name, pieceLength, pieces, length, files: null, metaVersion: flat && 2, fileTree: null };
  const info = encodeFields({ ...draft.info, ...own }, INFO);
  if (list) info.set('files', list);
  if (flat) info.set('file tree', encodeFlatTree(flat));
  // What somebody makes of files of their own is not bounded: `warn` says what readers will refuse.
  const torrent = fromOwnBytes(encode(assemble(draft, { info, creationDate, pieceLayers })), { limits: NO_LIMITS });
  rememberTimes(torrent, content.files);
  return torrent;
}

/** What the files of a draft are in a torrent. */
export interface TorrentContent {
  /** Whether the torrent is one file, not a folder. */
  single: boolean;
  /** In the torrent's order. */
  files: readonly ContentFile[];
  /** Bytes of each. */
  lengths: readonly number[];
  pieceLength: number;
  /** v1 and hybrid. */
  pieces: HashList | null;
  /** The v1 `files`. */
  list: RawBencode | null;
  /** v2 and hybrid: the files of the tree, in its order. */
  flat: FlatFile[] | null;
  pieceLayers: ReadonlyMap<string, HashList> | null;
  /** Bytes of content that were hashed: the others were known. */
  bytesRead: number;
}

export interface ContentOptions extends GenerateOptions {
  sources: readonly SourceFile[];
  /** The torrent without what is about files. */
  beside: () => Encodable;
  /** BEP 47 flags of files, by their path with `/`. */
  attrs?: ReadonlyMap<string, string>;
  /** What files are known to hash to where each begins with a piece: null for those that are to be read. */
  known?: (files: readonly ContentFile[], wanted: Wanted) => (FileDigests | null)[];
}

/** Finds the files of a draft and hashes them, when its slot has come. */
export function hashContent(draft: TorrentCreate, options: ContentOptions): Promise<TorrentContent> {
  return jobLimiter.run(options.signal, (slot) => findAndHash(draft, options, slot));
}

async function findAndHash(draft: TorrentCreate, options: ContentOptions, slot: Slot): Promise<TorrentContent> {
  const { signal, engine = defaultEngine(), sources } = options;
  const version = checkVersion(options.version);
  const resources = planResources(options, version, availableParallelism());
  const wanted = draft.fields.pieceLength ?? draft.info.pieceLength;
  if (wanted != null) checkPieceLength(wanted, version);
  const name = checkName(draft.info.name as string);
  throwIfAborted(signal);
  const cache = await cacheFor(options.cache);
  const found = { v1Order: version === 'v1', sources, readable: true, signal, slot };
  const { single, files } = await untilAbort(signal, draft.findFiles(found));
  await requireNoInput(options.output, files);
  const attrs = options.attrs ?? attrsOf(draft);
  const context = { draft, version, wanted, engine, resources, options, single, sources, cache, attrs };
  // What comes from elsewhere may take as long as it likes, and may be made of other torrents.
  const isSmall =
    files.every(({ stream }) => !stream) && sum(files.map(({ length }) => length ?? 0)) <= LARGE_JOB_BYTES;
  if (!isSmall) slot.release();
  const { pieceLength, list, hashed, bytesRead } = await hashFiles(files, context);
  const { lengths } = hashed;
  const pieces = hashed.pieces && new HashList(hashed.pieces, 20);
  const v2 =
    hashed.trees && v2Content(files, hashed, { singleName: single ? name : null, attrs, extras: extrasOf(draft) });
  const { flat, pieceLayers } = v2 ?? { flat: null, pieceLayers: null };
  return { single, files, lengths, pieceLength, pieces, list, flat, pieceLayers, bytesRead };
}

/** Few ask for one. */
async function cacheFor(choice: CacheChoice | undefined): Promise<HashCache | null> {
  if (choice === undefined || choice === false) return null;
  return (await import('./cache.ts')).openCacheIfAny(choice);
}

/** Flags that the draft gives to its files. */
export function attrsOf({ info: { files, fileTree } }: TorrentCreate): Map<string, string> {
  const listed = (files ?? []).filter((file) => !isPadFile(file));
  const given = [...listed, ...flattenTree(fileTree ?? new Map())];
  return new Map(given.flatMap(({ path, attr }) => (attr == null ? [] : [[path.join('/'), attr]])));
}

/** Unknown keys that the draft gives to the leaves of its tree, by their path with `/`. */
function extrasOf({ info: { fileTree } }: TorrentCreate): Map<string, BencodeMap> {
  const leaves = fileTree ? flattenTree(fileTree) : [];
  return new Map(leaves.flatMap(({ path, extra }) => (extra ? [[path.join('/'), extra]] : [])));
}

interface Files {
  draft: TorrentCreate;
  version: TorrentVersion;
  single: boolean;
  /** The piece length that was asked for. */
  wanted: number | null | undefined;
  sources: readonly SourceFile[];
  engine: Engine;
  resources: ReturnType<typeof planResources>;
  options: ContentOptions;
  cache: HashCache | null;
  attrs: ReadonlyMap<string, string>;
}

interface HashedFiles {
  pieceLength: number;
  /** The v1 `files`. */
  list: RawBencode | null;
  hashed: Hashed;
  bytesRead: number;
}

async function hashFiles(files: readonly ContentFile[], context: Files): Promise<HashedFiles> {
  const { draft, version, single, wanted, sources, engine, resources, options } = context;
  const streams = sources.filter(({ stream }) => stream);
  const known = files.every(({ length }) => length !== null);
  const lengths = files.map(({ length }) => length ?? 0);
  if (known) requireContent(lengths, draft);
  const pieceLength = wanted ?? (known ? choosePieceLength(sum(lengths)) : UNKNOWN_PIECE_LENGTH);
  const outline = async (sizes: readonly number[]) => {
    const list = version === 'v2' || single ? null : v1List(files, sizes, { ...context, pieceLength });
    await warn(outlineOf(files, sizes, { ...context, pieceLength, list }), options);
    return list;
  };
  const isPadded = padding(files, lengths, context);
  if (streams.length === 0) {
    const items = await outline(lengths);
    const hashing = hashStill(files, { ...context, pieceLength, isPadded });
    // What needs no hash is made while the files are hashed.
    const [{ hashed, bytesRead }, list] = await Promise.all([hashing, items && encodeFileList(items)]).catch(
      (error) => {
        throw deletedSinceScan(error);
      },
    );
    return { pieceLength, list, hashed, bytesRead };
  }

  if (isPadded && !(options.tailPad ?? true) && !known) {
    const path = files.find(({ length }) => length === null)?.path.join('/');
    throw new MetainfoError('ERR_SIZE_UNKNOWN', `Without a pad at the end, the size of ${path} must be given.`, {
      path,
    });
  }
  const content = {
    files,
    streams,
    version,
    pieceLength,
    isPadded,
    threads: resources.threads,
    // Room for some pieces, unless something else was asked for.
    memoryLimit: options.memoryLimit ?? Math.max(resources.memoryLimit, 8 * pieceLength),
    readSize: options.readSize,
  };
  const before = known ? await outline(lengths) : undefined;
  const hashed = await watch(() => hashStreams(engine, content), options).catch((error) => {
    throw deletedSinceScan(error);
  });
  requireContent(hashed.lengths, draft);
  const items = before === undefined ? await outline(hashed.lengths) : before;
  return { pieceLength, list: items && encodeFileList(items), hashed, bytesRead: sum(hashed.lengths) };
}

/** What is known of the torrent without its hashes. */
function outlineOf(
  files: readonly ContentFile[],
  lengths: readonly number[],
  { draft, version, single, pieceLength, list, attrs, options }: Files & Pick<Outline, 'pieceLength' | 'list'>,
): Outline {
  const name = draft.info.name as string;
  return {
    version,
    single,
    name,
    pieceLength,
    list,
    files: files.map(({ path }, index) => {
      const attr = attrs.get(path.join('/')) ?? null;
      return { path: single ? [name] : path, length: lengths[index] as number, attr };
    }),
    beside: options.beside(),
  };
}

/** Which files have their last piece filled; null when files begin where the one before ends. */
function padding(files: readonly ContentFile[], lengths: readonly number[], context: Files) {
  if (!hasPads(context) || files.length === 1) return null;
  const tailPad = context.options.tailPad ?? true;
  const last = tailPad ? files.length : lengths.findLastIndex((length) => length > 0);
  return (index: number) => index < last;
}

interface StillFiles extends Files {
  pieceLength: number;
  isPadded: ((index: number) => boolean) | null;
}

/** Hashes files on disk and in memory, as far as it is not known what they hash to. */
async function hashStill(files: readonly ContentFile[], context: StillFiles) {
  const { version, engine, resources, options, pieceLength, isPadded, cache } = context;
  const lengths = files.map(({ length }) => length as number);
  const all = files.map((file, index) => ({ file, plan: toPlanFile(file), isPadded: isPadded?.(index) ?? false }));
  const hash = (some: typeof all) => {
    const plan: HashPlan = {
      files: alignedPlanFiles(some, pieceLength),
      version,
      pieceLength,
      onMissing: 'fail',
      ...resources,
    };
    const totalBytes = sum(some.map(({ plan: { length } }) => length));
    const nameOf = (index: number) => ownerOf(some, index, pieceLength).path.join('/') || context.draft.info.name || '';
    return watch(() => runningJob(engine.start(plan), { totalBytes, nameOf }), options);
  };
  if (version === 'v1' && !isPadded && files.length > 1) {
    // A piece may hold parts of several files: all are known, or none.
    const row = cache && (await cache.findRow(files, pieceLength));
    const pieces = row?.pieces ?? ((await hash(all)).v1 as Uint8Array);
    if (row && !row.pieces) await cache.keepRow(row, pieces);
    return { hashed: { lengths, pieces, trees: null }, bytesRead: row?.pieces ? 0 : sum(lengths) };
  }
  const wanted = { version, pieceLength, isPadded: (index: number) => isPadded?.(index) ?? false };
  const known = options.known?.(files, wanted) ?? files.map(() => null);
  const cached = cache && (await cache.find(files, known, wanted));
  const found = cached?.digests ?? known;
  const rest = all.filter((_, index) => !found[index]);
  const digests = rest.length > 0 ? await hash(rest) : null;
  const read = digests ? splitDigests(rest, digests, wanted) : [];
  if (cached) await cache.keep(cached, read);
  let at = 0;
  const each = found.map((one) => one ?? (read[at++] as FileDigests));
  const all20 = rest.length === all.length ? digests?.v1 : Buffer.concat(each.map(({ pieces }) => pieces));
  return {
    hashed: { lengths, pieces: version === 'v2' ? null : (all20 as Uint8Array), trees: version === 'v1' ? null : each },
    bytesRead: sum(rest.map(({ plan }) => plan.length)),
  };
}

/** The file that is at an index of an aligned plan, or the one that its pad is after. */
function ownerOf(files: readonly (AlignedFile & { file: ContentFile })[], index: number, pieceLength: number) {
  let at = 0;
  const owner = files.find(({ plan, isPadded }) => {
    at += isPadded ? 1 + padAfter(plan.length, pieceLength).length : 1;
    return index < at;
  });
  return (owner ?? (files.at(-1) as (typeof files)[number])).file;
}

/** For content whose size nobody knows: what is chosen for 512 MiB to 1 GiB. */
const UNKNOWN_PIECE_LENGTH = 2 ** 20;

/** Whether files begin with a piece in the v1 description. */
function hasPads({ version, single, options }: Files): boolean {
  return !single && (version === 'hybrid' || (version === 'v1' && (options.padding ?? false)));
}

/** The files in the torrent's order, pads among them where there are to be any. */
function v1List(
  files: readonly ContentFile[],
  lengths: readonly number[],
  list: Files & { pieceLength: number },
): FileItem[] {
  const { draft, pieceLength, options, attrs } = list;
  // What the draft says of a file beside its size, such as attr, stays.
  const given = draft.info.files && new Map(draft.info.files.map((item) => [item.path.join('/'), item]));
  const items = files.map(({ path }, index): FileItem => {
    const attr = attrs.get(path.join('/'));
    const length = lengths[index] as number;
    return { ...given?.get(path.join('/')), ...(attr !== undefined && { attr }), length, path };
  });
  const { tailPad = true, padNames } = options;
  const padded = hasPads(list) ? withPads(items, pieceLength, { tailPad, padNames }) : items;
  return withoutDoubt(padded);
}

/** Where no file has an `attr`, readers tell pads by their names: an empty one on such a name says that it is content. */
export function withoutDoubt(list: FileItem[]): FileItem[] {
  if (list.some(({ attr }) => attr != null)) return list;
  return list.map((item) => (isNamedLikePad(item.path) ? { ...item, attr: '' } : item));
}

type V2Content = { [K in 'flat' | 'pieceLayers']: NonNullable<TorrentContent[K]> };

interface V2Options {
  /** The one file's name, when the torrent is no folder. */
  singleName: string | null;
  attrs: Files['attrs'];
  extras: ReadonlyMap<string, BencodeMap>;
}

/** The files of the tree and the layers. */
function v2Content(
  files: readonly ContentFile[],
  { lengths, trees }: Hashed,
  { singleName, attrs, extras }: V2Options,
): V2Content {
  const pieceLayers = new Map<string, HashList>();
  const flat = files.map(({ path }, index): FlatFile => {
    const { root, layer } = (trees as readonly TreeDigests[])[index] as TreeDigests;
    if (root && layer.length > 0) pieceLayers.set(toHex(root), new HashList(layer, 32));
    const length = lengths[index] as number;
    const own = path.join('/') || (singleName ?? '');
    const [attr, extra] = [attrs.get(own), extras.get(own)];
    return {
      ...(attr !== undefined && { attr }),
      ...(extra && { extra }),
      length,
      piecesRoot: root,
      path: singleName === null ? path : [singleName],
    };
  });
  return { flat, pieceLayers };
}

/** The torrent of a draft without what is about files. */
export function besideFiles(draft: TorrentCreate, creationDate: Date | null): Map<string, Encodable> {
  const content = { pieceLength: null, pieces: null, length: null, files: null, metaVersion: null, fileTree: null };
  const info = encodeFields({ ...draft.info, ...content }, INFO);
  return assemble(draft, { info, creationDate, pieceLayers: null }) as Map<string, Encodable>;
}

interface Parts {
  info: Map<string, Encodable>;
  creationDate: Date | null;
  pieceLayers: ReadonlyMap<string, HashList> | null;
}

/** The whole torrent as bencode. */
export function assemble(draft: TorrentCreate, { info, creationDate, pieceLayers }: Parts) {
  const { fields, createdBy } = draft;
  const { urlList, httpseeds, nodes, comment = null } = fields;
  // Shorthands: inside of `info` nobody can change them without another infohash.
  for (const key of ['similar', 'collections'] as const) {
    const list = fields[key];
    if (list?.length) info.set(key, list);
  }
  const torrent = encodeFields(
    {
      ...(fields.extra && { extra: fields.extra }),
      comment,
      createdBy,
      creationDate,
      pieceLayers,
      urlList: urlList?.length ? [urlList].flat() : null,
      httpseeds: httpseeds?.length ? httpseeds : null,
      nodes: nodes?.length ? nodes : null,
    },
    TORRENT,
  );
  for (const [key, value] of Object.entries(draft.getTrackers())) torrent.set(key, value as Encodable);
  return torrent.set('info', info);
}

/** The date that reproducible builds agree on (https://reproducible-builds.org/specs/source-date-epoch/). */
export function sourceDate(): Date | null {
  const epoch = process.env['SOURCE_DATE_EPOCH'];
  if (epoch === undefined || epoch === '') return null;
  const date = new Date(Number(epoch) * 1000);
  if (/^\d+$/.test(epoch) && !Number.isNaN(date.getTime())) return date;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `SOURCE_DATE_EPOCH must be seconds since 1970, not ${shown(epoch)}.`);
}

/** @throws {MetainfoError} `ERR_INVALID_ARGUMENT` */
export function checkVersion(version: TorrentVersion = 'hybrid'): TorrentVersion {
  if (Object.hasOwn(TorrentVersion, version)) return version;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `version must be v1, v2 or hybrid, not ${shown(version)}.`);
}

export function checkName(name: string): string {
  const problem = unsafeComponent(name) ?? (name.isWellFormed() ? null : 'a name with half a surrogate pair');
  if (problem) throw new MetainfoError('ERR_NAME', `${problem} cannot be the name of a torrent.`);
  return name;
}

/** An error when there is nothing to hash: clients refuse such torrents. */
export function requireContent(lengths: readonly number[], { pathRoot, fields }: TorrentCreate): void {
  const onDisk = !fields.sources || fields.paths;
  const about = onDisk ? { path: pathRoot } : {};
  if (lengths.length === 0) {
    throw new MetainfoError('ERR_NO_FILES', `There are no files in ${pathRoot}, or all are left out.`, about);
  }
  const total = sum(lengths);
  const all = onDisk ? `All files in ${pathRoot}` : 'All sources';
  if (total === 0) throw new MetainfoError('ERR_NO_DATA', `${all} are empty: there is nothing to hash.`, about);
  if (!Number.isSafeInteger(total)) throw new MetainfoError('ERR_TOO_LARGE', `${all} are more than 2^53 bytes.`, about);
}

export function sum(lengths: readonly number[]): number {
  return lengths.reduce((total, length) => total + length, 0);
}

/** Sizes and hashes that a draft gives must be those of the files. */
export function requireSameAsDraft(
  { info: given, fields }: TorrentCreate,
  { files, lengths, pieces, flat, pieceLayers }: Omit<TorrentContent, 'bytesRead' | 'list' | 'pieceLength' | 'single'>,
): void {
  const mismatch = (what: string) => {
    const message = `${what} in the draft is not that of the files: leave it out, or mend the files.`;
    return new MetainfoError('ERR_HASH_MISMATCH', message);
  };
  const differ = (a?: Uint8Array | null, b?: Uint8Array | null) => a && b && Buffer.compare(a, b) !== 0;
  if (differ(given.pieces?.bytes, pieces?.bytes)) throw mismatch('pieces');
  if (given.length != null && given.length !== lengths[0]) throw mismatch('length');
  if (given.files || given.fileTree) {
    const sizes = new Map(files.map(({ path }, index) => [path.join('/'), lengths[index]]));
    const leaves = new Map((flat ?? []).map((file) => [file.path.join('/'), file]));
    const listed = (given.files ?? []).filter((file) => !isPadFile(file));
    for (const { path, length, piecesRoot } of [...listed, ...flattenTree(given.fileTree ?? new Map())] as FlatFile[]) {
      const name = path.join('/');
      const size = sizes.get(name);
      if (size !== undefined && size !== length) throw mismatch(`the length of ${name}`);
      if (differ(leaves.get(name)?.piecesRoot, piecesRoot)) throw mismatch(`the pieces root of ${name}`);
    }
  }
  for (const [root, layer] of pieceLayers ? (fields.pieceLayers ?? []) : []) {
    if (!pieceLayers?.has(root) || differ(pieceLayers.get(root)?.bytes, layer.bytes)) throw mismatch('a piece layer');
  }
}
