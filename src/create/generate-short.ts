/** Generates the torrent of one short file, in memory or on disk, with few steps and fewer promises. */
import { encode } from '../bencode/encode.ts';
import { type Encodable, RawBencode } from '../bencode/value.ts';
import { shortPathOf } from '../disk/beneath.ts';
import { requireNoInput } from '../disk/output-not-input.ts';
import { type Problem, throwProblems } from '../disk/scan-problems.ts';
import { statusOf } from '../disk/stat-files.ts';
import { onAbort, throwIfAborted } from '../errors/cancel.ts';
import { toHex } from '../errors/errors.ts';
import type { Checked } from '../errors/guard.ts';
import { defaultEngine } from '../hash/default-engine.ts';
import { type Digests, isOwnEngine, MAX_SHORT, type ShortEngine, type ShortPath } from '../hash/engine.ts';
import { checkedResources } from '../hash/hash-request.ts';
import type { Slot } from '../hash/limiter.ts';
import { changed } from '../hash/open-without-links.ts';
import { privateCopy, reusePrivate } from '../hash/private-buffer.ts';
import { jobLimiter } from '../jobs/job-limiter.ts';
import { type Job, UNWATCHED } from '../jobs/track.ts';
import { FileTable } from '../layout/file-table.ts';
import { libtorrentName } from '../layout/libtorrent-names.ts';
import { isNamedLikePad } from '../layout/padding.ts';
import { BLOCK_SIZE, checkPieceLength, choosePieceLength } from '../layout/piece-length.ts';
import { requireTorrentName } from '../layout/safe-path.ts';
import type { TorrentVersion } from '../model/discriminator.ts';
import { HashList } from '../model/hash-list.ts';
import { LIBTORRENT_MAX_PIECE_LENGTH } from '../model/limits.ts';
import { createdTorrent } from '../model/torrent/created-torrent.ts';
import { noFields, type TopLevelFields } from '../model/torrent/top-level.ts';
import type { TorrentOf } from '../model/torrent/torrent.ts';
import { lazyTorrent, type UsualLists } from '../model/torrent/usual-torrent.ts';
import { isSharedArrayBuffer, uptime } from '../platform/node.ts';
import { encodedSizes, keysOf, withContent } from './assemble.ts';
import { hasLengthLimits } from './choose-length.ts';
import type { Draft } from './draft-fields.ts';
import { fileTreeOf } from './file-list.ts';
import type { MadeTorrent } from './generate.ts';
import type { GenerateOptions } from './options.ts';
import { otherFields } from './other-fields.ts';
import type { Source } from './sources/sources.ts';
import { checkVersion, type LaidOutFile, type SizedLayout } from './torrent-layout.ts';

/**
 * The torrent of a draft whose only file is short, in memory or on disk: the one that `generate` makes, in half the time. A source is
 * hashed on this thread, a file in one step on another. Null for any other draft, and where more than hashing is to be done, such as
 * warnings.
 *
 * @param generateAny The general path. It goes on in the slot of the job where the path root turns out to be no short file.
 * @throws as `generate`
 */
export function generateShort(
  draft: Draft,
  options: Checked<GenerateOptions>,
  generateAny: (slot: Slot) => Promise<MadeTorrent>,
  job = UNWATCHED,
): MadeTorrent | Promise<MadeTorrent> | null {
  const { signal, onPlan, onProgress } = options;
  // The general path destroys a stream also if the options are wrong.
  const [source] = draft.fields.sources ?? [];
  if (source && (source.saveTo !== undefined || !(source.data instanceof Uint8Array))) return null;
  if (options.progress || options.reuse || hasLengthLimits(options) || !isPlain(draft)) return null;
  const { engine = defaultEngine() } = options;
  if (!isOwnEngine(engine) || !engine.short) return null;
  const version = checkVersion(options.version);
  checkedResources(options, version, 1);
  const { short } = engine;
  if (draft.fields.sources) return onPlan || onProgress ? null : ofSource(draft, short, { version, signal, job });
  const place = draft.fields.pathRoot === undefined ? null : shortPathOf(draft.pathRoot, options);
  if (!place) return null;
  const file = { ...options, version, place, job };
  return jobLimiter.run(signal, async (slot) => {
    job.begin();
    return (await ofFile(draft, short, file)) ?? generateAny(slot);
  });
}

type ShortOptions = Omit<Checked<GenerateOptions>, 'version'> & { version: TorrentVersion; job: Job };

function ofSource(
  draft: Draft,
  short: ShortEngine,
  { version, signal, job }: ShortOptions,
): MadeTorrent | Promise<MadeTorrent> | null {
  const [{ path, data, size: length }] = draft.fields.sources as readonly [Source];
  if (!(data instanceof Uint8Array) || data.length !== length || length > MAX_SHORT || path !== draft.info.name)
    return null;
  const layout = length > 0 && !isSharedArrayBuffer(data.buffer) ? layoutOf(draft, { length, data }, version) : null;
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

/** Null where the path root is no short file, or is in the way: the general path finds out what is wrong. */
async function ofFile(
  draft: Draft,
  short: ShortEngine,
  options: ShortOptions & { place: ShortPath },
): Promise<MadeTorrent | null> {
  const { version, signal, outputPath, place, job } = options;
  const { pathRoot } = draft;
  const pieceLength = pieceLengthOf(draft, version, MAX_SHORT);
  if (pieceLength === null) return null;
  const started = uptime();
  const hashing = short.hashFile(place, version, pieceLength);
  const removeListener = onAbort(signal, () => hashing.cancel());
  const hashed = await hashing.done;
  removeListener();
  throwIfAborted(signal);
  const layout = hashed && layoutOf(draft, { ...hashed.file, diskPath: pathRoot }, version);
  if (!layout || (await isInput(outputPath, layout))) return null;
  job.describe({ version, bytes: layout.files.totalLength, files: 1 });
  await report(draft, layout, { ...options, seconds: uptime() - started });
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
  { version, signal, onPlan, onProgress, seconds }: ShortOptions & { seconds: number },
): Promise<void> {
  if (onPlan) {
    const problems: Problem[] = [];
    const { describe } = await import('./findings/plan-report.ts');
    const answer = onPlan(await describe({ draft, layout, problems, leftOut: [] }, version));
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
const IN_INFO = ['name', 'private', 'source', 'updateUrl', 'similar', 'collections', 'pieceLength'];
const PLAIN_INFO: ReadonlySet<string> = new Set(IN_INFO);
/** Fields that say no more than what {@link otherFields} writes, or that do not matter for a path root that is a file. */
const PLAIN: ReadonlySet<string> = new Set([
  ...IN_INFO,
  'sources',
  'pathRoot',
  'info',
  'trackers',
  'announce',
  'announceList',
  'comment',
  'createdBy',
  'creationDate',
  'urlList',
  'httpseeds',
  'nodes',
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
function layoutOf(
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
  const known = knownFields(layout, v1);
  if (!known) return { torrent: createdTorrent(created) as TorrentOf<TorrentVersion>, files };
  const pieceLayers = content.pieceLayers as RawBencode | null;
  const infoEnd = bytes.length - 1 - (pieceLayers ? LAYERS_KEY.length + pieceLayers.bytes.length : 0);
  const infoBytes = bytes.subarray(infoEnd - info.length, infoEnd);
  const lists = { info: known.info, files: undefined, tree: fileTree ?? undefined, layers: pieceLayers ?? undefined };
  const made = lazyTorrent({ version, bytes, infoBytes, totals, context: {} }, known.fields, lists);
  return { torrent: made as TorrentOf<TorrentVersion>, files };
}

/** The key that follows `info`. */
const LAYERS_KEY = '12:piece layers';

/**
 * The fields that decoding the torrent would give; null where that changes a value, or may find an issue, or where other keys than
 * `piece layers` follow `info`.
 */
function knownFields(
  { version, name, pieceLength, files, otherFields: other }: SizedLayout,
  pieces: Uint8Array | undefined,
): { fields: TopLevelFields; info: UsualLists['info'] } | null {
  const fields = noFields() as Record<string, unknown>;
  for (const [key, value] of other) {
    if (key === 'announce') fields['announce'] = value;
    else if (key === 'announce-list') fields['announceList'] = value;
    else if (key === 'comment') fields['comment'] = value;
    else if (key === 'created by') fields['createdBy'] = value;
    else if (key === 'creation date') fields['creationDate'] = new Date((value as number) * 1000);
    else if (key !== 'info') return null;
  }
  // In the order of a decoded torrent: the getter of the file tree replaces the null.
  const info: Record<string, unknown> =
    version === 'v1' ? { name, pieceLength } : { fileTree: null, name, pieceLength };
  for (const [key, value] of other.get('info') as ReadonlyMap<string, Encodable>) {
    if (key === 'private') info['private'] = value === 1;
    else if (key === 'source') info['source'] = value;
    else if (key !== 'name') return null;
  }
  if (version !== 'v2')
    Object.assign(info, { length: files.totalLength, pieces: new HashList(pieces as Uint8Array, 20, true) });
  if (version !== 'v1') info['metaVersion'] = 2;
  return { fields: fields as TopLevelFields, info: info as unknown as UsualLists['info'] };
}
