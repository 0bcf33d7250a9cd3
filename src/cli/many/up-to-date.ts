/** Decides whether the output of a job is up to date: the torrent that the job would make, apart from hashes, and no older than the content. */
import { stat } from 'node:fs/promises';
import { decode } from '../../bencode/decode.ts';
import { encode } from '../../bencode/encode.ts';
import { NO_LIMITS } from '../../bencode/limits.ts';
import type { BencodeMap, BencodeValue, Encodable } from '../../bencode/value.ts';
import { contentKeys } from '../../create/assemble.ts';
import { encodedFileList } from '../../create/file-list.ts';
import { hasAllSizes, type SizedLayout, type TorrentLayout } from '../../create/torrent-layout.ts';
import { exists } from '../../disk/write-file.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { throwSystemError } from '../../errors/system-error.ts';
import { Torrent } from '../../model/torrent/torrent.ts';
import { type ExpectedCreation, expectedCreation } from '../create/run-create.ts';
import type { CreateJob } from './jobs-of-folders.ts';

/**
 * The output of a job if it is up to date; null if the job is to be run. Nothing is hashed.
 *
 * @throws {MetainfoError} `ERR_OUTPUT_EXISTS` with the first difference, unless the job may replace its output; every error with
 *   which the job would fail before it hashes
 */
export async function upToDateOutput(job: CreateJob, signal: AbortSignal): Promise<Torrent | null> {
  const { paths, options, target } = job;
  if (!(await exists(target))) return null;
  const read = await Torrent.read(target).catch((error: unknown) => {
    if (error instanceof MetainfoError) return error;
    throw error;
  });
  const difference =
    read instanceof MetainfoError
      ? 'it is damaged, or not a torrent'
      : await differenceOf(read, await expectedCreation(paths, options, target, signal), job);
  if (difference === null) return read as Torrent;
  if (options.force) return null;
  const message = `output file exists: ${target}, but ${difference} (use --force to make it again)`;
  throw new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: target });
}

/** The first difference between a torrent and the one that the job would make, as the end of a sentence; null if there is none. */
async function differenceOf(torrent: Torrent, expected: ExpectedCreation, job: CreateJob): Promise<string | null> {
  const { layout, web } = expected;
  if (torrent.torrentVersion !== layout.version) return `it is ${torrent.torrentVersion}, not ${layout.version}`;
  if (!hasAllSizes(layout)) return 'the size of its content is not known';
  return (
    differentFile(torrent, layout) ??
    (await differentKey(torrent, layout, job)) ??
    (await changedFile(layout, web?.lastModified, job.target))
  );
}

function differentFile({ files }: Torrent, layout: SizedLayout): string | null {
  const old = new Map(files.map(({ path, length }) => [path, length]));
  for (const { path, length } of layout.files) {
    const name = path.join('/');
    const known = old.get(name);
    if (known === undefined) return `${name} was added`;
    if (known !== length) return `${name} has ${length} bytes, and had ${known}`;
    old.delete(name);
  }
  const [removed] = old.keys();
  return removed === undefined ? null : `${removed} was removed`;
}

/** Usual names of some keys. */
const KEY_NAMES: Readonly<Record<string, string>> = {
  announce: 'trackers',
  'announce-list': 'trackers',
  'url-list': 'webseeds',
  'creation date': 'creation date',
  'info.piece length': 'piece length',
  'info.private': 'privacy',
  'info.source': 'source tag',
  'info.files': 'file list',
  'info.file tree': 'file list',
};

/** Compares everything but hashes, as bencode: so no field can be forgotten. */
async function differentKey(torrent: Torrent, layout: SizedLayout, { options }: CreateJob): Promise<string | null> {
  // By default each version of metainfo writes its own name.
  const own = typeof options.createdBy === 'string' || options.createdBy === false;
  const isRandom = options.entropy ?? false;
  const [old, next] = [torrent.bencode(), await bencodeOf(layout)].map((bytes) =>
    withoutHashes(decode(bytes, { limits: NO_LIMITS }).value as BencodeMap, { own, isRandom }),
  ) as [BencodeMap, BencodeMap];
  const top = differingKey(old, next);
  if (top === null) return null;
  const [oldInfo, nextInfo] = [old, next].map((value) => value.get('info')) as [BencodeMap, BencodeMap];
  const key = top === 'info' ? `info.${differingKey(oldInfo, nextInfo)}` : top;
  return `it has another ${KEY_NAMES[key] ?? `value of ${key}`}`.replace(/another (\w+s)$/, 'other $1');
}

/** The bencode of a torrent whose hashes are zeros. */
async function bencodeOf(layout: SizedLayout): Promise<Uint8Array> {
  const trees =
    layout.version === 'v1' ? null : { roots: Buffer.alloc(layout.files.length * 32), layers: Buffer.alloc(0) };
  const pieces = layout.version === 'v2' ? null : Buffer.alloc(0);
  const content = await contentKeys(layout, { pieces, trees }, await encodedFileList(layout));
  const info = new Map(layout.otherFields.get('info') as ReadonlyMap<string, Encodable>);
  for (const [key, value] of content.info) if (value !== null) info.set(key, value);
  return encode(new Map(layout.otherFields).set('info', info));
}

/** Removes the hashes of a decoded torrent, and what differs between two runs of the same job. */
function withoutHashes(torrent: BencodeMap, { own, isRandom }: { own: boolean; isRandom: boolean }): BencodeMap {
  const info = torrent.get('info') as BencodeMap;
  torrent.delete('piece layers');
  info.delete('pieces');
  if (!own) torrent.delete('created by');
  // The date says when, not what. `--date now` gives another one each time.
  if (torrent.has('creation date')) torrent.set('creation date', 0);
  if (isRandom && info.has('entropy')) info.set('entropy', 0);
  const nodes: BencodeValue[] = [info.get('file tree') as BencodeValue];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (!(node instanceof Map)) continue;
    node.delete('pieces root');
    for (const child of node.values()) nodes.push(child);
  }
  return torrent;
}

function differingKey(one: BencodeMap, other: BencodeMap): string | null {
  for (const key of new Set([...other.keys(), ...one.keys()])) {
    const [a, b] = [one.get(key), other.get(key)];
    if (a === undefined || b === undefined || Buffer.compare(encode(a), encode(b)) !== 0) return key;
  }
  return null;
}

/**
 * The first file that changed after the torrent was made. Like `update`, it looks at the time of the status too: programs set the
 * time of the content back, and moving an older file into a folder changes only the status.
 */
async function changedFile(
  { files }: TorrentLayout,
  lastModified: string | null | undefined,
  target: string,
): Promise<string | null> {
  const made = await stat(target).catch(throwSystemError(target, 'read'));
  // A torrent gets the time at which its creation started.
  const { mtimes, ctimes } = files.columns;
  const index = mtimes.findIndex((time, i) => Math.max(time, ctimes[i] as number) >= made.mtimeMs);
  if (index >= 0) return `${files.pathAt(index) || 'its content'} changed after it was made`;
  if (lastModified === undefined) return null;
  if (lastModified === null) return 'the server does not say when its content changed';
  return Date.parse(lastModified) < made.mtimeMs ? null : 'its content changed on the server after it was made';
}
