/** Generates the torrent of short content, in memory or on disk, with few steps and fewer promises. */
import { encode } from '../bencode/encode.ts';
import { type Encodable, RawBencode } from '../bencode/value.ts';
import { requireNoInput } from '../disk/output-not-input.ts';
import { type Problem, throwProblems } from '../disk/scan-problems.ts';
import { type HeldFile, readSmallTree } from '../disk/small-tree.ts';
import { STAT_NUMBERS, statFiles } from '../disk/stat-files.ts';
import { throwIfAborted } from '../errors/cancel.ts';
import { toHex } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { type Digests, isOwnEngine, MAX_SHORT } from '../hash/engine.ts';
import { checkedResources } from '../hash/hash-request.ts';
import { runShort } from '../hash/limiter.ts';
import { bytesToPieceEnd, requestedMemory } from '../hash/make-requested-files.ts';
import { changed } from '../hash/open-without-links.ts';
import { privateCopy, reusePrivate } from '../hash/private-buffer.ts';
import { jobLimiter } from '../jobs/job-limiter.ts';
import { factsOfLayout, UNWATCHED } from '../jobs/track.ts';
import { runningJob, watch } from '../jobs/watch.ts';
import { FileTable } from '../layout/file-table.ts';
import { libtorrentName } from '../layout/libtorrent-names.ts';
import { sortV1, sortV2 } from '../layout/order.ts';
import { isNamedLikePad } from '../layout/padding.ts';
import { BLOCK_SIZE, checkPieceLength, choosePieceLength } from '../layout/piece-length.ts';
import { isTorrentFileName, requireTorrentName } from '../layout/safe-path.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { keysOf as knownKeysOf } from '../model/field.ts';
import { encodeFileList } from '../model/files-codec.ts';
import { HashList } from '../model/hash-list.ts';
import { IN_INFO, type Keys, TOP } from '../model/keys.ts';
import { createdTorrent } from '../model/lazy/created-torrent.ts';
import { lazyTorrent, type UsualLists } from '../model/lazy/usual-torrent.ts';
import { LIBTORRENT_MAX_PIECE_LENGTH } from '../model/limits.ts';
import type { PieceLayers } from '../model/piece-layers.ts';
import { noFields, type TopLevelFields } from '../model/torrent/top-level.ts';
import type { TorrentOf } from '../model/torrent/torrent.ts';
import { isSharedArrayBuffer, uptime } from '../platform/node.ts';
import type { Source } from '../sources/sources.ts';
import { encodedSizes, keysOf, pieceLayersOf, withContent } from './assemble.ts';
import { hasLengthLimits } from './choose-length.ts';
import type { Draft } from './draft-fields.ts';
import { fileList, fileTreeOf } from './file-list.ts';
import type { Finding } from './findings/findings.ts';
import { secretFindings } from './findings/secret-findings.ts';
import { warn } from './findings/warnings.ts';
import type { MadeTorrent } from './generate.ts';
import { loadPlanReport } from './load.ts';
import type { GenerateOptions } from './options.ts';
import { otherFields } from './other-fields.ts';
import { checkVersion, type LaidOutFile, layoutOfShape, paddingOf, type SizedLayout } from './torrent-layout.ts';

/** The engine for the torrent of a draft, and its version; null where more than hashing is to be done, such as warnings. */
function shortEngineOf(draft: Draft, options: Checked<GenerateOptions>) {
  if (options.progress || options.reuse || hasLengthLimits(options) || !isPlain(draft)) return null;
  const { engine = defaultEngine() } = options;
  if (!isOwnEngine(engine) || !engine.short) return null;
  const version = checkVersion(options.version);
  // Only a given read size depends on the number of cores, which takes a while to find out.
  checkedResources(options, version, options.readSize == null ? 1 : undefined);
  return { engine, short: engine.short, version };
}

/**
 * The torrent of a draft whose only content is a short source: the one that `generate` makes, in half the time, hashed on this thread.
 * Null for any other draft.
 *
 * @throws as `generate`
 */
export function generateShortSource(
  draft: Draft,
  options: Checked<GenerateOptions>,
  job = UNWATCHED,
): MadeTorrent | Promise<MadeTorrent> | null {
  const { signal, onPlan, onProgress } = options;
  const [{ path, data, size: length, saveTo }] = draft.fields.sources as readonly [Source];
  // The general path destroys a stream also if the options are wrong.
  if (saveTo !== undefined || !(data instanceof Uint8Array) || onPlan || onProgress) return null;
  const engine = shortEngineOf(draft, options);
  if (!engine || data.length !== length || length > MAX_SHORT || path !== draft.info.name) return null;
  const { short, version } = engine;
  if (length === 0 || isSharedArrayBuffer(data.buffer)) return null;
  const layout = shortLayout(draft, { isFile: true, files: [{ path: [], length, data }] }, { version });
  if (!layout) return null;
  let bytes = data;
  // The caller may change the bytes while the job waits.
  const delay = () => {
    bytes = privateCopy(data);
  };
  return runShort(
    jobLimiter,
    () => {
      job.begin();
      job.describe({ version, bytes: length, files: 1 });
      const digests = short.hash(bytes, version, layout.pieceLength);
      const made = assembled(layout, digests, layersOfFile(digests));
      reusePrivate(bytes);
      return made;
    },
    { signal, delay },
  );
}

/** How many files are few. */
const FEW_FILES = 64;

/**
 * The torrent of a draft whose path root is a short file, or a folder of few: the one that `generate` makes, in half the time, read in one
 * step. Null for any other draft, and where something is in the way: the general path finds out what is wrong.
 *
 * @throws as `generate`
 */
export async function generateShortTree(
  draft: Draft,
  options: Checked<GenerateOptions>,
  job = UNWATCHED,
): Promise<MadeTorrent | null> {
  const { pathRoot, fields } = draft;
  const engine = fields.pathRoot === undefined ? null : shortEngineOf(draft, options);
  if (!engine) return null;
  const { version } = engine;
  // A path root that is a file is added whatever the filters say.
  const { include, exclude, attributes, hidden = true, systemFiles = true } = fields;
  const takesAll = !(include || exclude || attributes || options.cache) && hidden && systemFiles;
  const maxFiles = takesAll ? FEW_FILES : 0;
  const tree = await readSmallTree(pathRoot, { ...options, maxBytes: MAX_SHORT, maxFiles });
  const layout = tree && shortLayout(draft, tree, { ...options, version });
  if (!layout || (await isInput(options.outputPath, layout))) return null;
  job.describe(factsOfLayout(layout));
  await announce(draft, layout, options);
  throwIfAborted(options.signal);
  const digests = await hashShort(layout, engine, options);
  if (layout.isSingleFile) return assembled(layout, digests, layersOfFile(digests));
  const { v2 } = digests;
  return assembled(layout, digests, v2 ? await pieceLayersOf(layout.files.lengths, v2, layout.pieceLength) : null);
}

/** Calls `onPlan` or `onWarning`. A plan is a moment late: so little is read before there is one. */
async function announce(draft: Draft, layout: SizedLayout, options: Checked<GenerateOptions>): Promise<void> {
  const { signal, onPlan, onWarning } = options;
  let answer: unknown;
  const problems: Problem[] = [];
  if (onPlan) {
    const { describeLayout } = await loadPlanReport();
    answer = onPlan(await describeLayout(draft, { layout, problems, leftOut: [] }, options));
    await answer;
  } else if (!layout.isSingleFile) {
    const onEach = onWarning && ((warning: Finding) => (answer = onWarning(warning) ?? true));
    await warn(layout, onEach ? { onWarning: onEach } : {}, secretFindings(draft, layout));
  }
  if (answer !== undefined) await requireUnchanged(layout);
  throwIfAborted(signal);
  throwProblems(problems);
}

/** A callback may take any time. @throws {MetainfoError} `ERR_FILE_CHANGED` */
async function requireUnchanged({ files }: SizedLayout): Promise<void> {
  const planned = files.map(({ diskPath, length, mtimeMs }) => ({ real: diskPath as string, length, mtimeMs }));
  const numbers = await statFiles(planned);
  for (const [i, { real, length, mtimeMs }] of planned.entries()) {
    const [errno, , size, mtime] = numbers.subarray(i * STAT_NUMBERS);
    if (errno !== 0) throw changed(real, 'it was deleted, or cannot be looked at');
    if (size !== length || mtime !== mtimeMs) throw changed(real, 'its size or modification time changed');
  }
}

/** Hashes the only file at once, and several as any request. */
async function hashShort(
  { files, version, pieceLength, paddedFiles }: SizedLayout,
  { engine, short }: NonNullable<ReturnType<typeof shortEngineOf>>,
  options: Checked<GenerateOptions>,
): Promise<Digests> {
  const contents = files.map((file) => (file as HeldFile).content);
  const [first] = contents;
  const { totalLength: totalBytes } = files;
  const nameOf = (index: number) => files.pathAt(index);
  if (first && contents.length === 1) {
    const started = uptime();
    const digests = short.hash(first, version, pieceLength);
    const all = { bytes: totalBytes, arrivedBytes: totalBytes, totalBytes };
    await options.onProgress?.({ ...all, file: nameOf(0), seconds: uptime() - started, queued: 0 });
    return digests;
  }
  const requested = contents.map((content) => requestedMemory(content));
  // With long pieces, pad files may have gigabytes.
  const padding = contents.slice(0, paddedFiles).map(({ length }) => bytesToPieceEnd(length, pieceLength));
  const isShort = padding.reduce((sum, length) => sum + length, totalBytes) <= MAX_SHORT;
  const resources = checkedResources(options, version, isShort ? 1 : undefined);
  const request = { files: requested, version, pieceLength, paddedFiles, onMissing: 'fail' as const, ...resources };
  return watch(() => runningJob(engine.start(request), { totalBytes, nameOf }), options);
}

async function isInput(outputPath: string | null | undefined, { files }: SizedLayout): Promise<boolean> {
  // Most outputs do not exist.
  return requireNoInput(outputPath, files).then(
    () => false,
    () => true,
  );
}

/** The fields of {@link PLAIN} that `info` may have too. */
const PLAIN_INFO: ReadonlySet<string> = new Set([...Object.keys(IN_INFO), 'pieceLength']);
/** Fields that say no more than what {@link otherFields} writes, or that do not matter for a path root that is a file. */
const PLAIN: ReadonlySet<string> = new Set([
  ...PLAIN_INFO,
  ...Object.keys(TOP),
  ...['sources', 'pathRoot', 'info', 'trackers', 'announce', 'announceList', 'exclude', 'include', 'symlinks'],
  ...['followOutside', 'skipUnreadable', 'hidden', 'systemFiles', 'attributes'],
]);

function isPlain({ fields, info }: Draft): boolean {
  const only = (given: object, known: ReadonlySet<string>) => {
    for (const key in given) if (!known.has(key) && (given as Record<string, unknown>)[key] != null) return false;
    return true;
  };
  return (fields.sources?.length ?? 1) === 1 && only(fields, PLAIN) && only(info, PLAIN_INFO);
}

/** The piece length; null where some reader refuses it, or where the file has too many pieces for a short one. */
function pieceLengthOf({ fields, info }: Draft, version: TorrentVersion, length: number): number | null {
  const given = fields.pieceLength ?? info.pieceLength ?? null;
  const pieceLength = given === null ? choosePieceLength(length) : checkPieceLength(given, version);
  return pieceLength < BLOCK_SIZE || pieceLength > LIBTORRENT_MAX_PIECE_LENGTH ? null : pieceLength;
}

/** Characters. No reader refuses a torrent of a short file with fewer of them in its fields. */
const MAX_TEXT = 2 ** 18;

/** The layout; null if some reader may refuse the torrent of a file, or wherever the general path may do something else. */
function shortLayout(
  draft: Draft,
  { isFile, files: found }: { isFile: boolean; files: readonly (LaidOutFile & { length: number })[] },
  options: Checked<GenerateOptions> & { version: TorrentVersion },
): SizedLayout | null {
  const { version } = options;
  const name = draft.info.name as string;
  const totalLength = found.reduce((sum, { length }) => sum + length, 0);
  const pieceLength = pieceLengthOf(draft, version, totalLength);
  requireTorrentName(name);
  const fields = otherFields(draft);
  if (pieceLength === null || charactersIn(fields) > MAX_TEXT) return null;
  // Reading the torrent finds issues of these names.
  const isOdd = (path: readonly string[]) => isNamedLikePad(path) || libtorrentName(path.at(-1) as string) === '';
  if (isOdd([name])) return null;
  if (isFile) {
    // There is something to warn about.
    if (isTorrentFileName(name) || secretFindings(draft, null).length > 0) return null;
    const files = new FileTable([{ ...(found[0] as LaidOutFile & { length: number }), path: [name] }], { totalLength });
    const plain = { isSingleFile: true, padding: null, isAligned: true, paddedFiles: 0, streams: [] };
    return { version, name, files, otherFields: fields, pieceLength, ...plain };
  }
  const rows = version === 'v1' ? sortV1(found) : sortV2(found);
  if (rows.some(({ path }) => isOdd(path))) return null;
  const files = new FileTable(rows, { totalLength });
  const padding = paddingOf({ version, isSingleFile: false }, options);
  return layoutOfShape({ version, name, files, otherFields: fields, pieceLength, isSingleFile: false, padding });
}

/** Infinity where a text has half a surrogate pair: encoding replaces that. */
function charactersIn(value: Encodable): number {
  if (typeof value === 'string') return value.isWellFormed() ? value.length : Infinity;
  let sum = 1;
  if (Array.isArray(value)) for (const entry of value) sum += charactersIn(entry as Encodable);
  else if (value instanceof Map) for (const entry of value.values()) sum += charactersIn(entry as Encodable);
  return sum;
}

/** The piece layers of the only file. */
function layersOfFile({ v2 }: Digests): PieceLayers | null {
  return v2 ? new Map(v2.layers.length ? [[toHex(v2.roots), new HashList(v2.layers, 32, true)]] : []) : null;
}

function assembled(layout: SizedLayout, { v1, v2 }: Digests, layers: PieceLayers | null): MadeTorrent {
  const { version, pieceLength, files } = layout;
  const { totalLength } = files;
  const fileTree = v2 ? fileTreeOf(files, v2.roots) : null;
  const list = fileList(layout);
  const encodedList = list && encodeFileList(list);
  const content = keysOf(layout, { pieces: v1 ?? null, fileList: encodedList, fileTree, layers });
  const torrent = withContent(layout, content);
  const info = encode(torrent.get('info') as Encodable);
  const bytes = encode(torrent.set('info', new RawBencode(info)));
  const totals = {
    files: files.length,
    bytes: totalLength,
    pieces: files.map(({ length }) => Math.ceil(length / pieceLength)).reduce((sum, count) => sum + count),
  };
  const created = { version, bytes, totals, encoded: encodedSizes(content) };
  const decoded = decodedFields(layout, v1);
  if (!decoded) return { torrent: createdTorrent(created) as TorrentOf<TorrentVersion>, files };
  const pieceLayers = content.pieceLayers as RawBencode | null;
  const infoEnd = bytes.length - 1 - (pieceLayers ? LAYERS_KEY.length + pieceLayers.bytes.length : 0);
  const infoBytes = bytes.subarray(infoEnd - info.length, infoEnd);
  const { info: fields } = decoded;
  const lists = {
    info: fields,
    files: encodedList ?? undefined,
    tree: fileTree ?? undefined,
    layers: pieceLayers ?? undefined,
  };
  const made = lazyTorrent({ version, bytes, infoBytes, totals, context: {} }, decoded.fields, lists);
  return { torrent: made as TorrentOf<TorrentVersion>, files };
}

/** The key that follows `info`. */
const LAYERS_KEY = '12:piece layers';

/**
 * The fields that decoding the torrent would give; null where that changes a value, or may find an issue, or where other keys than
 * `piece layers` follow `info`.
 */
function decodedFields(
  { version, name, isSingleFile, pieceLength, files, otherFields: other }: SizedLayout,
  pieces: Uint8Array | undefined,
): { fields: TopLevelFields; info: UsualLists['info'] } | null {
  const fields = noFields() as Record<string, unknown>;
  for (const [key, value] of other) {
    if (key === 'announce') fields['announce'] = value;
    else if (key === 'announce-list') fields['announceList'] = value;
    else if (!(key === 'info' || addDecoded(fields, TOP, key, value))) return null;
  }
  // In the order of a decoded torrent: the getter of the file tree replaces the null.
  const info: Record<string, unknown> =
    version === 'v1' ? { name, pieceLength } : { fileTree: null, name, pieceLength };
  for (const [key, value] of other.get('info') as ReadonlyMap<string, Encodable>)
    if (!addDecoded(info, IN_INFO, key, value)) return null;
  if (isSingleFile && version !== 'v2') info['length'] = files.totalLength;
  if (version !== 'v2') info['pieces'] = new HashList(pieces as Uint8Array, 20, true);
  if (version !== 'v1') info['metaVersion'] = 2;
  return { fields: fields as TopLevelFields, info: info as unknown as UsualLists['info'] };
}

/** Adds the decoded value of a key. Returns false for a kind of values that decoding may change, or may find an issue in. */
function addDecoded(model: Record<string, unknown>, rows: Keys, key: string, value: Encodable): boolean {
  const { property = '' } = knownKeysOf(rows).get(key) ?? {};
  const kind = rows[property]?.kind;
  if (kind === 'text') model[property] = value;
  else if (kind === 'flag') model[property] = value === 1;
  else if (kind === 'date') model[property] = new Date((value as number) * 1000);
  else return false;
  return true;
}
