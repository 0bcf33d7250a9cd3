/** `metainfo verify --find`: looks for renamed and moved files, and puts them where the torrent wants them. */
import nodePath from 'node:path';
import type { Colors } from 'picocolors/types.js';
import { MetainfoError } from '../../errors/errors.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
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
  const done: string[] = [];
  try {
    const { signal } = options;
    const onPlaced = (one: string) => void done.push(one);
    const { placed, failed } = await placeMoved(found, link ? 'link' : 'rename', { signal, onPlaced });
    // The pieces that files share are known to be good only when all of these files are in place.
    const report = placed.length > 0 ? await verify(torrent, path, options) : found.report;
    return { ...found, report, placed, failed, ok: report.ok };
  } catch (error) {
    if (error instanceof MetainfoError && error.code === 'ERR_ABORTED' && done.length > 0)
      Object.assign(error, { done: `${plural(done.length, 'file')} ${link ? 'linked' : 'renamed'}`, placed: done });
    throw error;
  }
}

/** The fields of `--json`. */
export function searchJson({ moved, unproven, notFound, skipped, placed, failed, bytesRead }: Search) {
  return {
    moved: moved.map(({ path, from, also, proof }) => ({ path, from, also, proof })),
    unproven,
    notFound,
    skipped: skipped.map(toJson),
    placed,
    failed: failed.map(toJson),
    bytesRead,
  };
}

function toJson({ path, error }: { path: string; error: MetainfoError }) {
  return { path, error: { code: error.code, message: error.message, path: error.path ?? null } };
}

/** A folder whose files were found below another folder. */
interface MovedFolder {
  /** From the torrent's root, with `/`; empty for the root. */
  to: string;
  /** The other folder: absolute. */
  from: string;
  /** The paths of the files, from the torrent's root. */
  paths: string[];
}

/**
 * The folders that were moved as a whole: two files or more that have the same names below another folder.
 *
 * @param placed The paths that are in place now.
 */
function movedFolders(moved: FoundContent['moved'], placed: ReadonlySet<string>): MovedFolder[] {
  const folders = new Map<string, MovedFolder>();
  for (const { path, from, isShared } of moved) {
    const [names, own] = [path.split('/'), from.split(nodePath.sep)];
    let same = 0;
    while (same < names.length && names.at(-1 - same) === own.at(-1 - same)) same += 1;
    if (same === 0 || isShared) continue;
    const to = names.slice(0, names.length - same).join('/');
    const place = own.slice(0, own.length - same).join(nodePath.sep);
    const key = JSON.stringify([to, place, placed.has(path)]);
    const folder = folders.get(key) ?? { to, from: place, paths: [] };
    folder.paths.push(path);
    folders.set(key, folder);
  }
  return [...folders.values()].filter(({ paths }) => paths.length > 1);
}

/** The paths of files that the line of a moved folder stands for. */
export function foldersFound({ moved, placed }: Search): ReadonlySet<string> {
  return new Set(movedFolders(moved, new Set(placed)).flatMap(({ paths }) => paths));
}

/** The most entries that could not be searched, in the lines. */
const MAX_SKIPPED = 10;

/** The lines for people. */
export function searchLines(
  { moved, unproven, notFound, skipped, placed, failed }: Search,
  { find, link, rename }: FindOptions,
  colors: Colors,
): string[] {
  const done = new Set(placed);
  const verb = (path: string) => (!done.has(path) ? 'moved from' : link ? 'linked from' : 'renamed from');
  const line = (color: 'green' | 'yellow' | 'red' | 'dim', label: string, text: string) =>
    `${colors[color](label.padEnd(12))} ${printable(text)}`;
  const folders = movedFolders(moved, done);
  const inFolder = new Set(folders.flatMap(({ paths }) => paths));
  const single = moved.filter(({ path }) => !inFolder.has(path));
  const lines = [
    ...folders.map(({ to, from, paths: [first = '', ...more] }) => {
      const [place, files] = [`${to || '.'}/`, `(${plural(more.length + 1, 'file')})`];
      if (!done.has(first)) return line('green', 'moved', `${place} found as ${from}/ ${files}`);
      return line('green', verb(first), `${from}/ → ${place} ${files}`);
    }),
    ...single.flatMap(({ path, from, also }) => [
      line('green', verb(path), `${from} → ${path}`),
      ...also.map((other) => line('dim', '  also at', other)),
    ]),
  ];
  const unsure = unproven.map(({ path, candidates: [first = '', ...more] }) => {
    const others = more.length > 0 ? ` and ${more.length} more have` : ' has';
    return line('yellow', 'not proven', `${path}: ${first}${others} its size, but no piece proves it`);
  });
  const absent = notFound.map((path) => line('red', 'not found', path));
  const failures = failed.map(({ path, error }) => line('red', 'failed', `${path}: ${error.message}`));
  // They matter only if something is still missing.
  const unseen = unproven.length + notFound.length > 0 ? skipped : [];
  const passed = unseen.slice(0, MAX_SKIPPED).map(({ error }) => line('yellow', 'skipped', error.message));
  if (unseen.length > MAX_SKIPPED) passed.push(line('yellow', 'skipped', `${unseen.length - MAX_SKIPPED} more`));
  const isLeft = moved.length > 0 && !link && !rename;
  const hint = isLeft ? [colors.dim('To put them in place, add --link (hard links) or --rename.')] : [];
  const summary = `found ${plural(moved.length, 'file')} of ${moved.length + unproven.length + notFound.length} in ${(find ?? []).map(printable).join(', ')}`;
  return [...lines, ...unsure, ...absent, ...passed, ...failures, summary, ...hint];
}
