/** Decides whether the output of a job is up to date: the torrent that the job would make, apart from hashes, and no older than the content. */
import { stat } from 'node:fs/promises';
import { encode } from '../../bencode/encode.ts';
import { type BencodeMap, type BencodeValue, type Encodable, RawBencode } from '../../bencode/value.ts';
import { contentKeys } from '../../create/assemble.ts';
import { TorrentCreate } from '../../create/draft.ts';
import { encodedFileList } from '../../create/file-list.ts';
import { describeLayout } from '../../create/findings/plan-report.ts';
import { hasAllSizes, type SizedLayout, type TorrentLayout, tryLayOut } from '../../create/torrent-layout.ts';
import { throwProblems } from '../../disk/scan-problems.ts';
import { exists } from '../../disk/write-file.ts';
import { type Difference, differencesOf } from '../../edit/differences.ts';
import { MetainfoError } from '../../errors/errors.ts';
import { throwSystemError } from '../../errors/system-error.ts';
import { Torrent, TorrentBase } from '../../model/torrent/torrent.ts';
import { compareBytes } from '../../platform/node.ts';
import { sourceFiles } from '../../sources/sources.ts';
import { verify } from '../../verify/verify.ts';
import { refuse } from '../create/findings.ts';
import type { CreateOptions } from '../create/options.ts';
import { type Prepared, prepare } from '../create/prepare.ts';
import { rootAndPaths } from '../options/roots.ts';
import type { CreateJob } from './jobs-of-folders.ts';

/** Says that content was read because of the time of its torrent: see {@link isAhead}. */
export const AHEAD_NOTE = 'its time is in the future, so its content was read';

/**
 * The output of a job if it is up to date; null if the job is to be run. Nothing is hashed, unless {@link isAhead}.
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
      : await differenceOf(read, await prepare(paths, options, { purpose: 'comparison', signal }), job, signal);
  if (difference === null) return read as Torrent;
  if (options.force) return null;
  const message = `output file exists: ${target}, but ${difference} (use --force to make it again)`;
  throw new MetainfoError('ERR_OUTPUT_EXISTS', message, { path: target });
}

/** The first difference between a torrent and the one that the job would make, as the end of a sentence; null if there is none. */
async function differenceOf(
  torrent: Torrent,
  { fields, settings, web, findingsOf, explained }: Prepared,
  job: CreateJob,
  signal: AbortSignal,
): Promise<string | null> {
  const draft = new TorrentCreate(fields);
  const sources = sourceFiles(draft.fields.sources ?? []);
  const tried = await tryLayOut(draft, { ...settings, sources });
  const description = await describeLayout(draft, tried, settings);
  throwProblems(tried.problems.map(({ error, ...problem }) => ({ ...problem, error: explained(error) })));
  refuse(findingsOf(description));
  // Without a layout there is a problem.
  const layout = tried.layout as TorrentLayout;
  if (torrent.torrentVersion !== layout.version) return `it is ${torrent.torrentVersion}, not ${layout.version}`;
  if (!hasAllSizes(layout)) return 'the size of its content is not known';
  const difference = differentFile(torrent, layout) ?? (await differentKey(torrent, layout, job));
  if (difference !== null) return difference;
  if (await isAhead(torrent, job.target)) return differentContent(torrent, web, job, signal);
  return changedFile(layout, web?.lastModified, job.target);
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
  const changed = differencesOf(TorrentBase.bytesOf(torrent), await bytesOf(layout));
  const [first] = changed.filter((one) => !isExpected(one, options));
  if (!first) return null;
  return `it has another ${KEY_NAMES[first.key] ?? `value of ${first.key}`}`.replace(/another (\w+s)$/, 'other $1');
}

/** Whether a difference is that of hashes, or one between two runs of the same job. */
function isExpected({ key, before, after }: Difference, { createdBy = true, entropy }: CreateOptions): boolean {
  if (key === 'piece layers' || key === 'info.pieces') return true;
  // By default each version of metainfo writes its own name.
  if (key === 'created by') return createdBy === true;
  if (before === undefined || after === undefined) return false;
  if (key === 'info.file tree')
    return compareBytes(encode(withoutRoots(before as BencodeMap)), encode(withoutRoots(after as BencodeMap))) === 0;
  // The date says when, not what. `--date now` gives another one each time.
  return key === 'creation date' || (key === 'info.entropy' && entropy === true);
}

/** The bytes of a torrent whose hashes are zeros. */
async function bytesOf(layout: SizedLayout) {
  const v2 =
    layout.version === 'v1' ? undefined : { roots: Buffer.alloc(layout.files.length * 32), layers: Buffer.alloc(0) };
  const v1 = layout.version === 'v2' ? undefined : Buffer.alloc(0);
  const content = await contentKeys(layout, { v1, v2 }, await encodedFileList(layout));
  const info = new Map(layout.otherFields.get('info') as ReadonlyMap<string, Encodable>);
  for (const [key, value] of content.info) if (value !== null) info.set(key, value);
  const infoBytes = encode(info);
  return { bytes: encode(new Map(layout.otherFields).set('info', new RawBencode(infoBytes))), infoBytes };
}

/** Removes the roots of a decoded file tree. */
function withoutRoots(tree: BencodeMap): BencodeMap {
  const nodes: BencodeValue[] = [tree];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (!(node instanceof Map)) continue;
    node.delete('pieces root');
    for (const child of node.values()) nodes.push(child);
  }
  return tree;
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

/** Whether a torrent has a time in the future. A clock was wrong, so its times do not tell what changed. */
export async function isAhead({ creationDate }: Torrent, target: string): Promise<boolean> {
  const { mtimeMs } = await stat(target).catch(throwSystemError(target, 'read'));
  return Math.max(mtimeMs, creationDate?.getTime() ?? 0) > Date.now();
}

/** The first file whose content differs. It is not read where the job will read it anyway, or can only download it. */
async function differentContent(
  torrent: Torrent,
  web: Prepared['web'],
  { paths, options }: CreateJob,
  signal: AbortSignal,
): Promise<string | null> {
  if (web || options.force) return 'its time is in the future, so it does not tell whether its content changed';
  const { followOutside, memoryLimit, threads = null } = options;
  const checks = { followOutside, memoryLimit, threads, signal };
  const { files } = await verify(torrent, rootAndPaths(paths).pathRoot, checks);
  const different = files.find(({ status }) => status !== 'complete');
  return different ? `${different.path} differs: ${AHEAD_NOTE}` : null;
}
