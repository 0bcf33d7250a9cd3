import { availableParallelism } from 'node:os';
import { encode } from '../bencode/encode.ts';
import type { Encodable } from '../bencode/value.ts';
import { AbortError, MetainfoError, shown, throwIfAborted, toHex } from '../errors.ts';
import type { Engine } from '../hash/engine.ts';
import { nativeEngine } from '../hash/native.ts';
import { type Digests, type HashPlan, layerCount, planResources, type ResourceOptions } from '../hash/plan.ts';
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
import type { ProgressBar } from '../print/progress-bar.ts';
import type { ScannedFile } from './scan.ts';
import { parseSimilar } from './similar.ts';
import type { TorrentCreate } from './torrent-create.ts';

/** How far a generation is. */
export interface Progress {
  /** Bytes of content hashed. */
  bytes: number;
  totalBytes: number;
  /** The file being hashed, from the torrent's root with `/`. */
  file: string;
  /** Since hashing began. */
  seconds: number;
  /** Jobs of this process that go before this one while it waits for a thread; 0 while it has one. */
  queued: number;
}

export interface GenerateOptions extends ResourceOptions {
  /** Default `hybrid`. */
  version?: TorrentVersion;
  /** Show a bar (lines, when it is no terminal) on standard error; default false. */
  progress?: boolean;
  /** Called about ten times a second while files are hashed. */
  onProgress?: ((progress: Progress) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** v1: add pad files, so that every file starts at a piece's start (BEP 47). Default false; a hybrid always has them. */
  padding?: boolean;
  /** Pad after the last file too, as libtorrent from 2.0.8 does. Default true. */
  tailPad?: boolean;
  /** Default: the native one. */
  engine?: Engine | undefined;
}

const PROGRESS_INTERVAL_MS = 100;
/** Before it has anything to show, and after small torrents are made: what draws it takes longer than they do. */
const LOAD_BAR_AFTER_MS = 500;

/** Hashes the files of a draft and makes the torrent. See {@link TorrentCreate.generate}. */
export async function generate(draft: TorrentCreate, options: GenerateOptions): Promise<Torrent> {
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

  const { single, files } = await draft.findFiles({ v1Order: version === 'v1', signal });
  const totalSize = requireContent(files, draft.pathRoot);
  const pieceLength = wanted ?? choosePieceLength(totalSize);
  const v1Items = v1List(files, { draft, version, single, pieceLength, options });
  const plan: HashPlan = { files: planFiles(v1Items), kind: version, pieceLength, onMissing: 'fail', ...resources };
  const work = { name, totalBytes: totalSize, items: v1Items };
  // What needs no hash is made while the files are hashed.
  const [digests, fileList] = await Promise.all([
    run(engine, plan, work, options),
    version === 'v2' || single ? null : encodeFileList(v1Items),
  ]);
  const pieces = digests.v1 ? new HashList(digests.v1, 20) : null;
  const v2 = digests.v2 ? v2Content(v1Items, plan, digests.v2, single ? name : null) : null;
  requireSameAsDraft(draft, v1Items, { pieces, ...v2 });

  const length = single && version !== 'v2' ? totalSize : null;
  const own = { name, pieceLength, pieces, length, files: null, metaVersion: v2 && 2, fileTree: null };
  const info = encodeFields({ ...draft.info, ...own }, INFO);
  if (fileList) info.set('files', fileList);
  if (v2) info.set('file tree', encodeFlatTree(v2.flat));
  return Torrent.fromBytes(encode(assemble(draft, { info, creationDate, pieceLayers: v2?.pieceLayers ?? null })));
}

/** An item of the v1 list, with where its bytes are; pads have no file. */
type PlannedItem = FileItem & { scanned?: ScannedFile };

interface ListOptions {
  draft: TorrentCreate;
  version: TorrentVersion;
  single: boolean;
  pieceLength: number;
  options: GenerateOptions;
}

/** The files in the torrent's order, pads among them where there are to be any. */
function v1List(files: readonly ScannedFile[], list: ListOptions): PlannedItem[] {
  const { draft, version, single, pieceLength, options } = list;
  // What the draft says of a file beside its size, such as attr, stays.
  const given = draft.info.files && new Map(draft.info.files.map((item) => [item.path.join('/'), item]));
  const items: PlannedItem[] = files.map((scanned) => {
    const { path, length } = scanned;
    return { ...given?.get(path.join('/')), length, path, scanned };
  });
  const padded = version === 'hybrid' || (version === 'v1' && (options.padding ?? false));
  return padded && !single ? addPadfiles(items, pieceLength, { tailPad: options.tailPad ?? true }) : items;
}

function planFiles(items: readonly PlannedItem[]): HashPlan['files'] {
  return items.map(({ length, scanned }) => ({
    path: scanned?.diskPath ?? null,
    offset: 0,
    length,
    size: length,
    mtimeMs: scanned?.mtimeMs ?? Number.NaN,
  }));
}

interface V2Content {
  /** In the tree's order. */
  flat: FlatFile[];
  pieceLayers: Map<string, HashList>;
}

/** The files of the tree and the layers; `singleName` is the one file's name when the torrent is no folder. */
function v2Content(
  items: readonly PlannedItem[],
  plan: HashPlan,
  { roots, layers }: NonNullable<Digests['v2']>,
  singleName: string | null,
): V2Content {
  const flat: FlatFile[] = [];
  const pieceLayers = new Map<string, HashList>();
  let at = 0;
  for (const [index, { length, path, scanned }] of items.entries()) {
    if (!scanned) continue;
    const piecesRoot = length > 0 ? roots.subarray(index * 32, (index + 1) * 32) : null;
    flat.push({ length, piecesRoot, path: singleName === null ? path : [singleName] });
    const end = at + layerCount(plan.files[index] as HashPlan['files'][number], plan.pieceLength) * 32;
    if (end > at && piecesRoot) pieceLayers.set(toHex(piecesRoot), new HashList(layers.subarray(at, end), 32));
    at = end;
  }
  return { flat, pieceLayers };
}

interface Work {
  name: string;
  totalBytes: number;
  items: readonly PlannedItem[];
}

function vanished({ path, cause }: MetainfoError): MetainfoError {
  return new MetainfoError('ERR_FILE_CHANGED', `${path} was deleted before it was hashed.`, { path, cause });
}

async function run(
  engine: Engine,
  plan: HashPlan,
  { name, totalBytes, items }: Work,
  { signal, onProgress, progress = false }: GenerateOptions,
): Promise<Digests> {
  throwIfAborted(signal);
  const started = process.uptime();
  const job = engine.start(plan);
  const cancel = () => job.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  // It may have fired while the engine started.
  if (signal?.aborted) cancel();
  let bar = null as ProgressBar | null;
  const loadBar = () =>
    import('../print/progress-bar.ts').then(
      ({ progressBar }) => {
        bar = progressBar(process.stderr);
      },
      // The work goes on without.
      () => {},
    );
  const report = () => {
    const { bytes, fileIndex, queued } = job.progress();
    const seconds = process.uptime() - started;
    const now: Progress = { bytes, totalBytes, file: items[fileIndex]?.path.join('/') || name, seconds, queued };
    onProgress?.(now);
    bar?.update(now);
  };
  // A callback that throws ends the job; thrown in a timer it would end the process.
  let thrown: { error: unknown } | null = null;
  const tick = () => {
    try {
      report();
    } catch (error) {
      thrown ??= { error };
      job.cancel();
    }
  };
  const timer = onProgress || progress ? setInterval(tick, PROGRESS_INTERVAL_MS) : null;
  const barTimer = progress ? setTimeout(loadBar, LOAD_BAR_AFTER_MS) : null;
  try {
    const digests = await job.done;
    if (timer) report();
    return digests;
  } catch (error) {
    if (thrown) throw (thrown as { error: unknown }).error;
    // The scan has seen it.
    if ((error as MetainfoError).code === 'ERR_NOT_FOUND') throw vanished(error as MetainfoError);
    if (signal?.aborted && (error as MetainfoError).code === 'ERR_ABORTED') throw new AbortError(signal);
    throw error;
  } finally {
    if (timer) clearInterval(timer);
    if (barTimer) clearTimeout(barTimer);
    bar?.finish();
    signal?.removeEventListener('abort', cancel);
  }
}

interface Parts {
  info: Map<string, Encodable>;
  creationDate: Date | null;
  pieceLayers: Map<string, HashList> | null;
}

/** The whole torrent as bencode. */
function assemble(draft: TorrentCreate, { info, creationDate, pieceLayers }: Parts) {
  const { fields, createdBy } = draft;
  const { similar, urlList, comment = null } = fields;
  if (similar && similar.length > 0)
    info.set(
      'similar',
      similar.map((hash) => parseSimilar(hash) as Uint8Array),
    );
  const torrent = encodeFields(
    {
      ...(fields.extra && { extra: fields.extra }),
      comment,
      createdBy,
      creationDate,
      pieceLayers,
      urlList: urlList?.length ? [urlList].flat() : null,
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

/** The total size; an error when there is nothing to hash: clients refuse such torrents. */
function requireContent(files: readonly ScannedFile[], root: string): number {
  if (files.length === 0) {
    throw new MetainfoError('ERR_NO_FILES', `There are no files in ${root}, or all are left out.`, { path: root });
  }
  const total = files.reduce((sum, file) => sum + file.length, 0);
  if (total === 0)
    throw new MetainfoError('ERR_NO_DATA', `All files in ${root} are empty: there is nothing to hash.`, { path: root });
  if (!Number.isSafeInteger(total))
    throw new MetainfoError('ERR_TOO_LARGE', `${root} holds more than 2^53 bytes.`, { path: root });
  return total;
}

/** Sizes and hashes that a draft gives must be those of the files. */
function requireSameAsDraft(
  { info: given, fields }: TorrentCreate,
  items: readonly PlannedItem[],
  { pieces, flat = [], pieceLayers }: Partial<V2Content> & { pieces: HashList | null },
): void {
  const mismatch = (what: string) => {
    const message = `${what} in the draft is not that of the files: leave it out, or mend the files.`;
    return new MetainfoError('ERR_HASH_MISMATCH', message);
  };
  const differ = (a?: Uint8Array | null, b?: Uint8Array | null) => a && b && Buffer.compare(a, b) !== 0;
  if (differ(given.pieces?.bytes, pieces?.bytes)) throw mismatch('pieces');
  if (given.length != null && given.length !== items[0]?.length) throw mismatch('length');
  if (given.files || given.fileTree) {
    const sizes = new Map(items.map((item) => [item.path.join('/'), item.length]));
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
