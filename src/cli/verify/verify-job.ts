/** Verifies the content of one torrent, alone or as one job of many: its checks, its fields of `--json`, and its lines. */
import type { Colors } from 'picocolors/types.js';
import type { Torrent } from '../../model/torrent/torrent.ts';
import type { FolderIndex } from '../../verify/moved/folder-index.ts';
import type { VerifyReport } from '../../verify/report.ts';
import { makeEmptyFiles } from '../../verify/resume/place.ts';
import { type VerifyOptions as VerifyContentOptions, verify } from '../../verify/verify.ts';
import type { VerifySources } from '../../verify/verify-sources.ts';
import * as values from '../options/option-values.ts';
import { withAdvice } from '../terminal/advice.ts';
import type { ProgressOptions } from '../terminal/progress.ts';
import { type FindOptions, foldersFound, type Search, search, searchJson, searchLines } from './find.ts';
import { type ResumeOptions, type ResumeTarget, resumeTarget } from './resume.ts';
import { reportLines, type ShownReport } from './verify-report.ts';

/** The options of `metainfo verify`. */
export interface VerifyOptions
  extends values.ProfileOptions,
    values.HashingOptions,
    values.CacheOptions,
    FindOptions,
    ResumeOptions,
    ProgressOptions {
  torrentVersion?: 'v1' | 'v2';
  fast?: boolean;
  followOutside?: boolean;
  files?: string[];
  ignoreCase?: boolean;
  content?: string;
  jobs?: number;
}

/** How a verification runs. */
export interface VerifyWatch extends Pick<VerifyContentOptions, 'signal' | 'engine' | 'progress' | 'onProgress'> {
  /** The folders of `--find`, if they were listed before. */
  index?: FolderIndex | null;
  /** The content, if it is not on this disk. */
  sources?: VerifySources | null;
  /** Whether the content is in its place. Otherwise, a search may put it there. */
  isThere?: boolean;
}

/** A verified torrent. */
export interface Verified {
  report: VerifyReport;
  searched: Search | null;
  /** The resume data to write; null for none. */
  resume: ResumeTarget | null;
  /** The empty files that the client needs. */
  made: readonly string[];
}

/** Verifies content. Null if it is not in its place, and nothing of it was found. */
export async function verifyContent(
  torrent: Torrent,
  content: string,
  { options, files }: { options: VerifyOptions; files: readonly string[] | null },
  { index = null, isThere = true, sources = null, ...watch }: VerifyWatch,
): Promise<Verified | null> {
  const { torrentVersion: version, fast, link, threads = null, memoryLimit } = options;
  const cache = values.cacheOf(options);
  // The symlinks that `--link=symlink` makes lead out of the folder.
  const followOutside = options.followOutside || link === 'symlink';
  const checks = { version, fast, followOutside, threads, memoryLimit, cache, files, ...watch };
  let resume = isThere ? await resumeTarget(torrent, content, options) : null;
  const searching = options.find && search(torrent, content, options, checks, index);
  const searched = searching ? await withAdvice(cache, searching) : null;
  if (!isThere && !searched?.moved.length) return null;
  if (!isThere && searched?.placed.length) resume = await resumeTarget(torrent, content, options);
  const report = searched?.report ?? (await withAdvice(cache, verify(torrent, sources ?? content, checks)));
  if (!resume) return { report, searched, resume, made: [] };
  return { ...(await makeEmptyFiles(torrent, report, content)), searched, resume };
}

/** The fields of `--json`. */
export function verifiedJson(
  path: string,
  { report, searched, resume, made }: Verified,
  options: VerifyOptions & { unwantedFiles: number },
) {
  return {
    status: report.ok ? ('complete' as const) : ('incomplete' as const),
    path,
    ...report,
    bitfield: Buffer.from(report.bitfield).toString('hex'),
    ...(options.files && { unwantedFiles: options.unwantedFiles }),
    ...(values.cacheOf(options) && { cachedBytes: report.cachedBytes ?? 0 }),
    ...(searched && searchJson(searched)),
    ...(resume && { resumeFiles: resume.files, made }),
  };
}

/** The report as lines, under a name of the torrent. */
export function verifiedLines(
  name: string,
  { report, searched }: Verified,
  options: FindOptions,
  shown: ShownReport,
  colors: Colors,
): string[] {
  const known = searched && foldersFound(searched);
  const found = searched ? searchLines(searched, options, colors) : [];
  return [...reportLines(name, report, colors, { ...shown, known }), ...found];
}
