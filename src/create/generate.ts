import { availableParallelism } from 'node:os';
import { encode } from '../bencode/encode.ts';
import type { Encodable, RawBencode } from '../bencode/value.ts';
import { MetainfoError, shown, throwIfAborted, toHex } from '../errors.ts';
import type { Engine } from '../hash/engine.ts';
import { nativeEngine } from '../hash/native.ts';
import {
  type Digests,
  type HashPlan,
  layerCount,
  type PlanFile,
  planResources,
  type ResourceOptions,
} from '../hash/plan.ts';
import { addPadfiles, isPadFile } from '../layout/padding.ts';
import { checkPieceLength, choosePieceLength } from '../layout/piece-length.ts';
import { unsafeComponent } from '../layout/safe-path.ts';
import { TorrentVersion } from '../model/discriminator.ts';
import type { FileItem } from '../model/file-item.ts';
import { type FlatFile, flattenTree } from '../model/file-tree.ts';
import { HashList } from '../model/hash-list.ts';
import { encodeFileList, encodeFlatTree } from '../model/raw-files.ts';
import { Torrent } from '../model/torrent.ts';
import { encodeFields, INFO, TORRENT } from '../model/wire.ts';
import { type ContentFile, type Hashed, onPlan, padOnPlan, type TreeDigests } from './content.ts';
import { vanished, type WatchOptions, watch, workOf } from './run.ts';
import { type SourceFile, sourceFiles, takeStreams } from './sources.ts';
import { hashStreams } from './streams.ts';
import type { TorrentCreate } from './torrent-create.ts';

export interface GenerateOptions extends ResourceOptions, WatchOptions {
  /** Default `hybrid`. */
  version?: TorrentVersion;
  /** v1: add pad files, so that every file starts at a piece's start (BEP 47). Default false; a hybrid always has them. */
  padding?: boolean;
  /** Pad after the last file too, as libtorrent from 2.0.8 does. Default true. */
  tailPad?: boolean;
  /** Default: the native one. */
  engine?: Engine | undefined;
}

/** Hashes the files of a draft and makes the torrent. See {@link TorrentCreate.generate}. */
export async function generate(draft: TorrentCreate, options: GenerateOptions): Promise<Torrent> {
  const sources = sourceFiles(draft.fields.sources ?? []);
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
  const { version = 'hybrid', signal, engine = nativeEngine() } = options;
  if (!Object.hasOwn(TorrentVersion, version)) {
    throw new MetainfoError('ERR_INVALID_ARGUMENT', `version must be v1, v2 or hybrid, not ${shown(version)}.`);
  }
  const resources = planResources(options, version, availableParallelism());
  const wanted = draft.fields.pieceLength ?? draft.info.pieceLength;
  if (wanted != null) checkPieceLength(wanted, version);
  const name = checkName(draft.info.name as string);
  // Before the work, not after it.
  const creationDate = draft.fields.creationDate ?? sourceDate();
  throwIfAborted(signal);

  const { single, files } = await draft.findFiles({ v1Order: version === 'v1', sources, signal });
  const context = { draft, version, wanted, engine, resources, options, single, sources };
  const { pieceLength, list, hashed } = await hashFiles(files, context);
  const length = single && version !== 'v2' ? (hashed.lengths[0] as number) : null;
  const pieces = hashed.pieces && new HashList(hashed.pieces, 20);
  const v2 = hashed.trees && v2Content(files, hashed, single ? name : null);
  requireSameAsDraft(draft, files, { lengths: hashed.lengths, pieces, ...v2 });

  const own = { name, pieceLength, pieces, length, files: null, metaVersion: v2 && 2, fileTree: null };
  const info = encodeFields({ ...draft.info, ...own }, INFO);
  if (list) info.set('files', list);
  if (v2) info.set('file tree', encodeFlatTree(v2.flat));
  return Torrent.fromBytes(encode(assemble(draft, { info, creationDate, pieceLayers: v2?.pieceLayers ?? null })));
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
  options: GenerateOptions;
}

interface HashedFiles {
  pieceLength: number;
  /** The v1 `files`. */
  list: RawBencode | null;
  hashed: Hashed;
}

async function hashFiles(files: readonly ContentFile[], context: Files): Promise<HashedFiles> {
  const { draft, version, single, wanted, sources, engine, resources, options } = context;
  const streams = sources.filter(({ stream }) => stream);
  const known = files.every(({ length }) => length !== null);
  const lengths = files.map(({ length }) => length ?? 0);
  if (known) requireContent(lengths, draft);
  const pieceLength = wanted ?? (known ? choosePieceLength(sum(lengths)) : UNKNOWN_PIECE_LENGTH);
  const encodeList = (sizes: readonly number[]) =>
    version === 'v2' || single ? null : encodeFileList(v1List(files, sizes, { ...context, pieceLength }));
  if (streams.length === 0) {
    const items = v1List(files, lengths, { ...context, pieceLength });
    const plan: HashPlan = { files: planFiles(items), kind: version, pieceLength, onMissing: 'fail', ...resources };
    const totalBytes = sum(lengths);
    const nameOf = (index: number) => items[index]?.path.join('/') || (draft.info.name as string);
    // What needs no hash is made while the files are hashed.
    const [digests, list] = await Promise.all([
      watch(() => workOf(engine.start(plan), { totalBytes, nameOf }), options),
      version === 'v2' || single ? null : encodeFileList(items),
    ]).catch((error) => {
      throw vanished(error);
    });
    const trees = digests.v2 ? treesOf(items, plan, digests.v2) : null;
    return { pieceLength, list, hashed: { lengths, pieces: digests.v1 ?? null, trees } };
  }

  const padded = version !== 'v2' && hasPads(context) && files.length > 1;
  const tailPad = options.tailPad ?? true;
  if (padded && !tailPad && !known) {
    const path = files.find(({ length }) => length === null)?.path.join('/');
    throw new MetainfoError('ERR_SIZE_UNKNOWN', `Without a pad at the end, the size of ${path} must be given.`, {
      path,
    });
  }
  const last = lengths.findLastIndex((length) => length > 0);
  const content = {
    files,
    streams,
    kind: version,
    pieceLength,
    isPadded: padded ? (index: number) => tailPad || index < last : null,
    threads: resources.threads,
    // Room for some pieces, unless something else was asked for.
    memoryLimit: options.memoryLimit ?? Math.max(resources.memoryLimit, 8 * pieceLength),
    readSize: options.readSize,
  };
  const hashed = await watch(() => hashStreams(engine, content), options).catch((error) => {
    throw vanished(error);
  });
  requireContent(hashed.lengths, draft);
  return { pieceLength, list: encodeList(hashed.lengths), hashed };
}

/** For content whose size nobody knows: what is chosen for 512 MiB to 1 GiB. */
const UNKNOWN_PIECE_LENGTH = 2 ** 20;

/** An item of the v1 list, with where its bytes are; pads have none. */
type PlannedItem = FileItem & { content?: ContentFile };

/** Whether files begin with a piece in the v1 description. */
function hasPads({ version, single, options }: Files): boolean {
  return !single && (version === 'hybrid' || (version === 'v1' && (options.padding ?? false)));
}

/** The files in the torrent's order, pads among them where there are to be any. */
function v1List(
  files: readonly ContentFile[],
  lengths: readonly number[],
  list: Files & { pieceLength: number },
): PlannedItem[] {
  const { draft, pieceLength, options } = list;
  // What the draft says of a file beside its size, such as attr, stays.
  const given = draft.info.files && new Map(draft.info.files.map((item) => [item.path.join('/'), item]));
  const items: PlannedItem[] = files.map((content, index) => {
    const { path } = content;
    return { ...given?.get(path.join('/')), length: lengths[index] as number, path, content };
  });
  return hasPads(list) ? addPadfiles(items, pieceLength, { tailPad: options.tailPad ?? true }) : items;
}

function planFiles(items: readonly PlannedItem[]): HashPlan['files'] {
  return items.map(({ length, content }) => (content ? onPlan(content) : padOnPlan(length)));
}

/** What the files of a plan hash to, pads left out. */
function treesOf(
  items: readonly PlannedItem[],
  plan: HashPlan,
  { roots, layers }: NonNullable<Digests['v2']>,
): TreeDigests[] {
  const trees: TreeDigests[] = [];
  let at = 0;
  for (const [index, { length, content }] of items.entries()) {
    if (!content) continue;
    const end = at + layerCount(plan.files[index] as PlanFile, plan.pieceLength) * 32;
    const root = length > 0 ? roots.subarray(index * 32, (index + 1) * 32) : null;
    trees.push({ root, layer: layers.subarray(at, end) });
    at = end;
  }
  return trees;
}

interface V2Content {
  /** In the tree's order. */
  flat: FlatFile[];
  pieceLayers: Map<string, HashList>;
}

/** The files of the tree and the layers; `singleName` is the one file's name when the torrent is no folder. */
function v2Content(files: readonly ContentFile[], { lengths, trees }: Hashed, singleName: string | null): V2Content {
  const pieceLayers = new Map<string, HashList>();
  const flat = files.map(({ path }, index): FlatFile => {
    const { root, layer } = (trees as readonly TreeDigests[])[index] as TreeDigests;
    if (root && layer.length > 0) pieceLayers.set(toHex(root), new HashList(layer, 32));
    const length = lengths[index] as number;
    return { length, piecesRoot: root, path: singleName === null ? path : [singleName] };
  });
  return { flat, pieceLayers };
}

interface Parts {
  info: Map<string, Encodable>;
  creationDate: Date | null;
  pieceLayers: Map<string, HashList> | null;
}

/** The whole torrent as bencode. */
function assemble(draft: TorrentCreate, { info, creationDate, pieceLayers }: Parts) {
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
function sourceDate(): Date | null {
  const epoch = process.env['SOURCE_DATE_EPOCH'];
  if (epoch === undefined || epoch === '') return null;
  const date = new Date(Number(epoch) * 1000);
  if (/^\d+$/.test(epoch) && !Number.isNaN(date.getTime())) return date;
  throw new MetainfoError('ERR_INVALID_ARGUMENT', `SOURCE_DATE_EPOCH must be seconds since 1970, not ${shown(epoch)}.`);
}

function checkName(name: string): string {
  const problem = unsafeComponent(name) ?? (name.isWellFormed() ? null : 'a name with half a surrogate pair');
  if (problem) throw new MetainfoError('ERR_NAME', `${problem} cannot be the name of a torrent.`);
  return name;
}

/** An error when there is nothing to hash: clients refuse such torrents. */
function requireContent(lengths: readonly number[], { pathRoot, fields }: TorrentCreate): void {
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

function sum(lengths: readonly number[]): number {
  return lengths.reduce((total, length) => total + length, 0);
}

/** Sizes and hashes that a draft gives must be those of the files. */
function requireSameAsDraft(
  { info: given, fields }: TorrentCreate,
  files: readonly ContentFile[],
  {
    lengths,
    pieces,
    flat = [],
    pieceLayers,
  }: Partial<V2Content> & Pick<Hashed, 'lengths'> & { pieces: HashList | null },
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
    const leaves = new Map(flat.map((file) => [file.path.join('/'), file]));
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
