/** `metainfo verify --find`: looks for renamed and moved files, and puts them where the torrent wants them. */
import type { Colors } from 'picocolors/types.js';
import type { MetainfoError } from '../../errors/errors.ts';
import { printable } from '../../layout/text.ts';
import { plural } from '../../model/plural.ts';
import type { Torrent } from '../../model/torrent.ts';
import { type FoundContent, findMoved } from '../../verify/find-moved.ts';
import { type PlacedContent, placeMoved } from '../../verify/place-moved.ts';
import { type VerifyOptions, verify } from '../../verify/verify.ts';

/** The options of a search. */
export interface FindOptions {
  find?: string[];
  link?: boolean;
  rename?: boolean;
}

/** The result of a search: files that were found, and those that were put in place. */
export interface Search extends FoundContent, PlacedContent {
  /** Whether all files of the torrent are complete and in their places now. */
  ok: boolean;
}

/** Searches, and places the files if the options say so. */
export async function search(
  torrent: Torrent,
  path: string,
  { find = [], link = false, rename = false }: FindOptions,
  options: VerifyOptions,
): Promise<Search> {
  const found = await findMoved(torrent, path, find, options);
  if (!link && !rename) return { ...found, placed: [], failed: [], ok: found.report.ok };
  const { placed, failed } = await placeMoved(found, link ? 'link' : 'rename', { signal: options.signal });
  // The pieces that files share are known to be good only when all of these files are in place.
  const report = placed.length > 0 ? await verify(torrent, path, options) : found.report;
  return { ...found, report, placed, failed, ok: report.ok };
}

/** The fields of `--json`. */
export function searchJson({ moved, unproven, notFound, placed, failed, bytesRead }: Search) {
  return {
    moved: moved.map(({ path, from, also, proof }) => ({ path, from, also, proof })),
    unproven,
    notFound,
    placed,
    failed: failed.map(({ path, error }) => ({ path, error: errorJson(error) })),
    bytesRead,
  };
}

function errorJson({ code, message, path }: MetainfoError) {
  return { code, message, path: path ?? null };
}

/** The lines for people. */
export function searchLines(
  { moved, unproven, notFound, placed, failed }: Search,
  { find, link, rename }: FindOptions,
  colors: Colors,
): string[] {
  const done = new Set(placed);
  const verb = (path: string) => (!done.has(path) ? 'moved from' : link ? 'linked from' : 'renamed from');
  const lines = moved.flatMap(({ path, from, also }) => [
    `${colors.green(verb(path).padEnd(12))} ${printable(from)} → ${printable(path)}`,
    ...also.map((other) => `${colors.dim('  also at')}    ${printable(other)}`),
  ]);
  const unsure = unproven.map(({ path, candidates }) => {
    const [first = '', ...more] = candidates;
    const others = more.length > 0 ? ` and ${more.length} more have` : ' has';
    return `${colors.yellow('not proven')}   ${printable(path)}: ${printable(first)}${others} its size, but no piece lies within it`;
  });
  const absent = notFound.map((path) => `${colors.red('not found')}    ${printable(path)}`);
  const failures = failed.map(
    ({ path, error }) => `${colors.red('failed')}       ${printable(path)}: ${printable(error.message)}`,
  );
  const isLeft = moved.length > 0 && !link && !rename;
  const hint = isLeft ? [colors.dim('To put them in place, add --link (hard links) or --rename.')] : [];
  const summary = `found ${plural(moved.length, 'file')} of ${moved.length + unproven.length + notFound.length} in ${(find ?? []).map(printable).join(', ')}`;
  return [...lines, ...unsure, ...absent, ...failures, summary, ...hint];
}
