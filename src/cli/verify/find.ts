/** `metainfo verify --find`: looks for renamed and moved files, and puts them where the torrent wants them. */
import nodePath from 'node:path';
import { type Command, Option } from 'commander';
import type { Colors } from 'picocolors/types.js';
import { MetainfoError } from '../../errors/errors.ts';
import type { Torrent } from '../../model/torrent/torrent.ts';
import { plural } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';
import { type FoundContent, findIndexed, findMoved } from '../../verify/moved/find-moved.ts';
import type { FolderIndex } from '../../verify/moved/folder-index.ts';
import { type PlacedContent, placeFound } from '../../verify/moved/place-moved.ts';
import { type VerifyOptions, verify } from '../../verify/verify.ts';
import { USAGE } from '../run.ts';
import { firstLines } from '../terminal/output.ts';

const MODES = ['hard', 'symlink', 'reflink', 'copy'] as const;

/** The options of a search. */
export interface FindOptions {
  find?: string[];
  link?: (typeof MODES)[number];
  rename?: boolean;
  allowUnproven?: boolean;
  verbose?: boolean;
}

/** Adds the options of a search to a command. */
export function findOptions(command: Command): Command {
  // `--link` takes only a mode as its value, and never the argument after it.
  const parseOptions = command.parseOptions.bind(command);
  const isMode = (arg: string | undefined) => MODES.some((mode) => mode === arg);
  command.parseOptions = (args) =>
    parseOptions(args.map((arg, i) => (arg === '--link' && !isMode(args[i + 1]) ? '--link=hard' : arg)));
  return command
    .optionsGroup('Renamed or moved files:')
    .option('--find <dir...>', 'look in these folders for missing files that were renamed or moved')
    .addOption(
      new Option('--link [how]', 'with --find: link or copy the files that were found to their places (default: hard)')
        .choices(MODES)
        .conflicts('rename'),
    )
    .option('--rename', 'with --find: move the files that were found to their places')
    .option(
      '--allow-unproven',
      'with --link or --rename: also v1 files whose shared pieces are not proven: a client may write into them',
    );
}

/** Ends the command if options of a search lack `--find`. */
export function requireFind(command: Command, { find, link, rename, allowUnproven }: FindOptions): void {
  if (find === undefined && (link || rename))
    command.error(`error: ${link ? '--link' : '--rename'} needs --find with the folders to look in`, {
      exitCode: USAGE,
    });
  if (allowUnproven && !link && !rename)
    command.error('error: --allow-unproven needs --link or --rename', { exitCode: USAGE });
}

/** The result of a search: files that were found, and those that were put in place. */
export interface Search extends FoundContent, PlacedContent {
  /** Whether all files of the torrent are complete and in their places now. */
  ok: boolean;
}

/** Searches, and places the files if the options say so. @param index The folders to look in, if they were listed before. */
export async function search(
  torrent: Torrent,
  path: string,
  { find = [], link, rename = false, allowUnproven }: FindOptions,
  options: VerifyOptions,
  index: FolderIndex | null = null,
): Promise<Search> {
  const found = index
    ? await findIndexed(torrent, path, index, options)
    : await findMoved(torrent, path, find, options);
  if (!link && !rename) return { ...found, placed: [], failed: [], ok: found.report.ok };
  const done: string[] = [];
  try {
    const { signal } = options;
    const onPlaced = (one: string) => void done.push(one);
    const how = link === 'hard' ? 'link' : (link ?? 'rename');
    const { placed, failed } = await placeFound(found, how, { signal, onPlaced, allowUnproven }, index?.linked);
    // The pieces that files share are known to be good only when all of these files are in place.
    const report = placed.length > 0 ? await verify(torrent, path, options) : found.report;
    return { ...found, report, placed, failed, ok: report.ok };
  } catch (error) {
    if (error instanceof MetainfoError && error.code === 'ERR_ABORTED' && done.length > 0)
      Object.assign(error, { done: `${plural(done.length, 'file')} ${verbOf(link)}`, placed: done });
    throw error;
  }
}

/** The verb for files that are put in place. */
const verbOf = (link: FindOptions['link'] | undefined): string =>
  link === 'reflink' || link === 'copy' ? 'copied' : link ? 'linked' : 'renamed';

/** The fields of `--json`. */
export function searchJson({ moved, unproven, notFound, skipped, placed, failed, bytesRead }: Search) {
  return {
    moved: moved.map(({ path, from, also, proof, content }) => ({ path, from, also, proof, content })),
    unproven,
    notFound,
    skipped: skippedJson(skipped),
    placed,
    failed: failed.map(toJson),
    bytesRead,
  };
}

/** The files and folders that could not be searched. */
export const skippedJson = (skipped: FoundContent['skipped']) => skipped.map(toJson);

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

/** Folders that were moved as a whole: two files or more have the same names below another folder. @param placed Paths in place now. */
function movedFolders(moved: FoundContent['moved'], placed: ReadonlySet<string>): MovedFolder[] {
  const folders = new Map<string, MovedFolder>();
  for (const { path, from, content, isShared } of moved) {
    const [names, own] = [path.split('/'), from.split(nodePath.sep)];
    let same = 0;
    while (same < names.length && names.at(-1 - same) === own.at(-1 - same)) same += 1;
    if (same === 0 || isShared || content !== 'proven') continue;
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

const COPIES = '--link=reflink or --link=copy';

/** The end of the line of a file that was found, by how much of it is proven. */
const DOUBTS = {
  proven: '',
  unproven: `, not proven in a piece that it shares (${COPIES})`,
  contradicted: `, differs in a piece that it shares (${COPIES})`,
};

/** The lines for people. */
export function searchLines(
  { moved, unproven, notFound, skipped, placed, failed }: Search,
  { find = [], link, verbose }: FindOptions,
  colors: Colors,
): string[] {
  const done = new Set(placed);
  const verb = (path: string) => (done.has(path) ? `${verbOf(link)} from` : 'moved from');
  const line = (color: 'green' | 'yellow' | 'red' | 'dim', label: string, text: string) =>
    `${colors[color](label.padEnd(12))} ${printable(text)}`;
  const isFailed = new Set(failed.map(({ path }) => path));
  const shown = moved.filter(({ path }) => !isFailed.has(path));
  const folders = movedFolders(shown, done);
  const inFolder = new Set(folders.flatMap(({ paths }) => paths));
  const single = shown.filter(({ path }) => !inFolder.has(path));
  const lines = [
    ...firstLines(folders, 'folders that were found', verbose, ({ to, from, paths: [first = '', ...more] }) => {
      const [place, files] = [`${to || '.'}/`, `(${plural(more.length + 1, 'file')})`];
      if (!done.has(first)) return line('green', 'moved', `${place} found as ${from}/ ${files}`);
      return line('green', verb(first), `${from}/ → ${place} ${files}`);
    }),
    ...firstLines(single, 'files that were found', verbose, ({ path, from, also, content }) => [
      line('green', verb(path), `${from} → ${path}${done.has(path) ? '' : DOUBTS[content]}`),
      ...firstLines(also, 'places', verbose, (other) => line('dim', '  also at', other)),
    ]),
  ];
  const unsure = firstLines(unproven, 'files that are not proven', verbose, ({ path, candidates }) => {
    const [first = '', ...more] = candidates;
    const others = more.length > 0 ? ` and ${more.length} more have` : ' has';
    return line('yellow', 'not proven', `${path}: ${first}${others} its size, but no piece proves it`);
  });
  const absent = firstLines(notFound, 'files that were not found', verbose, (path) => line('red', 'not found', path));
  const failures = firstLines(failed, 'failures', verbose, ({ path, error: { code, message } }) => {
    const reason = code === 'ERR_UNPROVEN' ? message.replace(/\.$/, ` (${COPIES}).`) : message;
    return line('red', 'failed', `${path}: ${reason}`);
  });
  // They matter only if something is still missing.
  const unseen = unproven.length + notFound.length > 0 ? skipped : [];
  const passed = skippedLines(unseen, verbose, colors);
  const summary = `found ${plural(moved.length, 'file')} of ${moved.length + unproven.length + notFound.length} in ${find.map(printable).join(', ')}`;
  return [...lines, ...unsure, ...absent, ...passed, ...failures, summary];
}

/** The lines of files and folders that could not be searched. */
export function skippedLines(skipped: FoundContent['skipped'], verbose: boolean | undefined, colors: Colors): string[] {
  const label = colors.yellow('skipped'.padEnd(12));
  return firstLines(skipped, 'skipped', verbose, ({ error }) => `${label} ${printable(error.message)}`);
}

/** Says how to put `moved` files in place, or how to verify symlinks later: see {@link placeable}. */
export function placeHint(moved: number, { link, rename }: FindOptions, colors: Colors): string[] {
  if (moved <= 0 || rename || (link && link !== 'symlink')) return [];
  return link
    ? [colors.dim('To verify symlinks that lead out of the folder, add --follow-outside.')]
    : [colors.dim('To put them in place, add --link (hard links) or --rename.')];
}

/** The number of files that were put in place, or that links can put in place. */
export function placeable({ moved, placed }: Search, { link, rename }: FindOptions): number {
  const isPlaced = new Set(placed);
  return moved.filter(({ path, content }) => (link || rename ? isPlaced.has(path) : content === 'proven')).length;
}
