/** Generates the torrent of one short file, in memory or on disk, with few steps and fewer promises. */
import { encode } from '../bencode/encode.ts';
import { type Encodable, RawBencode } from '../bencode/value.ts';
import { shortPathOf } from '../disk/held-folder.ts';
import { requireNoInput } from '../disk/output-not-input.ts';
import { type Problem, throwProblems } from '../disk/scan-problems.ts';
import { statusOf } from '../disk/stat-files.ts';
import { onAbort, throwIfAborted } from '../errors/cancel.ts';
import { toHex } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { type Digests, isOwnEngine, MAX_SHORT, type ShortEngine } from '../hash/engine.ts';
import { checkedResources } from '../hash/hash-request.ts';
import { changed } from '../hash/open-without-links.ts';
import { privateCopy, reusePrivate } from '../hash/private-buffer.ts';
import { jobLimiter } from '../jobs/job-limiter.ts';
import { UNWATCHED } from '../jobs/track.ts';
import { FileTable } from '../layout/file-table.ts';
import { libtorrentName } from '../layout/libtorrent-names.ts';
import { isNamedLikePad } from '../layout/padding.ts';
import { BLOCK_SIZE, checkPieceLength, choosePieceLength } from '../layout/piece-length.ts';
import { isTorrentFileName, requireTorrentName } from '../layout/safe-path.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { keysOf as knownKeysOf } from '../model/field.ts';
import { HashList } from '../model/hash-list.ts';
import { IN_INFO, type Keys, TOP } from '../model/keys.ts';
import { createdTorrent } from '../model/lazy/created-torrent.ts';
import { lazyTorrent, type UsualLists } from '../model/lazy/usual-torrent.ts';
import { LIBTORRENT_MAX_PIECE_LENGTH } from '../model/limits.ts';
import { noFields, type TopLevelFields } from '../model/torrent/top-level.ts';
import type { TorrentOf } from '../model/torrent/torrent.ts';
import { isSharedArrayBuffer, uptime } from '../platform/node.ts';
import type { Source } from '../sources/sources.ts';
import { encodedSizes, keysOf, withContent } from './assemble.ts';
import { hasLengthLimits } from './choose-length.ts';
import type { Draft } from './draft-fields.ts';
import { fileTreeOf } from './file-list.ts';
import { secretFindings } from './findings/secret-findings.ts';
import type { MadeTorrent } from './generate.ts';
import { loadPlanReport } from './load.ts';
import type { GenerateOptions } from './options.ts';
import { otherFields } from './other-fields.ts';
import { checkVersion, type LaidOutFile, type SizedLayout } from './torrent-layout.ts';

/** The engine for the torrent of a draft, and its version; null where more than hashing is to be done, such as warnings. */
function shortEngineOf(
  draft: Draft,
  options: Checked<GenerateOptions>,
): { short: ShortEngine; version: TorrentVersion } | null {
  if (options.progress || options.reuse || hasLengthLimits(options) || !isPlain(draft)) return null;
  const { engine = defaultEngine() } = options;
  if (!isOwnEngine(engine) || !engine.short) return null;
  const version = checkVersion(options.version);
  checkedResources(options, version, 1);
  return { short: engine.short, version };
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
  const layout = length > 0 && !isSharedArrayBuffer(data.buffer) ? shortLayout(draft, { length, data }, version) : null;
  if (!layout) return null;
  let bytes = data;
  // The caller may change the bytes while the job waits.
  const delay = () => {
    bytes = privateCopy(data);
  };
  return jobLimiter.runShort(
    () => {
      job.begin();
      job.describe({ version, bytes: length, files: 1 });
      const made = assembled(layout, short.hash(bytes, version, layout.pieceLength));
      reusePrivate(bytes);
      return made;
    },
    { signal, delay },
  );
}

/**
 * The torrent of a draft whose path root is a short file: the one that `generate` makes, in half the time, hashed in one step on another
 * thread. Null for any other draft, and where the file is in the way: the general path finds out what is wrong.
 *
 * @throws as `generate`
 */
export async function generateShortFile(
  draft: Draft,
  options: Checked<GenerateOptions>,
  job = UNWATCHED,
): Promise<MadeTorrent | null> {
  const { signal, outputPath } = options;
  const { pathRoot } = draft;
  const place = draft.fields.pathRoot === undefined ? null : shortPathOf(pathRoot, options);
  const engine = place && shortEngineOf(draft, options);
  if (!engine) return null;
  const { short, version } = engine;
  const pieceLength = pieceLengthOf(draft, version, MAX_SHORT);
  if (pieceLength === null) return null;
  const started = uptime();
  const hashing = short.hashFile(place, version, pieceLength);
  const removeListener = onAbort(signal, () => hashing.cancel());
  const hashed = await hashing.done;
  removeListener();
  throwIfAborted(signal);
  const layout = hashed && shortLayout(draft, { ...hashed.file, diskPath: pathRoot }, version);
  if (!layout || (await isInput(outputPath, layout))) return null;
  job.describe({ version, bytes: layout.files.totalLength, files: 1 });
  await report(draft, layout, options, uptime() - started);
  return assembled(layout, hashed.digests);
}

/** A callback may take any time. @throws {MetainfoError} `ERR_FILE_CHANGED` */
async function requireUnchanged({ files }: SizedLayout): Promise<void> {
  const { diskPath, length, mtimeMs } = files.at(0) as LaidOutFile;
  const path = diskPath as string;
  const now = await statusOf(path, path);
  if (now.size !== length || now.mtimeMs !== mtimeMs) throw changed(path, 'its size or modification time changed');
}

async function isInput(outputPath: string | null | undefined, { files }: SizedLayout): Promise<boolean> {
  // Most outputs do not exist.
  return requireNoInput(outputPath, files).then(
    () => false,
    () => true,
  );
}

/** Calls the callbacks of a creation. A plan is a moment late: so short a file is read before there is one. */
async function report(
  draft: Draft,
  layout: SizedLayout,
  options: Checked<GenerateOptions>,
  seconds: number,
): Promise<void> {
  const { signal, onPlan, onProgress } = options;
  if (onPlan) {
    const problems: Problem[] = [];
    const { describeLayout } = await loadPlanReport();
    const answer = onPlan(await describeLayout(draft, { layout, problems, leftOut: [] }, options));
    if (answer !== undefined) {
      await answer;
      await requireUnchanged(layout);
    }
    throwIfAborted(signal);
    throwProblems(problems);
  }
  const { totalLength: bytes } = layout.files;
  await onProgress?.({ bytes, arrivedBytes: bytes, totalBytes: bytes, file: layout.name, seconds, queued: 0 });
}

/** The fields of {@link PLAIN} that `info` may have too. */
const PLAIN_INFO: ReadonlySet<string> = new Set([...Object.keys(IN_INFO), 'pieceLength']);
/** Fields that say no more than what {@link otherFields} writes, or that do not matter for a path root that is a file. */
const PLAIN: ReadonlySet<string> = new Set([
  ...PLAIN_INFO,
  ...Object.keys(TOP),
  'sources',
  'pathRoot',
  'info',
  'trackers',
  'announce',
  'announceList',
  'exclude',
  'include',
  'symlinks',
  'followOutside',
  'skipUnreadable',
  'hidden',
  'systemFiles',
  'attributes',
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

/** The layout; null if some reader may refuse the torrent. */
function shortLayout(
  draft: Draft,
  file: Omit<LaidOutFile, 'path'> & { length: number },
  version: TorrentVersion,
): SizedLayout | null {
  const name = draft.info.name as string;
  const pieceLength = pieceLengthOf(draft, version, file.length);
  requireTorrentName(name);
  const fields = otherFields(draft);
  if (pieceLength === null || charactersIn(fields) > MAX_TEXT) return null;
  // Reading the torrent finds issues of these names.
  if (isNamedLikePad([name]) || libtorrentName(name) === '') return null;
  // There is something to warn about.
  if (isTorrentFileName(name) || secretFindings(draft, null).length > 0) return null;
  const files = new FileTable([{ ...file, path: [name] } as LaidOutFile & { length: number }], {
    totalLength: file.length,
  });
  const plain = { isSingleFile: true, padding: null, isAligned: true, paddedFiles: 0, streams: [] };
  return { version, name, files, otherFields: fields, pieceLength, ...plain };
}

/** Infinity where a text has half a surrogate pair: encoding replaces that. */
function charactersIn(value: Encodable): number {
  if (typeof value === 'string') return value.isWellFormed() ? value.length : Infinity;
  let sum = 1;
  if (Array.isArray(value)) for (const entry of value) sum += charactersIn(entry as Encodable);
  else if (value instanceof Map) for (const entry of value.values()) sum += charactersIn(entry as Encodable);
  return sum;
}

function assembled(layout: SizedLayout, { v1, v2 }: Digests): MadeTorrent {
  const { version, pieceLength, files } = layout;
  const { totalLength } = files;
  const layers = new Map(v2?.layers.length ? [[toHex(v2.roots), new HashList(v2.layers, 32, true)]] : []);
  const fileTree = v2 ? fileTreeOf(files, v2.roots) : null;
  const content = keysOf(layout, { pieces: v1 ?? null, fileList: null, fileTree, layers });
  const torrent = withContent(layout, content);
  const info = encode(torrent.get('info') as Encodable);
  const bytes = encode(torrent.set('info', new RawBencode(info)));
  const totals = { files: 1, bytes: totalLength, pieces: Math.ceil(totalLength / pieceLength) };
  const created = { version, bytes, totals, encoded: encodedSizes(content) };
  const decoded = decodedFields(layout, v1);
  if (!decoded) return { torrent: createdTorrent(created) as TorrentOf<TorrentVersion>, files };
  const pieceLayers = content.pieceLayers as RawBencode | null;
  const infoEnd = bytes.length - 1 - (pieceLayers ? LAYERS_KEY.length + pieceLayers.bytes.length : 0);
  const infoBytes = bytes.subarray(infoEnd - info.length, infoEnd);
  const lists = { info: decoded.info, files: undefined, tree: fileTree ?? undefined, layers: pieceLayers ?? undefined };
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
  { version, name, pieceLength, files, otherFields: other }: SizedLayout,
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
  if (version !== 'v2')
    Object.assign(info, { length: files.totalLength, pieces: new HashList(pieces as Uint8Array, 20, true) });
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
